"""The one clock of a run, so that a test or a replay can give it another time."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """What time it is, and how to let it pass."""

    def now(self) -> datetime:
        """The time of day, in UTC."""

    def monotonic(self) -> float:
        """Seconds that never go back; only differences mean something."""

    def sleep(self, seconds: float) -> None:
        """Let time pass in the calling thread."""

    async def pause(self, seconds: float) -> None:
        """Let time pass in an event loop."""


class SystemClock:
    """The clock of the machine, read once: what goes on from there is not set back in the midst of a run."""

    def __init__(self) -> None:
        self._began = datetime.now(UTC)
        self._then = time.monotonic()

    def now(self) -> datetime:
        """The time of day, in UTC."""
        return self._began + timedelta(seconds=time.monotonic() - self._then)

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Let time pass in the calling thread."""
        time.sleep(max(0.0, seconds))

    async def pause(self, seconds: float) -> None:
        """Let time pass in an event loop."""
        await asyncio.sleep(max(0.0, seconds))
