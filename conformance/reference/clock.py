"""Time: seconds since the epoch within, timestamps of the interface outside."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta

#: Tells the time in seconds since the epoch.
Clock = Callable[[], float]

DAY = 86_400_000
"""Milliseconds of a day."""

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - UTC throughout, written with its Z by hand

system_clock: Clock = time.time


def timestamp(milliseconds: int) -> str:
    """Write a moment the way the interface shows it.

    Args:
        milliseconds: Since the epoch.

    Returns:
        ISO 8601 in UTC with three decimals and a trailing Z.
    """
    moment = _EPOCH + timedelta(milliseconds=milliseconds)
    return f"{moment.isoformat(timespec='milliseconds')}Z"
