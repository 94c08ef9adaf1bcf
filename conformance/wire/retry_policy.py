"""Whether and when an unanswered call is worth sending again."""

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
"""Seconds before the first and the second repetition."""

BEYOND_GATEWAY: Final = 4
"""Repetitions after a gateway's response: it comes fast and now and then, so that two more cost little."""

RECONNECTS: Final = 4
"""Repetitions where no connection was made; the wire waits for the target in between."""

WAITS: Final = 3
"""Times that one request waits for its rate limit."""

_LONGEST_RETRY_AFTER: Final = 5.0


@dataclass(slots=True)
class RetryPolicy:
    """How often one request was repeated, and whether it may be again.

    Attributes:
        request: The request.
        repeats: Repetitions after a broken connection or a gateway's response.
        waits: Times that it waited for its rate limit.
    """

    request: Request
    repeats: int = 0
    waits: int = 0

    def pause_after(self, exchange: Exchange, outcome: AttemptResult, service_now: float) -> float | None:
        """Seconds until the request is repeated after this exchange; None if it is not.

        Args:
            exchange: The last attempt, unless it is a 429.
            outcome: What came of it.
            service_now: The service's time, for a Retry-After that is a date.
        """
        if self.request.expects_429 or outcome in {AttemptResult.UNSENDABLE, AttemptResult.STOPPED}:
            return None
        no_response = exchange.received is None or exchange.received.status in GATEWAY_STATUSES
        if not no_response or self.repeats >= self._allowed(exchange, outcome):
            return None
        pause = REPEATS[min(self.repeats, len(REPEATS) - 1)]
        self.repeats += 1
        asked = None if exchange.received is None else retry_after(exchange.received, service_now)
        return pause if asked is None or asked > _LONGEST_RETRY_AFTER else max(pause, asked)

    def _allowed(self, exchange: Exchange, outcome: AttemptResult) -> int:
        if outcome is AttemptResult.UNREACHED:
            return RECONNECTS
        if not self.request.harmless:
            return 0
        return len(REPEATS) if exchange.received is None else BEYOND_GATEWAY
