"""What ends a run: its budget, its deadline, a call to stop, or the loss of the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.json_text import MAX_PARTS
from conformance.wire.exchange import NoResponse

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.wire.clock import Clock
    from conformance.wire.exchange import Response
    from conformance.wire.settings import WireSettings


MAX_KEPT: Final = 192 * 2**20
"""Bytes of memory that the responses of a run may take, as far as can be told."""

_LARGE: Final = 2**20
_A_HEADER: Final = 200
"""Bytes of memory that a header takes, about."""
_A_STRING: Final = 60
_A_BRACKET: Final = 72
_A_MEMBER: Final = 50
_AN_ITEM: Final = 24
"""Bytes of memory that the parts of a JSON text take when it is read, about, beside the text in them."""

_OVERTIME: Final = 3.0
"""Seconds that undoing may go on past the time for the run."""

_STEADY: Final = 0.9
_CALLS_A_CHANGE: Final = 2
_CALLS_BESIDE: Final = 6
"""Requests one after the other that undoing takes beside the deletions: whose organization it is, what it holds."""


class RunStopped(NoResponse):
    """Nothing more is sent; the message says why, as a clause."""

    lasting = True


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
        to_undo: Tells how many changes would have to be undone now; time for them is kept back.
    """

    def __init__(self, settings: WireSettings, clock: Clock) -> None:
        self.stopped: str | None = None
        self.sent = 0
        self._settings = settings
        self._clock = clock
        self._hurried_at: float | None = None
        self._deadline = None if settings.max_seconds is None else clock.monotonic() + settings.max_seconds
        self._kept = 0
        self._pace = 0.0
        self.to_undo: Callable[[], int] = lambda: 0

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
        end = now + (self._settings.undo_seconds if seconds is None else seconds)
        return Undoing(now, end if self._deadline is None else min(end, max(self._deadline, now) + _OVERTIME))

    def left(self, undoing: Undoing | None) -> float | None:
        """Seconds until nothing may be sent any more; None for no end."""
        deadline = None if self._deadline is None else self._deadline - self._kept_back()
        if undoing is not None:
            deadline = undoing.deadline
            if self._hurried_at is not None:
                hurried = self._settings.hurried_undo_seconds
                deadline = min(deadline, max(self._hurried_at + hurried, undoing.begun + hurried / 2))
        return None if deadline is None else deadline - self._clock.monotonic()

    def is_over(self) -> bool:
        """Whether an ordinary request would not be sent any more; for those who only let time pass."""
        left = self.left(None)
        return self.stopped is not None or (left is not None and left <= 0)

    def keep(self, response: Response | None, seconds: float) -> bool:
        """Whether there is room to keep a response; where there is none left, the run is over.

        Args:
            response: The response, or None for none.
            seconds: How long it took to come.
        """
        self._pace = max(seconds, self._pace * _STEADY)
        if response is None:
            return True
        # What is read of a text takes as much again; a large string with one character of another plane four times.
        wide = len(response.body) > _LARGE and not response.body.isascii()
        size = len(response.body) * (5 if wide else 2) + _of_parts(response.body) + len(response.headers) * _A_HEADER
        if self._kept + size > MAX_KEPT:
            self.end(f"the responses of the run take more than {MAX_KEPT // 2**20} MiB together")
            return False
        self._kept += size
        return True

    def _kept_back(self) -> float:
        """Seconds of the run's time that are kept for the undoing, half of all at most."""
        requests = self.to_undo() / self._settings.workers + _CALLS_BESIDE
        return min(requests * self._pace, (self._settings.max_seconds or 0) / 2)

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
        elif self._has_sent_all():
            raise RunStopped(f"all {self._settings.max_requests} requests of the run were sent")
        self.sent += 1

    def ensure_room(self, under_way: int) -> None:
        """Make sure that the budget has room for one more request beside those that are under way.

        Raises:
            RunStopped: It has not; whoever writes down what is about to be sent need not begin.
        """
        if self._has_sent_all(under_way + self._requests_kept_back()):
            raise self.end(f"the budget of {self._settings.max_requests} requests is used up")

    def _check(self, left: float | None) -> None:
        if self.stopped is not None:
            raise RunStopped(self.stopped)
        if left is not None and left <= 0:
            raise self.end(f"the time of {self._settings.max_seconds:g} s for the run is used up")
        if self._has_sent_all(self._requests_kept_back()):
            raise self.end(f"the budget of {self._settings.max_requests} requests is used up")

    def _has_sent_all(self, kept_back: int = 0) -> bool:
        most = self._settings.max_requests
        return most is not None and self.sent + kept_back >= most

    def _requests_kept_back(self) -> int:
        """Requests that are kept for the undoing: a read and a deletion for each change, and some beside."""
        changes = self.to_undo()
        return _CALLS_A_CHANGE * changes + _CALLS_BESIDE if changes else 0

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


def _of_parts(body: bytes) -> int:
    """Bytes of memory that what is read of a body takes beside its text; of more parts nothing is read."""
    costs = ((b'"', _A_STRING // 2), (b"{", _A_BRACKET), (b"[", _A_BRACKET), (b":", _A_MEMBER), (b",", _AN_ITEM))
    return sum(min(body.count(part), MAX_PARTS) * cost for part, cost in costs)
