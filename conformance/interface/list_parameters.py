"""Parameters of the interface's lists and their values, as data."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

PARAMETERS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "listMembers": frozenset({"role", "page", "perPage"}),
        "listEngagements": frozenset({"status", "page", "perPage", "sort", "order"}),
    }
)
"""The names of the parameters, by operationId."""

ROLES: Final = ("owner", "admin", "member")
STATUSES: Final = ("active", "archived")
SORTS: Final = ("createdAt", "updatedAt", "name")
ORDERS: Final = ("asc", "desc")

DEFAULT_PER_PAGE: Final = 20
"""The perPage of a request without one."""
MAX_PER_PAGE: Final = 100
"""The largest perPage that a request can ask for."""
