"""Laws of plain reads: what must succeed whenever it is asked for properly."""

from __future__ import annotations

import re
from http import HTTPStatus
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.oracle.laws import ROLES, STATUSES
from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.wire.exchange import TOO_MANY_REQUESTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.wire.exchange import Exchange

SORTS: Final = ("createdAt", "updatedAt", "name")
ORDERS: Final = ("asc", "desc")
_NOT_THERE: Final = (404, 410)
_OTHER_KEY: Final = "other_organization"
_MAY_LACK: Final = (401, 403)
"""What another organization's key may be answered where it is not the full one that it was said to be."""


def organization_read(exchange: Exchange) -> bool:
    """Reading the organization with a full key gives exactly 200."""
    return _is_plain(exchange, "getCurrentOrganization") and _gives_200(exchange)


def members_listed(exchange: Exchange) -> bool:
    """Listing members with valid parameters and a full key gives exactly 200; a later page may not exist."""
    return _is_plain(exchange, "listMembers", {"role": ROLES}) and _gives_200(exchange)


def engagements_listed(exchange: Exchange) -> bool:
    """Listing engagements likewise; which permission that needs is not told, so that nothing follows from a 403."""
    closed = {"status": STATUSES, "sort": SORTS, "order": ORDERS}
    if not _is_plain(exchange, "listEngagements", closed):
        return False
    if exchange.status == HTTPStatus.FORBIDDEN:
        raise CantTell("the key is not permitted to list engagements", exchange)
    return _gives_200(exchange)


def found_under_prefix(exchange: Exchange) -> bool:
    """The organization, which every key has, is found at its path."""
    if not _is_plain(exchange, "getCurrentOrganization"):
        return False
    if exchange.status in _NOT_THERE:
        raise NonConformity(
            f"the path of the organization was answered {exchange.status}",
            exchange,
            expected=f"{exchange.request.path} is served",
            actual=str(exchange.status),
        )
    return True


def _is_plain(exchange: Exchange, operation: str, closed: Mapping[str, tuple[str, ...]] = MappingProxyType({})) -> bool:
    """Whether this is a valid call with a full key whose success nothing can stand in the way of."""
    request = exchange.request
    asked = dict(request.query)
    valid = len(asked) == len(request.query) and all(
        asked[name] in closed[name] for name in asked.keys() & closed.keys()
    )
    sizes = all(re.fullmatch(r"[1-9][0-9]?|100", asked[name]) for name in asked.keys() & {"perPage"})
    first = asked.get("page", "1") == "1" and asked.keys() <= closed.keys() | {"page", "perPage"}
    proper = request.operation.id == operation and request.is_proper and _has_full_key(exchange) and not request.headers
    return proper and valid and sizes and first and exchange.status != TOO_MANY_REQUESTS


def _has_full_key(exchange: Exchange) -> bool:
    key = exchange.request.credential
    return key is None or (key.name == _OTHER_KEY and exchange.status not in _MAY_LACK)


def _gives_200(exchange: Exchange) -> bool:
    if exchange.status != HTTPStatus.OK:
        name = exchange.request.operation.id
        raise NonConformity(
            f"{name} was answered {exchange.status}", exchange, expected="200", actual=str(exchange.status)
        )
    return True
