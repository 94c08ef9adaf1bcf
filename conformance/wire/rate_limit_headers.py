"""Headers about the rate limit and the service's clock."""

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
"""Successful requests of one window after which the remaining quota must have fallen."""

_REMEMBERED: Final = 16
_INEXACT: Final = 5.0
"""Seconds by which a Reset may be later than the end of its window: a Date has whole seconds."""
_WHOLE: Final = re.compile(r"[0-9]{1,18}", re.ASCII)
_DECIMAL: Final = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,9})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Quota:
    """Values of the three rate-limit headers.

    Attributes:
        limit: Requests per window, at least 1.
        remaining: Requests left in the window, 0 to ``limit``.
        reset: The end of the window, in seconds of the epoch by the service's clock.
    """

    limit: int
    remaining: int
    reset: float


def quota(response: Response) -> Quota | None:
    """Return the quota of the response's key; None if its headers make no sense."""
    limit, remaining = (_number(response, f"X-RateLimit-{name}", _WHOLE) for name in ("Limit", "Remaining"))
    reset = _number(response, "X-RateLimit-Reset", _DECIMAL)
    if limit is None or remaining is None or reset is None or not 0 < int(limit) >= int(remaining):
        return None
    return Quota(int(limit), int(remaining), float(reset))


def leaves_requests(response: Response) -> bool:
    """Whether the headers leave requests, as in a 429 for too many concurrent requests."""
    shown = quota(response)
    return shown is not None and shown.remaining > 0


def has_fallen(before: Response, after: Response) -> bool:
    """Whether the remaining quota has fallen within a window; True if the two cannot be compared."""
    first, second = quota(before), quota(after)
    if first is None or second is None or second.reset != first.reset:
        return True
    return second.remaining < first.remaining


def is_early(before: Response, after: Response, service_now: float) -> bool:
    """Whether a new window has begun long before the Reset of the earlier response, which is then no time to wait for.

    Args:
        before: A response of a window.
        after: A later response for the same key.
        service_now: The service's time, in seconds of the epoch.
    """
    first, second = quota(before), quota(after)
    if first is None or second is None:
        return False
    return second.remaining > first.remaining and service_now < first.reset - _INEXACT


def retry_after(response: Response, service_now: float) -> float | None:
    """Return the seconds of a Retry-After header; None if it is absent or makes no sense."""
    given = response.header("Retry-After")
    if given is None:
        return None
    if _DECIMAL.fullmatch(given.strip()):
        return float(given)
    moment = _date(given)
    return None if moment is None else max(0.0, moment - service_now)


class ServiceClock:
    """The service's clock, estimated from its Date headers.

    A Date is truncated to whole seconds and old on arrival, so the service's clock is never behind it. The greatest
    offset of the latest responses is the best estimate.
    """

    def __init__(self) -> None:
        self._offsets: deque[float] = deque(maxlen=_REMEMBERED)

    @property
    def offset(self) -> float | None:
        """Seconds by which the service's clock is ahead of the suite's; None before any Date."""
        return max(self._offsets, default=None)

    def learn(self, response: Response, received_at: datetime) -> None:
        """Learn from the Date of a response."""
        moment = date_of(response)
        if moment is not None:
            self._offsets.append(moment - received_at.timestamp())

    def time(self, now: datetime) -> float:
        """Return the service's time, in seconds of the epoch, at our time ``now``."""
        return now.timestamp() + (self.offset or 0.0)


def date_of(response: Response) -> float | None:
    """Return the Date of a response in seconds of the epoch; None if it is absent or makes no sense."""
    return _date(response.header("Date") or "")


def _number(response: Response, name: str, pattern: re.Pattern[str]) -> str | None:
    values = {value.strip() for value in response.values(name)}
    value = values.pop() if len(values) == 1 else ""  # a gateway may repeat it with the same value
    return value if pattern.fullmatch(value) else None


@lru_cache(maxsize=64)  # many responses share a Date, which is read often
def _date(text: str) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).timestamp()
    except (TypeError, ValueError, OverflowError, IndexError):
        return None
