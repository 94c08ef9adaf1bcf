"""The one clock of a run, so that a test or a replay can give it another time."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
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
    """The clock of the machine."""

    def now(self) -> datetime:
        """The time of day, in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Let time pass in the calling thread."""
        time.sleep(max(0.0, seconds))

    async def pause(self, seconds: float) -> None:
        """Let time pass in an event loop."""
        await asyncio.sleep(max(0.0, seconds))
