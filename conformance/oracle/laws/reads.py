"""Laws of plain reads: requests that must succeed if they are valid."""

from __future__ import annotations

import re
from http import HTTPStatus
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.interface.list_parameters import ORDERS, ROLES, SORTS, STATUSES
from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.wire.exchange import TOO_MANY_REQUESTS
from conformance.wire.requests import OTHER_KEY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.wire.exchange import Exchange

_NOT_THERE: Final = (404, 410)
_MAY_LACK: Final = (401, 403)
"""Statuses that another organization's key may get if it is not the full key that it should be."""


def organization_read(exchange: Exchange) -> bool:
    """Require exactly 200 for a read of the organization with a full key."""
    return _must_be_accepted(exchange, "getCurrentOrganization") and _gives_200(exchange)


def members_listed(exchange: Exchange) -> bool:
    """Require exactly 200 for a valid list of members with a full key; a later page may not exist."""
    return _must_be_accepted(exchange, "listMembers", {"role": ROLES}) and _gives_200(exchange)


def engagements_listed(exchange: Exchange) -> bool:
    """Require exactly 200 for a valid list of engagements; its permission is not stated, so a 403 proves nothing."""
    closed = {"status": STATUSES, "sort": SORTS, "order": ORDERS}
    if not _must_be_accepted(exchange, "listEngagements", closed):
        return False
    if exchange.status == HTTPStatus.FORBIDDEN:
        raise CantTell("the key is not permitted to list engagements", exchange)
    return _gives_200(exchange)


def found_under_prefix(exchange: Exchange) -> bool:
    """Require that the organization, which every key has, is found at its path."""
    if not _must_be_accepted(exchange, "getCurrentOrganization"):
        return False
    if exchange.status in _NOT_THERE:
        raise NonConformity(
            f"the path of the organization returned {exchange.status}",
            exchange,
            expected=f"{exchange.request.path} is served",
            actual=str(exchange.status),
        )
    return True


def _must_be_accepted(
    exchange: Exchange, operation: str, closed: Mapping[str, tuple[str, ...]] = MappingProxyType({})
) -> bool:
    """Whether this is a valid request with a full key that no service has a reason to refuse."""
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
    return key is None or (key.name == OTHER_KEY and exchange.status not in _MAY_LACK)


def _gives_200(exchange: Exchange) -> bool:
    if exchange.status != HTTPStatus.OK:
        name = exchange.operation_id
        raise NonConformity(f"{name} returned {exchange.status}", exchange, expected="200", actual=str(exchange.status))
    return True
