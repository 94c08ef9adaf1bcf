"""The clock of a run goes on by itself, whatever becomes of the machine's."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest

from conformance.wire import clock


def test_a_clock_that_is_set_back_moves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was sent later is not told to have been sent before."""
    seconds = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: seconds[0])
    running = clock.SystemClock()
    began = running.now()

    class SetBack(datetime):
        """A machine whose clock was set back by an hour."""

        @classmethod
        def now(cls, _tz: object = None) -> datetime:
            """An hour less."""
            return began - timedelta(hours=1)

    monkeypatch.setattr(clock, "datetime", SetBack)
    seconds[0] += 2.5

    assert running.now() - began == timedelta(seconds=2.5)


def test_a_clock_tells_the_time_of_day() -> None:
    """In UTC."""
    assert abs(clock.SystemClock().now() - datetime.now(UTC)) < timedelta(minutes=1)
