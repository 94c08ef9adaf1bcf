"""What every part of the service stands on: its store, its choices, its clock."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NoReturn

from conformance.reference.clock import Clock, system_clock
from conformance.reference.identifiers import Kind, could_be_issued, new_identifier
from conformance.reference.latitude import Latitude
from conformance.reference.mail import Postman
from conformance.reference.refusal import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.limiting import Allowance
    from conformance.reference.store import Store

_DAY = 86_400.0
_CLOCK_ERRORS = {
    "right": 0.0,
    "right-undated": 0.0,
    "4-minutes-behind-undated": -240.0,
    "4-minutes-ahead-undated": 240.0,
    "a-year-behind": -365 * _DAY,
    "a-day-ahead": _DAY,
    "4-minutes-behind-its-gateway": -240.0,
}
LATER = 0.3
"""Seconds that what is done in the background takes, where it is not done at once."""


def _stumble() -> None:
    raise RuntimeError("a process of its own would have ended")


class Core:
    """The ground that the parts of the service share.

    Args:
        store: Its state.
        latitude: Its choices at the open points.
        clock: Tells the time.
        postman: Sends its mail.
        latency: Seconds that every answer is held back.
    """

    def __init__(
        self,
        store: Store,
        *,
        latitude: Latitude | None = None,
        clock: Clock = system_clock,
        postman: Postman | None = None,
        latency: float = 0.0,
    ) -> None:
        self.store = store
        self.latitude = latitude or Latitude()
        self.postman = postman or Postman()
        self.latency = latency
        self._clock = clock
        service_clock = self.latitude["service_clock"]
        self.dated = not service_clock.endswith("-undated")
        self._clock_error = _CLOCK_ERRORS[service_clock]
        self._date_error = 0.0 if service_clock.endswith("-gateway") else self._clock_error
        self._shape = self.latitude["identifier_shape"]
        self._tick = {"milliseconds": 1, "seconds": 1000}[self.latitude["clock_ticks"]]
        self._allowances: dict[str, Allowance] = {}
        self._in_edit: set[str] = set()
        self._background: set[asyncio.TimerHandle] = set()
        self.clock_read: int | None = None
        """The time of the change that is being made, where it was read before; else the clock is asked."""
        store.keeps_latest_time = self.latitude["change_clock"] == "when-made"
        self.activating: set[str] = set()
        """The engagements that are to be active soon, by their ids."""
        self.end_process: Callable[[], None] = _stumble
        """Ends the process for a fault, if the service has one of its own."""
        self.memory: dict[str, Any] = {}
        """What a fault remembers from one request to the next; the service itself keeps nothing here."""

    def seconds(self) -> float:
        """Tell the time in seconds since the epoch, as far as this service knows."""
        return self._clock() + self._clock_error

    def date_seconds(self) -> float:
        """Tell the time of Date headers, which a gateway before the service may give."""
        return self._clock() + self._date_error

    def now(self) -> int:
        """Tell the time of whatever happens now, in milliseconds since the epoch."""
        if self.clock_read is not None:
            return self.clock_read
        return int(self.seconds() * 1000) // self._tick * self._tick

    def new_id(self, kind: Kind) -> str:
        """Make an identifier."""
        return new_identifier(kind, self._shape, self.store.next_number)

    def could_be_issued(self, identifier: str) -> bool:
        """Tell whether an identifier looks like those that this service makes."""
        return could_be_issued(identifier, self._shape)

    def rule(self, point: str, message: str) -> str:
        """Act on an open point whose values are statuses and other ways.

        Args:
            point: Its name.
            message: What a refusal would say.

        Returns:
            The choice, where it is not a status.

        Raises:
            Refusal: The choice is a status.
        """
        choice = self.latitude[point]
        status = choice.partition("-")[0]
        if status.isdigit() and status >= "400":
            raise Refusal(int(status), message)
        return choice

    def refuse(self, point: str, message: str) -> NoReturn:
        """Refuse with the status that was chosen at an open point whose values are all statuses.

        Args:
            point: Its name.
            message: What the refusal says.

        Raises:
            Refusal: Always.
        """
        raise Refusal(int(self.latitude[point]), message)

    def later(self, action: Callable[[], None]) -> None:
        """Do something in the background, a little later."""

        def run() -> None:
            self._background.discard(handle)
            action()

        handle = asyncio.get_running_loop().call_later(LATER, run)
        self._background.add(handle)

    def close(self) -> None:
        """Drop what was still to be done in the background."""
        for handle in self._background:
            handle.cancel()
        self._background.clear()
        self.postman.close()
