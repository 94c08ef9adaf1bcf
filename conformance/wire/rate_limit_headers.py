"""What a response says about the rate limit, and about the service's clock."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from conformance.wire.exchange import Response

SUCCESSIVE: Final = 5
"""Successful requests of one window after which fewer must remain than after the first of them."""

_REMEMBERED: Final = 16
_WHOLE: Final = re.compile(r"[0-9]{1,18}", re.ASCII)
_DECIMAL: Final = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,9})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Quota:
    """What the three headers say.

    Attributes:
        limit: Requests a window, at least 1.
        remaining: Requests left in it, 0 to ``limit``.
        reset: When it ends, in seconds of the epoch by the service's clock.
    """

    limit: int
    remaining: int
    reset: float


def quota(response: Response) -> Quota | None:
    """What a response says about the limit of its key; None if that makes no sense."""
    limit, remaining = (_number(response, f"X-RateLimit-{name}", _WHOLE) for name in ("Limit", "Remaining"))
    reset = _number(response, "X-RateLimit-Reset", _DECIMAL)
    if limit is None or remaining is None or reset is None or not 0 < int(limit) >= int(remaining):
        return None
    return Quota(int(limit), int(remaining), float(reset))


def leaves_requests(response: Response) -> bool:
    """Whether a response says that its window is not used up, as a 429 does where only too many came at once."""
    told = quota(response)
    return told is not None and told.remaining > 0


def has_fallen(before: Response, after: Response) -> bool:
    """Whether less remains of the same window; also if the two cannot be compared."""
    told, then = quota(before), quota(after)
    return told is None or then is None or then.reset != told.reset or then.remaining < told.remaining


def retry_after(response: Response, service_now: float) -> float | None:
    """Seconds that a Retry-After header asks to wait; None if it is absent or makes no sense."""
    given = response.header("Retry-After")
    if given is None:
        return None
    if _DECIMAL.fullmatch(given.strip()):
        return float(given)
    moment = _date(given)
    return None if moment is None else max(0.0, moment - service_now)


class ServiceClock:
    """The service's clock, as far as its Date headers tell.

    A Date is cut to whole seconds and is old when it arrives, so the service's clock is never behind what one says; the
    greatest of the latest is the best estimate, and never early.
    """

    def __init__(self) -> None:
        self._offsets: deque[float] = deque(maxlen=_REMEMBERED)

    @property
    def offset(self) -> float | None:
        """Seconds that the service's clock is ahead of ours; None before any Date."""
        return max(self._offsets, default=None)

    def learn(self, response: Response, received_at: datetime) -> None:
        """Take the Date of a response into account."""
        moment = date_of(response)
        if moment is not None:
            self._offsets.append(moment - received_at.timestamp())

    def time(self, now: datetime) -> float:
        """The service's time, in seconds of the epoch, when ours is ``now``."""
        return now.timestamp() + (self.offset or 0.0)


def date_of(response: Response) -> float | None:
    """The Date of a response in seconds of the epoch; None if it has none that makes sense."""
    return _date(response.header("Date") or "")


def _number(response: Response, name: str, pattern: re.Pattern[str]) -> str | None:
    values = {value.strip() for value in response.values(name)}
    value = values.pop() if len(values) == 1 else ""  # a gateway that repeats it with the same value says it once
    return value if pattern.fullmatch(value) else None


@lru_cache(maxsize=64)  # many responses have the same one, and are asked for it often
def _date(text: str) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).timestamp()
    except (TypeError, ValueError, OverflowError, IndexError):
        return None
