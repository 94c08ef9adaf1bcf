"""The thirteen operations: where they are found and what they need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote

from conformance.reference.refusal import Refusal

Found = Literal["engagement", "member"]

_PREFIX = ("api", "v1")
_LIST = ("page", "perPage")


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the interface.

    Args:
        id: Its name in the interface's OpenAPI document.
        method: The HTTP method.
        path: Segments after ``/api/v1/``; ``None`` is the place of an identifier.
        scope: The permission that its table names; ``None`` where the interface does not show it.
        finds: What the identifier in its path names.
        takes_body: Whether it reads a JSON body.
        parameters: The query parameters it knows.
    """

    id: str
    method: str
    path: tuple[str | None, ...]
    scope: str | None
    finds: Found | None = None
    takes_body: bool = False
    parameters: tuple[str, ...] = ()

    def matches(self, segments: tuple[str, ...]) -> bool:
        """Tell whether the segments of a request's path are this operation's."""
        return len(segments) == len(self.path) and all(
            there if wanted is None else there == wanted for wanted, there in zip(self.path, segments, strict=True)
        )


_CURRENT = ("organizations", "current")
_MEMBERS = (*_CURRENT, "members")
_ENGAGEMENT = ("engagements", None)

OPERATIONS = (
    Operation("getCurrentOrganization", "GET", _CURRENT, "organizations:read"),
    Operation("updateCurrentOrganization", "PATCH", _CURRENT, "organizations:write", takes_body=True),
    Operation("listMembers", "GET", _MEMBERS, "organizations:read", parameters=("role", *_LIST)),
    Operation("inviteMember", "POST", (*_MEMBERS, "invite"), "organizations:write", takes_body=True),
    Operation("updateMemberRole", "PATCH", (*_MEMBERS, None), "organizations:write", "member", takes_body=True),
    Operation("removeMember", "DELETE", (*_MEMBERS, None), "organizations:write", "member"),
    Operation("listEngagements", "GET", ("engagements",), None, parameters=("status", "sort", "order", *_LIST)),
    Operation("createEngagement", "POST", ("engagements",), "engagements:write", takes_body=True),
    Operation("getEngagement", "GET", _ENGAGEMENT, "engagements:read", "engagement"),
    Operation("updateEngagement", "PATCH", _ENGAGEMENT, "engagements:write", "engagement", takes_body=True),
    Operation("deleteEngagement", "DELETE", _ENGAGEMENT, "engagements:delete", "engagement"),
    Operation("archiveEngagement", "POST", (*_ENGAGEMENT, "archive"), "engagements:write", "engagement"),
    Operation("unarchiveEngagement", "POST", (*_ENGAGEMENT, "unarchive"), None, "engagement"),
)


def segments_of(raw_path: bytes) -> tuple[str, ...]:
    """Split a path as it was sent, then decode each segment, so that an encoded slash stays within its segment."""
    return tuple(unquote(segment) for segment in raw_path.decode("latin-1")[1:].split("/"))


def route(method: str, segments: tuple[str, ...]) -> tuple[Operation, str]:
    """Find the operation that a request names.

    Args:
        method: The HTTP method.
        segments: The whole path, decoded.

    Returns:
        The operation and the identifier in the path, empty where it has none.

    Raises:
        Refusal: 404 where there is no such path, 405 where the path has no such method.
    """
    found = [one for one in OPERATIONS if segments[:2] == _PREFIX and one.matches(segments[2:])]
    for operation in found:
        if operation.method == method:
            return operation, segments[2 + operation.path.index(None)] if None in operation.path else ""
    if not found:
        raise Refusal(404, "There is nothing at this path.")
    allowed = ", ".join(sorted({one.method for one in found}))
    raise Refusal(405, f"This path takes {allowed}.", {"Allow": allowed})
