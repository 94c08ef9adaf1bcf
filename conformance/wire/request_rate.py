"""Evenly spaced requests, for a limit that the user sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.wire.clock import Clock


class RequestRate:
    """Assigns each request its earliest time.

    Args:
        clock: The run's clock.
        rate: The maximum number of requests per second; None for any number.
    """

    def __init__(self, clock: Clock, rate: float | None) -> None:
        self._clock = clock
        self._interval = 0.0 if rate is None else 1 / rate
        self._next = clock.monotonic()

    def turn(self) -> float:
        """Return the seconds until the next request may be sent, and count it."""
        now = self._clock.monotonic()
        at = max(now, self._next)
        self._next = at + self._interval
        return at - now
