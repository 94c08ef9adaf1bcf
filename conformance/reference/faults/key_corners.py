"""Faults of keys, permissions, isolation and limits that show only for some keys, or for some requests."""

from __future__ import annotations

import base64
import json
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.reference.faults import fault
from conformance.reference.faults.making import made, overwrite, replied
from conformance.reference.queries import EngagementQuery
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.call import Call, Reply
    from conformance.reference.faults import Fault
    from conformance.reference.records import Engagement, Key, Page

_SCHEME, _UNKNOWN, _MISSING = "key-other-scheme-refused", "key-unknown-refused", "key-missing-refused"
_UNAUTHORIZED = 401
_LEAST = 4
_BEGINNING = 8
_NULL = "null"


# Keys that are not quite good


def _header(call: Call) -> str:
    return str(call.request.headers.get("authorization", ""))


def _finding(identifier: str, title: str, find: Callable[[Service, Call], Key | None], *breaks: str) -> Fault:
    """A service that finds a key where an honest one refuses; ``find`` is asked then."""

    def authenticate(self: Service, call: Call) -> Key:
        try:
            return Service.authenticate(self, call)
        except Refusal:
            found = find(self, call)
            if found is None or found.revoked:
                raise
            return found

    return made(identifier, title, *breaks, authenticate=authenticate)


def _schemeless(service: Service, call: Call) -> Key | None:
    return service.find_key(_header(call).strip())


def _scheme(name: str) -> Callable[[Service, Call], Key | None]:
    def find(service: Service, call: Call) -> Key | None:
        scheme, _, token = _header(call).partition(" ")
        return service.find_key(token.strip()) if scheme.lower() == name else None

    return find


def _basic_name(service: Service, call: Call) -> Key | None:
    """Look for the key as the name of Basic authentication."""
    scheme, _, token = _header(call).partition(" ")
    if scheme.lower() != "basic":
        return None
    with suppress(ValueError):
        return service.find_key(base64.b64decode(token).decode().partition(":")[0])
    return None


def _beginning(name: str) -> Callable[[Service, Call], Key | None]:
    """Find a key behind whatever begins like a scheme."""

    def find(service: Service, call: Call) -> Key | None:
        scheme, _, token = _header(call).partition(" ")
        return service.find_key(token.strip()) if scheme.startswith(name) else None

    return find


def _first_of_list(service: Service, call: Call) -> Key | None:
    """Find a key as the first item of a list behind the scheme."""
    scheme, _, token = _header(call).partition(" ")
    first, comma, _ = token.partition(",")
    return service.find_key(first) if scheme == "Bearer" and comma else None


def _header_of(name: str) -> Callable[[Service, Call], Key | None]:
    """Find a key in another header."""
    return lambda service, call: service.find_key(call.request.headers.get(name, ""))


def _cookie(service: Service, call: Call) -> Key | None:
    return service.find_key(call.request.cookies.get("access_token", ""))


def _basic_password(service: Service, call: Call) -> Key | None:
    """Look for the key as the password of Basic authentication."""
    scheme, _, token = _header(call).partition(" ")
    with suppress(ValueError):
        return service.find_key(base64.b64decode(token).decode().partition(":")[2]) if scheme == "Basic" else None
    return None


def _stumbling(identifier: str, title: str, stumbles: Callable[[str], bool]) -> Fault:
    """A service that fails over some keys."""

    def find_key(self: Service, token: str) -> Key | None:
        if stumbles(token):
            raise Refusal(500, "Something went wrong.")
        return Service.find_key(self, token)

    return made(identifier, title, "no-server-error", _UNKNOWN, find_key=find_key)


def _resembling(identifier: str, title: str, is_like: Callable[[str, str], bool]) -> Fault:
    """A service that compares keys carelessly; ``is_like`` is given a key seen before and the one that was sent."""

    def find_key(self: Service, token: str) -> Key | None:
        found = Service.find_key(self, token)
        seen: frozenset[str] = getattr(self, "_seen", frozenset())
        if found is not None:
            setattr(self, "_seen", seen | {token})  # noqa: B010 - a field of this fault alone
            return found
        like = next((one for one in sorted(seen) if len(token) >= _LEAST and is_like(one, token)), None)
        return Service.find_key(self, like) if like else None

    return made(identifier, title, _UNKNOWN, find_key=find_key)


