"""Faults of refusals in which a part of the request is done, and of requests that are processed at the same time."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

from conformance.reference.refusal import Refusal

from .mutations import Method, Mutation, fault, refused_yet, wrap
from .situations import NOTHING, Action, Condition, Situation, sends_other_than_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.request_context import Reply, RequestContext
    from conformance.reference.service import Service

_CREATE, _EDIT, _RENAME = "createEngagement", "updateEngagement", "updateCurrentOrganization"
_CHANGE_ROLE = "updateMemberRole"
_CREATES_NOTHING = "create-engagement-refused-creates-nothing"
_CHANGES_NOTHING = "update-engagement-refused-changes-nothing"
_RENAMES_NOTHING = "update-organization-refused-changes-nothing"
_KEEPS_ROLE = "update-role-refused-changes-nothing"


# --- invalid requests of which a part is done


def _invalid_yet(operation: str, action: Action, when: Condition) -> Mutation:
    return refused_yet(operation, action, when, statuses=(400, 422))


def _sends_object(at: Situation) -> bool:
    return isinstance(at.body, dict)


def _sends_text(name: str) -> Condition:
    return lambda at: isinstance(at.field(name), str) and re.search("[\ud800-\udfff]", at.field(name)) is None


def _create(at: Situation, **fields: str) -> None:
    at.context.values = {"name": "Untitled", "description": None, **fields}
    at.store.add_engagement(at.service.new_engagement(at.context))


def _storable(text: object) -> str:
    return text.encode(errors="replace").decode() if isinstance(text, str) else "Untitled"


def _create_from_all(at: Situation) -> None:
    _create(at, name=_storable(at.field("name")), description=_storable(at.field("description")))


def _edit_all_text(at: Situation) -> None:
    columns = ("name", "description", "status")
    at.edit(**{name: _storable(at.field(name)) for name in columns if isinstance(at.field(name), str)})


def _rename(at: Situation) -> None:
    at.store.rename_organization(at.context.organization_id, str(at.field("name")), at.now)


def _set_role(at: Situation, role: str) -> None:
    at.store.change_role(at.context.organization_id, at.context.resource_id, role, at.now)


def _switch_role_once(at: Situation) -> None:
    if not at.service.memory.get("switched"):
        at.service.memory["switched"] = True
        member = at.store.member(at.context.organization_id, at.context.resource_id)
        _set_role(at, "admin" if member and member.role == "member" else "member")


PARTS = (
    *(fault(f"{label}-keeps-refused", f"Of what {operation} refuses as invalid, {words} kept.",
            _invalid_yet(operation, action, when), *breaks) for label, operation, words, action, when, *breaks in (
        ("create-engagement", _CREATE, "text is", _create_from_all, _sends_object, _CREATES_NOTHING),
        ("update-engagement", _EDIT, "text is", _edit_all_text, _sends_object, _CHANGES_NOTHING),
        ("update-engagement-time", _EDIT, "the time is", lambda at: at.edit(), _sends_object, _CHANGES_NOTHING),
        ("update-organization", _RENAME, "the name is", _rename, lambda at: at.field("name") is not NOTHING,
         _RENAMES_NOTHING),
        ("update-organization-empty-name", _RENAME, "an empty name is", _rename, lambda at: at.field("name") == "",
         _RENAMES_NOTHING),
        ("update-role", _CHANGE_ROLE, "the role is", lambda at: _set_role(at, str(at.body.get("role"))), _sends_object,
         _KEEPS_ROLE, "member-roles-known"),
    )),
    fault("edit-refused-keeps-name", "An edit with an invalid description is refused, and its name kept.",
          _invalid_yet(_EDIT, lambda at: at.edit(name=at.field("name")), _sends_text("name")), _CHANGES_NOTHING),
    fault("edit-refused-keeps-description", "An edit with an invalid name is refused, and its description kept.",
          _invalid_yet(_EDIT, lambda at: at.edit(description=at.field("description")), _sends_text("description")),
          _CHANGES_NOTHING),
    fault("edit-refused-empties-description", "An edit with an invalid description is refused, and empties it.",
          _invalid_yet(_EDIT, lambda at: at.edit(description=None), sends_other_than_text("description")),
          _CHANGES_NOTHING),
    fault("creation-refused-keeps-named", "A creation with an invalid description is refused, and done without it.",
          _invalid_yet(_CREATE, lambda at: _create(at, name=at.field("name")), _sends_text("name")), _CREATES_NOTHING),
    fault("creation-refused-keeps-described", "A creation with an invalid name is refused, and done without it.",
          _invalid_yet(_CREATE, lambda at: _create(at, description=at.field("description")),
                       _sends_text("description")), _CREATES_NOTHING),
    fault("role-refused-switches", "The first change to a role that is no text is refused, and switches the role.",
          _invalid_yet(_CHANGE_ROLE, _switch_role_once, lambda at: not isinstance(at.field("role"), str)),
          _KEEPS_ROLE),
)  # fmt: skip


# --- requests at the same time


def _fail_in_parallel(operation: str, error: Callable[[], Exception]) -> Mutation:
    """Raise an error while several requests of an operation are processed."""

    async def around(service: Service, honest: Method, context: RequestContext) -> Any:  # noqa: ANN401 - a reply
        if context.operation.id != operation:
            return await honest(context)
        service.memory["running"] = service.memory.get("running", 0) + 1
        try:
            await asyncio.sleep(0.003)
            if service.memory["running"] > 1:
                raise error()
            return await honest(context)
        finally:
            service.memory["running"] -= 1

    return wrap("perform", around)


async def _answer_with_latest(service: Service, honest: Method, context: RequestContext) -> Reply:
    reply: Reply = await honest(context)
    if context.operation.id == _CREATE:
        service.memory["latest"] = reply
        await asyncio.sleep(0.004)
        reply = service.memory["latest"]
    return reply


PARALLEL = (
    *(fault(f"parallel-{label}-break", f"{label.capitalize()} at the same time end in an unexpected error.",
            _fail_in_parallel(operation, lambda: RuntimeError("deadlock")), "no-server-error")
      for label, operation in (("creations", _CREATE), ("edits", _EDIT))),
    fault("parallel-edits-403", "Of edits at the same time some are refused with 403.",
          _fail_in_parallel(_EDIT, lambda: Refusal(403, "Another edit is in progress.")),
          "update-engagement-in-parallel", "update-engagement-succeeds"),
    fault("parallel-creation-answers-other",
          "Of creations at the same time, all are answered with the one that came last.",
          wrap("perform", _answer_with_latest), "create-engagement-in-parallel",
          "create-engagement-answers-what-was-sent"),
)  # fmt: skip
