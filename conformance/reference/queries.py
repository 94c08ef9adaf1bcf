"""Queries for lists in the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

Collation = Literal["BINARY", "NOCASE", "FOLDED"]
Ties = Literal["oldest", "newest", "id"]
Sort = Literal["createdAt", "updatedAt", "name", "status"]
MemberOrder = Literal["joined", "newest", "name", "email"]

_SORT_COLUMNS: dict[Sort, str] = {
    "createdAt": "created_at",
    "updatedAt": "updated_at",
    "name": "name",
    "status": "status",
}
_TIES: dict[Ties, str] = {"oldest": "seq", "newest": "seq DESC", "id": "id"}
_MEMBER_ORDERS: dict[MemberOrder, str] = {
    "joined": "m.joined_at, m.seq",
    "newest": "m.joined_at DESC, m.seq DESC",
    "name": "u.name, m.seq",
    "email": "u.email, m.seq",
}


class ListQuery(Protocol):
    """A part of an ordered list."""

    @property
    def offset(self) -> int:
        """The number of items before the part."""

    @property
    def limit(self) -> int:
        """The most items of the part."""

    @property
    def conditions(self) -> dict[str, str]:
        """Columns and their required values."""

    @property
    def order(self) -> str:
        """The SQL terms to sort by."""


@dataclass(frozen=True, slots=True)
class EngagementQuery:
    """Filter, order and part of a list of engagements."""

    organization_id: str
    offset: int
    limit: int
    status: str | None = None
    sort: Sort = "createdAt"
    descending: bool = True
    collation: Collation = "BINARY"
    ties: Ties = "newest"

    @property
    def conditions(self) -> dict[str, str]:
        """Columns and their required values."""
        filters = {"status": self.status} if self.status else {}
        return {"organization_id": self.organization_id, **filters}

    @property
    def order(self) -> str:
        """The SQL terms to sort by."""
        collation = f" COLLATE {self.collation}" if self.sort == "name" else ""
        direction = "DESC" if self.descending else "ASC"
        return f"{_SORT_COLUMNS[self.sort]}{collation} {direction}, {_TIES[self.ties]}"


@dataclass(frozen=True, slots=True)
class MemberQuery:
    """Filter, order and part of a list of members."""

    organization_id: str
    offset: int
    limit: int
    role: str | None = None
    by: MemberOrder = "joined"

    @property
    def conditions(self) -> dict[str, str]:
        """Columns and their required values."""
        filters = {"m.role": self.role} if self.role else {}
        return {"m.organization_id": self.organization_id, **filters}

    @property
    def order(self) -> str:
        """The SQL terms to sort by."""
        return _MEMBER_ORDERS[self.by]
