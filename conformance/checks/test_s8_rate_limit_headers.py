"""Section 8: the course of the rate-limit headers from response to response."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.markers import observes, requirement
from conformance.oracle.laws import rate_limit_course, rate_limits
from conformance.oracle.outcomes import Inapplicable
from conformance.verdicts.stages import Stage
from conformance.wire import requests
from conformance.wire.rate_limit_headers import SUCCESSIVE

if TYPE_CHECKING:
    from conformance.running.run import Run

pytestmark = pytest.mark.stage(Stage.EVERY_RESPONSE)

_ROUNDS: Final = 3
_SPANS: Final = {1: "a second", 10: "10 seconds", 60: "a minute", 300: "5 minutes", 3600: "an hour", 86400: "a day"}


@requirement("rate-limit-remaining-falls")
def test_remaining_falls(run: Run) -> None:
    """X-RateLimit-Remaining falls over successive requests of a window."""
    for _ in range(_ROUNDS):
        with suppress(Inapplicable):
            rate_limit_course.expect_falling(run.wire.exchanges)
            return
        for _ in range(SUCCESSIVE + 1):
            run.send(requests.get_organization())

    rate_limit_course.expect_falling(run.wire.exchanges)


@observes("rate-window")
def test_rate_window(run: Run) -> None:
    """Observe the requests of a window, and the time to its end."""
    responded = [exchange for exchange in run.wire.exchanges if exchange.judgeable and not exchange.request.credential]
    limits = sorted({limit for exchange in responded if (limit := rate_limits.limit(exchange)) is not None})
    ahead = max((far for exchange in responded if (far := rate_limits.ahead(exchange)) is not None), default=None)

    if limits and ahead is not None:
        span = next((words for most, words in _SPANS.items() if ahead <= most + 1), "more than a day")
        numbers = " or ".join(map(str, limits))
        run.observe("rate-window", f"{numbers} requests, ending within {span}", responded[-1])
