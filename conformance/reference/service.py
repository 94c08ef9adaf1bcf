"""The service: the way of a request from its arrival to its answer."""

from __future__ import annotations

import asyncio
import logging
import random
from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from starlette.requests import Request

from conformance.reference import gateway
from conformance.reference.busy_neighbours import Company
from conformance.reference.json_body import read_json
from conformance.reference.provisioning import Provisioning
from conformance.reference.refusal import Refusal
from conformance.reference.request_context import Call, Reply
from conformance.reference.responses import Responses
from conformance.reference.routes import Operation, route, segments_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.responses import Response
    from starlette.types import Receive, Scope, Send

    from conformance.reference.records import Key

_log = logging.getLogger(__name__)

_EDITING = 0.002
"""Seconds in which an edit keeps out others, where this service refuses parallel edits."""
_LONGEST_WAIT = 0.4
"""Seconds that a change waits at most until the engagement is free, where it waits at all."""
_LISTS = frozenset({"listEngagements", "listMembers"})
_COUNTING = 0.05
"""Seconds at most from the count of a list to the reading of its items, if this service does not read both at once."""
_SLOW = 0.08
"""Seconds of a slow answer."""


class Service(Responses, Provisioning):
    """The reference service as an ASGI application.

    Each step is a method of its own, so that a deliberate fault is a subclass that overrides one, and each choice at an
    open point is consulted in one of them. In order: ``authenticate`` and ``count_request``, ``find_operation``,
    ``receive``; then ``authorize``, ``check`` and ``find``, in the order that the open point ``refusal_order`` says;
    then the method of the operation; then ``respond``.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        response = await self.handle(Request(scope, receive))
        await response(scope, receive, send)

    async def handle(self, request: Request) -> Response:
        """Answer one request, whatever it is."""
        if self.latitude["gateway"] == "strict" and (page := gateway.refusal(request)) is not None:
            return page
        await self.take_time()
        call = Call(request)
        try:
            reply = await self.serve(call)
        except Refusal as refusal:
            reply = self.refused(call, refusal)
        except Exception:  # noqa: BLE001 - whatever goes wrong, the client gets an envelope
            _log.exception("An unexpected error")
            reply = self.error(Refusal(500, "An unexpected error occurred."))
        return self.respond(call, reply)

    async def take_time(self) -> None:
        """Hold an answer back, where this service is slow."""
        pace = {"prompt": 0.0, "slow": _SLOW, "uneven": random.uniform(0, _SLOW)}  # noqa: S311 - no secret
        if seconds := self.latency + pace[self.latitude["pace"]]:
            await asyncio.sleep(seconds)

    async def serve(self, call: Call) -> Reply:
        """Carry out a request.

        Raises:
            Refusal: It is refused.
        """
        early = self.latitude["unparsable_body"] == "body"
        if early:
            await self.parse_first(call)
        self.admit(call)
        if call.request.method == "OPTIONS" and self.latitude["options_requests"] == "200":
            return Reply(200, {"data": {}}, {"Allow": "OPTIONS, GET, HEAD, POST, PATCH, DELETE"})
        call.operation = self.find_operation(call)
        if call.operation.takes_body and not early:
            call.content = await self.receive(call)
        reply = await self.perform(call)
        for action in call.afterwards:
            action()
        return reply

    async def parse_first(self, call: Call) -> None:
        """Take in the body before the key is looked at, and refuse it where it is no JSON.

        Raises:
            Refusal: It is none, or too long.
        """
        try:
            call.content = await self.receive(call)
            if call.content:
                read_json(call.content, "last")
        except ValueError as problem:
            self.count_request(call, None)
            raise Refusal(400, f"The body is no valid JSON: {problem}.") from None
        except Refusal:
            self.count_request(call, None)
            raise

    def refused(self, call: Call, refusal: Refusal) -> Reply:
        """Answer a refused request, which need not count."""
        if self.latitude["refused_requests"] == "free" and not call.quota.exceeded:
            call.allowance.give_back()
            call.quota = replace(call.quota, remaining=call.quota.remaining + 1)
        return self.error(refusal)

    # Admission

    def admit(self, call: Call) -> None:
        """Let in who has a good key and has not sent too much; every request counts.

        Raises:
            Refusal: 401, or 429.
        """
        key: Key | None = None
        try:
            key = call.key = self.authenticate(call)
        finally:
            self.count_request(call, key)
        if call.quota.exceeded:
            raise Refusal(429, "Too many requests; wait until the time that X-RateLimit-Reset tells.")
        self.note_activity(key)
        match self.latitude["company"]:
            case "busy":
                self._company.act(key.organization_id)
            case "hundreds" | "thousands" as many:
                self._company.have_come(key.organization_id, many)

    def find_operation(self, call: Call) -> Operation:
        """Find what a request asks for.

        Raises:
            Refusal: 404 for an unknown path, 405 for a method that the path does not take.
        """
        method, segments = call.request.method, segments_of(call.request.scope["raw_path"])
        if method == "HEAD" and self.latitude["head_requests"] == "like-get":
            method = "GET"
        if segments[-1] == "" and self.latitude["trailing_slash"] == "accepted":
            segments = segments[:-1]
        try:
            operation, call.resource_id = route(method, segments)
        except Refusal as refusal:
            raise self.no_such_method(refusal) if refusal.status == 405 else refusal from None  # noqa: PLR2004
        return operation

    def no_such_method(self, refusal: Refusal) -> Refusal:
        """Make the refusal of a method that a known path does not take."""
        return refusal if self.latitude["other_method"] == "405" else Refusal(404, refusal.message)

    # Performance

    async def perform(self, call: Call) -> Reply:
        """Carry out an operation."""
        beside = self.latitude["parallel_edit"]
        if call.operation.id == "updateEngagement" and beside != "waits":
            return await self.perform_alone(call, int(beside))
        if call.operation.id in _LISTS and (reading := self.latitude["list_reading"]) != "with-its-count":
            return await self.perform_after_counting(call, cuts=reading == "up-to-its-count")
        changes = call.operation.finds == "engagement" and call.operation.method != "GET"
        if changes and not self.store.keeps_latest_time:
            return await self.perform_after_waiting(call)
        return self.act(call)

    async def perform_alone(self, call: Call, beside: int) -> Reply:
        """Carry out an edit; it is refused with a status beside another one of the same engagement."""
        if call.resource_id in self._in_edit:
            self.try_out(call)
            raise Refusal(beside, "Another edit of the engagement is under way.")
        self._in_edit.add(call.resource_id)
        try:
            await asyncio.sleep(_EDITING)
            return self.act(call)
        finally:
            self._in_edit.discard(call.resource_id)

    async def perform_after_counting(self, call: Call, *, cuts: bool) -> Reply:
        """Count what a list holds, and read its items later, which may be cut off at that count."""
        call.counted = self.act(call).content["meta"]["total"]
        await asyncio.sleep(random.uniform(0, _COUNTING))  # noqa: S311 - no secret
        reply = self.act(call)
        if cuts:
            del reply.content["data"][max(0, call.counted - self.offset(call)) :]
        return reply

    async def perform_after_waiting(self, call: Call) -> Reply:
        """Read the clock, and carry out a change once the engagement is free: one that came later may be first."""
        read = self.now()
        await asyncio.sleep(random.uniform(0, _LONGEST_WAIT))  # noqa: S311 - no secret
        self.clock_read = read
        try:
            return self.act(call)
        finally:
            self.clock_read = None

    def act(self, call: Call) -> Reply:
        """Try a request and carry it out, with nobody else in between."""
        with nullcontext() if call.operation.method == "GET" else self.store.transaction():
            self.try_out(call)
            return self._actions[call.operation.id](call)

    def try_out(self, call: Call) -> None:
        """Find out whether a request is permitted, valid, and about something that is there.

        Raises:
            Refusal: It is not.
        """
        for stage in self.latitude["refusal_order"].split(","):
            self._stages[stage](call)

    def check(self, call: Call) -> None:
        """Read and check the body or the parameters of a request."""
        if not call.operation.parameters:
            self.read_parameters(call)
        if call.operation.id in self._checks:
            call.values = self._checks[call.operation.id](call)

    def find(self, call: Call) -> None:
        """Find the resource that a path names."""
        if call.operation.finds == "engagement":
            call.engagement = self.find_engagement(call)
        elif call.operation.finds == "member":
            call.member = self.find_member(call)

    # Tables

    @cached_property
    def _company(self) -> Company:
        return Company(self)

    @cached_property
    def _stages(self) -> dict[str, Callable[[Call], None]]:
        return {"scope": self.authorize, "body": self.check, "lookup": self.find}

    @cached_property
    def _checks(self) -> dict[str, Callable[[Call], dict[str, Any]]]:
        return {
            "updateCurrentOrganization": self.check_organization_update,
            "listMembers": self.check_member_list,
            "inviteMember": self.check_invitation,
            "updateMemberRole": self.check_role_change,
            "listEngagements": self.check_engagement_list,
            "createEngagement": self.check_creation,
            "updateEngagement": self.check_edit,
            "unarchiveEngagement": self.check_unarchive,
        }

    @cached_property
    def _actions(self) -> dict[str, Callable[[Call], Reply]]:
        return {
            "getCurrentOrganization": self.get_organization,
            "updateCurrentOrganization": self.update_organization,
            "listMembers": self.list_members,
            "inviteMember": self.invite_member,
            "updateMemberRole": self.update_member_role,
            "removeMember": self.remove_member,
            "listEngagements": self.list_engagements,
            "createEngagement": self.create_engagement,
            "getEngagement": self.get_engagement,
            "updateEngagement": self.update_engagement,
            "deleteEngagement": self.delete_engagement,
            "archiveEngagement": self.archive_engagement,
            "unarchiveEngagement": self.unarchive_engagement,
        }
