"""Pages of lists made by hand, and what a fault tells of itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from conformance.oracle.outcomes import NonConformity
from conformance.wire.exchange import Exchange
from tests.conftest import make_exchange

if TYPE_CHECKING:
    from conformance.oracle.laws import Law

Told = tuple[str, str, str, str | None]


def page(
    items: Sequence[object] = (),
    *,
    number: int = 1,
    operation: str = "listEngagements",
    query: Mapping[str, object] | None = None,
    **meta: Any,
) -> Exchange:
    """A page with these items, a text standing for an item with that id; ``meta`` replaces what meta would be.

    Without ``meta`` it is the whole list: page 1 of 20 a page, with as many in total as there are items.
    """
    data = [{"id": item} if isinstance(item, str) else item for item in items]
    usual = {"total": len(data), "page": 1, "perPage": 20, "totalPages": -(-len(data) // 20)}
    asked = tuple((name, str(value)) for name, value in (query or {}).items())
    return make_exchange(operation, body={"data": data, "meta": usual | meta}, query=asked, number=number)


def told(fault: NonConformity) -> Told:
    """Everything that a fault says, its exchanges apart."""
    return fault.message, fault.expected, fault.actual, fault.pointer


def no_response(operation: str = "listEngagements", *, number: int = 1) -> Exchange:
    """An exchange whose answer never came."""
    return make_exchange(operation, None, number=number)


def refusal(status: int = 404, operation: str = "listEngagements", *, number: int = 1) -> Exchange:
    """An exchange that ended in an error."""
    return make_exchange(
        operation, status, {"error": {"code": "X", "message": "", "statusCode": status}}, number=number
    )


def broken(law: Law, exchange: Exchange) -> Told:
    """What a law says of an answer that breaks it, and of no other."""
    with pytest.raises(NonConformity) as raised:
        law(exchange)
    assert raised.value.exchanges == (exchange,)
    return told(raised.value)
