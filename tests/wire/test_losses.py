"""Tests of losses of the target and the requests in flight."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from conformance.wire.bounded_reading import CLOSED
from conformance.wire.errors import REFUSED
from conformance.wire.exchange import Exchange
from conformance.wire.losses import joined_names, losses
from tests.fakes.exchanges import make_exchange

_TIMED_OUT = "no complete response came within 1 s"


def sent(number: int, began: float, ended: float, error: str | None = None, *, made: bool = True) -> Exchange:
    """Return an exchange of a period, with a response unless there is an error."""
    exchange = make_exchange("getCurrentOrganization", 200, {"data": {}})
    times = {"started_at": exchange.started_at + timedelta(seconds=began), "seconds": ended - began}
    received = exchange.received if error is None else None
    return replace(exchange, number=number, received=received, error=error, was_sent=made, **times)  # type: ignore[arg-type]


def refused(number: int, at: float) -> Exchange:
    """Return a request without a connection."""
    return sent(number, at, at, REFUSED, made=False)


def test_requests_in_flight_are_named() -> None:
    """A loss begins with broken requests without later responses, and ends with the first response."""
    exchanges = [
        sent(1, 0, 1), sent(2, 1, 2, CLOSED), sent(3, 3, 4), sent(4, 4, 6, CLOSED), sent(5, 5, 6, CLOSED),
        sent(6, 5, 5.5), refused(7, 7), refused(8, 8), sent(9, 9, 10), refused(10, 11),
    ]  # fmt: skip

    first, second = losses(exchanges)

    assert [exchange.number for exchange in first.under_way] == [4, 5]
    assert not first.alone
    assert first.returned is not None
    assert first.returned.number == 9
    assert second.under_way == ()
    assert second.returned is None


@pytest.mark.parametrize(
    ("beside", "alone"),
    [
        ([], True), ([sent(3, 1, 2.5)], False), ([sent(3, 2.5, 4, _TIMED_OUT)], False), ([sent(3, 0, 2)], True),
        ([refused(3, 2.5)], True),
    ],
    ids=["nothing", "answered", "no-answer", "before", "refused"],
)  # fmt: skip
def test_whether_a_request_was_alone(beside: list[Exchange], *, alone: bool) -> None:
    """Any other request in flight may be the cause."""
    (loss,) = losses([sent(1, 0, 0.5), sent(2, 2, 3, CLOSED), *beside, refused(4, 4), sent(5, 6, 7)])

    assert [exchange.number for exchange in loss.under_way] == [2]
    assert loss.alone is alone


@pytest.mark.parametrize(
    "exchanges",
    [
        [],
        [sent(1, 0, 1), sent(2, 1, 2, CLOSED), sent(3, 3, 4)],
        [refused(1, 0), refused(2, 1), sent(3, 2, 3)],
        [sent(1, 0, 1), sent(2, 1, 2, "no connection could be made within 1 s", made=False)],
    ],
    ids=["nothing", "a-firewall", "not-there-yet", "no-refusal"],
)
def test_other_errors_are_no_loss(exchanges: list[Exchange]) -> None:
    """A loss needs refused connections of a target that had responded before."""
    assert losses(exchanges) == []


def test_requests_are_named_by_method_path_and_number() -> None:
    """Of many requests, the first ones are named."""
    name = "GET /api/v1/organizations/current (request {})"

    assert joined_names([sent(4, 0, 1)]) == name.format(4)
    assert joined_names([sent(number, 0, 1) for number in range(1, 6)]) == (
        f"{name.format(1)}, {name.format(2)}, {name.format(3)} and 2 more"
    )
