"""Faults of keys and permissions: what a key can and cannot do, and wrong keys that the service accepts."""

from __future__ import annotations

import base64
from contextlib import suppress
from dataclasses import replace
from itertools import cycle
from typing import TYPE_CHECKING

from conformance.interface.operations import SCOPES
from conformance.reference.records import Key
from conformance.reference.refusal import Refusal

from . import operations as op
from .changes import data, past_item, put, query, set_fields
from .conditions import (
    again,
    all_of,
    always,
    counted,
    has_one_permission,
    lacks,
    noted,
    of_member,
    responds,
    sends_other_than_text,
    stored_archived,
)
from .mutations import (
    Method,
    Mutation,
    after,
    at_step,
    fault,
    flat,
    hide,
    refuse,
    refuse_with,
    refused_early,
    refused_yet,
    wrap,
)
from .operations import ACTIONS
from .situations import note

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.queries import EngagementQuery
    from conformance.reference.records import Engagement, Page
    from conformance.reference.service import Service

    from .situations import Action, Condition, Situation


_MISSING, _SCHEME = "key-missing-refused", "key-other-scheme-refused"
_EMPTY, _UNKNOWN = "key-empty-refused", "key-unknown-refused"
_LOOKUP, _VALIDATION = "authentication-before-lookup", "authentication-before-validation"
_CHANGES_NOTHING, _NO_ERROR = "unauthenticated-changes-nothing", "no-server-error"
_UNAUTHORIZED, _NULL = 401, "null"
_TWICE, _THIRD = 2, 3
_SHORTEST, _LONG = 4, 300
"""Characters of the shortest token that is compared with keys, and of the longest that gives no 500."""


def _header(at: Situation, name: str = "authorization") -> str:
    return at.context.request.headers.get(name, "")


def _scheme(at: Situation) -> str:
    return _header(at).partition(" ")[0]


def _token(at: Situation) -> str:
    return _header(at).partition(" ")[2]


_WRONG: dict[str, tuple[str, Condition]] = {
    "missing": ("without an Authorization header", lambda at: "authorization" not in at.context.request.headers),
    "other-scheme": ("with a scheme other than Bearer",
                     lambda at: bool(_token(at)) and _scheme(at).lower() != "bearer"),
    "empty": ("with an empty key", lambda at: _header(at).strip() == "Bearer"),
    "unknown": ("with an unknown key", lambda at: _scheme(at) == "Bearer" and bool(_token(at).strip())),
}  # fmt: skip
"""Kinds of wrong keys: the words for a request with such a key, and whether a refused request has one."""


# Serving requests whose key is refused


def _accept(find: Callable[[Situation], Key | None], when: Condition = always) -> Mutation:
    """Serve some requests whose key is refused, with the key that ``find`` returns unless it is revoked."""

    def around(at: Situation, honest: Method) -> object:
        try:
            return honest()
        except Refusal:
            key = find(at) if when(at) else None
            if key is None or key.revoked:
                raise
            return key

    return at_step("authenticate", around)


def _any_key(at: Situation) -> Key:
    """Return a key of the first organization with all permissions."""
    return Key("any key", at.store.organization_ids()[0], None, frozenset(SCOPES))


def _accept_wrong(kind: str, *operations: str) -> Mutation:
    """Serve operations with a kind of wrong keys."""
    return _accept(_any_key, all_of(_WRONG[kind][1], lambda at: at.service.find_operation(at.context).id in operations))


def _accept_from(read: Callable[[Situation], str]) -> Mutation:
    """Accept a valid key from another place than the honest one."""
    return _accept(lambda at: at.service.find_key(read(at)))


def _accept_behind(takes: Callable[[str], bool], decode: Callable[[str], str] = str.strip) -> Mutation:
    """Accept a valid key behind some schemes; ``decode`` returns the key for what follows the scheme."""
    return _accept_from(lambda at: decode(_token(at)) if takes(_scheme(at)) else "")


def _is_scheme(name: str) -> Callable[[str], bool]:
    return lambda scheme: scheme.lower() == name.lower()


def _in_basic(part: int) -> Callable[[str], str]:
    """Read the name (0) or the password (2) of Basic authentication."""

    def decode(token: str) -> str:
        with suppress(ValueError):
            return base64.b64decode(token).decode().partition(":")[part]
        return ""

    return decode


