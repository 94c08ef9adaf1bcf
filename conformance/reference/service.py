"""Service: the steps from a request to its response."""

from __future__ import annotations

import asyncio
import logging
import random
from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from starlette.requests import Request

from conformance.reference import gateway
from conformance.reference.busy_neighbours import BusyNeighbours
from conformance.reference.json_body import read_json
from conformance.reference.provisioning import Provisioning
from conformance.reference.refusal import Refusal
from conformance.reference.request_context import Reply, RequestContext
from conformance.reference.responses import Responses
from conformance.reference.routes import Operation, route, segments_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.responses import Response
    from starlette.types import Receive, Scope, Send

    from conformance.reference.records import Key

_log = logging.getLogger(__name__)

_EDITING = 0.002
"""Seconds for which an edit excludes others, if parallel edits are refused."""
_LONGEST_WAIT = 0.4
"""Most seconds that a change waits, if ``change_clock`` is ``before-waiting``."""
_LISTS = frozenset({"listEngagements", "listMembers"})
_COUNTING = 0.05
"""Most seconds between the count of a list and the read of its items, if they are separate."""
_SLOW = 0.08
"""Seconds of a slow response."""


class Service(Responses, Provisioning):
    """The reference service as an ASGI application.

    Each step is a method, so that a fault is a subclass that overrides one. Each open point is read in one step.
    In order: ``authenticate`` and ``count_request``, ``find_operation``, ``receive``; then ``authorize``, ``check`` and
    ``find``, in the order of the open point ``refusal_order``; then the method of the operation; then ``respond``.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request."""
        response = await self.handle(Request(scope, receive))
        await response(scope, receive, send)

    async def handle(self, request: Request) -> Response:
        """Return the response to a request; an unexpected error becomes a 500."""
        if self.latitude["gateway"] == "strict" and (page := gateway.refusal(request)) is not None:
            return page
        await self.take_time()
        context = RequestContext(request)
        try:
            reply = await self.serve(context)
        except Refusal as refusal:
            reply = self.refused(context, refusal)
        except Exception:  # noqa: BLE001 - the client gets an envelope after every error
            _log.exception("An unexpected error")
            reply = self.error(Refusal(500, "An unexpected error occurred."))
        return self.respond(context, reply)

    async def take_time(self) -> None:
        """Delay the response, depending on ``latency`` and ``pace``."""
        pace = {"prompt": 0.0, "slow": _SLOW, "uneven": random.uniform(0, _SLOW)}  # noqa: S311 - no secret
        if seconds := self.latency + pace[self.latitude["pace"]]:
            await asyncio.sleep(seconds)

    async def serve(self, context: RequestContext) -> Reply:
        """Process a request.

        Raises:
            Refusal: The request is refused.
        """
        early = self.latitude["unparsable_body"] == "body"
        if early:
            await self.parse_first(context)
        self.admit(context)
        if context.request.method == "OPTIONS" and self.latitude["options_requests"] == "200":
            return Reply(200, {"data": {}}, {"Allow": "OPTIONS, GET, HEAD, POST, PATCH, DELETE"})
        context.operation = self.find_operation(context)
        if context.operation.takes_body and not early:
            context.content = await self.receive(context)
        reply = await self.perform(context)
        for action in context.afterwards:
            action()
        return reply

    async def parse_first(self, context: RequestContext) -> None:
        """Receive the body before the key is checked, and refuse a body that is not JSON.

        Raises:
            Refusal: The body is not JSON, or too long.
        """
        try:
            context.content = await self.receive(context)
            if context.content:
                read_json(context.content, "last")
        except ValueError as problem:
            self.count_request(context, None)
            raise Refusal(400, f"The body is not valid JSON: {problem}.") from None
        except Refusal:
            self.count_request(context, None)
            raise

    def refused(self, context: RequestContext, refusal: Refusal) -> Reply:
        """Return the reply to a refused request, which may not count."""
        if self.latitude["refused_requests"] == "free" and not context.quota.exceeded:
            context.allowance.give_back()
            context.quota = replace(context.quota, remaining=context.quota.remaining + 1)
        return self.error(refusal)

    # Admission

    def admit(self, context: RequestContext) -> None:
        """Count a request and check its key and its rate limit.

        Raises:
            Refusal: 401, or 429.
        """
        key: Key | None = None
        try:
            key = context.key = self.authenticate(context)
        finally:
            self.count_request(context, key)
        if context.quota.exceeded:
            raise Refusal(429, "Too many requests. Wait until the time in X-RateLimit-Reset.")
        self.note_activity(key)
        match self.latitude["company"]:
            case "busy":
                self._busy_neighbours.act(key.organization_id)
            case "administrators":
                self._busy_neighbours.administer(key.organization_id)
            case "hundreds" | "thousands" as many:
                self._busy_neighbours.seed(key.organization_id, many)

    def find_operation(self, context: RequestContext) -> Operation:
        """Find the operation of a request.

        Raises:
            Refusal: 404 for an unknown path, 405 for a method that the path does not have.
        """
        method, segments = context.request.method, segments_of(context.request.scope["raw_path"])
        if method == "HEAD" and self.latitude["head_requests"] == "like-get":
            method = "GET"
        if segments[-1] == "" and self.latitude["trailing_slash"] == "accepted":
            segments = segments[:-1]
        try:
            operation, context.resource_id = route(method, segments)
        except Refusal as refusal:
            is_other_method = refusal.status == HTTPStatus.METHOD_NOT_ALLOWED
            raise self.no_such_method(refusal) if is_other_method else refusal from None
        return operation

    def no_such_method(self, refusal: Refusal) -> Refusal:
        """Return the refusal of a method that a known path does not have."""
        return refusal if self.latitude["other_method"] == "405" else Refusal(404, refusal.message)

    # Performance

    async def perform(self, context: RequestContext) -> Reply:
        """Process an operation."""
        beside = self.latitude["parallel_edit"]
        if context.operation.id == "updateEngagement" and beside != "waits":
            return await self.perform_alone(context, int(beside))
        if context.operation.id in _LISTS and (reading := self.latitude["list_reading"]) != "with-its-count":
            return await self.perform_after_counting(context, cuts=reading == "up-to-its-count")
        changes = context.operation.finds == "engagement" and context.operation.method != "GET"
        if changes and not self.store.keeps_latest_time:
            return await self.perform_after_waiting(context)
        return self.act(context)

    async def perform_alone(self, context: RequestContext, beside: int) -> Reply:
        """Process an edit, or refuse it during another edit of the same engagement."""
        if context.resource_id in self._in_edit:
            self.try_out(context)
            raise Refusal(beside, "Another edit of the engagement is in progress. Send this one again later.")
        self._in_edit.add(context.resource_id)
        try:
            await asyncio.sleep(_EDITING)
            return self.act(context)
        finally:
            self._in_edit.discard(context.resource_id)

    async def perform_after_counting(self, context: RequestContext, *, cuts: bool) -> Reply:
        """Count a list, and read its items later; the count may cut them off."""
        context.counted = self.act(context).content["meta"]["total"]
        await asyncio.sleep(random.uniform(0, _COUNTING))  # noqa: S311 - no secret
        reply = self.act(context)
        if cuts:
            del reply.content["data"][max(0, context.counted - self.offset(context)) :]
        return reply

    async def perform_after_waiting(self, context: RequestContext) -> Reply:
        """Read the clock, wait, and process a change; a later request may be processed first."""
        read = self.now()
        await asyncio.sleep(random.uniform(0, _LONGEST_WAIT))  # noqa: S311 - no secret
        self.clock_read = read
        try:
            return self.act(context)
        finally:
            self.clock_read = None

    def act(self, context: RequestContext) -> Reply:
        """Check a request and process it in one transaction."""
        with nullcontext() if context.operation.method == "GET" else self.store.transaction():
            self.try_out(context)
            return self._actions[context.operation.id](context)

    def try_out(self, context: RequestContext) -> None:
        """Check the permission, the validity and the resource of a request.

        Raises:
            Refusal: A check fails.
        """
        for stage in self.latitude["refusal_order"].split(","):
            self._stages[stage](context)

    def check(self, context: RequestContext) -> None:
        """Parse and check the body or the parameters of a request."""
        if not context.operation.parameters:
            self.read_parameters(context)
        if context.operation.id in self._checks:
            context.values = self._checks[context.operation.id](context)

    def find(self, context: RequestContext) -> None:
        """Find the resource that the path names."""
        if context.operation.finds == "engagement":
            context.engagement = self.find_engagement(context)
        elif context.operation.finds == "member":
            context.member = self.find_member(context)

    # Tables

    @cached_property
    def _busy_neighbours(self) -> BusyNeighbours:
        return BusyNeighbours(self)

    @cached_property
    def _stages(self) -> dict[str, Callable[[RequestContext], None]]:
        return {"scope": self.authorize, "body": self.check, "lookup": self.find}

    @cached_property
    def _checks(self) -> dict[str, Callable[[RequestContext], dict[str, Any]]]:
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
    def _actions(self) -> dict[str, Callable[[RequestContext], Reply]]:
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
