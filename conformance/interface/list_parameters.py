"""Parameters of the interface's lists, their values, and the number of pages."""

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
ASSIGNABLE_ROLES: Final = ("admin", "member")
"""The roles that an invitation or a change can give."""
STATUSES: Final = ("active", "archived")
SORTS: Final = ("createdAt", "updatedAt", "name")
ORDERS: Final = ("asc", "desc")

DEFAULT_PER_PAGE: Final = 20
"""The perPage of a request without one."""
MAX_PER_PAGE: Final = 100
"""The largest perPage that a request can ask for."""


def page_count(total: int, per_page: int = DEFAULT_PER_PAGE) -> int:
    """Return the number of pages that hold all items of a list."""
    return -(-total // per_page)
