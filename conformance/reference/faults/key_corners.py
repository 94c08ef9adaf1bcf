"""Faults of keys, permissions, isolation and limits that show only for some keys, or for some requests."""

from __future__ import annotations

import base64
from contextlib import suppress
from typing import TYPE_CHECKING

from conformance.reference.faults import fault
from conformance.reference.faults.making import made
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.call import Call, Reply
    from conformance.reference.faults import Fault
    from conformance.reference.records import Key

_SCHEME, _UNKNOWN = "key-other-scheme-refused", "key-unknown-refused"
_LEAST = 8


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
    _resembling("key-first-half-enough", "Only the first half of a key counts.",
                lambda one, token: one[: len(one) // 2] == token[: len(one) // 2]),
    _resembling("key-beginning-enough", "The first eight characters of a key are enough.",
                lambda one, token: one[:_LEAST] == token[:_LEAST]),
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
