"""Faults of refusals: codes, fields and bodies of errors, what a refusal still does, and requests at the same time."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from conformance.reference.refusal import Refusal

from .changes import drop, edit, error, inside, put, rename, send
from .conditions import all_of, always, at_first, has_status, header_has, is_error, responds, sends_other_than_text
from .mutations import Method, Mutation, at_step, fault, refused_yet, wrap
from .operations import CREATE, EDIT, INVITE, READ, REMOVE, RENAME, ROLE
from .situations import NOTHING, Condition, Situation, change_roles, members

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from conformance.reference.request_context import Reply
    from conformance.reference.service import Service


_ENVELOPE, _AGREES = "error-envelope", "error-status-code-agrees"
_JSON, _TYPE = "json-well-formed", "json-media-type"
_GIVEN_ROLES = ("admin", "member")
_INVALID = (400, 422)


def _unclosed(at: Situation) -> bool:
    """The request has a body that does not end as an object or a list does."""
    return bool(at.context.content) and not at.context.content.rstrip().endswith((b"}", b"]"))


def _is_wrong_twice(at: Situation) -> bool:
    """The body is an object with neither a valid address nor a valid role."""
    return isinstance(at.body, dict) and "@" not in str(at.field("email")) and at.field("role") not in _GIVEN_ROLES


def _sent(text: bytes, status: int, media_type: str) -> Mutation:
    return send(lambda _: text, has_status(status), media_type=media_type)


CODES = (
    *(fault(f"code-{status}", f"A {status} has the code {code}.",
            error(inside("error", put(code=code)), has_status(status)), f"error-code-{status}") for status, code in (
        (400, "INVALID_REQUEST"),
        (401, "INVALID_API_KEY"),
        (403, "ACCESS_DENIED"),
        (404, "ENGAGEMENT_NOT_FOUND"),
        (409, "ALREADY_ARCHIVED"),
        (422, "UNPROCESSABLE_ENTITY"),
        (429, "TOO_MANY_REQUESTS"))),
    *(fault(f"code-{status}-in-small-letters", f"A {status} has its code in lower case.",
            error(inside("error", edit(code=str.lower)), has_status(status)), f"error-code-{status}")
      for status in (400, 404, 422)),
    fault("code-in-german", "A 404 has a German code for a request whose Accept-Language names German.",
          error(inside("error", put(code="NICHT_GEFUNDEN")),
                all_of(has_status(404), header_has("accept-language", "de"))), "error-code-404"),
    *(fault(f"code-{status}-of-{words}", f"A {status} of {operation} has the code {code}.",
            error(inside("error", put(code=code)), responds(operation, status)), f"error-code-{status}")
      for operation, words, status, code in (
        ("updateMemberRole", "role-change", 404, "USER_NOT_FOUND"),
        ("removeMember", "removal", 404, "MEMBER_NOT_FOUND"),
        ("deleteEngagement", "deletion", 404, "ENGAGEMENT_NOT_FOUND"),
        ("archiveEngagement", "archive", 404, "ENGAGEMENT_NOT_FOUND"),
        ("updateEngagement", "edit", 404, "RESOURCE_NOT_FOUND"),
        ("unarchiveEngagement", "unarchiving", 404, "ENGAGEMENT_NOT_FOUND"),
        ("updateEngagement", "edit", 409, "ENGAGEMENT_ARCHIVED"),
        ("inviteMember", "invitation", 422, "INVALID_EMAIL"),
        ("inviteMember", "invitation", 400, "INVALID_EMAIL"),
        ("listEngagements", "list", 422, "INVALID_QUERY"),
        ("listMembers", "member-list", 422, "INVALID_QUERY"),
        ("updateCurrentOrganization", "renaming", 422, "INVALID_NAME"),
        ("getCurrentOrganization", "organization", 403, "INSUFFICIENT_SCOPE"),
        ("deleteEngagement", "refused-deletion", 403, "INSUFFICIENT_SCOPE"))),
)  # fmt: skip

FIELDS = tuple(
    fault(identifier, title, error(inside("error", change), when), _ENVELOPE) for identifier, title, when, change in (
        ("401-without-message", "A 401 lacks error.message.", has_status(401), drop("message")),
        ("404-without-code", "A 404 lacks error.code.", has_status(404), drop("code")),
        ("role-404-without-code", "The 404 for an unknown user lacks error.code.",
         responds("updateMemberRole", 404), drop("code")),
        ("422-without-status-code", "A 422 lacks error.statusCode.", has_status(422), drop("statusCode")),
        ("404-snake-case", "A 404 has status_code instead of statusCode.",
         has_status(404), rename("statusCode", "status_code")),
        ("403-null-message", "The message of a 403 is null.", has_status(403), put(message=None)),
        ("message-number-on-404", "The message of a 404 is a number.", has_status(404), put(message=404)),
        ("400-message-list", "The message of a 400 is a list.", has_status(400), edit(message=lambda text: [text])),
        ("invalid-messages-list", "The message of a refused creation is a list.",
         responds("createEngagement", 400, 422), put(message=["name is invalid"])),
        ("two-messages-listed", "The message of the refusal of an invitation with two invalid fields is a list.",
         all_of(responds("inviteMember", 400, 422), _is_wrong_twice), put(message=["the email", "the role"])),
        ("archived-edit-message-object", "The message of the refusal to edit an archived engagement is an object.",
         responds("updateEngagement", 403, 409, 423), put(message={"text": "archived"})),
        ("409-code-number", "The code of a 409 is a number.", has_status(409), put(code=4091)),
        ("status-code-string", "The statusCode of an error is a string.", always, edit(statusCode=str)),
        ("429-status-code-text", "The statusCode of a 429 is a string.", has_status(429), edit(statusCode=str)),
        ("401-status-code-text", "The statusCode of a 401 is a string.", has_status(401), edit(statusCode=str)))
)  # fmt: skip

STATUS_CODES = (
    fault("status-code-200", "The statusCode of every error is 200.",
          error(inside("error", put(statusCode=200))), _AGREES),
    fault("status-code-float", "The statusCode of an error is a number with a fraction.",
          error(inside("error", edit(statusCode=lambda code: code + 0.5))), _ENVELOPE, _AGREES),
    fault("removal-404-says-400", "The statusCode of the 404 for an unknown user is 400.",
          error(inside("error", put(statusCode=400)), responds("removeMember", 404)), _AGREES),
    fault("malformed-says-500", "The statusCode of the error for malformed JSON is 500.",
          error(inside("error", put(statusCode=500)), _unclosed), _AGREES),
    *(fault(f"{status}-says-{code}", f"The statusCode of a {status} is {code}.",
            error(inside("error", put(statusCode=code)), has_status(status)), _AGREES)
      for status, code in ((401, 403), (404, 40401), (422, 400), (429, 0))),
)  # fmt: skip

ENVELOPES = tuple(
    fault(identifier, title, error(change, when), _ENVELOPE) for identifier, title, when, change in (
        ("422-bare", "A 422 has code, message and statusCode at the top level, without error around them.",
         has_status(422), lambda body: body["error"]),
        ("query-errors-bare",
         "The error for an invalid parameter has its code at the top level, without error around it.",
         responds("listEngagements", 400, 422), lambda body: body["error"]),
        ("400-text-as-error", "The error member of a 400 is a string.",
         has_status(400), edit(error=lambda inner: inner["message"])),
        ("403-array", "The body of a 403 is an array.", has_status(403), lambda body: [body["error"]]),
        ("409-errors", "A 409 has the member errors instead of error.", has_status(409),
         lambda body: {"errors": [body["error"]]}),
        ("invitation-errors-listed", "The refusal of an invitation has the member errors instead of error.",
         responds("inviteMember", 400, 422), lambda body: {"errors": [body["error"]]}),
        ("404-detail", "A 404 has the member detail instead of error.",
         has_status(404), lambda body: {"detail": body["error"]["message"]}),
        ("malformed-detail", "The error for malformed JSON has the member detail instead of error.",
         _unclosed, lambda _: {"detail": "There was an error parsing the body"}),
        ("malformed-message", "The error for malformed JSON has the member message instead of error.",
         _unclosed, lambda _: {"message": "Unexpected token", "status": 400}),
        ("429-null", "The error member of a 429 is null.", has_status(429), put(error=None)),
        ("deletion-404-null", "The error member of a 404 for a deletion is null.",
         responds("deleteEngagement", 404), put(error=None)))
)  # fmt: skip

BODIES = tuple(
    fault(identifier, title, _sent(text, status, media_type), *breaks)
    for identifier, title, status, text, media_type, *breaks in (
        ("404-page", "A 404 is an HTML page.",
         404, b"<!DOCTYPE html><title>Not found</title><h1>Not found</h1>", "text/html; charset=utf-8", _TYPE, _JSON),
        ("401-plain-text", "A 401 is plain text.", 401, b"Unauthorized", "text/plain; charset=utf-8", _TYPE, _JSON),
        ("422-text-as-json", "A 422 is plain text with the media type application/json.",
         422, b"Unprocessable Entity", "application/json", _JSON),
        ("403-empty", "A 403 has no body.", 403, b"", "", _ENVELOPE),
        ("404-empty", "A 404 has no body.", 404, b"", "application/json", _ENVELOPE),
        ("429-plain-text", "A 429 is plain text.", 429, b"Too Many Requests", "text/plain", _TYPE, _JSON),
        ("409-empty-object", "The body of a 409 is an empty object.", 409, b"{}", "application/json", _ENVELOPE),
        ("400-null", "The body of a 400 is null.", 400, b"null", "application/json", _ENVELOPE))
)  # fmt: skip


def _repeat_value(_: Service, honest: Method, field: str, value: str, permitted: Iterable[str]) -> object:
    try:
        return honest(field, value, permitted)
    except Refusal as refusal:
        raise Refusal(refusal.status, f"The value of {field} must not be {value}.") from None


PAGES = (
    fault("unknown-value-repeated-unescaped",
          "The refusal of an unknown status, sort, order or role repeats it without escaping its quotation marks.",
          wrap("choice", _repeat_value) | send(lambda body: body.replace(rb'\"', b'"'), has_status(*_INVALID)),
          _JSON, _ENVELOPE),
    fault("errors-html-if-accepted", "Errors are HTML pages for a request that accepts HTML.",
          send(lambda _: b"<!DOCTYPE html><title>Error</title>", all_of(is_error, header_has("accept", "html")),
               media_type="text/html"), _TYPE, _JSON),
)  # fmt: skip


_CREATES_NOTHING = "create-engagement-refused-creates-nothing"
_CHANGES_NOTHING = "update-engagement-refused-changes-nothing"
_RENAMES_NOTHING = "update-organization-refused-changes-nothing"
_KEEPS_ROLE, _CREATED = "update-role-refused-changes-nothing", "create-engagement-in-parallel"
_A_MOMENT = 0.004


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


def _in_parallel(other: Callable[[Situation], object], *operations: str) -> Mutation:
    """Reply or fail otherwise while several requests of some operations are processed, one of each at least.

    Args:
        other: Returns the reply, or the error to raise.
        operations: The operationIds.
    """

    async def around(at: Situation, honest: Method) -> object:
        if at.operation not in operations:
            return await honest()
        running = at.remembered("running", Counter())
        running[at.operation] += 1
        try:
            await asyncio.sleep(0.003)
            if running.total() > 1 and all(running[operation] for operation in operations):
                outcome = other(at)
                if isinstance(outcome, Exception):
                    raise outcome
                return outcome
            return await honest()
        finally:
            running[at.operation] -= 1

    return at_step("perform", around)


def _show_removed(at: Situation) -> Reply:
    at.service.try_out(at.context)
    return at.success(at.service.view_removed(at.member))


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


def _show_latest(operation: str) -> Mutation:
    """Reply to an operation with the reply to the last request of it that was processed within a moment."""

    async def around(at: Situation, honest: Method) -> object:
        reply = await honest()
        if at.operation == operation:
            at.service.memory["latest"] = reply
            await asyncio.sleep(_A_MOMENT)
            reply = at.service.memory["latest"]
        return reply

    return at_step("perform", around)


async def _write_all_fields_later(at: Situation, honest: Method) -> object:
    if at.operation != EDIT:
        return await honest()
    at.service.try_out(at.context)
    await asyncio.sleep(_A_MOMENT)
    at.service.check_editable(at.service.find_engagement(at.context))
    at.edit(**{"name": at.engagement.name, "description": at.engagement.description, **at.values})
    return at.shown("edited")


async def _write_description_again(at: Situation, honest: Method) -> object:
    """Write the description of an edit of both fields once more, a moment later, after the edits since."""
    reply = await honest()
    if at.operation == EDIT and {"name", "description"} <= at.values.keys():
        await asyncio.sleep(_A_MOMENT)
        if at.stored is not None and at.stored.status == "active" and at.stored.name != at.values["name"]:
            at.overwrite(description=at.values["description"])
    return reply


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


async def _undo_edits_by_others(at: Situation, honest: Method) -> object:
    """Take a moment over an edit, and undo what other keys have edited meanwhile."""
    if at.operation != EDIT:
        return await honest()
    before, edits = at.stored, at.remembered("edits", [])
    begun = len(edits)
    await asyncio.sleep(_A_MOMENT)
    others = [
        name for name, digest in edits[begun:] if name == at.context.resource_id and digest != at.context.key.digest
    ]
    if before is not None and others:
        at.overwrite(name=before.name, description=before.description)
    reply = await honest()
    edits.append((at.context.resource_id, at.context.key.digest))
    return reply


async def _keep_what_was_read(at: Situation, honest: Method) -> object:
    """Take a moment over an edit, and show later what was read meanwhile, until another change."""
    kept, editing = at.remembered("kept", {}), at.remembered("editing", [])
    if at.operation == READ:
        reply = await honest()
        if at.context.resource_id in editing:
            kept[at.context.resource_id] = reply
        return kept.get(at.context.resource_id, reply)
    if at.method != "GET":
        kept.pop(at.context.resource_id, None)
    if at.operation == EDIT:
        editing.append(at.context.resource_id)
        await asyncio.sleep(_A_MOMENT)
        editing.remove(at.context.resource_id)
    return await honest()


PARALLEL = (
    *(fault(f"parallel-{label}-break", f"Simultaneous {label.replace('-', ' ')} cause a 500.",
            _in_parallel(lambda _: RuntimeError("deadlock"), *operations), "no-server-error")
      for label, *operations in (
        ("creations", CREATE), ("edits", EDIT), ("renamings-and-invitations", RENAME, INVITE))),
    fault("parallel-edits-403", "Some of several simultaneous edits are refused with 403.",
          _in_parallel(lambda _: Refusal(403, "Another edit is in progress."), EDIT),
          "update-engagement-in-parallel", "update-engagement-succeeds"),
    fault("parallel-removals-lost", "Only the last of several simultaneous removals is carried out.",
          _in_parallel(_show_removed, REMOVE), "removed-member-unlisted", "removed-member-uncounted"),
    fault("parallel-edits-lose-one",
          "The second of two simultaneous edits reverts the first.",
          at_step("perform", _write_all_fields_later), "update-engagement-in-parallel"),
    fault("parallel-edits-mixed",
          "Two simultaneous edits of name and description leave the name of one and the description of the other.",
          at_step("perform", _write_description_again), "update-engagement-in-parallel",
          "update-engagement-takes-effect"),
    fault("parallel-edits-of-two-keys-lose-one",
          "An edit reverts a simultaneous one with another key.",
          at_step("perform", _undo_edits_by_others), "update-engagement-in-parallel"),
    fault("read-beside-edit-kept", "A read during an edit is shown to later reads, too, until another change.",
          at_step("perform", _keep_what_was_read), "update-engagement-in-parallel", "update-engagement-takes-effect"),
    fault("parallel-reads-mixed", "Simultaneous reads of several engagements all get the one that was read last.",
          _show_latest(READ), "get-engagement-is-the-one-asked-for", "isolation-get-engagement"),
    fault("parallel-role-changes-lose-one",
          "The second of two simultaneous role changes of two members reverts the first.",
          at_step("perform", _write_all_roles_later), "role-changes-both-ways"),
    fault("parallel-creation-answers-other",
          "Simultaneous creations all get the engagement of the last as the response.",
          _show_latest(CREATE), _CREATED, "create-engagement-answers-what-was-sent"),
    fault("parallel-creation-shares-id", "Simultaneous creations all get the id of the first.",
          _create_slowly(lambda _, new, first: new.update(id=first)), _CREATED, "engagement-ids-distinct"),
    fault("parallel-creation-lost", "Only the first of several simultaneous creations is carried out.",
          _create_slowly(lambda at, new, _: at.store.delete_engagement(new["id"])),
          "create-engagement-lasts", _CREATED),
)  # fmt: skip
