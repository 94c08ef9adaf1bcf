"""Clock of the service, as far as the creation times of a run show its step and its delay."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Final

from conformance.oracle.effects import MICROSECONDS
from conformance.oracle.timestamps import A_LONG_TICK, EPOCH, step_of

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from conformance.oracle.effects import Interval

_ENOUGH: Final = 10
"""Different creation times from which the delay of the clock is known."""


@dataclass(slots=True)
class _Delays:
    """Creation times with one key, and the range of the delays between the requests and these times."""

    times: set[datetime] = field(default_factory=set)
    least: float = inf
    most: float = -inf


class CreationClock:
    """Delay between a request and the time that the service writes down for it.

    A clock that ticks rarely, nodes whose clocks differ, and slow responses all widen the range of that delay. A
    service may choose the node by the key, so that creations with one key say nothing about changes with another.
    """

    def __init__(self) -> None:
        self._of_key: defaultdict[str, _Delays] = defaultdict(_Delays)

    def learn(self, key: str, created_at: datetime, interval: Interval) -> None:
        """Learn from a creation time, the name of the key and the interval of the request."""
        shown, known = (created_at - EPOCH).total_seconds() * MICROSECONDS, self._of_key[key]
        known.times.add(created_at)
        known.least = min(known.least, shown - interval.end)
        known.most = max(known.most, shown - interval.start)

    def tick(self, keys: Collection[str]) -> float:
        """Return the microseconds after which two changes with these keys have different times."""
        longest, known = A_LONG_TICK * MICROSECONDS, [self._of_key[key] for key in dict.fromkeys(keys)]
        if len(known) != 1 or len(known[0].times) < _ENOUGH:
            return longest
        return min(longest, max(step_of(known[0].times) * MICROSECONDS, 2 * (known[0].most - known[0].least)))
