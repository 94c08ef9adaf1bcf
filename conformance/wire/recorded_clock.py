"""The clock that checks look at: what it said is noted, and said again in a replay."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.wire.clock import Clock
    from conformance.wire.recorded_inputs import RecordedInputs


class RecordedClock:
    """A clock whose readings are noted.

    Args:
        clock: The clock that is looked at in a run.
        notes: The notes of the run, or of the run that is judged again.
    """

    def __init__(self, clock: Clock, notes: RecordedInputs) -> None:
        self._clock = clock
        self._notes = notes

    def now(self) -> datetime:
        """The time of day, in UTC."""
        return self._notes.record("time of day", self._clock.now, datetime.isoformat, datetime.fromisoformat)

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return self._notes.record("seconds", self._clock.monotonic, float, float)

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self._clock.sleep(seconds)

    async def pause(self, seconds: float) -> None:
        """Let time pass in an event loop."""
        await self._clock.pause(seconds)


class FrozenClock:
    """The clock of a replay: pauses take no time, and nobody looks at it, because what was read is noted."""

    def now(self) -> datetime:
        """Never asked in a replay.

        Raises:
            RuntimeError: Always.
        """
        raise RuntimeError("a replay has no time of its own")

    def monotonic(self) -> float:
        """Never asked in a replay.

        Raises:
            RuntimeError: Always.
        """
        raise RuntimeError("a replay has no time of its own")

    def sleep(self, seconds: float) -> None:
        """Skip the pause."""

    async def pause(self, seconds: float) -> None:
        """Skip the pause."""
