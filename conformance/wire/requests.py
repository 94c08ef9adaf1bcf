"""Requests of the interface's operations, as values."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlencode

from conformance.interface.operations import OPERATIONS, Operation

if TYPE_CHECKING:
    from collections.abc import Mapping

JSON_HEADERS: Final = (("Content-Type", "application/json"),)
CHARSET_HEADERS: Final = (("Content-Type", "application/json; charset=utf-8"),)
"""The same media type with a parameter; a service may refuse it, or must take the body for JSON."""
MAIN_KEY: Final = "api_key"
OTHER_KEY: Final = "other_organization"
"""The names of the full keys of the two organizations."""


@dataclass(frozen=True, slots=True)
class Credential:
    """Value of a request's Authorization header.

    Attributes:
        name: The name in outputs: ``api_key``, ``organizations:read``, ``none`` ...
        authorization: The header's value; None sends no header.
        invalid: Whether every request with it must be refused, and so changes nothing.
    """

    name: str
    authorization: str | None = field(repr=False)
    invalid: bool = field(default=False, compare=False)

    @property
    def key(self) -> str:
        """The part of the header's value after the scheme; empty without a header."""
        return (self.authorization or "").partition(" ")[2]

    @classmethod
    def bearer(cls, name: str, key: str) -> Credential:
        """Return the credential of an API key."""
        return cls(name, f"Bearer {key}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request of an operation, without a host.

    Attributes:
        operation: The operation.
        identifier: The value of the path parameter, unescaped.
        query: Query parameters in order, unescaped; values as texts.
        body: The bytes of the body, or None for no body.
        headers: Headers of this request alone.
        credential: The credential; None for the run's main key.
        probe: Method and path in place of the operation's, for requests outside of the interface; None for the
            operation itself.
        repeatable: Whether it may be sent twice although it is no GET, because it must be refused or is idempotent.
        expects_429: Whether it tests the rate limit: it is neither delayed nor retried, and a 429 is its response.
        unjudged: Whether no law applies to its response, because the interface does not describe it, as for the target
            file's requests of subordinate records.
    """

    operation: Operation
    identifier: str | None = None
    query: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    headers: tuple[tuple[str, str], ...] = ()
    credential: Credential | None = None
    probe: tuple[str, str] | None = None
    repeatable: bool = False
    expects_429: bool = False
    unjudged: bool = False

    @property
    def method(self) -> str:
        """The HTTP method to send."""
        return self.operation.method if self.probe is None else self.probe[0]

    @property
    def key_name(self) -> str:
        """The name of its key."""
        return MAIN_KEY if self.credential is None else self.credential.name

    @property
    def by_member(self) -> bool:
        """Whether its key is a member's own; outputs number such keys: ``member_1``, ``member_2`` ..."""
        return self.key_name.startswith("member_")

    @property
    def harmless(self) -> bool:
        """Whether it may be sent twice."""
        return self.method == "GET" or self.repeatable

    @property
    def may_change(self) -> bool:
        """Whether it could change data: it is no GET, and its key may be valid."""
        return self.method != "GET" and (self.credential is None or not self.credential.invalid)

    @property
    def is_proper(self) -> bool:
        """Whether it requests the operation itself, and no path outside of the interface."""
        return self.probe is None

    @property
    def path(self) -> str:
        """The path from the host root, percent-encoded, with the query."""
        if self.probe is not None:
            return self.probe[1]
        path = self.operation.path
        if self.operation.parameter is not None:
            path = path.replace(f"{{{self.operation.parameter}}}", segment(self.identifier or ""))
        return f"{path}?{urlencode(self.query, errors='surrogatepass')}" if self.query else path

    def with_key(self, credential: Credential) -> Request:
        """Return the request with another key."""
        return replace(self, credential=credential)

    def as_probe(self, method: str, path: str) -> Request:
        """Return the request with another method and path, outside of the interface."""
        return replace(self, probe=(method, path))

    def with_body(self, body: bytes | None, content_type: str | None = "application/json") -> Request:
        """Return the request with this body and Content-Type (None: no such header)."""
        headers = () if content_type is None else (("Content-Type", content_type),)
        return replace(self, body=body, headers=headers)


def segment(identifier: str) -> str:
    """Escape an identifier as one path segment, so that it cannot lead to another resource."""
    if identifier in {".", ".."}:
        return identifier.replace(".", "%2E")
    return quote(identifier, safe="", errors="surrogatepass")


def _request(
    operation: str, *, identifier: str | None = None, json_body: object = ..., query: Mapping[str, object] | None = None
) -> Request:
    return Request(
        operation=OPERATIONS[operation],
        identifier=identifier,
        query=tuple((name, str(value)) for name, value in (query or {}).items() if value is not None),
        body=None if json_body is ... else encode(json_body),
        headers=() if json_body is ... else JSON_HEADERS,
    )


def encode(value: object) -> bytes:
    """Return the JSON text of a value, in UTF-8 without escapes."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def get_organization() -> Request:
    """Return a request for the organization of the key."""
    return _request("getCurrentOrganization")


def update_organization(body: object) -> Request:
    """Update the organization with a JSON body."""
    return _request("updateCurrentOrganization", json_body=body)


def list_members(**query: object) -> Request:
    """List members; ``role``, ``page`` and ``perPage`` are the known parameters, None omits a parameter."""
    return _request("listMembers", query=query)


def invite_member(body: object) -> Request:
    """Invite a member with a JSON body."""
    return _request("inviteMember", json_body=body)


def update_member_role(user_id: str, body: object) -> Request:
    """Change a member's role with a JSON body."""
    return _request("updateMemberRole", identifier=user_id, json_body=body)


def remove_member(user_id: str) -> Request:
    """Remove a member."""
    return _request("removeMember", identifier=user_id)


def list_engagements(**query: object) -> Request:
    """List engagements; ``status``, ``page``, ``perPage``, ``sort`` and ``order`` are known, None omits a parameter."""
    return _request("listEngagements", query=query)


def create_engagement(body: object) -> Request:
    """Create an engagement with a JSON body."""
    return _request("createEngagement", json_body=body)


def get_engagement(engagement_id: str) -> Request:
    """Read an engagement."""
    return _request("getEngagement", identifier=engagement_id)


def update_engagement(engagement_id: str, body: object) -> Request:
    """Update an engagement with a JSON body."""
    return _request("updateEngagement", identifier=engagement_id, json_body=body)


def delete_engagement(engagement_id: str) -> Request:
    """Delete an engagement."""
    return _request("deleteEngagement", identifier=engagement_id)


def archive_engagement(engagement_id: str) -> Request:
    """Archive an engagement; no body is sent."""
    return _request("archiveEngagement", identifier=engagement_id)


def unarchive_engagement(engagement_id: str) -> Request:
    """Unarchive an engagement; no body is sent."""
    return _request("unarchiveEngagement", identifier=engagement_id)
