"""How many requests a client may still send."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Quota:
    """What the rate-limit headers of one answer tell.

    Args:
        limit: Requests a window.
        remaining: Requests left.
        reset: When the window ends, in seconds since the epoch.
        exceeded: Whether this request was one too many.
    """

    limit: int
    remaining: int
    reset: float
    exceeded: bool


class Allowance(Protocol):
    """The requests of one client."""

    def take(self, now: float) -> Quota:
        """Count one request, or find it one too many, which is not counted."""

    def give_back(self) -> None:
        """Undo the last count."""


@dataclass(slots=True)
class FixedWindow:
    """So many requests from one reset to the next.

    Args:
        limit: Requests a window.
        window: Its length in seconds.
        whole: Whether windows end on whole seconds, as a reset without decimals says.
    """

    limit: int
    window: float
    whole: bool = True
    end: float = 0
    count: int = 0

    def take(self, now: float) -> Quota:
        """Count one request."""
        if now >= self.end:
            end = now + self.window
            self.end, self.count = (math.ceil(end) if self.whole else end), 0
        exceeded = self.count >= self.limit
        self.count += not exceeded
        return Quota(self.limit, self.limit - self.count, self.end, exceeded)

    def give_back(self) -> None:
        """Undo the last count."""
        self.count = max(self.count - 1, 0)


@dataclass(slots=True)
class SlidingWindow:
    """So many requests within any span of the window's length; the reset tells when all are available again."""

    limit: int
    window: float
    times: deque[float] = field(default_factory=deque)

    def take(self, now: float) -> Quota:
        """Count one request."""
        while self.times and self.times[0] <= now - self.window:
            self.times.popleft()
        exceeded = len(self.times) >= self.limit
        if not exceeded:
            self.times.append(now)
        return Quota(self.limit, self.limit - len(self.times), self.times[-1] + self.window, exceeded)

    def give_back(self) -> None:
        """Undo the last count."""
        if self.times:
            self.times.pop()


@dataclass(slots=True)
class TokenBucket:
    """A bucket that fills evenly; the reset tells when it is full."""

    limit: int
    window: float
    tokens: float = field(init=False)
    filled_at: float = 0

    def __post_init__(self) -> None:
        self.tokens = self.limit

    def take(self, now: float) -> Quota:
        """Take one token."""
        rate = self.limit / self.window
        self.tokens = min(self.limit, self.tokens + max(now - self.filled_at, 0) * rate)
        self.filled_at = now
        exceeded = self.tokens < 1
        self.tokens -= 0 if exceeded else 1
        return Quota(self.limit, int(self.tokens), now + (self.limit - self.tokens) / rate, exceeded)

    def give_back(self) -> None:
        """Put one token back."""
        self.tokens = min(self.limit, self.tokens + 1)
