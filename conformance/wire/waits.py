"""Present waits of a run, for its progress display."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Waiting:
    """A wait.

    Attributes:
        what: The object of the wait, such as ``the rate limit``.
        until: The latest end, UTC.
    """

    what: str
    until: datetime

    @property
    def left(self) -> float:
        """Seconds until the end."""
        return (self.until - datetime.now(UTC)).total_seconds()

    def __str__(self) -> str:
        return f"waiting for {self.what} until {self.until:%H:%M:%S} UTC ({self.left:.0f} s)"


class Waits:
    """Present waits of all threads."""

    def __init__(self) -> None:
        self._under_way: dict[object, Waiting] = {}

    @contextmanager
    def during(self, what: str, seconds: float) -> Iterator[None]:
        """Register a wait of at most so many seconds inside a ``with``."""
        place = object()
        self._under_way[place] = Waiting(what, datetime.now(UTC) + timedelta(seconds=seconds))
        try:
            yield
        finally:
            del self._under_way[place]

    @property
    def first(self) -> Waiting | None:
        """The wait that ends first; None if there is none."""
        return min(list(self._under_way.values()), key=lambda waiting: waiting.until, default=None)
