"""Tests of the spacing of requests."""

from __future__ import annotations

import pytest

from conformance.wire.clock import SystemClock
from conformance.wire.request_rate import RequestRate


class _Clock(SystemClock):
    seconds = 100.0

    def monotonic(self) -> float:
        return self.seconds


@pytest.mark.parametrize(
    ("rate", "moments", "waits"),
    [
        (None, [100, 100, 100], [0, 0, 0]),
        (4, [100, 100, 100], [0, 0.25, 0.5]),
        (4, [100, 100.1, 101, 101], [0, 0.15, 0, 0.25]),
        (0.5, [107, 108, 108], [0, 1, 3]),
    ],
)
def test_requests_are_an_interval_apart(rate: float | None, moments: list[float], waits: list[float]) -> None:
    """A pause saves nothing up for later requests."""
    clock = _Clock()
    limit = RequestRate(clock, rate)
    found = []
    for moment in moments:
        clock.seconds = moment
        found.append(limit.turn())

    assert found == pytest.approx(waits)
