"""Retry policy for requests that got no response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.wire.attempt import AttemptResult
from conformance.wire.gateways import GATEWAY_STATUSES
from conformance.wire.rate_limit_headers import retry_after

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

REPEATS: Final = (0.2, 1.0)
"""Seconds before the first and the second retry."""

BEYOND_GATEWAY: Final = 4
"""Retries after a gateway's response: it is fast and rare, so two more retries cost little."""

RECONNECTS: Final = 4
"""Retries if no connection was made; the wire waits for the target in between."""

WAITS: Final = 3
"""Waits of one request for its rate limit."""

_LONGEST_RETRY_AFTER: Final = 5.0


@dataclass(slots=True)
class RetryPolicy:
    """Counts the retries of one request.

    Attributes:
        request: The request.
        repeats: Retries after a broken connection or a gateway's response.
        waits: Waits for its rate limit.
    """

    request: Request
    repeats: int = 0
    waits: int = 0

    def pause_after(self, exchange: Exchange, outcome: AttemptResult, service_now: float) -> float | None:
        """Return the seconds until a retry after this exchange; None for no retry.

        Args:
            exchange: The last attempt, unless it is a 429.
            outcome: Its outcome.
            service_now: The service's time, for a date in Retry-After.
        """
        if self.request.expects_429 or outcome in {AttemptResult.UNSENDABLE, AttemptResult.STOPPED}:
            return None
        no_response = exchange.received is None or exchange.received.status in GATEWAY_STATUSES
        if not no_response or self.repeats >= self._allowed(exchange, outcome):
            return None
        pause = REPEATS[min(self.repeats, len(REPEATS) - 1)]
        self.repeats += 1
        retry_seconds = None if exchange.received is None else retry_after(exchange.received, service_now)
        return pause if retry_seconds is None or retry_seconds > _LONGEST_RETRY_AFTER else max(pause, retry_seconds)

    def _allowed(self, exchange: Exchange, outcome: AttemptResult) -> int:
        if outcome is AttemptResult.UNREACHED:
            return RECONNECTS
        if not self.request.harmless:
            return 0
        return len(REPEATS) if exchange.received is None else BEYOND_GATEWAY
