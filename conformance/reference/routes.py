"""Routes of the thirteen operations."""

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
    """An operation of the interface.

    Args:
        id: Its name in the interface's OpenAPI document.
        method: The HTTP method.
        path: Segments after ``/api/v1/``; ``None`` stands for an identifier.
        scope: The permission that the interface names; ``None`` if it names none.
        finds: The resource that its path names.
        takes_body: Whether it reads a JSON body.
        parameters: Its query parameters.
    """

    id: str
    method: str
    path: tuple[str | None, ...]
    scope: str | None
    finds: Found | None = None
    takes_body: bool = False
    parameters: tuple[str, ...] = ()

    def matches(self, segments: tuple[str, ...]) -> bool:
        """Whether the segments of a path belong to this operation."""
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
    """Split a path, then decode each segment, so that an encoded slash stays within its segment."""
    return tuple(unquote(segment) for segment in raw_path.decode("latin-1")[1:].split("/"))


def route(method: str, segments: tuple[str, ...]) -> tuple[Operation, str]:
    """Find the operation of a request.

    Args:
        method: The HTTP method.
        segments: The whole path, decoded.

    Returns:
        The operation and the identifier in the path; empty if the path has none.

    Raises:
        Refusal: 404 for an unknown path, 405 for a method that the path does not have.
    """
    found = [operation for operation in OPERATIONS if segments[:2] == _PREFIX and operation.matches(segments[2:])]
    for operation in found:
        if operation.method == method:
            return operation, segments[2 + operation.path.index(None)] if None in operation.path else ""
    if not found:
        raise Refusal(404, "This path does not exist.")
    allowed = ", ".join(sorted({operation.method for operation in found}))
    raise Refusal(405, f"This path allows {allowed}.", {"Allow": allowed})
