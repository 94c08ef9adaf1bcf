"""A single attempt to send a request, recorded as an exchange."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Final

import httpx

from conformance.wire.bounded_reading import check_headers, read_body
from conformance.wire.errors import describe_error
from conformance.wire.exchange import CUT_OFF, Exchange
from conformance.wire.request_builder import UNWRITABLE

if TYPE_CHECKING:
    from conformance.wire.clock import Clock
    from conformance.wire.exchange import Response
    from conformance.wire.request_builder import RequestBuilder
    from conformance.wire.requests import Request


class AttemptResult(Enum):
    """Outcome of a single attempt."""

    RESPONDED = auto()
    BROKEN = auto()
    UNREACHED = auto()
    """No connection could be made, so the service got nothing."""
    UNSENDABLE = auto()
    """The request cannot be written as HTTP, now or later."""
    STOPPED = auto()


@dataclass(frozen=True, slots=True)
class _Result:
    outcome: AttemptResult
    response: Response | None = None
    error: str | None = None
    head_seconds: float | None = None


_LARGE: Final = 2**18

_DECIMALS: Final = 6
"""Decimals of durations: microseconds, as in a recording."""


class Sender:
    """Sends requests and returns exchanges."""

    def __init__(self, request_builder: RequestBuilder, clock: Clock, transport: httpx.AsyncBaseTransport) -> None:
        self._request_builder = request_builder
        self._clock = clock
        self._transport = transport
        self._large = asyncio.Lock()

    async def attempt(
        self, request: Request, *, number: int, check: str, attempt: int, seconds: float
    ) -> tuple[Exchange, AttemptResult]:
        """Send a request once.

        Args:
            request: The request.
            number: The number of the exchange.
            check: The check or scenario that sends it.
            attempt: 1, or more for a retry.
            seconds: The timeout of the whole exchange.

        Returns:
            The exchange; its ``error`` says so if no response came or the task was cancelled.
        """
        began = self._clock.monotonic()  # first, so that a pause before the next reading cannot move the end ahead
        started_at = self._clock.now()
        outgoing, obstacle = self._request_builder.writable(request)
        if outgoing is not None and attempt > 1:  # the idle connections may all be closed by now
            outgoing.extensions["fresh"] = True
        unsendable = _Result(AttemptResult.UNSENDABLE, error=obstacle)
        result = unsendable if outgoing is None else await self._send(request, outgoing, seconds)
        exchange = Exchange(
            number=number,
            check=check,
            request=request,
            sent_request=self._request_builder.record(request, outgoing),
            received=result.response,
            error=result.error,
            started_at=started_at,
            seconds=round(self._clock.monotonic() - began, _DECIMALS),
            attempt=attempt,
            was_sent=result.outcome not in {AttemptResult.UNREACHED, AttemptResult.UNSENDABLE},
            head_seconds=result.head_seconds,
        )
        return exchange, result.outcome

    async def aclose(self) -> None:
        """Close the connections."""
        await self._transport.aclose()

    async def _send(self, request: Request, outgoing: httpx.Request, seconds: float) -> _Result:
        began = self._clock.monotonic()
        try:
            async with asyncio.timeout(seconds):
                response = await self._transport.handle_async_request(outgoing)
                head_seconds = round(self._clock.monotonic() - began, _DECIMALS)
                body = await _read(response)
            return _Result(
                AttemptResult.RESPONDED, await self._response(request, response, body), head_seconds=head_seconds
            )
        except asyncio.CancelledError:
            return _Result(AttemptResult.STOPPED, error=f"it was given up because {CUT_OFF}")
        except Exception as error:  # noqa: BLE001 - whatever a hostile response raises is recorded as its error
            return _failure(error, outgoing, seconds)

    async def _response(self, request: Request, response: httpx.Response, body: bytes) -> Response:
        """Return the response without secrets; a large one is searched in a thread, so that the loop goes on."""
        if len(body) < _LARGE:
            return self._request_builder.recorded(request, response, body)
        async with self._large:  # one at a time: it takes a multiple of the body's memory
            recorded = await asyncio.to_thread(self._request_builder.recorded, request, response, body)
            await asyncio.to_thread(lambda: recorded.reading)
            return recorded


async def _read(response: httpx.Response) -> bytes:
    try:
        check_headers(response.headers.raw)
        return await read_body(response)
    finally:
        await response.aclose()


def _failure(raised: Exception, outgoing: httpx.Request, seconds: float) -> _Result:
    reached = outgoing.extensions.get("connected", True) and not isinstance(raised, httpx.ConnectError)
    if isinstance(raised, httpx.LocalProtocolError):
        return _Result(AttemptResult.UNSENDABLE, error=UNWRITABLE)
    error = describe_error(raised)
    if isinstance(raised, TimeoutError):
        missing = "complete response came" if reached else "connection could be made"
        error = f"no {missing} within {seconds:.3g} s"
    return _Result(AttemptResult.BROKEN if reached else AttemptResult.UNREACHED, error=error)