def _remember_connection(at: Situation, honest: Method) -> object:
    key = honest()
    at.remembered("connections", {})[at.context.request.client] = at.service.bearer_token(at.context)
    return key


def _accept_similar(is_similar: Callable[[str, str], bool]) -> Mutation:
    """Accept tokens that are similar to a key that was used before; ``is_similar`` gets the key and the token."""

    def around(service: Service, honest: Method, token: str) -> object:
        used, found = service.memory.setdefault("used", set()), honest(token)
        if found is not None:
            used.add(token)
        similar = (key for key in sorted(used) if len(token) >= _SHORTEST and is_similar(key, token))
        return found or next((honest(key) for key in similar), None)

    return wrap("find_key", around)


WRONG = (
    *(fault(f"key-{kind}-served", f"Every operation is served {words}.",
            _accept_wrong(kind, *ACTIONS), f"key-{kind}-refused") for kind, (words, _) in _WRONG.items()),
    *(fault(f"key-{kind}-{operation}".lower(), f"{operation} is served {_WRONG[kind][0]}.",
            _accept_wrong(kind, operation), f"key-{kind}-refused")
      for operation, kind in zip(ACTIONS, cycle(_WRONG), strict=False)),
)  # fmt: skip

MISPLACED = (
    fault("key-without-scheme", "A key without a scheme is accepted.",
          _accept_from(lambda at: _header(at).strip()), _SCHEME),
    *(fault(f"key-{words}-{name}".lower(), f"A key with the scheme {name} is accepted.",
            _accept_behind(_is_scheme(name)), _SCHEME) for words, name in (
        ("as", "Token"), ("as", "ApiKey"), ("scheme", "Bot"), ("as", "Digest"), ("as", "Key"), ("as", "JWT"))),
    fault("key-scheme-beginning", "Any scheme that begins with Bearer is accepted.",
          _accept_behind(lambda scheme: scheme.startswith("Bearer")), _SCHEME),
    fault("key-first-of-list", "The first item of a list after Bearer is accepted as the key.",
          _accept_behind(lambda scheme: scheme == "Bearer", lambda token: token.partition(",")[0]), _UNKNOWN),
    fault("key-as-basic", "A key with the scheme Basic, not encoded, is accepted.", _accept_behind(_is_scheme("Basic")),
          _SCHEME),
    fault("key-as-basic-name", "A key as the user name of Basic authentication is accepted.",
          _accept_behind(_is_scheme("Basic"), _in_basic(0)), _SCHEME),
    fault("key-as-basic-password", "A key as the password of Basic authentication is accepted.",
          _accept_behind(lambda scheme: scheme == "Basic", _in_basic(2)), _SCHEME),
    fault("key-in-another-header", "A key in the header X-Api-Key is accepted.",
          _accept_from(lambda at: _header(at, "x-api-key")), _MISSING),
    fault("key-in-x-auth-token", "A key in the header X-Auth-Token is accepted.",
          _accept_from(lambda at: _header(at, "x-auth-token")), _MISSING),
    fault("key-in-a-cookie", "A key in a cookie is accepted.",
          _accept_from(lambda at: at.context.request.cookies.get("access_token", "")), _MISSING),
    fault("key-of-connection",
          "A request without an Authorization header is served on a connection that was used with a key.",
          at_step("authenticate", _remember_connection)
          | _accept(lambda at: at.service.find_key(at.remembered("connections", {}).get(at.context.request.client, "")),
                    _WRONG["missing"][1]), _MISSING),
)  # fmt: skip

