"""Tests of the retry policy."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from conformance.wire.attempt import AttemptResult
from conformance.wire.exchange import Exchange, Response
from conformance.wire.requests import Request, create_engagement, get_organization
from conformance.wire.retry_policy import BEYOND_GATEWAY, RECONNECTS, REPEATS, RetryPolicy
from tests.fakes.exchanges import make_exchange

READ, WRITE = get_organization(), create_engagement({"name": "n"})
BROKEN = make_exchange(status=None)


def gateway(status: int = 503, requested: str | None = None) -> Exchange:
    """Return a gateway's response."""
    headers = () if requested is None else (("Retry-After", requested),)
    return replace(BROKEN, received=Response(status, headers, b""), error=None)


def pauses(request: Request, exchange: Exchange, outcome: AttemptResult) -> list[float]:
    """Return the pauses before each retry."""
    retry_policy, found = RetryPolicy(request), []
    while (pause := retry_policy.pause_after(exchange, outcome, 0.0)) is not None:
        found.append(pause)
    return found


@pytest.mark.parametrize(
    ("sent", "exchange", "outcome", "times"),
    [
        (READ, BROKEN, AttemptResult.BROKEN, len(REPEATS)),
        (READ, gateway(502), AttemptResult.RESPONDED, BEYOND_GATEWAY),
        (READ, gateway(503), AttemptResult.RESPONDED, BEYOND_GATEWAY),
        (READ, gateway(504), AttemptResult.RESPONDED, BEYOND_GATEWAY),
        (READ, gateway(500), AttemptResult.RESPONDED, 0),
        (READ, gateway(200), AttemptResult.RESPONDED, 0),
        (replace(WRITE, repeatable=True), BROKEN, AttemptResult.BROKEN, len(REPEATS)),
        (WRITE, BROKEN, AttemptResult.BROKEN, 0),
        (WRITE, gateway(503), AttemptResult.RESPONDED, 0),
        (WRITE, BROKEN, AttemptResult.UNREACHED, RECONNECTS),
        (READ, BROKEN, AttemptResult.UNREACHED, RECONNECTS),
        (READ, BROKEN, AttemptResult.UNSENDABLE, 0),
        (READ, BROKEN, AttemptResult.STOPPED, 0),
        (replace(READ, expects_429=True), BROKEN, AttemptResult.BROKEN, 0),
    ],
)
def test_only_harmless_requests_are_retried(
    sent: Request, exchange: Exchange, outcome: AttemptResult, times: int
) -> None:
    """Only harmless requests are retried; a write that may have happened is not."""
    assert len(pauses(sent, exchange, outcome)) == times


def test_each_repetition_waits_longer() -> None:
    """The last pause is used for further retries."""
    assert pauses(READ, BROKEN, AttemptResult.BROKEN) == list(REPEATS)
    assert pauses(READ, BROKEN, AttemptResult.UNREACHED) == [*REPEATS, REPEATS[-1], REPEATS[-1]]
    assert list(REPEATS) == sorted(set(REPEATS))


@pytest.mark.parametrize(
    ("requested", "first"),
    [(None, REPEATS[0]), ("0", REPEATS[0]), ("3", 3.0), ("5", 5.0), ("5.5", REPEATS[0]), ("600", REPEATS[0])],
)
def test_a_gateway_may_ask_for_a_pause(requested: str | None, first: float) -> None:
    """A short Retry-After sets the pause."""
    assert pauses(READ, gateway(503, requested), AttemptResult.RESPONDED)[0] == first


def test_a_gateway_may_ask_until_a_moment() -> None:
    """A date in Retry-After is by the service's clock."""
    requested = gateway(503, "Thu, 01 Jan 2026 00:00:04 GMT")
    began = datetime(2026, 1, 1, tzinfo=UTC).timestamp()

    assert RetryPolicy(READ).pause_after(requested, AttemptResult.RESPONDED, began) == 4.0
    assert RetryPolicy(READ).pause_after(requested, AttemptResult.RESPONDED, began - 60) == REPEATS[0]


def test_retries_are_counted_over_all_errors() -> None:
    """Different errors share the limit of retries."""
    retry_policy = RetryPolicy(READ)

    assert retry_policy.pause_after(BROKEN, AttemptResult.BROKEN, 0.0) is not None
    assert retry_policy.pause_after(gateway(), AttemptResult.RESPONDED, 0.0) is not None
    assert retry_policy.pause_after(BROKEN, AttemptResult.BROKEN, 0.0) is None
    assert retry_policy.repeats == len(REPEATS)
