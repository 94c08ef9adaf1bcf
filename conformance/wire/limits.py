"""What ends a run: its budget, its deadline, a call to stop, or the loss of the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.wire.exchange import Unanswered

if TYPE_CHECKING:
    from conformance.wire.clock import Clock
    from conformance.wire.settings import WireSettings


class RunStopped(Unanswered):
    """Nothing more is sent; the message says why, as a clause."""


@dataclass(frozen=True, slots=True)
class Undoing:
    """A permission to send although the run is over.

    Attributes:
        begun: When it was given (monotonic time).
        deadline: When it ends.
    """

    begun: float
    deadline: float


class Limits:
    """Counts what is sent, and says what may still be.

    Attributes:
        stopped: Why the run is over; None while it is not.
        sent: Requests sent so far.
    """

    def __init__(self, settings: WireSettings, clock: Clock) -> None:
        self.stopped: str | None = None
        self.sent = 0
        self._settings = settings
        self._clock = clock
        self._hurried_at: float | None = None
        self._deadline = None if settings.max_seconds is None else clock.monotonic() + settings.max_seconds

    def end(self, reason: str) -> RunStopped:
        """End the run, unless it is over already; returns what to raise."""
        if self.stopped is None:
            self.stopped = reason
        return RunStopped(self.stopped)

    def hurry(self, reason: str) -> None:
        """End the run because somebody wants it, who will not wait long for the undoing."""
        self.end(reason)
        if self._hurried_at is None:
            self._hurried_at = self._clock.monotonic()

    def undoing(self, seconds: float | None) -> Undoing:
        """A permission to undo, for so many seconds."""
        now = self._clock.monotonic()
        return Undoing(now, now + (self._settings.undo_seconds if seconds is None else seconds))

    def left(self, undoing: Undoing | None) -> float | None:
        """Seconds until nothing may be sent any more; None for no end."""
        deadline = self._deadline
        if undoing is not None:
            deadline = undoing.deadline
            if self._hurried_at is not None:
                hurried = max(self._hurried_at, undoing.begun) + self._settings.hurried_undo_seconds
                deadline = min(deadline, hurried)
        return None if deadline is None else deadline - self._clock.monotonic()

    def admit(self, undoing: Undoing | None) -> None:
        """Count one more request.

        Raises:
            RunStopped: It must not be sent.
        """
        left = self.left(undoing)
        if undoing is None:
            self._check(left)
        elif left is not None and left <= 0:
            raise RunStopped("the time for undoing is used up")
        self.sent += 1

    def _check(self, left: float | None) -> None:
        if self.stopped is not None:
            raise RunStopped(self.stopped)
        if left is not None and left <= 0:
            raise self.end(f"the time of {self._settings.max_seconds:g} s for the run is used up")
        if self._settings.max_requests is not None and self.sent >= self._settings.max_requests:
            raise self.end(f"the budget of {self._settings.max_requests} requests is used up")

    def ensure_time(self, seconds: float, undoing: Undoing | None) -> None:
        """Make sure that a pause ends before everything does.

        Raises:
            RunStopped: It does not, so that waiting is of no use.
        """
        left = self.left(undoing)
        if left is None or seconds < left:
            return
        if undoing is not None:
            raise RunStopped("the time for undoing is used up")
        raise self.end(f"a wait of {seconds:.0f} s does not fit into the {self._settings.max_seconds:g} s for the run")
