"""Wire that records what a replay needs beside the exchanges."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from conformance.wire.client import Wire
from conformance.wire.exchange import NotSent
from conformance.wire.replay_wire import are_alike

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import httpx

    from conformance.wire.exchange import Exchange
    from conformance.wire.recorded_inputs import InputRecorder
    from conformance.wire.redaction import Redactor
    from conformance.wire.requests import Request
    from conformance.wire.settings import WireSettings


class RecordingWire(Wire):
    """A wire that records inputs for a replay.

    Args:
        settings: The target and the limits.
        redactor: Takes out the run's secrets.
        inputs: Records them.
        transport: The transport in place of connections to the target.

    Raises:
        ValueError: The settings name certificate authorities that cannot be used.
    """

    def __init__(
        self,
        settings: WireSettings,
        redactor: Redactor,
        inputs: InputRecorder,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        super().__init__(settings, redactor, transport=transport)
        self._inputs = inputs

    @property
    def service_clock(self) -> float | None:
        """Seconds by which the service's clock is ahead of the suite's; recorded, because checks use it."""
        return self._inputs.record_if_any("service clock", lambda: super(RecordingWire, self).service_clock)

    def send_all(self, requests: Sequence[Request]) -> list[Exchange]:
        """Send requests, and record the order of responses to equal requests, and refusals by guards.

        Raises:
            RunStopped: The run is over.
            NotSent: A guard refused one of them.
        """
        exchanges: list[Exchange] = []
        reason: str | None = None
        try:
            with super().checking(self._inputs.current):
                exchanges = super().send_all(requests)
        except NotSent as withheld:
            reason = str(withheld)
            raise
        finally:
            self._inputs.record_if_any("withheld", lambda: reason)
            numbers = [exchange.number for exchange in exchanges]
            self._inputs.sent(numbers)
            if are_alike(requests):
                self._inputs.record_if_any("order", lambda: numbers)
        return exchanges

    @contextmanager
    def checking(self, name: str) -> Iterator[None]:
        """Attribute the exchanges of this thread to a check or scenario inside a ``with``."""
        with self._inputs.under(name), super().checking(name):
            yield
