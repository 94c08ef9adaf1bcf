"""Tests of a single attempt: its duration, and its connection afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import httpx
import pytest

from conformance.wire.attempt import AttemptResult, Sender
from conformance.wire.exchange import Exchange
from conformance.wire.redaction import Redactor
from conformance.wire.request_builder import RequestBuilder
from conformance.wire.requests import Credential, get_organization
from conformance.wire.settings import WireSettings
from tests.fakes.wires import WoundClock

TOO_MANY = [("X-Filler", "x" * 1000)] * 70


class Slow(httpx.AsyncBaseTransport, httpx.AsyncByteStream):
    """A transport whose response begins after two seconds and ends after three more."""

    def __init__(self, clock: WoundClock, headers: list[tuple[str, str]], error: Exception | None) -> None:
        self.clock = clock
        self.headers = headers
        self.error = error
        self.let_go = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return a response after two seconds."""
        self.clock.sleep(2)
        return httpx.Response(200, headers=self.headers, stream=self)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        self.clock.sleep(3)
        if self.error is not None:
            raise self.error
        yield b"{}"

    async def aclose(self) -> None:
        """Close the response."""
        self.let_go += 1


def sent(transport: Slow) -> tuple[Exchange, AttemptResult]:
    """Send a request once."""
    settings = WireSettings(base_url="http://service.test", credential=Credential.bearer("api_key", "k-of-a-run"))
    sender = Sender(RequestBuilder(settings, Redactor()), transport.clock, transport)
    return asyncio.run(sender.attempt(get_organization(), number=7, check="walk", attempt=1, seconds=10))


def test_an_exchange_has_the_times_of_its_head_and_its_end(clock: WoundClock) -> None:
    """The exchange has the seconds since it was sent; the connection is released."""
    transport, began = Slow(clock, [], None), clock.now()
    exchange, outcome = sent(transport)

    assert outcome is AttemptResult.RESPONDED
    assert exchange.started_at == began
    assert exchange.sent_request.url == "http://service.test/api/v1/organizations/current"
    assert ("Accept", "application/json") in exchange.sent_request.headers
    assert (exchange.number, exchange.check, exchange.was_sent, exchange.error) == (7, "walk", True, None)
    assert (exchange.head_seconds, exchange.seconds) == (2.0, 5.0)
    assert transport.let_go == 1


class Interrupted(WoundClock):
    """A clock of a process that is interrupted for a second after each reading."""

    def now(self) -> datetime:
        """Return the time, and let a second pass."""
        read = super().now()
        self.seconds += 1
        return read

    def monotonic(self) -> float:
        """Return the seconds, and let another one pass."""
        read = super().monotonic()
        self.seconds += 1
        return read


def test_an_interruption_makes_no_exchange_end_too_early() -> None:
    """The interval of an exchange contains the time from the request to the response, however busy the machine is."""
    clock = Interrupted()
    exchange, _ = sent(Slow(clock, [], None))
    end = exchange.started_at + timedelta(seconds=exchange.seconds)

    assert end >= WoundClock.now(clock) - timedelta(seconds=1)  # the last reading


@pytest.mark.parametrize(("headers", "error", "seconds"), [([], httpx.ReadError("reset"), 5.0), (TOO_MANY, None, 2.0)])
def test_a_response_that_is_not_read_to_its_end_is_let_go_too(
    headers: list[tuple[str, str]], error: Exception | None, seconds: float, clock: WoundClock
) -> None:
    """A broken response and one with too many headers release the connection."""
    transport = Slow(clock, headers, error)
    exchange, outcome = sent(transport)

    assert outcome is AttemptResult.BROKEN
    assert (exchange.received, exchange.head_seconds, exchange.seconds) == (None, None, seconds)
    assert transport.let_go == 1
