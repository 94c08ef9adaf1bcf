"""Faults of permissions: operations that a key can or cannot use, and what its requests do, show and change."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.operations import SCOPES

from . import operations as op
from .changes import put
from .conditions import again, all_of, always, has_one_permission, noted, stored_archived
from .mutations import Method, Mutation, after, at_step, fault, flat, hide, refuse, refuse_with, refused_yet, wrap
from .replies import data

if TYPE_CHECKING:
    from conformance.reference.queries import EngagementQuery
    from conformance.reference.records import Engagement, Page
    from conformance.reference.service import Service

    from .situations import Condition, Situation

_NEEDS = {
    op.GET_ORGANIZATION: "organizations:read", op.RENAME: "organizations:write",
    op.LIST_MEMBERS: "organizations:read", op.INVITE: "organizations:write", op.ROLE: "organizations:write",
    op.REMOVE: "organizations:write", op.CREATE: "engagements:write", op.READ: "engagements:read",
    op.EDIT: "engagements:write", op.DELETE: "engagements:delete", op.ARCHIVE: "engagements:write",
}  # fmt: skip
"""The permission that each operation needs."""

_REFUSES = {operation: f"scope-refuses-{op.NAMES[operation]}" for operation in _NEEDS}
_ALLOWS = {operation: f"scope-allows-{op.NAMES[operation]}" for operation in _NEEDS}
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


def _body_has_only(**fields: object) -> Condition:
    """The body has these fields and no others; an ellipsis stands for any value."""
    return lambda at: (isinstance(at.body, dict) and set(at.body) == set(fields)
                       and all(value in (..., at.body[name]) for name, value in fields.items()))  # fmt: skip


def _open(operation: str, when: Condition) -> Mutation:
    """Check no permission in some requests of an operation; ``*`` stands for all operations."""
    return at_step("authorize", lambda at, honest: None if operation in {"*", at.operation} and when(at) else honest())


def _lacks_permission(at: Situation) -> bool:
    return at.service.required_scope(at.context) not in at.service.effective_scopes(at.context.key)


def _carry_out_unpermitted(at: Situation) -> None:
    at.service.check(at.context)
    at.service.find(at.context)
    getattr(at.service, op.ACTIONS[at.operation])(at.context)


def _leave_own_out(service: Service, honest: Method, asked: EngagementQuery) -> Page[Engagement]:
    page: Page[Engagement] = honest(asked)
    return replace(page, items=tuple(item for item in page.items if item.id not in service.memory.get("own", ())))


OPEN = flat(
    (fault(f"scope-{scope.replace(':', '-')}-opens-{op.NAMES[operation]}",
           f"A key with only {scope} may call {operation}.", _open(operation, _has(scope)), _REFUSES[operation])
     for operation, needed in _NEEDS.items() for scope in _insufficient(needed)),
    fault("scope-engagements-read-describes",
          "A key with only engagements:read may edit the description alone.",
          _open(op.EDIT, all_of(_has_only("engagements:read"), _body_has_only(description=...))), _REFUSES[op.EDIT]),
    fault("scope-once-only", "The permissions of a key are checked only for its first request.",
          _open("*", again("keys", lambda at: at.context.key.digest)), *(_REFUSES[operation] for operation in (
              op.ARCHIVE, op.CREATE, op.GET_ORGANIZATION, op.DELETE, op.RENAME, op.INVITE, op.ROLE, op.REMOVE,
              op.LIST_MEMBERS, op.READ, op.EDIT))),
    (fault(f"scope-open-{label}", f"{words} needs no permission.",
           _open(operation, when), _REFUSES[operation]) for label, words, operation, when in (
        ("renaming", "An edit of only the name", op.EDIT, _body_has_only(name=...)),
        ("full-edit", "An edit of name and description", op.EDIT, _body_has_only(name=..., description=...)),
        ("described-creation", "A creation with a description", op.CREATE, _body_has_only(name=..., description=...)),
        ("admin-invitation", "An invitation with the role admin", op.INVITE, _body_has_only(email=..., role="admin")),
        ("member-role", "A role change from admin to member", op.ROLE, _body_has_only(role="member")),
        ("members-by-role", "A list of members filtered by role", op.LIST_MEMBERS, lambda at: "role" in at.query),
        ("members-by-page", "A list of members with page", op.LIST_MEMBERS, lambda at: "page" in at.query),
        ("archived-read", "Reading an archived engagement", op.READ, stored_archived),
        ("archived-deletion", "Deleting an archived engagement", op.DELETE, stored_archived))),
)  # fmt: skip

CLOSED = flat(
    (fault(f"scope-shuts-{op.NAMES[operation]}", f"A key with only {own} may not call {operation}.",
           refuse(operation, 403, _has_only(own), step="authorize"), _ALLOWS[operation])
     for operation, own in _NEEDS.items()),
    fault("scope-shuts-described-creation", "A key with only engagements:write may not create with a description.",
          refuse(op.CREATE, 403, all_of(_has_only("engagements:write"), _body_has_only(name=..., description=...)),
                 step="authorize"), _ALLOWS[op.CREATE]),
    (fault(f"scope-refused-with-{status}", f"A request without permission is refused with {status} instead of 403.",
           refuse_with(status, "authorize"), *_REFUSES.values()) for status in (401, 404, 409)),
)  # fmt: skip

DONE = flat(
    (fault(f"scope-applied-{name}", f"{operation} without permission is refused but carried out.",
           refused_yet(operation, _carry_out_unpermitted, when, statuses=(403,)), _UNCHANGED)
     for operation, name, when in (
        *((operation, op.NAMES[operation], has_one_permission)
          for operation in (op.RENAME, op.CREATE, op.EDIT, op.DELETE, op.ARCHIVE)),
        (op.ROLE, "update-role", always), (op.REMOVE, "remove-member", always), (op.UNARCHIVE, "unarchive", always))),
    fault("scope-touches-refused", "An edit without permission is refused but moves updatedAt.",
          refused_yet(op.EDIT, lambda at: at.edit(), _lacks_permission), _UNCHANGED),
)  # fmt: skip

SHOWN = (
    fault("scope-reads-own-only",
          "A key with only engagements:read finds no engagement that another key has created.",
          hide(_has_only("engagements:read")), _ALLOWS[op.READ]),
    fault("scope-counts-nothing", "A key with only organizations:read reads an engagementCount of 0.",
          data(op.GET_ORGANIZATION, lambda _, shown: put(engagementCount=0)(shown), _has_only("organizations:read")),
          "engagement-count-agrees"),
    fault("scope-hides-description", "A key with only engagements:read reads null instead of descriptions.",
          data(op.READ, lambda _, shown: put(description=None)(shown), _has_only("engagements:read")),
          _ALLOWS[op.READ]),
    fault("scope-hides-members", "A key with only one permission gets an empty list of members.",
          data(op.LIST_MEMBERS, lambda *_: [], has_one_permission), _ALLOWS[op.LIST_MEMBERS], "list-members-total"),
    fault("scope-creates-for-itself",
          "An engagement created by a key with only engagements:write is hidden from keys with more permissions.",
          after(op.CREATE, lambda at: at.remembered("own", set()).add(at.data["id"]), _has_only("engagements:write"))
          | hide(lambda at: noted("own")(at) and len(at.context.key.scopes) > 1)
          | wrap("find_engagements", _leave_own_out), _ALLOWS[op.CREATE]),
)  # fmt: skip