KEYS = (
    _finding("key-without-scheme", "A key is taken without a scheme.", _schemeless, _SCHEME),
    _finding("key-as-token", "A key is taken under the scheme Token.", _scheme("token"), _SCHEME),
    _finding("key-as-apikey", "A key is taken under the scheme ApiKey.", _scheme("apikey"), _SCHEME),
    _finding("key-as-basic-name", "A key is taken as the name of Basic authentication.", _basic_name, _SCHEME),
    _finding("key-scheme-bot", "A key is taken under the scheme Bot.", _scheme("bot"), _SCHEME),
    _finding("key-scheme-beginning", "Whatever begins with Bearer is taken for it.", _beginning("Bearer"), _SCHEME),
    _finding("key-first-of-list", "Of a list behind Bearer the first item is the key.", _first_of_list, _UNKNOWN),
    _finding("key-as-basic-password", "A key is taken as the password of Basic.", _basic_password, _SCHEME),
    _finding("key-as-basic", "A key is taken as it is behind Basic.", _scheme("basic"), _SCHEME),
    _finding("key-as-digest", "A key is taken under the scheme Digest.", _scheme("digest"), _SCHEME),
    _finding("key-as-key", "A key is taken under the scheme Key.", _scheme("key"), _SCHEME),
    _finding("key-as-jwt", "A key is taken under the scheme JWT.", _scheme("jwt"), _SCHEME),
    _finding("key-in-another-header", "A key is taken from X-Api-Key.", _header_of("x-api-key"), _MISSING),
    _finding("key-in-x-auth-token", "A key is taken from X-Auth-Token.", _header_of("x-auth-token"), _MISSING),
    _finding("key-in-a-cookie", "A key is taken from a cookie.", _cookie, _MISSING),
    _stumbling("key-null-stumbles", "The key null gives 500.", lambda token: token == _NULL),
    _stumbling("key-long-stumbles", "A key of more than 300 characters gives 500.", lambda token: len(token) > 300),  # noqa: PLR2004
    _resembling("key-null-taken", "The word null is taken for any key.", lambda _, token: token == _NULL),
    _resembling("key-letter-case-ignored", "Letter case of a key does not count.",
                lambda one, token: one.casefold() == token.casefold()),
    _resembling("key-last-character-ignored", "The last character of a key does not count.",
                lambda one, token: one[:-1] == token[:-1]),
    _resembling("key-first-half-enough", "Only the first half of a key counts.",
                lambda one, token: one[: len(one) // 2] == token[: len(one) // 2]),
    _resembling("key-beginning-enough", "The first eight characters of a key are enough.",
                lambda one, token: one[:_BEGINNING] == token[:_BEGINNING]),
    _resembling("key-longer-taken", "A key with something behind it is taken.",
                lambda one, token: token.startswith(one)),
    _resembling("key-shorter-taken", "The beginning of a key is taken for it.",
                lambda one, token: one.startswith(token)),
    _resembling("key-of-same-length", "Every key of the right length is taken.",
                lambda one, token: len(one) == len(token)),
)  # fmt: skip


# Permissions


@fault("scope-once-only", "scope-refuses-archive-engagement", "scope-refuses-create-engagement",
       "scope-refuses-get-organization", "scope-refuses-delete-engagement", "scope-refuses-update-organization",
       "scope-refuses-invite", "scope-refuses-update-role", "scope-refuses-remove-member", "scope-refuses-list-members",
       "scope-refuses-get-engagement", "scope-refuses-update-engagement")  # fmt: skip
class ScopeOnceOnly(Service):
    """The permissions of a key are looked at for its first request only."""

    _tried: frozenset[str] = frozenset()

    def authorize(self, call: Call) -> None:
        """Let later ones pass."""
        if call.key.digest in self._tried:
            return
        self._tried |= {call.key.digest}
        super().authorize(call)


@fault("scope-touches-refused", "scope-refused-changes-nothing")
class ScopeTouchesRefused(Service):
    """An edit that is refused for want of permission moves updatedAt."""

    def authorize(self, call: Call) -> None:
        """Touch it."""
        try:
            super().authorize(call)
        except Refusal:
            if call.operation.id == "updateEngagement":
                self.store.edit_engagement(call.resource_id, {}, self.now())
            raise

    async def perform(self, call: Call) -> Reply:
        """Keep what a refusal would undo."""
        self.authorize(call)
        return await super().perform(call)


def _scope_applied(operation: str, words: str) -> Fault:
    """An operation on members that is refused for want of permission, and done."""

    async def perform(self: Service, call: Call) -> Reply:
        try:
            return await Service.perform(self, call)
        except Refusal as refusal:
            if call.operation.id == operation and refusal.status == 403:  # noqa: PLR2004
                with suppress(Refusal):
                    self.check(call)
                    self.find(call)
                    self._actions[operation](call)
            raise

    return made(f"scope-applied-{words}", f"The operation {operation} is refused for want of permission, and done.",
                "scope-refused-changes-nothing", perform=perform)  # fmt: skip


SCOPES_APPLIED = (
    _scope_applied("updateMemberRole", "update-role"),
    _scope_applied("removeMember", "remove-member"),
)


# What is looked at before the key


def _early(identifier: str, title: str, refuses: Callable[[Service, Call], bool]) -> Fault:
    """A service that says of some requests that they are invalid rather than that the key is."""

    async def serve(self: Service, call: Call) -> Reply:
        try:
            return await Service.serve(self, call)
        except Refusal as refusal:
            if refusal.status != _UNAUTHORIZED:
                raise
            call.operation = self.find_operation(call)
            call.content = await self.receive(call) if call.operation.takes_body else b""
            if refuses(self, call):
                raise Refusal(422, "The request is invalid.") from None
            raise

    return made(identifier, title, "authentication-before-validation", serve=serve)


def _is_nonsense(parameter: str, *values: str) -> Callable[[Service, Call], bool]:
    return lambda _, call: call.request.query_params.get(parameter) not in {None, *values}


def _lacks(operation: str, *fields: str) -> Callable[[Service, Call], bool]:
    def refuses(_: Service, call: Call) -> bool:
        sent = _sent(call)
        return call.operation.id == operation and isinstance(sent, dict) and not {*fields} <= {*sent}

    return refuses


def _sent(call: Call) -> Any:  # noqa: ANN401 - whatever a client sends
    with suppress(ValueError):
        return json.loads(call.content)
    return None


EARLY = (
    _early("status-before-key", "A nonsense status is refused before the key is looked at.",
           _is_nonsense("status", "active", "archived")),
    _early("role-before-key", "A nonsense role to filter by is refused before the key is looked at.",
           _is_nonsense("role", "owner", "admin", "member")),
    _early("missing-name-before-key", "A creation without a name is refused before the key is looked at.",
           _lacks("createEngagement", "name")),
    _early("missing-role-before-key", "A role change without a role is refused before the key is looked at.",
           _lacks("updateMemberRole", "role")),
)  # fmt: skip


# Permissions that are not looked at for some requests


def _open(identifier: str, title: str, passes: Callable[[Service, Call], bool], *breaks: str) -> Fault:
    """A service that looks at no permission for some requests."""

    def authorize(self: Service, call: Call) -> None:
        if not passes(self, call):
            Service.authorize(self, call)

    return made(identifier, title, *breaks, authorize=authorize)


def _asks(operation: str, **fields: object) -> Callable[[Service, Call], bool]:
    """Whether a call of an operation sends these fields and no others; an ellipsis stands for any value."""

    def passes(_: Service, call: Call) -> bool:
        sent = _sent(call)
        return (
            call.operation.id == operation
            and isinstance(sent, dict)
            and {*sent} == {*fields}
            and all(value in (..., sent[name]) for name, value in fields.items())
        )

    return passes


def _is_archived(operation: str) -> Callable[[Service, Call], bool]:
    def passes(service: Service, call: Call) -> bool:
        found = service.store.engagement(call.resource_id) if call.operation.id == operation else None
        return found is not None and found.status == "archived"

    return passes


def _is_filtered(_: Service, call: Call) -> bool:
    return call.operation.id == "listMembers" and "role" in call.request.query_params


OPEN = (
    _open("scope-open-renaming", "An edit of the name alone needs no permission.",
          _asks("updateEngagement", name=...), "scope-refuses-update-engagement"),
    _open("scope-open-full-edit", "An edit of name and description needs no permission.",
          _asks("updateEngagement", name=..., description=...), "scope-refuses-update-engagement"),
    _open("scope-open-described-creation", "A creation with a description needs no permission.",
          _asks("createEngagement", name=..., description=...), "scope-refuses-create-engagement"),
    _open("scope-open-admin-invitation", "The invitation of an admin needs no permission.",
          _asks("inviteMember", email=..., role="admin"), "scope-refuses-invite"),
    _open("scope-open-member-role", "Making somebody a member again needs no permission.",
          _asks("updateMemberRole", role="member"), "scope-refuses-update-role"),
    _open("scope-open-members-by-role", "The list of members by role needs no permission.",
          _is_filtered, "scope-refuses-list-members"),
    _open("scope-open-archived-read", "Reading an archived engagement needs no permission.",
          _is_archived("getEngagement"), "scope-refuses-get-engagement"),
    _open("scope-open-archived-deletion", "Deleting an archived engagement needs no permission.",
          _is_archived("deleteEngagement"), "scope-refuses-delete-engagement"),
)  # fmt: skip


# Keys with one permission that see something else


def _less(identifier: str, title: str, operation: str, scope: str, field: str, value: object, *breaks: str) -> Fault:
    """A key with one permission alone sees something else in a field."""

    def change(call: Call, reply: Reply) -> Reply:
        if call.key.scopes != {scope}:
            return reply
        return replace(reply, content={**reply.content, "data": {**reply.content["data"], field: value}})

    return replied(identifier, title, operation, change, *breaks)


def _no_members(call: Call, reply: Reply) -> Reply:
    return replace(reply, content={**reply.content, "data": []}) if len(call.key.scopes) == 1 else reply


LESS = (
    _less("scope-counts-nothing", "A key with organizations:read alone is told that there are no engagements.",
          "getCurrentOrganization", "organizations:read", "engagementCount", 0, "scope-allows-get-organization"),
    _less("scope-hides-description", "A key with engagements:read alone sees no descriptions.",
          "getEngagement", "engagements:read", "description", None, "scope-allows-get-engagement"),
    replied("scope-hides-members", "A key with one permission alone sees no members.", "listMembers", _no_members,
            "scope-allows-list-members", "list-members-total"),
)  # fmt: skip


@fault("scope-creates-for-itself", "scope-allows-create-engagement")
class ScopeCreatesForItself(Service):
    """What a key with engagements:write alone creates is only there for keys like it."""

    _own: frozenset[str] = frozenset()

    def create_engagement(self, call: Call) -> Reply:
        """Remember it."""
        reply = super().create_engagement(call)
        if call.key.scopes == {"engagements:write"}:
            self._own |= {reply.content["data"]["id"]}
        return reply

    def find_engagement(self, call: Call) -> Engagement:
        """Hide it from others."""
        if call.resource_id in self._own and len(call.key.scopes) > 1:
            raise self.not_found("engagement")
        return super().find_engagement(call)

    def find_engagements(self, query: EngagementQuery) -> Page[Engagement]:
        """Leave it out."""
        page = super().find_engagements(query)
        return replace(page, items=tuple(item for item in page.items if item.id not in self._own))


# Other organizations


@fault("leak-renaming-renames-all", "isolation-untouched")
class LeakRenamingRenamesAll(Service):
    """A renaming renames every organization."""

    def update_organization(self, call: Call) -> Reply:
        """Rename the others, too."""
        reply = super().update_organization(call)
        for other in self.store.organization_ids():
            overwrite(self, "organizations", other, name=self.store.organization(call.organization_id).name)
        return reply


@fault("leak-archives-namesakes", "isolation-untouched")
class LeakArchivesNamesakes(Service):
    """Archiving an engagement archives those of the same name in other organizations."""

    def archive_engagement(self, call: Call) -> Reply:
        """Archive by name."""
        for other in self.store.organization_ids():
            if other != call.organization_id:
                query = EngagementQuery(other, 0, 1000)
                for engagement in self.store.engagements(query).items:
                    if engagement.name == call.engagement.name:
                        self.set_status(engagement, "archived")
        return super().archive_engagement(call)


@fault("leak-list-by-change", "isolation-lists", "list-engagements-pages-partition", "sort-by-updated-at")
class LeakListByChange(Service):
    """A list that is sorted by updatedAt holds the engagements of every organization."""

    def find_engagements(self, query: EngagementQuery) -> Page[Engagement]:
        """Mix them in."""
        page = super().find_engagements(query)
        if query.sort != "updatedAt":
            return page
        others = [other for other in self.store.organization_ids() if other != query.organization_id]
        pages = [Service.find_engagements(self, replace(query, organization_id=one)) for one in others]
        items = [item for one in (page, *pages) for item in one.items]
        items.sort(key=lambda item: item.updated_at, reverse=query.descending)
        return replace(page, items=tuple(items[: query.limit]))


# Beyond the limit


def _applied(operation: str, words: str) -> Fault:
    """An operation that is refused with 429, and done."""

    async def serve(self: Service, call: Call) -> Reply:
        try:
            return await Service.serve(self, call)
        except Refusal as refusal:
            if refusal.status == 429:  # noqa: PLR2004
                call.operation = self.find_operation(call)
                call.content = await self.receive(call) if call.operation.takes_body else b""
                with suppress(Refusal):
                    _ = call.operation.id == operation and self.act(call)
            raise

    return made(f"throttled-applied-{words}", f"{operation} beyond the limit is refused with 429, and done.",
                "throttled-changes-nothing", serve=serve)  # fmt: skip


THROTTLED = (
    _applied("updateEngagement", "edit"),
    _applied("archiveEngagement", "archive"),
    _applied("deleteEngagement", "deletion"),
)


@fault("throttled-write-remaining", "throttled-remaining-zero")
class ThrottledWriteRemaining(Service):
    """A 429 to a write says that one request remains."""

    def rate_limit_headers(self, call: Call, reply: Reply) -> dict[str, str]:
        """Count one back."""
        headers = super().rate_limit_headers(call, reply)
        is_write = reply.status == 429 and call.request.method != "GET"  # noqa: PLR2004
        return {**headers, "X-RateLimit-Remaining": "1"} if is_write else headers
