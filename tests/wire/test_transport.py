"""Tests of the transport with valid and invalid responses and addresses."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from conformance.wire.bounded_reading import Unreadable
from conformance.wire.connection import ConnectionPool
from tests.fakes.wires import raw_response

REPEATABLE = {"repeatable": True}
NEVER_CAME = "the connection was closed before a response came"
CUT_SHORT = "the body was cut short"
SURPLUS = "more bytes came than the length of the response"


def respond(responses: bytes, **headers: str) -> tuple[httpx.Response, bytes, httpx.Request]:
    """The answer to a request, its body, and the request, from a server that says this and ends the connection."""

    async def story() -> tuple[httpx.Response, bytes, httpx.Request]:
        ended = asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if await reader.read(2**16):
                writer.write(responses)
            writer.close()
            await writer.wait_closed()
            ended.set()

        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            transport = ConnectionPool(None, 1)
            request = httpx.Request("GET", f"http://127.0.0.1:{port}/v1", headers=headers)
            try:
                response = await transport.handle_async_request(request)
                return response, await response.aread(), request
            finally:
                await transport.aclose()
                await ended.wait()

    return asyncio.run(asyncio.wait_for(story(), 60))


def test_a_response_is_given_as_it_came() -> None:
    """A response has status, reason, version, headers in their own case and order, and body."""
    sent = b"HTTP/1.1 202 So be it\r\nX-One: 1\r\nx-two: 2\r\nContent-Length: 4\r\n\r\nbody"
    response, body, request = respond(sent)

    assert (response.status_code, body) == (202, b"body")
    assert response.extensions == {"http_version": b"HTTP/1.1", "reason_phrase": b"So be it"}
    assert list(response.headers.raw) == [(b"X-One", b"1"), (b"x-two", b"2"), (b"Content-Length", b"4")]
    assert request.extensions["connected"] is True


def test_interim_responses_are_skipped() -> None:
    """The response comes after it."""
    assert respond(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + raw_response(body=b"late"))[1] == b"late"


def test_a_response_of_an_old_server_ends_with_its_connection() -> None:
    """It has no length."""
    response, body, _ = respond(b"HTTP/1.0 200 OK\r\n\r\nall there is")

    assert (response.extensions["http_version"], body) == (b"HTTP/1.0", b"all there is")


@pytest.mark.parametrize(
    ("sent", "kind", "says"),
    [
        (b"", Unreadable, NEVER_CAME),
        (b"HTTP/1.1 200 OK\r\nContent-", Unreadable, NEVER_CAME),
        (b"HTTP/1.1 100 Continue\r\n\r\n", Unreadable, NEVER_CAME),
        (raw_response(body=b"1234567890")[:-3], Unreadable, CUT_SHORT),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", Unreadable, CUT_SHORT),
        (raw_response() + b"more", Unreadable, SURPLUS),
        (raw_response() + b" ", Unreadable, SURPLUS),
        (raw_response() + b"X\r\n", Unreadable, SURPLUS),
        (b"\x00\x01 what is this\r\n\r\n", httpx.RemoteProtocolError, "the response is not HTTP"),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n",
            httpx.RemoteProtocolError, "the response is not HTTP",
        ),
    ],
    ids=[
        "nothing", "half a head", "only a 100", "cut short", "chunks cut short", "surplus", "a blank", "a letter",
        "noise", "odd chunks",
    ],
)  # fmt: skip
def test_an_invalid_response_has_its_own_message(sent: bytes, kind: type[Exception], says: str) -> None:
    """Each error has its own message, without h11's."""
    with pytest.raises(kind) as raised:
        respond(sent)
    assert str(raised.value) == says
    assert raised.value.__suppress_context__ or raised.value.__context__ is None


@pytest.mark.parametrize(
    ("most", "at_once", "then", "connections"),
    [(1, 2, {}, 3), (2, 2, {}, 3), (1, 2, REPEATABLE, 2), (0, 1, REPEATABLE, 2)],
)
def test_idle_connections(most: int, at_once: int, then: dict[str, bool], connections: int) -> None:
    """Connections are reused only for repeatable requests at first."""
    made: list[int] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        made.append(1)
        try:
            while await reader.read(2**16):
                writer.write(raw_response())
        finally:
            writer.transport.abort()

    async def story() -> tuple[int, int]:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            transport = ConnectionPool(None, most)
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"

            async def ask(**extensions: bool) -> None:
                request = httpx.Request("GET", url, extensions=extensions)
                await (await transport.handle_async_request(request)).aread()

            await asyncio.gather(*(ask() for _ in range(at_once)))
            idle = len(transport._idle)
            await ask(**then)
            await transport.aclose()
            return idle, len(made)

    assert asyncio.run(asyncio.wait_for(story(), 60)) == (min(most, at_once), connections)


def test_ends_of_lines_after_a_response_are_nothing() -> None:
    """Old servers send an extra line end."""
    assert respond(raw_response(body=b"{}") + b"\r\n")[1] == b"{}"


def test_a_request_that_cannot_be_written() -> None:
    """A header with a line end is refused."""
    with pytest.raises(httpx.LocalProtocolError, match=r"header value") as raised:
        respond(raw_response(), **{"X-Odd": "a\x00b"})
    assert raised.value.__suppress_context__


def test_a_port_without_a_listener() -> None:
    """Nothing was sent; the exception's cause has the reason."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        request = httpx.Request("GET", f"http://127.0.0.1:{taken.getsockname()[1]}/")
        with pytest.raises(httpx.ConnectError, match=r"^no connection could be made$") as raised:
            asyncio.run(ConnectionPool(None, 1).handle_async_request(request))
    assert isinstance(raised.value.__cause__, OSError)
    assert request.extensions["connected"] is False


CONTEXT = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://service.test/v1", ("service.test", 80, None, 0.25)),
        ("https://service.test/v1", ("service.test", 443, CONTEXT, 0.25)),
        ("https://service.test:8443/v1", ("service.test", 8443, CONTEXT, 0.25)),
        ("http://192.0.2.7:81/v1", ("192.0.2.7", 81, None, None)),
        ("https://[2001:db8::7]/v1", ("2001:db8::7", 443, CONTEXT, None)),
    ],
)
def test_where_it_connects_to(url: str, expected: tuple[object, ...]) -> None:
    """The default port is the scheme's; a second address of a name is tried soon."""
    tried: list[tuple[object, ...]] = []

    async def connect(_: Callable[[], object], host: str, port: int, **more: Any) -> None:
        tried.append((host, port, more["ssl"], more["happy_eyeballs_delay"]))
        raise OSError

    async def story() -> None:
        asyncio.get_running_loop().create_connection = connect  # type: ignore[assignment,method-assign]
        await ConnectionPool(CONTEXT, 1).handle_async_request(httpx.Request("GET", url))

    with pytest.raises(httpx.ConnectError):
        asyncio.run(story())
    assert tried == [expected]
