"""Clock of a run, replaceable in tests and replays."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Interface of a clock."""

    def now(self) -> datetime:
        """Return the time of day, in UTC."""

    def monotonic(self) -> float:
        """Return seconds that never decrease; only differences have a meaning."""

    def sleep(self, seconds: float) -> None:
        """Pause the calling thread."""

    async def pause(self, seconds: float) -> None:
        """Pause a task of an event loop."""


class SystemClock:
    """The machine's clock, read once and advanced by the monotonic clock, so that it is never set back in a run."""

    def __init__(self) -> None:
        self._began = datetime.now(UTC)
        self._began_monotonic = time.monotonic()

    def now(self) -> datetime:
        """Return the time of day, in UTC."""
        return self._began + timedelta(seconds=time.monotonic() - self._began_monotonic)

    def monotonic(self) -> float:
        """Return seconds that never decrease."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Pause the calling thread."""
        time.sleep(max(0.0, seconds))

    async def pause(self, seconds: float) -> None:
        """Pause a task of an event loop."""
        await asyncio.sleep(max(0.0, seconds))
