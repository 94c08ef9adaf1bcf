"""What a run waits for, and until when, for whoever watches it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Waiting:
    """Something that is waited for.

    Attributes:
        what: It, such as ``the rate limit``.
        until: When the waiting ends at the latest, UTC.
    """

    what: str
    until: datetime

    @property
    def left(self) -> float:
        """Seconds until then."""
        return (self.until - datetime.now(UTC)).total_seconds()

    def __str__(self) -> str:
        return f"waiting for {self.what} until {self.until:%H:%M:%S} UTC ({self.left:.0f} s)"


class Waits:
    """All that is waited for at the moment, by any thread."""

    def __init__(self) -> None:
        self._under_way: dict[object, Waiting] = {}

    @contextmanager
    def during(self, what: str, seconds: float) -> Iterator[None]:
        """Inside this ``with`` something is waited for, so many seconds at most."""
        place = object()
        self._under_way[place] = Waiting(what, datetime.now(UTC) + timedelta(seconds=seconds))
        try:
            yield
        finally:
            del self._under_way[place]

    @property
    def first(self) -> Waiting | None:
        """What ends first of all that is waited for; None for nothing."""
        return min(list(self._under_way.values()), key=lambda one: one.until, default=None)
