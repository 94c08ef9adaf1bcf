"""The thirteen operations of the interface, as data."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping

Family = Literal["organizations", "engagements"]
SubordinateKind = Literal["target", "task", "wikiPage", "report", "threatModel", "apiRequest"]
KINDS: Final[tuple[SubordinateKind, ...]] = get_args(SubordinateKind)
"""The kinds of records that are deleted with their engagement."""

SCOPES = (
    "organizations:read",
    "organizations:write",
    "engagements:read",
    "engagements:write",
    "engagements:delete",
)
"""The permissions of keys that the interface names."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the interface.

    Attributes:
        id: The operationId of the OpenAPI document.
        method: The HTTP method, in capitals.
        path: The path template from the host root, with ``{id}`` or ``{userId}``.
        family: The part of the interface.
        scope: The permission it needs; None if the interface does not say.
        status: The status of success; None if any 2xx is allowed.
        response: The type of the ``data`` of a success.
    """

    id: str
    method: str
    path: str
    family: Family
    scope: str | None
    status: int | None
    response: Literal["resource", "list"] = "resource"

    def __hash__(self) -> int:
        """Hash the id alone, which is unique; requests are often looked up by their operation."""
        return hash(self.id)

    @property
    def parameter(self) -> str | None:
        """The name of the path parameter, or None."""
        return self.path.partition("{")[2].partition("}")[0] or None

    @property
    def changes(self) -> bool:
        """Whether a success changes data of the service."""
        return self.method != "GET"

    @property
    def takes_body(self) -> bool:
        """Whether the interface describes a request body."""
        return self.id in {
            "updateCurrentOrganization",
            "inviteMember",
            "updateMemberRole",
            "createEngagement",
            "updateEngagement",
        }


_ORGANIZATION = "/api/v1/organizations/current"
_MEMBERS = f"{_ORGANIZATION}/members"
_ENGAGEMENTS = "/api/v1/engagements"
_ENGAGEMENT = f"{_ENGAGEMENTS}/{{id}}"

_ALL = (
    Operation("getCurrentOrganization", "GET", _ORGANIZATION, "organizations", "organizations:read", 200),
    Operation("updateCurrentOrganization", "PATCH", _ORGANIZATION, "organizations", "organizations:write", 200),
    Operation("listMembers", "GET", _MEMBERS, "organizations", "organizations:read", 200, "list"),
    Operation("inviteMember", "POST", f"{_MEMBERS}/invite", "organizations", "organizations:write", None),
    Operation("updateMemberRole", "PATCH", f"{_MEMBERS}/{{userId}}", "organizations", "organizations:write", 200),
    Operation("removeMember", "DELETE", f"{_MEMBERS}/{{userId}}", "organizations", "organizations:write", 200),
    Operation("listEngagements", "GET", _ENGAGEMENTS, "engagements", None, 200, "list"),
    Operation("createEngagement", "POST", _ENGAGEMENTS, "engagements", "engagements:write", None),
    Operation("getEngagement", "GET", _ENGAGEMENT, "engagements", "engagements:read", 200),
    Operation("updateEngagement", "PATCH", _ENGAGEMENT, "engagements", "engagements:write", None),
    Operation("deleteEngagement", "DELETE", _ENGAGEMENT, "engagements", "engagements:delete", 200),
    Operation("archiveEngagement", "POST", f"{_ENGAGEMENT}/archive", "engagements", "engagements:write", None),
    Operation("unarchiveEngagement", "POST", f"{_ENGAGEMENT}/unarchive", "engagements", None, None),
)

OPERATIONS: Mapping[str, Operation] = MappingProxyType({operation.id: operation for operation in _ALL})
"""Every operation by its operationId, in the order of the interface."""

CHANGES_ENGAGEMENT = frozenset({"updateEngagement", "archiveEngagement", "unarchiveEngagement", "deleteEngagement"})
"""Operations that change one engagement."""

CHANGES_MEMBER = frozenset({"updateMemberRole", "removeMember"})
"""Operations that change one member."""
