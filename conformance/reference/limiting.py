"""Rate limits: fixed window, sliding window and token bucket."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Quota:
    """The values of a response's rate-limit headers.

    Args:
        limit: Requests per window.
        remaining: Requests left.
        reset: When the window ends, in seconds since the epoch.
        exceeded: Whether this request exceeded the limit.
    """

    limit: int
    remaining: int
    reset: float
    exceeded: bool


class Allowance(Protocol):
    """The rate limit of a client."""

    def take(self, now: float) -> Quota:
        """Count a request unless it exceeds the limit."""

    def give_back(self) -> None:
        """Undo the last count."""


@dataclass(slots=True)
class FixedWindow:
    """A limit on the requests between two resets.

    Args:
        limit: Requests per window.
        window: Its length in seconds.
        whole: Whether windows end on whole seconds.
    """

    limit: int
    window: float
    whole: bool = True
    end: float = 0
    count: int = 0

    def take(self, now: float) -> Quota:
        """Count a request unless it exceeds the limit."""
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
    """A limit on the requests within any span of the window's length; all are available again at the reset."""

    limit: int
    window: float
    times: deque[float] = field(default_factory=deque)

    def take(self, now: float) -> Quota:
        """Count a request unless it exceeds the limit."""
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
    """A bucket that fills evenly; it is full at the reset."""

    limit: int
    window: float
    tokens: float = field(init=False)
    filled_at: float = 0

    def __post_init__(self) -> None:
        self.tokens = self.limit

    def take(self, now: float) -> Quota:
        """Take a token unless the bucket is empty."""
        rate = self.limit / self.window
        self.tokens = min(self.limit, self.tokens + max(now - self.filled_at, 0) * rate)
        self.filled_at = now
        exceeded = self.tokens < 1
        self.tokens -= 0 if exceeded else 1
        return Quota(self.limit, int(self.tokens), now + (self.limit - self.tokens) / rate, exceeded)

    def give_back(self) -> None:
        """Put a token back."""
        self.tokens = min(self.limit, self.tokens + 1)
