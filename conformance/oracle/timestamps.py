"""Timestamps of the interface: UTC, milliseconds, a trailing Z."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from math import gcd
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_FORMAT: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_A_MILLISECOND: Final = timedelta(milliseconds=1)
_A_MINUTE: Final = 60.0
_SEVERAL: Final = 5

A_LONG_TICK: Final = 2.5
"""Seconds after which a clock that has not ticked has stopped."""


def parse_timestamp(value: object) -> datetime | None:
    """Return the time of a JSON value; None if it is not a timestamp in exactly the interface's format."""
    return _parsed(value) if isinstance(value, str) else None


@lru_cache(maxsize=4096)
def _parsed(text: str) -> datetime | None:
    if not _FORMAT.fullmatch(text):
        return None
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
    except ValueError:
        return None


def step_of(times: Iterable[datetime]) -> float:
    """Return the step in seconds of which all times are multiples, a minute at most; 0 if there are too few times.

    The steps of a clock need not begin at whole seconds; only several times show where they begin. A single time may be
    of a stopped clock: it shows at most that it is a whole minute.
    """
    moments = set(times)
    begin = min(moments) if len(moments) >= _SEVERAL else EPOCH
    step = gcd(*((moment - begin) // _A_MILLISECOND for moment in moments)) / 1000
    if step and step % _A_MINUTE == 0:
        return _A_MINUTE
    return step if len(moments) > 1 else 0.0
