"""Clock and timestamps: seconds since the epoch inside, ISO 8601 in the interface."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta

#: Returns the time in seconds since the epoch.
Clock = Callable[[], float]

DAY = 86_400_000
"""Milliseconds of a day."""

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - always UTC; ``timestamp`` appends the Z

system_clock: Clock = time.time


def timestamp(milliseconds: int) -> str:
    """Return milliseconds since the epoch as a timestamp: ISO 8601 in UTC with three decimals and a trailing Z."""
    moment = _EPOCH + timedelta(milliseconds=milliseconds)
    return f"{moment.isoformat(timespec='milliseconds')}Z"
