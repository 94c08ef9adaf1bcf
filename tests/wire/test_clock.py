"""Tests of the run's clock, which is independent of changes of the machine's clock."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta

import pytest

from conformance.wire import clock


def test_a_clock_that_is_set_back_moves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Times never go back."""
    seconds = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: seconds[0])
    running = clock.SystemClock()
    began = running.now()

    class SetBack(datetime):
        """A machine whose clock was set back by an hour."""

        @classmethod
        def now(cls, _tz: object = None) -> datetime:  # type: ignore[override]  # the time alone matters, not its class
            """Return an hour less."""
            return began - timedelta(hours=1)

    monkeypatch.setattr(clock, "datetime", SetBack)
    seconds[0] += 2.5

    assert running.now() - began == timedelta(seconds=2.5)


def test_a_clock_gives_the_time_of_day() -> None:
    """The time is in UTC."""
    assert abs(clock.SystemClock().now() - datetime.now(UTC)) < timedelta(minutes=1)


def test_a_pause_takes_the_given_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A negative pause takes no time."""
    passed: list[tuple[str, float]] = []
    monkeypatch.setattr(time, "sleep", lambda seconds: passed.append(("thread", seconds)))

    async def pause(seconds: float) -> None:
        passed.append(("loop", seconds))

    monkeypatch.setattr(asyncio, "sleep", pause)
    running = clock.SystemClock()

    for seconds in (0.25, -3.0):
        running.sleep(seconds)
        asyncio.run(running.pause(seconds))

    assert passed == [("thread", 0.25), ("loop", 0.25), ("thread", 0.0), ("loop", 0.0)]
