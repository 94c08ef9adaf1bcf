"""Clock of the checks, whose readings are recorded and replayed."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.wire.clock import Clock
    from conformance.wire.recorded_inputs import RecordedInputs


class RecordedClock:
    """A clock whose readings are recorded.

    Args:
        clock: The clock of a run.
        inputs: The recorded inputs of the run, or of its recording.
    """

    def __init__(self, clock: Clock, inputs: RecordedInputs) -> None:
        self._clock = clock
        self._inputs = inputs

    def now(self) -> datetime:
        """Return the time of day, in UTC."""
        return self._inputs.record("time of day", self._clock.now, datetime.isoformat, datetime.fromisoformat)

    def monotonic(self) -> float:
        """Return seconds that never decrease."""
        return self._inputs.record("seconds", self._clock.monotonic, float, float)

    def sleep(self, seconds: float) -> None:
        """Pause the calling thread."""
        self._clock.sleep(seconds)

    async def pause(self, seconds: float) -> None:
        """Pause a task of an event loop."""
        await self._clock.pause(seconds)


class FrozenClock:
    """The clock of a replay: pauses take no time, and readings come from the recorded inputs."""

    def now(self) -> datetime:
        """Refuse: a replay has no time of its own."""
        raise RuntimeError("a replay has no time of its own")

    def monotonic(self) -> float:
        """Refuse: a replay has no time of its own."""
        raise RuntimeError("a replay has no time of its own")

    def sleep(self, seconds: float) -> None:
        """Skip the pause."""

    async def pause(self, seconds: float) -> None:
        """Skip the pause."""
