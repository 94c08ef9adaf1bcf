"""Timestamps of the interface: UTC, milliseconds, a trailing Z."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

_FORMAT: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")

A_LONG_TICK: Final = 2.5
"""Seconds after which a clock that has not ticked has stopped."""


@lru_cache(maxsize=4096)
def parse_timestamp(text: str) -> datetime | None:
    """Return the time of a timestamp, or None if it is not exactly of the interface's format."""
    if not _FORMAT.fullmatch(text):
        return None
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
    except ValueError:
        return None
