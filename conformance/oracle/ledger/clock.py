"""Clock of the service, as far as the creation times of a run show its delay."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from conformance.oracle.timestamps import A_LONG_TICK

if TYPE_CHECKING:
    from conformance.oracle.effects import Interval

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECONDS: Final = 1_000_000
_ENOUGH: Final = 10
"""Different creation times from which the delay of the clock is known."""


class ServiceClock:
    """Delay between a request and the time that the service writes down for it.

    A clock that ticks rarely, nodes whose clocks differ, and slow responses all widen the range of that delay.
    """

    def __init__(self) -> None:
        self._times: set[datetime] = set()
        self._most = self._least = 0.0

    def learn(self, created_at: datetime, interval: Interval) -> None:
        """Learn from a creation time and the interval of its request."""
        shown = (created_at - _EPOCH).total_seconds() * _MICROSECONDS
        most, least = shown - interval.start, shown - interval.end
        self._most = max(self._most, most) if self._times else most
        self._least = min(self._least, least) if self._times else least
        self._times.add(created_at)

    @property
    def tick(self) -> float:
        """Microseconds after which two changes have different times."""
        longest = A_LONG_TICK * _MICROSECONDS
        return longest if len(self._times) < _ENOUGH else min(longest, 2 * (self._most - self._least))
