"""Faults of refusing half: a refused request leaves something, and what happens at the same time is lost."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from conformance.reference.faults import fault
from conformance.reference.faults.making import made
from conformance.reference.records import SUBORDINATE_KINDS
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.records import Engagement
    from conformance.reference.request_context import Reply, RequestContext

_INVALID = frozenset({400, 422})


def _sent(context: RequestContext) -> dict[str, Any]:
    """Give the object that was sent; an empty one where it was none."""
    try:
        content = json.loads(context.content)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _is_text(value: object) -> bool:
    """Tell whether a value is text that can be kept."""
    return isinstance(value, str) and not any("\ud800" <= sign <= "\udfff" for sign in value)


def _leaving(
    identifier: str,
    title: str,
    operation: str,
    leave: Callable[[Service, RequestContext, dict[str, Any]], None],
    *breaks: str,
) -> Fault:
    """An operation that does a part of what it refuses as invalid."""

    async def perform(self: Service, context: RequestContext) -> Reply:
        try:
            return await Service.perform(self, context)
        except Refusal as refusal:
            if context.operation.id == operation and refusal.status in _INVALID:
                leave(self, context, _sent(context))
            raise

    return made(identifier, title, *breaks, perform=perform)


def _part(field: str) -> Callable[[Service, RequestContext, dict[str, Any]], None]:
    """Keep one field of an edit where it is text."""

    def leave(service: Service, context: RequestContext, sent: dict[str, Any]) -> None:
        if _is_text(sent.get(field)):
            service.store.edit_engagement(context.resource_id, {field: sent[field]}, service.now())

    return leave


def _create(field: str) -> Callable[[Service, RequestContext, dict[str, Any]], None]:
    """Create an engagement where the other field is what is wrong."""

    def leave(service: Service, context: RequestContext, sent: dict[str, Any]) -> None:
        if _is_text(sent.get(field)):
            context.values = {"name": "Untitled", "description": None, field: sent[field]}
            service.store.add_engagement(service.new_engagement(context))

    return leave


def _empty_description(service: Service, context: RequestContext, sent: dict[str, Any]) -> None:
    if not isinstance(sent.get("description", ""), str):
        service.store.edit_engagement(context.resource_id, {"description": None}, service.now())


def _switch(service: Service, context: RequestContext, sent: dict[str, Any]) -> None:
    """Give the other role, once."""
    if not isinstance(sent.get("role"), str) and not service.memory.get("switched", False):
        service.memory["switched"] = True
        member = service.store.member(context.organization_id, context.resource_id)
        other = "admin" if member and member.role == "member" else "member"
        service.store.change_role(context.organization_id, context.resource_id, other, service.now())


PARTS = (
    _leaving("edit-refused-keeps-name", "An edit with an invalid description is refused, and its name kept.",
             "updateEngagement", _part("name"), "update-engagement-refused-changes-nothing"),
    _leaving("edit-refused-keeps-description", "An edit with an invalid name is refused, and its description kept.",
             "updateEngagement", _part("description"), "update-engagement-refused-changes-nothing"),
    _leaving("edit-refused-empties-description", "An edit with an invalid description is refused, and empties it.",
             "updateEngagement", _empty_description, "update-engagement-refused-changes-nothing"),
    _leaving("creation-refused-keeps-named", "A creation with an invalid description is refused, and done without it.",
             "createEngagement", _create("name"), "create-engagement-refused-creates-nothing"),
    _leaving("creation-refused-keeps-described", "A creation with an invalid name is refused, and done without it.",
             "createEngagement", _create("description"), "create-engagement-refused-creates-nothing"),
    _leaving("role-refused-switches", "The first change to a role that is no text is refused, and switches the role.",
             "updateMemberRole", _switch, "update-role-refused-changes-nothing"),
)  # fmt: skip


# Subordinate records


def _cascade_for(identifier: str, title: str, is_spared: Callable[[Engagement], bool], *breaks: str) -> Fault:
    """A deletion that leaves the records of some engagements behind."""

    def delete_subordinates(self: Service, engagement: Engagement) -> None:
        if not is_spared(engagement):
            Service.delete_subordinates(self, engagement)

    return made(identifier, title, *breaks, delete_subordinates=delete_subordinates)


_GO = (
    "subordinate-targets-go",
    "subordinate-tasks-go",
    "subordinate-wiki-pages-go",
    "subordinate-reports-go",
    "subordinate-threat-models-go",
    "subordinate-api-requests-go",
)


def _one_of(kind: str, requirement: str) -> Fault:
    """A deletion that takes one record of a kind and leaves the others."""

    def delete_subordinates(self: Service, engagement: Engagement) -> None:
        for other in SUBORDINATE_KINDS:
            if other != kind:
                self.store.delete_subordinates(engagement.id, other)
        self.store.execute(
            "DELETE FROM subordinates WHERE rowid = (SELECT min(rowid) FROM subordinates"
            " WHERE engagement_id = ? AND kind = ?)",
            engagement.id,
            kind,
        )

    return made(f"cascade-takes-one-{kind}".lower(), f"A deleted engagement takes one {kind} with it, not all.",
                requirement, delete_subordinates=delete_subordinates)  # fmt: skip


def _neighbours(kind: str) -> Fault:
    """A deletion that takes the records of one kind from all engagements."""

    def delete_subordinates(self: Service, engagement: Engagement) -> None:
        Service.delete_subordinates(self, engagement)
        self.store.execute("DELETE FROM subordinates WHERE kind = ?", kind)

    return made(f"cascade-takes-every-{kind}".lower(), f"A deletion takes every {kind} of all engagements with it.",
                "subordinates-of-others-stay", delete_subordinates=delete_subordinates)  # fmt: skip


CASCADES = (
    _cascade_for("cascade-not-for-archived", "A deleted engagement that was archived leaves its records behind.",
                 lambda engagement: engagement.status == "archived", *_GO),
    _cascade_for("cascade-not-for-active", "A deleted engagement that was active leaves its records behind.",
                 lambda engagement: engagement.status == "active", *_GO),
    _one_of("task", _GO[1]),
    _one_of("target", _GO[0]),
    _neighbours("target"),
    _neighbours("wikiPage"),
    _neighbours("apiRequest"),
)  # fmt: skip


# At the same time


def _parallel(
    identifier: str, title: str, operation: str, then: Callable[[Service, RequestContext], None], *breaks: str
) -> Fault:
    """A service that does something else where several requests of an operation are under way."""

    async def perform(self: Service, context: RequestContext) -> Reply:
        if context.operation.id != operation:
            return await Service.perform(self, context)
        self.memory["under_way"] = self.memory.get("under_way", 0) + 1
        try:
            await asyncio.sleep(0.003)
            if self.memory.get("under_way", 0) > 1:
                then(self, context)
            return await Service.perform(self, context)
        finally:
            self.memory["under_way"] = self.memory.get("under_way", 1) - 1

    return made(identifier, title, *breaks, perform=perform)


def _deadlock(_: Service, __: RequestContext) -> None:
    raise RuntimeError("deadlock")


def _conflict(status: int) -> Callable[[Service, RequestContext], None]:
    def then(_: Service, __: RequestContext) -> None:
        raise Refusal(status, "Somebody else is writing.")

    return then


PARALLEL = (
    _parallel("parallel-creations-break", "Creations at the same time end in an unexpected error.",
              "createEngagement", _deadlock, "no-server-error"),
    _parallel("parallel-edits-break", "Edits at the same time end in an unexpected error.",
              "updateEngagement", _deadlock, "no-server-error"),
    _parallel("parallel-edits-403", "Of edits at the same time some are refused with 403.",
              "updateEngagement", _conflict(403), "update-engagement-in-parallel", "update-engagement-succeeds"),
)  # fmt: skip


@fault("parallel-creation-answers-other", "create-engagement-in-parallel", "create-engagement-answers-what-was-sent")
class ParallelCreationSaysOther(Service):
    """Of creations at the same time, all are answered with the one that came last."""

    _latest: Reply | None = None

    async def perform(self, context: RequestContext) -> Reply:
        """Wait a moment, then look at what was created last."""
        if context.operation.id != "createEngagement":
            return await super().perform(context)
        self._latest = await super().perform(context)
        await asyncio.sleep(0.004)
        return self._latest
