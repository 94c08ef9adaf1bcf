"""Limits that end a run: its budget, its deadline, a signal, or the loss of the target."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from conformance.json_text import Parsed
from conformance.wire.exchange import NoResponse

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.wire.clock import Clock
    from conformance.wire.exchange import Response
    from conformance.wire.settings import WireSettings


MAX_RESPONSE_BYTES: Final = 192 * 2**20
"""The most bytes of memory, estimated, that the responses of a run may take."""

_LARGE: Final = 2**20
_A_HEADER: Final = 200
"""Bytes of memory that a header takes, estimated."""
_OVERTIME: Final = 3.0
"""Seconds by which undoing may exceed the run's time."""

_STEADY: Final = 0.9
_CALLS_A_CHANGE: Final = 2
_CALLS_BESIDE: Final = 6
"""Sequential requests of undoing beside the deletions, which read the organization and its engagements."""


class StopCause(StrEnum):
    """A cause that steers what follows the end of a run: its reason begins with it, so that a recording has it, too."""

    TARGET_LOST = "the target was lost"
    KEY_REFUSED = "the main key was refused"
    SIGNAL = "interrupted by "
    FAIL_FAST = "--fail-fast, "

    @classmethod
    def of(cls, reason: str | None) -> StopCause | None:
        """Return the cause in a reason; None for another one."""
        return next((cause for cause in cls if (reason or "").startswith(cause)), None)


class RunStopped(NoResponse):
    """Nothing more is sent; the message is the reason, as a clause."""

    permanent = True


@dataclass(frozen=True, slots=True)
class Undoing:
    """A permission to send after the end of the run.

    Attributes:
        begun: The time at which it was given (monotonic).
        deadline: The time at which it ends.
    """

    begun: float
    deadline: float


class Limits:
    """Counts the requests of a run and enforces its limits.

    Attributes:
        stopped: The reason why the run is over; None while it goes on.
        sent: Requests sent so far.
        to_undo: Returns the number of changes to undo, for which time and requests are reserved.
    """

    def __init__(self, settings: WireSettings, clock: Clock) -> None:
        self.stopped: str | None = None
        self.sent = 0
        self._settings = settings
        self._clock = clock
        self._hurried_at: float | None = None
        self._deadline = None if settings.max_seconds is None else clock.monotonic() + settings.max_seconds
        self._memory_used = 0
        self._pace = 0.0
        self.to_undo: Callable[[], int] = lambda: 0

    def end(self, reason: str) -> RunStopped:
        """End the run, unless it is over already; return the exception to raise."""
        if self.stopped is None:
            self.stopped = reason
        return RunStopped(self.stopped)

    def hurry(self, reason: str) -> None:
        """End the run on the user's demand, with a shorter time for undoing."""
        self.end(reason)
        if self._hurried_at is None:
            self._hurried_at = self._clock.monotonic()

    def undoing(self) -> Undoing:
        """Return a permission to undo."""
        now = self._clock.monotonic()
        end = now + self._settings.undo_seconds + self._spaced_seconds()
        return Undoing(now, end if self._deadline is None else min(end, max(self._deadline, now) + _OVERTIME))

    def left(self, undoing: Undoing | None) -> float | None:
        """Return the seconds in which requests may still be sent; None for no limit."""
        deadline = None if self._deadline is None else self._deadline - self._reserved_seconds()
        if undoing is not None:
            deadline = undoing.deadline
            if self._hurried_at is not None:
                hurried = self._settings.hurried_undo_seconds
                deadline = min(deadline, max(self._hurried_at + hurried, undoing.begun + hurried / 2))
        return None if deadline is None else deadline - self._clock.monotonic()

    def is_over(self) -> bool:
        """Whether an ordinary request would no longer be sent."""
        left = self.left(None)
        return self.stopped is not None or (left is not None and left <= 0)

    def keep(self, response: Response | None, seconds: float) -> bool:
        """Count a response's memory; return whether there is room for it, and end the run if not.

        Args:
            response: The response, or None.
            seconds: The duration of the exchange.
        """
        self._pace = max(seconds, self._pace * _STEADY)
        if response is None:
            return True
        # A copy takes the same again; of a large text there are two, wider ones with a character outside of the BMP.
        copies = 1 if len(response.body) <= _LARGE else 2 if response.body.isascii() else 5
        parsed = response.reading.size if isinstance(response.reading, Parsed) else 0
        size = len(response.body) * (1 + copies) + parsed + len(response.headers) * _A_HEADER
        if self._memory_used + size > MAX_RESPONSE_BYTES:
            self.end(f"the responses of the run take more than {MAX_RESPONSE_BYTES // 2**20} MiB together")
            return False
        self._memory_used += size
        return True

    def _reserved_seconds(self) -> float:
        """Return the seconds that are reserved for undoing; at most half of the run's time before the first change."""
        changes = self.to_undo()
        in_sequence = _CALLS_A_CHANGE * math.ceil(changes / self._settings.workers) + _CALLS_BESIDE
        needed = max(in_sequence * self._pace, self._spaced_seconds())
        return needed if changes else min(needed, (self._settings.max_seconds or 0) / 2)

    def _spaced_seconds(self) -> float:
        """Return the seconds that undoing takes because of the user's request rate."""
        rate = self._settings.rate
        return 0 if rate is None else (_CALLS_A_CHANGE * self.to_undo() + _CALLS_BESIDE) / rate

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
        """Ensure that the budget has room for one more request beside those in flight.

        Raises:
            RunStopped: It has not.
        """
        if self._has_sent_all(under_way + self._reserved_requests()):
            raise self.end(f"the budget of {self._settings.max_requests} requests is used up")

    def _check(self, left: float | None) -> None:
        if self.stopped is not None:
            raise RunStopped(self.stopped)
        if left is not None and left <= 0:
            raise self.end(f"the time of {self._settings.max_seconds:g} s for the run is used up")
        if self._has_sent_all(self._reserved_requests()):
            raise self.end(f"the budget of {self._settings.max_requests} requests is used up")

    def _has_sent_all(self, reserved: int = 0) -> bool:
        most = self._settings.max_requests
        return most is not None and self.sent + reserved >= most

    def _reserved_requests(self) -> int:
        """Return the requests that are reserved for undoing: a read and a deletion for each change, and a few more."""
        changes = 0 if self._settings.max_requests is None else self.to_undo()  # it waits for the journal
        return _CALLS_A_CHANGE * changes + _CALLS_BESIDE if changes else 0

    def ensure_time(self, seconds: float, undoing: Undoing | None) -> None:
        """Ensure that a pause ends before the run's time.

        Raises:
            RunStopped: It does not.
        """
        left = self.left(undoing)
        if left is None or seconds < left:
            return
        if undoing is not None:
            raise RunStopped("the time for undoing is used up")
        raise self.end(f"a wait of {seconds:.0f} s does not fit into the {self._settings.max_seconds:g} s for the run")
