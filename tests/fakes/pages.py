"""Handmade pages of lists, and the text of a failure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from conformance.oracle.outcomes import NonConformity
from conformance.wire.exchange import Exchange
from tests.conftest import make_exchange

if TYPE_CHECKING:
    from conformance.oracle.laws.responses import Law

Described = tuple[str, str, str, str | None]


def page(
    items: Sequence[object] = (),
    *,
    number: int = 1,
    operation: str = "listEngagements",
    query: Mapping[str, object] | None = None,
    **meta: Any,
) -> Exchange:
    """Return a page with these items; a text stands for an item with that id, and ``meta`` replaces parts of meta.

    Without ``meta`` it is the whole list: page 1 with 20 items a page, and the number of items as the total.
    """
    data = [{"id": item} if isinstance(item, str) else item for item in items]
    usual = {"total": len(data), "page": 1, "perPage": 20, "totalPages": -(-len(data) // 20)}
    asked = tuple((name, str(value)) for name, value in (query or {}).items())
    return make_exchange(operation, body={"data": data, "meta": usual | meta}, query=asked, number=number)


def described(fault: NonConformity) -> Described:
    """Return all of a failure except its exchanges."""
    return fault.message, fault.expected, fault.actual, fault.pointer


def no_response(operation: str = "listEngagements", *, number: int = 1) -> Exchange:
    """Return an exchange without a response."""
    return make_exchange(operation, None, number=number)


def refusal(status: int = 404, operation: str = "listEngagements", *, number: int = 1) -> Exchange:
    """Return an exchange with an error response."""
    return make_exchange(
        operation, status, {"error": {"code": "X", "message": "", "statusCode": status}}, number=number
    )


def broken(law: Law, exchange: Exchange) -> Described:
    """Return the failure of a law, which must cite this exchange alone."""
    with pytest.raises(NonConformity) as raised:
        law(exchange)
    assert raised.value.exchanges == (exchange,)
    return described(raised.value)
