"""Base class of the service: its store, its choices and its clock."""

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
_LATER = 0.3
"""Seconds before a background action runs."""


def _stumble() -> None:
    raise RuntimeError("the fault ends the process of the service; this service shares its process")


class Core:
    """State and helpers that the parts of the service share.

    Args:
        store: Its state.
        latitude: Its choices at the open points.
        clock: Returns the time.
        postman: Sends its mail.
        latency: Seconds by which every response is delayed.
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
        """The time of the current change if it was read before; otherwise None, and the clock is read."""
        store.keeps_latest_time = self.latitude["change_clock"] == "when-made"
        self.activating: set[str] = set()
        """Ids of the engagements that a background action will unarchive."""
        self.former_names: list[tuple[str, str]] = []
        """Ids of engagements with their names before each renaming."""
        self.end_process: Callable[[], None] = _stumble
        """Ends the process for a fault, if the service has its own process."""
        self.memory: dict[str, Any] = {}
        """State of a fault between requests; the service itself does not use it."""

    def seconds(self) -> float:
        """Return the time in seconds since the epoch, by the service's clock."""
        return self._clock() + self._clock_error

    def date_seconds(self) -> float:
        """Return the time of Date headers; a gateway may write them by another clock."""
        return self._clock() + self._date_error

    def now(self) -> int:
        """Return the time of the current change, in milliseconds since the epoch."""
        if self.clock_read is not None:
            return self.clock_read
        return int(self.seconds() * 1000) // self._tick * self._tick

    def new_id(self, kind: Kind) -> str:
        """Return a new identifier."""
        return new_identifier(kind, self._shape, self.store.next_number)

    def could_be_issued(self, identifier: str) -> bool:
        """Whether an identifier has the shape of those that this service issues."""
        return could_be_issued(identifier, self._shape)

    def rule(self, point: str, message: str) -> str:
        """Apply the choice at an open point whose values are statuses and other behaviours.

        Args:
            point: The name of the open point.
            message: The message of a refusal.

        Returns:
            The choice, if it is not an error status.

        Raises:
            Refusal: The choice is an error status.
        """
        choice = self.latitude[point]
        status = choice.partition("-")[0]
        if status.isdigit() and status >= "400":
            raise Refusal(int(status), message)
        return choice

    def refuse(self, point: str, message: str) -> NoReturn:
        """Refuse with the status chosen at an open point whose values are all statuses.

        Raises:
            Refusal: Always.
        """
        raise Refusal(int(self.latitude[point]), message)

    def later(self, action: Callable[[], None]) -> None:
        """Run an action in the background after 0.3 seconds."""

        def run() -> None:
            self._background.discard(handle)
            action()

        handle = asyncio.get_running_loop().call_later(_LATER, run)
        self._background.add(handle)

    def close(self) -> None:
        """Cancel the actions that are still to run."""
        for handle in self._background:
            handle.cancel()
        self._background.clear()
        self.postman.close()
