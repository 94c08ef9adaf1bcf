"""Faults of keys: those that are not quite good, and what is looked at before any."""

from __future__ import annotations

import base64
from contextlib import suppress
from typing import TYPE_CHECKING

from conformance.reference.faults import fault
from conformance.reference.faults.making import made
from conformance.reference.faults.sending import content
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.records import Key
    from conformance.reference.request_context import Reply, RequestContext

_SCHEME, _UNKNOWN, _MISSING = "key-other-scheme-refused", "key-unknown-refused", "key-missing-refused"
_UNAUTHORIZED = 401
_LEAST = 4
_BEGINNING = 8
_NULL = "null"


# Keys that are not quite good


def _header(context: RequestContext) -> str:
    return str(context.request.headers.get("authorization", ""))


def _finding(identifier: str, title: str, find: Callable[[Service, RequestContext], Key | None], *breaks: str) -> Fault:
    """A service that finds a key where an honest one refuses; ``find`` is asked then."""

    def authenticate(self: Service, context: RequestContext) -> Key:
        try:
            return Service.authenticate(self, context)
        except Refusal:
            found = find(self, context)
            if found is None or found.revoked:
                raise
            return found

    return made(identifier, title, *breaks, authenticate=authenticate)


def _schemeless(service: Service, context: RequestContext) -> Key | None:
    return service.find_key(_header(context).strip())


def _scheme(name: str) -> Callable[[Service, RequestContext], Key | None]:
    def find(service: Service, context: RequestContext) -> Key | None:
        scheme, _, token = _header(context).partition(" ")
        return service.find_key(token.strip()) if scheme.lower() == name else None

    return find


def _basic_name(service: Service, context: RequestContext) -> Key | None:
    """Look for the key as the name of Basic authentication."""
    scheme, _, token = _header(context).partition(" ")
    if scheme.lower() != "basic":
        return None
    with suppress(ValueError):
        return service.find_key(base64.b64decode(token).decode().partition(":")[0])
    return None


def _beginning(name: str) -> Callable[[Service, RequestContext], Key | None]:
    """Find a key behind whatever begins like a scheme."""

    def find(service: Service, context: RequestContext) -> Key | None:
        scheme, _, token = _header(context).partition(" ")
        return service.find_key(token.strip()) if scheme.startswith(name) else None

    return find


def _first_of_list(service: Service, context: RequestContext) -> Key | None:
    """Find a key as the first item of a list behind the scheme."""
    scheme, _, token = _header(context).partition(" ")
    first, comma, _ = token.partition(",")
    return service.find_key(first) if scheme == "Bearer" and comma else None


def _header_of(name: str) -> Callable[[Service, RequestContext], Key | None]:
    """Find a key in another header."""
    return lambda service, context: service.find_key(context.request.headers.get(name, ""))


def _cookie(service: Service, context: RequestContext) -> Key | None:
    return service.find_key(context.request.cookies.get("access_token", ""))


def _basic_password(service: Service, context: RequestContext) -> Key | None:
    """Look for the key as the password of Basic authentication."""
    scheme, _, token = _header(context).partition(" ")
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
        seen: frozenset[str] = self.memory.get("seen", frozenset())
        if found is not None:
            self.memory["seen"] = seen | {token}
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


@fault("key-empty-header-stumbles", "no-server-error", "key-empty-refused")
class KeyEmptyHeaderStumbles(Service):
    """An empty Authorization header gives 500."""

    def authenticate(self, context: RequestContext) -> Key:
        """Take its first word."""
        if "authorization" in context.request.headers:
            _ = _header(context).split()[0]
        return super().authenticate(context)


# What is looked at before the key


def _early(identifier: str, title: str, refuses: Callable[[Service, RequestContext], bool]) -> Fault:
    """A service that says of some requests that they are invalid rather than that the key is."""

    async def serve(self: Service, context: RequestContext) -> Reply:
        try:
            return await Service.serve(self, context)
        except Refusal as refusal:
            if refusal.status != _UNAUTHORIZED:
                raise
            context.operation = self.find_operation(context)
            context.content = await self.receive(context) if context.operation.takes_body else b""
            if refuses(self, context):
                raise Refusal(422, "The request is invalid.") from None
            raise

    return made(identifier, title, "authentication-before-validation", serve=serve)


def _is_nonsense(parameter: str, *values: str) -> Callable[[Service, RequestContext], bool]:
    return lambda _, context: context.request.query_params.get(parameter) not in {None, *values}


def _lacks(operation: str, *fields: str) -> Callable[[Service, RequestContext], bool]:
    def refuses(_: Service, context: RequestContext) -> bool:
        sent = content(context)
        return context.operation.id == operation and isinstance(sent, dict) and not {*fields} <= {*sent}

    return refuses


EARLY = (
    _early("status-before-key", "A nonsense status is refused before the key is looked at.",
           _is_nonsense("status", "active", "archived")),
    _early("role-before-key", "A nonsense role to filter by is refused before the key is looked at.",
           _is_nonsense("role", "owner", "admin", "member")),
    _early("missing-name-before-key", "A creation without a name is refused before the key is looked at.",
           _lacks("createEngagement", "name")),
    _early("missing-role-before-key", "A role change without a role is refused before the key is looked at.",
           _lacks("updateMemberRole", "role")),
    _early("missing-address-before-key", "An invitation without an address is refused before the key is looked at.",
           _lacks("inviteMember", "email")),
    _early("missing-invited-role-before-key", "An invitation without a role is refused before the key is looked at.",
           _lacks("inviteMember", "role")),
)  # fmt: skip