SIMILAR = (
    *(fault(f"key-{words}", title, _accept_similar(is_similar), _UNKNOWN) for words, title, is_similar in (
        ("null-taken", "The word null is accepted as a key.", lambda _, token: token == _NULL),
        ("letter-case-ignored", "A key in another letter case is accepted.",
         lambda key, token: key.casefold() == token.casefold()),
        ("last-character-ignored", "A key with another last character is accepted.",
         lambda key, token: key[:-1] == token[:-1]),
        ("first-half-enough", "A key with another second half is accepted.",
         lambda key, token: token.startswith(key[: len(key) // 2])),
        ("beginning-enough", "Any key with the first eight characters of a valid key is accepted.",
         lambda key, token: key[:8] == token[:8]),
        ("longer-taken", "A valid key with more text after it is accepted.", lambda key, token: token.startswith(key)),
        ("shorter-taken", "The beginning of a valid key is accepted.", lambda key, token: key.startswith(token)),
        ("of-same-length", "Any key of the right length is accepted.", lambda key, token: len(key) == len(token)))),
)  # fmt: skip


# Refusing keys with another status


def _before_key(action: Action) -> Mutation:
    """Do something before the key is checked."""

    def around(at: Situation, honest: Method) -> object:
        action(at)
        return honest()

    return at_step("authenticate", around)


REFUSED = (
    *(fault(f"key-{kind}-{status}", f"{words} is refused with {status}.",
            refuse_with(status, "authenticate", _WRONG[kind][1]), f"key-{kind}-refused") for kind, words, status in (
        ("unknown", "An unknown key", 403), ("missing", "A missing key", 400), ("missing", "A missing key", 403),
        ("other-scheme", "A scheme other than Bearer", 400), ("empty", "An empty key", 404))),
    fault("key-null-stumbles", "The word null as a key causes a 500.",
          refuse_with(500, "authenticate", lambda at: at.service.bearer_token(at.context) == _NULL),
          _NO_ERROR, _UNKNOWN),
    fault("key-long-stumbles", "A key of more than 300 characters causes a 500.",
          refuse_with(500, "authenticate", lambda at: len(at.service.bearer_token(at.context)) > _LONG),
          _NO_ERROR, _UNKNOWN),
    fault("key-empty-header-stumbles", "An empty Authorization header causes a 500.",
          _before_key(lambda at: at.context.request.headers.get("authorization", "none").split()[0]),
          _NO_ERROR, _EMPTY),
)  # fmt: skip


# Reading or changing something before the key is refused


def _find_operation(at: Situation) -> None:
    at.context.operation = at.service.find_operation(at.context)


_FIND_OPERATION = _before_key(_find_operation)


def _find_engagement(at: Situation) -> None:
    if at.context.operation.finds == "engagement" and at.stored is None:
        raise at.service.not_found("engagement")


def _find_member(at: Situation) -> None:
    first = at.store.organization_ids()[0]
    if at.context.operation.finds == "member" and at.store.member(first, at.context.resource_id) is None:
        raise at.service.not_found("member")


def _check_sort(at: Situation) -> None:
    if at.query.get("sort", "name") not in {"name", "createdAt", "updatedAt"}:
        raise Refusal(422, "The sort key is unknown.")


def _validate_first(operation: str) -> Mutation:
    """Receive and validate a request before its key is checked."""

    async def around(at: Situation, honest: Method) -> object:
        at.context.content = await at.context.request.body()
        return await honest()

    return (_before_key(lambda at: at.service.check(at.context) if at.operation == operation else None)
            | _FIND_OPERATION | at_step("serve", around))  # fmt: skip


def _refuse_first(when: Condition) -> Mutation:
    """Refuse some requests as invalid rather than for their key."""

    async def around(at: Situation, honest: Method) -> object:
        try:
            return await honest()
        except Refusal as refusal:
            if refusal.status == _UNAUTHORIZED:
                _find_operation(at)
                at.context.content = await at.service.receive(at.context)
                if when(at):
                    raise Refusal(422, "The request is invalid.") from None
            raise

    return at_step("serve", around)


def _act_with_any_key(at: Situation) -> None:
    at.context.key = _any_key(at)
    at.service.act(at.context)


EARLY = (
    fault("lookup-before-authentication", "Without a valid key, an unknown engagement gets 404 instead of 401.",
          _before_key(_find_engagement) | _FIND_OPERATION, _LOOKUP),
    fault("sort-checked-before-key", "An invalid sort value is refused before the key is checked.",
          _before_key(_check_sort), _VALIDATION),
    fault("member-lookup-before-authentication", "Without a valid key, an unknown user gets 404 instead of 401.",
          _before_key(_find_member) | _FIND_OPERATION, _LOOKUP),
    fault("archived-conflict-before-key",
          "Without a valid key, an edit or archive of an archived engagement gives 409 instead of 401.",
          refuse_with(409, "authenticate", lambda at: at.operation in {"updateEngagement", "archiveEngagement"}
                      and stored_archived(at)) | _FIND_OPERATION, _MISSING, _SCHEME, _UNKNOWN, _EMPTY, _LOOKUP),
    *(fault(f"{name}-validated-before-key", f"{words} is validated before the key is checked.",
            _validate_first(operation), _VALIDATION) for name, words, operation in (
        ("creation", "A creation", "createEngagement"), ("list", "The list of engagements", "listEngagements"),
        ("invitation", "An invitation", "inviteMember"), ("edit", "An edit", "updateEngagement"),
        ("renaming", "A renaming", "updateCurrentOrganization"), ("members", "The list of members", "listMembers"),
        ("role", "A role change", "updateMemberRole"))),
    fault("status-before-key", "An invalid status filter is refused before the key is checked.",
          _refuse_first(lambda at: at.query.get("status") not in {None, "active", "archived"}), _VALIDATION),
    fault("role-before-key", "An invalid role filter is refused before the key is checked.",
          _refuse_first(lambda at: at.query.get("role") not in {None, "owner", "admin", "member"}), _VALIDATION),
    fault("description-type-before-key", "A description that is no text is refused before the key is checked.",
          _refuse_first(sends_other_than_text("description")), _VALIDATION),
    *(fault(f"missing-{name}-before-key", f"{words} is refused before the key is checked.",
            _refuse_first(all_of(responds(operation), lacks(field))), _VALIDATION)
      for name, words, operation, field in (
        ("name", "A creation without a name", "createEngagement", "name"),
        ("role", "A role change without a role", "updateMemberRole", "role"),
        ("address", "An invitation without an address", "inviteMember", "email"),
        ("invited-role", "An invitation without a role", "inviteMember", "role"))),
    *(fault(f"{name}-applied-without-key", f"{words} without a valid key is refused but carried out.",
            refused_early(401, operation, _act_with_any_key), _CHANGES_NOTHING) for name, words, operation in (
        ("creation", "A creation", "createEngagement"), ("edit", "An edit", "updateEngagement"),
        ("deletion", "A deletion", "deleteEngagement"), ("archive", "Archiving", "archiveEngagement"),
        ("unarchive", "Unarchiving", "unarchiveEngagement"), ("renaming", "A renaming", "updateCurrentOrganization"),
        ("role-change", "A role change", "updateMemberRole"))),
    fault("name-applied-without-key", "An edit without a valid key is refused but stores the name.",
          refused_early(401, "updateEngagement", lambda at: at.edit(name=at.field("name")),
                        lambda at: at.stored is not None and isinstance(at.field("name"), str)), _CHANGES_NOTHING),
)  # fmt: skip


_NEEDS = {
    op.GET_ORGANIZATION: "organizations:read", op.RENAME: "organizations:write",
    op.LIST_MEMBERS: "organizations:read", op.INVITE: "organizations:write", op.ROLE: "organizations:write",
    op.REMOVE: "organizations:write", op.CREATE: "engagements:write", op.READ: "engagements:read",
    op.EDIT: "engagements:write", op.DELETE: "engagements:delete", op.ARCHIVE: "engagements:write",
}  # fmt: skip
"""The permission that each operation needs."""

_REFUSES = {operation: f"scope-refuses-{op.NAMES[operation]}" for operation in _NEEDS}
_ALLOWS = {operation: f"scope-allows-{op.NAMES[operation]}" for operation in _NEEDS}
_UNCHANGED, _SPARES = "scope-refused-changes-nothing", "removal-spares-other-members"


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


def _would_change_nothing(at: Situation) -> bool:
    """The body of an edit has only values that its own engagement has already."""
    stored, sent = at.stored, at.body
    return (stored is not None and stored.organization_id == at.context.organization_id
            and isinstance(sent, dict) and bool(sent) and sent.keys() <= {"name", "description"}
            and all(getattr(stored, name) == value for name, value in sent.items()))  # fmt: skip


def _keep_first_permission(_: Service, honest: Method, key: Key) -> object:
    """Count only the first permission of a key, unless it has all."""
    scopes = key.scopes if len(key.scopes) == len(SCOPES) else sorted(key.scopes)[:1]
    return honest(replace(key, scopes=frozenset(scopes)))


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
              op.DELETE, op.ARCHIVE, op.CREATE, op.GET_ORGANIZATION, op.RENAME, op.INVITE, op.ROLE, op.REMOVE,
              op.LIST_MEMBERS, op.READ, op.EDIT))),
    (fault(f"scope-open-{label}", f"{words} needs no permission.",
           _open(operation, when), _REFUSES[operation]) for label, words, operation, when in (
        ("renaming", "An edit of only the name", op.EDIT, _body_has_only(name=...)),
        ("full-edit", "An edit of name and description", op.EDIT, _body_has_only(name=..., description=...)),
        ("edit-without-change", "An edit that sends only values that the engagement has already",
         op.EDIT, _would_change_nothing),
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
    fault("scope-first-only", "Of a key with several but not all permissions, only the first counts.",
          wrap("effective_scopes", _keep_first_permission), *_ALLOWS.values()),
    fault("scope-four-mean-all", "A key with four of the five permissions has the fifth, too.",
          wrap("effective_scopes", lambda _, honest, key:
               {*honest(key), *SCOPES} if len(key.scopes) >= len(SCOPES) - 1 else honest(key)), _REFUSES[op.RENAME],
          _REFUSES[op.INVITE], _REFUSES[op.ROLE], _REFUSES[op.REMOVE]),
    *(fault(f"key-{label}", f"{words}.", refuse(operation, status, all_of(whose, counted(
          "uses", test, lambda at: at.context.key.digest))), *breaks)
      for label, words, operation, status, whose, test, *breaks in (
        ("of-member-third-read-401", "A member's key gets 401 for its third read of the organization",
         op.GET_ORGANIZATION, 401, of_member, lambda use: use == _THIRD, _SPARES, "get-organization-succeeds"),
        ("of-member-second-engagements-404", "A member's key gets 404 for its second list of engagements",
         op.LIST, 404, of_member, lambda use: use == _TWICE, _SPARES, "list-engagements-succeeds"),
        ("of-member-second-list-403", "A member's key gets 403 for its second list of members",
         op.LIST_MEMBERS, 403, of_member, lambda use: use == _TWICE, _SPARES, "list-members-succeeds"),
        ("scoped-reads-twice", "A key with only organizations:read gets 403 once it has read the organization twice",
         op.GET_ORGANIZATION, 403, _has_only("organizations:read"), lambda use: use > _TWICE,
         _ALLOWS[op.GET_ORGANIZATION]))),
    (fault(f"scope-refused-with-{status}", f"A request without permission is refused with {status} instead of 403.",
           refuse_with(status, "authorize"), *_REFUSES.values()) for status in (401, 404, 409)),
)  # fmt: skip


def _refuse_ended(at: Situation, honest: Method) -> Key:
    key: Key = honest()
    if key.user_id in at.service.memory.get("ended", ()):
        raise at.service.unauthorized("The key has ended.")
    return key


DONE = flat(
    fault("refused-removal-ends-key", "A removal without permission is refused but ends the member's key.",
          refused_yet(op.REMOVE, note("ended"), statuses=(403,))
          | at_step("authenticate", _refuse_ended), _UNCHANGED),
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
    fault("scope-filters-nothing", "A key with only engagements:read lists all engagements, whatever the filter.",
          query(set_fields(status=None), _has_only("engagements:read")), "list-engagements-status-filter"),
    fault("scope-loses-one-on-page-2",
          "Each later page of engagements begins one too late for a key with only engagements:read.",
          query(past_item, _has_only("engagements:read")), "list-engagements-pages-partition"),
    fault("scope-hides-members", "A key with only one permission gets an empty list of members.",
          data(op.LIST_MEMBERS, lambda *_: [], has_one_permission), _ALLOWS[op.LIST_MEMBERS], "list-members-total"),
    fault("scope-creates-for-itself",
          "An engagement created by a key with only engagements:write is hidden from keys with more permissions.",
          after(op.CREATE, lambda at: at.remembered("own", set()).add(at.data["id"]), _has_only("engagements:write"))
          | hide(lambda at: noted("own")(at) and len(at.context.key.scopes) > 1)
          | wrap("find_engagements", _leave_own_out), _ALLOWS[op.CREATE]),
    fault("admin-invitation-needs-read",
          "A key with organizations:write but not organizations:read may not invite an admin.",
          refuse(op.INVITE, 403, lambda at: at.values["role"] == "admin" and _has_only("organizations:write")(at)),
          _ALLOWS[op.INVITE]),
)  # fmt: skip
