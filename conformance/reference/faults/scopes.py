"""Faults of permissions: operations that a key can or cannot use, and what its requests do, show and change."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.reference.records import SCOPES
from conformance.reference.refusal import Refusal

from .changes import put
from .conditions import always, has_one_permission
from .mutations import Method, Mutation, after, fault, flat, hide, refuse, refused_yet, wrap
from .operations import (
    ACTIONS,
    ARCHIVE,
    CREATE,
    DELETE,
    EDIT,
    GET_ORGANIZATION,
    INVITE,
    LIST_MEMBERS,
    READ,
    REMOVE,
    RENAME,
    ROLE,
    UNARCHIVE,
)
from .replies import data
from .situations import Condition, Situation

if TYPE_CHECKING:
    from conformance.reference.queries import EngagementQuery
    from conformance.reference.records import Engagement, Page
    from conformance.reference.request_context import Reply, RequestContext
    from conformance.reference.service import Service

_OPERATIONS = {
    GET_ORGANIZATION: ("get-organization", "organizations:read"),
    RENAME: ("update-organization", "organizations:write"),
    LIST_MEMBERS: ("list-members", "organizations:read"),
    INVITE: ("invite", "organizations:write"),
    ROLE: ("update-role", "organizations:write"),
    REMOVE: ("remove-member", "organizations:write"),
    CREATE: ("create-engagement", "engagements:write"),
    READ: ("get-engagement", "engagements:read"),
    EDIT: ("update-engagement", "engagements:write"),
    DELETE: ("delete-engagement", "engagements:delete"),
    ARCHIVE: ("archive-engagement", "engagements:write"),
}
"""The name of each operation in requirements, and the permission that it needs."""

_REFUSES = {operation: f"scope-refuses-{name}" for operation, (name, _) in _OPERATIONS.items()}
_ALLOWS = {operation: f"scope-allows-{name}" for operation, (name, _) in _OPERATIONS.items()}
_UNCHANGED = "scope-refused-changes-nothing"


def _insufficient(needed: str) -> list[str]:
    """Return the permissions that never include a needed one: of the other family, and to read instead of to change."""
    family, _, action = needed.partition(":")
    return [scope for scope in SCOPES
            if not scope.startswith(family) or (scope.endswith(":read") and action != "read")]  # fmt: skip


def _has(scope: str) -> Condition:
    return lambda at: scope in at.context.key.scopes


def _has_only(scope: str) -> Condition:
    return lambda at: at.context.key.scopes == {scope}


def _body_is(**fields: object) -> Condition:
    """The body has these fields and no others; an ellipsis stands for any value."""
    return lambda at: (isinstance(at.body, dict) and set(at.body) == set(fields)
                       and all(value in (..., at.body[name]) for name, value in fields.items()))  # fmt: skip


def _is_archived(at: Situation) -> bool:
    return at.stored is not None and at.stored.status == "archived"


def _has_asked_before(at: Situation) -> bool:
    seen, key = at.remembered("keys", set()), at.context.key.digest
    is_known = key in seen
    seen.add(key)
    return is_known


def _open(operation: str, when: Condition) -> Mutation:
    """Check no permission in some requests of an operation; ``*`` stands for all operations."""

    def around(service: Service, honest: Method, context: RequestContext) -> None:
        at = Situation(service, context)
        if operation not in {"*", at.operation} or not when(at):
            honest(context)

    return wrap("authorize", around)


def _refused_with(status: int) -> Mutation:
    """Refuse requests without permission with another status."""

    def around(_: Service, honest: Method, context: RequestContext) -> None:
        try:
            honest(context)
        except Refusal:
            raise Refusal(status, "The API key lacks a permission.") from None

    return wrap("authorize", around)


def _carry_out(at: Situation) -> None:
    at.service.check(at.context)
    at.service.find(at.context)
    getattr(at.service, ACTIONS[at.operation])(at.context)


async def _touch_if_forbidden(service: Service, honest: Method, context: RequestContext) -> Reply:
    """Check the permission before anything else, outside the transaction, which the refusal would undo."""
    try:
        service.authorize(context)
    except Refusal:
        if context.operation.id == EDIT:
            service.store.edit_engagement(context.resource_id, {}, service.now())
        raise
    reply: Reply = await honest(context)
    return reply


def _note_own(at: Situation) -> None:
    if at.reply:
        at.remembered("own", set()).add(at.reply.content["data"]["id"])


def _is_of_lesser_key(at: Situation) -> bool:
    return at.context.resource_id in at.remembered("own", set()) and len(at.context.key.scopes) > 1


def _leave_own_out(service: Service, honest: Method, asked: EngagementQuery) -> Page[Engagement]:
    page: Page[Engagement] = honest(asked)
    return replace(page, items=tuple(item for item in page.items if item.id not in service.memory.get("own", ())))


OPEN = flat(
    (fault(f"scope-{scope.replace(':', '-')}-opens-{name}", f"A key with {scope} alone is allowed {operation}.",
           _open(operation, _has(scope)), _REFUSES[operation])
     for operation, (name, needed) in _OPERATIONS.items() for scope in _insufficient(needed)),
    fault("scope-once-only", "The permissions of a key are looked at for its first request only.",
          _open("*", _has_asked_before), *(_REFUSES[operation] for operation in (
              ARCHIVE, CREATE, GET_ORGANIZATION, DELETE, RENAME, INVITE, ROLE, REMOVE, LIST_MEMBERS, READ, EDIT))),
    (fault(f"scope-open-{label}", f"{words} needs no permission.",
           _open(operation, when), _REFUSES[operation]) for label, words, operation, when in (
        ("renaming", "An edit of the name alone", EDIT, _body_is(name=...)),
        ("full-edit", "An edit of name and description", EDIT, _body_is(name=..., description=...)),
        ("described-creation", "A creation with a description", CREATE, _body_is(name=..., description=...)),
        ("admin-invitation", "The invitation of an admin", INVITE, _body_is(email=..., role="admin")),
        ("member-role", "Making somebody a member again", ROLE, _body_is(role="member")),
        ("members-by-role", "The list of members by role", LIST_MEMBERS, lambda at: "role" in at.query),
        ("archived-read", "Reading an archived engagement", READ, _is_archived),
        ("archived-deletion", "Deleting an archived engagement", DELETE, _is_archived))),
)  # fmt: skip

CLOSED = flat(
    (fault(f"scope-shuts-{name}", f"A key with {own} alone is refused for {operation}.",
           refuse(operation, 403, _has_only(own), step="authorize"), _ALLOWS[operation])
     for operation, (name, own) in _OPERATIONS.items()),
    (fault(f"scope-refused-with-{status}", f"Want of permission is refused with {status} instead of 403.",
           _refused_with(status), *_REFUSES.values()) for status in (401, 404, 409)),
)  # fmt: skip

DONE = flat(
    (fault(f"scope-applied-{name}", f"The operation {operation} is refused for want of permission, and done.",
           refused_yet(operation, _carry_out, when, statuses=(403,)), _UNCHANGED) for operation, name, when in (
        *((operation, _OPERATIONS[operation][0], has_one_permission)
          for operation in (RENAME, CREATE, EDIT, DELETE, ARCHIVE)),
        (ROLE, "update-role", always), (REMOVE, "remove-member", always), (UNARCHIVE, "unarchive", always))),
    fault("scope-touches-refused", "An edit that is refused for want of permission moves updatedAt.",
          wrap("perform", _touch_if_forbidden), _UNCHANGED),
)  # fmt: skip

SHOWN = (
    fault("scope-reads-own-only",
          "A key with engagements:read alone finds no engagement, since another key has created it.",
          hide(_has_only("engagements:read")), _ALLOWS[READ]),
    fault("scope-counts-nothing", "A key with organizations:read alone is told that there are no engagements.",
          data(GET_ORGANIZATION, lambda _, shown: put(engagementCount=0)(shown), _has_only("organizations:read")),
          _ALLOWS[GET_ORGANIZATION]),
    fault("scope-hides-description", "A key with engagements:read alone sees no descriptions.",
          data(READ, lambda _, shown: put(description=None)(shown), _has_only("engagements:read")), _ALLOWS[READ]),
    fault("scope-hides-members", "A key with one permission alone sees no members.",
          data(LIST_MEMBERS, lambda *_: [], has_one_permission), _ALLOWS[LIST_MEMBERS], "list-members-total"),
    fault("scope-creates-for-itself",
          "An engagement created by a key with engagements:write alone exists only for keys like it.",
          after(CREATE, _note_own, _has_only("engagements:write")) | hide(_is_of_lesser_key)
          | wrap("find_engagements", _leave_own_out), _ALLOWS[CREATE]),
)  # fmt: skip
