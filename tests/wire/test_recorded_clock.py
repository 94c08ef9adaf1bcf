"""Tests of the recorded clock and of a replay's clock."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from conformance.wire.recorded_clock import FrozenClock, RecordedClock
from conformance.wire.recorded_inputs import InputPlayer, InputRecorder

AT = datetime(2026, 3, 1, 12, 0, 7, 250_000, tzinfo=UTC)


class Ticking:
    """A clock that advances with every reading and pause."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        """Return a time a second later each time."""
        self.seconds += 1
        return AT + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        """Return a time a quarter of a second later each time."""
        self.seconds += 0.25
        return self.seconds

    def sleep(self, seconds: float) -> None:
        """Advance."""
        self.seconds += seconds

    async def pause(self, seconds: float) -> None:
        """Advance ten times as far."""
        self.seconds += 10 * seconds


def read_off(clock: RecordedClock) -> list[object]:
    """Read a clock between pauses."""
    seen: list[object] = [clock.now(), clock.monotonic()]
    clock.sleep(5)
    seen.append(clock.monotonic())
    asyncio.run(clock.pause(5))
    return [*seen, clock.now()]


def test_a_replay_returns_the_recorded_times() -> None:
    """The replay returns the recorded readings without a clock and without waits."""
    taken = InputRecorder()
    first = read_off(RecordedClock(Ticking(), taken))

    assert first == [AT + timedelta(seconds=1), 1.25, 6.5, AT + timedelta(seconds=57.5)]
    assert [(line["asked"], line["told"]) for line in taken.lines] == [
        ("time of day", "2026-03-01T12:00:08.250000+00:00"),
        ("seconds", 1.25),
        ("seconds", 6.5),
        ("time of day", "2026-03-01T12:01:04.750000+00:00"),
    ]
    assert read_off(RecordedClock(FrozenClock(), InputPlayer(taken.lines))) == first


def test_a_replay_has_no_time_of_its_own() -> None:
    """Readings without a recording are refused."""
    clock = FrozenClock()
    for look in (clock.now, clock.monotonic):
        with pytest.raises(RuntimeError, match=r"^a replay has no time of its own$"):
            look()
