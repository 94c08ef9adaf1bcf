"""Faults of refusals in which a part of the request is done, and of requests that are processed at the same time."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from conformance.reference.refusal import Refusal

from .conditions import at_first, sends_other_than_text
from .mutations import Method, Mutation, at_step, fault, refused_yet
from .operations import CREATE, EDIT, INVITE, RENAME, ROLE
from .situations import NOTHING, Condition, Situation, change_roles, members

if TYPE_CHECKING:
    from collections.abc import Callable

_CREATES_NOTHING = "create-engagement-refused-creates-nothing"
_CHANGES_NOTHING = "update-engagement-refused-changes-nothing"
_RENAMES_NOTHING = "update-organization-refused-changes-nothing"
_KEEPS_ROLE, _CREATED = "update-role-refused-changes-nothing", "create-engagement-in-parallel"
_INVALID, _A_MOMENT = (400, 422), 0.004


# --- invalid requests of which a part is done


def _sends_object(at: Situation) -> bool:
    return isinstance(at.body, dict)


def _sends_text(name: str) -> Condition:
    return lambda at: isinstance(at.field(name), str) and re.search("[\ud800-\udfff]", at.field(name)) is None


def _create(at: Situation, **fields: str) -> None:
    at.context.values = {"name": "Untitled", "description": None, **fields}
    at.store.add_engagement(at.service.new_engagement(at.context))


def _storable(text: object) -> str:
    return text.encode(errors="replace").decode() if isinstance(text, str) else "Untitled"


def _rename(at: Situation) -> None:
    at.store.rename_organization(at.context.organization_id, str(at.field("name")), at.now)


def _set_role(at: Situation, role: str) -> None:
    at.store.change_role(at.context.organization_id, at.context.resource_id, role, at.now)


def _switch_role(at: Situation) -> None:
    member = at.store.member(at.context.organization_id, at.context.resource_id)
    _set_role(at, "admin" if member and member.role == "member" else "member")


PARTS = (
    *(fault(f"{label}-keeps-refused", f"{operation} refuses invalid input but stores {words}.",
            refused_yet(operation, action, when, statuses=_INVALID), *breaks)
      for label, operation, words, action, when, *breaks in (
        ("create-engagement", CREATE, "the texts", lambda at: _create(
            at, name=_storable(at.field("name")), description=_storable(at.field("description"))),
         _sends_object, _CREATES_NOTHING),
        ("update-engagement", EDIT, "the texts", lambda at: at.edit(**{
            name: _storable(at.field(name)) for name in ("name", "description", "status")
            if isinstance(at.field(name), str)}), _sends_object, _CHANGES_NOTHING),
        ("update-engagement-time", EDIT, "a new updatedAt", lambda at: at.edit(), _sends_object, _CHANGES_NOTHING),
        ("update-organization", RENAME, "the name", _rename, lambda at: at.field("name") is not NOTHING,
         _RENAMES_NOTHING),
        ("update-organization-empty-name", RENAME, "an empty name", _rename, lambda at: at.field("name") == "",
         _RENAMES_NOTHING),
        ("update-role", ROLE, "the role", lambda at: _set_role(at, str(at.body.get("role"))), _sends_object,
         _KEEPS_ROLE, "member-roles-known"))),
    *(fault(identifier, f"{title}.", refused_yet(operation, action, when, statuses=_INVALID), requirement)
      for identifier, title, operation, action, when, requirement in (
        ("edit-refused-keeps-name", "An edit with an invalid description is refused but stores the name", EDIT,
         lambda at: at.edit(name=at.field("name")), _sends_text("name"), _CHANGES_NOTHING),
        ("edit-refused-keeps-description", "An edit with an invalid name is refused but stores the description", EDIT,
         lambda at: at.edit(description=at.field("description")), _sends_text("description"), _CHANGES_NOTHING),
        ("edit-refused-empties-description", "An edit with an invalid description is refused but empties it", EDIT,
         lambda at: at.edit(description=None), sends_other_than_text("description"), _CHANGES_NOTHING),
        ("creation-refused-keeps-named", "A creation with an invalid description is refused but carried out without it",
         CREATE, lambda at: _create(at, name=at.field("name")), _sends_text("name"), _CREATES_NOTHING),
        ("creation-refused-keeps-described", "A creation with an invalid name is refused but carried out without it",
         CREATE, lambda at: _create(at, description=at.field("description")), _sends_text("description"),
         _CREATES_NOTHING),
        ("role-refused-switches",
         "The first role change with a role that is not a string is refused but switches the role",
         ROLE, _switch_role, lambda at: not isinstance(at.field("role"), str) and at_first(at), _KEEPS_ROLE))),
)  # fmt: skip


# --- requests at the same time


def _fail_in_parallel(error: Callable[[], Exception], *operations: str) -> Mutation:
    """Raise an error while several requests of some operations are processed, one of each at least."""

    async def around(at: Situation, honest: Method) -> object:
        if at.operation not in operations:
            return await honest()
        running = at.remembered("running", Counter())
        running[at.operation] += 1
        try:
            await asyncio.sleep(0.003)
            if running.total() > 1 and all(running[operation] for operation in operations):
                raise error()
            return await honest()
        finally:
            running[at.operation] -= 1

    return at_step("perform", around)


def _create_slowly(disturb: Callable[[Situation, dict[str, Any], str], object]) -> Mutation:
    """Take a moment over each creation.

    Args:
        disturb: Is called if another creation was under way; gets what this one shows, and the id of the first one.
    """

    async def around(at: Situation, honest: Method) -> object:
        if at.operation != CREATE:
            return await honest()
        under_way = at.remembered("under way", [])
        is_first = not under_way
        under_way.append(CREATE)
        try:
            await asyncio.sleep(_A_MOMENT)
            reply = await honest()
        finally:
            under_way.pop()
        new = reply.content["data"]
        if is_first:
            at.service.memory["first"] = new["id"]
        else:
            disturb(at, new, at.remembered("first", new["id"]))
        return reply

    return at_step("perform", around)


async def _show_latest(at: Situation, honest: Method) -> object:
    reply = await honest()
    if at.operation == CREATE:
        at.service.memory["latest"] = reply
        await asyncio.sleep(_A_MOMENT)
        reply = at.service.memory["latest"]
    return reply


async def _write_all_fields_later(at: Situation, honest: Method) -> object:
    if at.operation != EDIT:
        return await honest()
    at.service.try_out(at.context)
    await asyncio.sleep(_A_MOMENT)
    at.service.check_editable(at.service.find_engagement(at.context))
    at.edit(**{"name": at.engagement.name, "description": at.engagement.description, **at.values})
    return at.shown("edited")


async def _write_all_roles_later(at: Situation, honest: Method) -> object:
    if at.operation != ROLE:
        return await honest()
    found = members(at.service, at.context.organization_id)
    await asyncio.sleep(_A_MOMENT)
    reply = await honest()
    for member in found:
        if member.user_id != at.context.resource_id:
            change_roles(at, [member], member.role)
    return reply


PARALLEL = (
    *(fault(f"parallel-{label}-break", f"Simultaneous {label.replace('-', ' ')} cause a 500.",
            _fail_in_parallel(lambda: RuntimeError("deadlock"), *operations), "no-server-error")
      for label, *operations in (
        ("creations", CREATE), ("edits", EDIT), ("renamings-and-invitations", RENAME, INVITE))),
    fault("parallel-edits-403", "Some of several simultaneous edits are refused with 403.",
          _fail_in_parallel(lambda: Refusal(403, "Another edit is in progress."), EDIT),
          "update-engagement-in-parallel", "update-engagement-succeeds"),
    fault("parallel-edits-lose-one",
          "The second of two simultaneous edits reverts the first.",
          at_step("perform", _write_all_fields_later), "update-engagement-in-parallel"),
    fault("parallel-role-changes-lose-one",
          "The second of two simultaneous role changes of two members reverts the first.",
          at_step("perform", _write_all_roles_later), "role-changes-both-ways"),
    fault("parallel-creation-answers-other",
          "Simultaneous creations all get the engagement of the last as the response.",
          at_step("perform", _show_latest), _CREATED, "create-engagement-answers-what-was-sent"),
    fault("parallel-creation-shares-id", "Simultaneous creations all get the id of the first.",
          _create_slowly(lambda _, new, first: new.update(id=first)), _CREATED, "engagement-ids-distinct"),
    fault("parallel-creation-lost", "Only the first of several simultaneous creations is carried out.",
          _create_slowly(lambda at, new, _: at.store.delete_engagement(new["id"])),
          "create-engagement-lasts", _CREATED),
)  # fmt: skip
