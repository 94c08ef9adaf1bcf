"""Pool of HTTP/1.1 connections to one target, as a transport of httpx.

httpx's own transport is not used, for three reasons. It would take bytes after a response for the next response. It
would send requests that cannot be repeated over idle connections that the service is about to close. And it takes a
multiple of the processor time. The protocol itself is h11's, as in httpx.
"""

from __future__ import annotations

import asyncio
import errno
from http import HTTPStatus
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

import h11
import httpx

from conformance.wire.bounded_reading import CLOSED, CUT_SHORT, MAX_RECEIVED_HEADERS, Unreadable, check_headers
from conformance.wire.proxies import Proxy, ProxyError, refusal

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator

READ_IDLE: Final = 4.0
"""The longest idle time, in seconds, of a connection for a repeatable request."""

WRITE_IDLE: Final = 0.8
"""The same for other requests: after a connection that the service closed, it is unknown whether it acted."""

_BEFORE_THE_BODY: Final = frozenset({401, 413})
"""Statuses that servers return before they read a body; some then close the connection without notice."""

_NO_CONNECTION: Final = "no connection could be made"
_BUFFERED: Final = 2**20
_CONNECTING_TWICE_AFTER: Final = 0.25
_ITERATIONS_TO_CLOSE: Final = 5
"""Iterations of the event loop until an aborted connection, also with TLS, is closed."""


class _Link(asyncio.Protocol):
    """Byte stream of one connection."""

    def __init__(self, open_links: set[_Link]) -> None:
        self.ended = False
        self._open_links = open_links
        self._transport: asyncio.Transport | None = None
        self._incoming = bytearray()
        self._waiting: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - for the type checker
        self._transport = transport
        self._open_links.add(self)

    def data_received(self, data: bytes) -> None:
        self._incoming += data
        if len(self._incoming) > _BUFFERED and self._transport is not None:
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        self.ended = True
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - how it was lost changes nothing
        self._open_links.discard(self)
        self.ended = True
        self._wake()

    @property
    def quiet(self) -> bool:
        """Whether it is open and has no unread bytes."""
        return not self.ended and not self._incoming

    def write(self, data: bytes) -> None:
        """Hand over bytes to send; a response may come before all of them are sent."""
        if self._transport is not None and not self.ended:
            self._transport.write(data)

    async def read(self) -> bytes:
        """Wait for bytes and return them; no bytes at the end."""
        if not self._incoming and not self.ended:
            self._waiting = asyncio.get_running_loop().create_future()
            await self._waiting
        data = bytes(self._incoming)
        self._incoming.clear()
        if self._transport is not None and not self.ended:
            self._transport.resume_reading()
        return data

    async def secure(self, context: ssl.SSLContext, host: str) -> None:
        """Continue with TLS.

        Raises:
            OSError: The other side does not.
        """
        assert self._transport is not None  # noqa: S101 - for the type checker
        self._transport = await asyncio.get_running_loop().start_tls(
            self._transport, self, context, server_hostname=host
        )

    def abort(self) -> None:
        """Close at once."""
        self.ended = True
        if self._transport is not None:
            self._transport.abort()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


class _Connection:
    """A link with its HTTP/1.1 state.

    Args:
        link: The link.
        proxy: The HTTP proxy at its other end, to which requests are sent with whole URLs; or None.
    """

    def __init__(self, link: _Link, proxy: Proxy | None = None) -> None:
        self.link = link
        self._proxy = proxy
        self.idle_since = 0.0
        self.responded_early = False
        """Whether the last response may have come before the request was read, so that the service may close it."""
        self._http = h11.Connection(our_role=h11.CLIENT, max_incomplete_event_size=MAX_RECEIVED_HEADERS)

    def send(self, request: httpx.Request, body: bytes) -> None:
        target, headers = request.url.raw_path, request.headers.raw
        if self._proxy is not None:
            target = b"%b://%b%b" % (request.url.raw_scheme, request.url.netloc, target)
            headers = [*headers, *((name.encode(), value.encode()) for name, value in self._proxy.headers)]
        try:
            head = h11.Request(method=request.method, target=target, headers=headers)
            parts = [self._http.send(head), self._http.send(h11.Data(data=body)) if body else b""]
            parts.append(self._http.send(h11.EndOfMessage()))
        except h11.LocalProtocolError as error:
            raise httpx.LocalProtocolError(str(error)) from None
        self.link.write(b"".join(part for part in parts if part))

    async def receive_head(self) -> h11.Response:
        while True:
            event = await self._event()
            if isinstance(event, h11.Response):
                if self._proxy is not None and event.status_code == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
                    raise httpx.ConnectError(_NO_CONNECTION) from refusal(event.status_code)
                check_headers(event.headers)
                return event
            if not isinstance(event, h11.InformationalResponse):
                raise Unreadable(CLOSED)

    async def receive_body(self) -> AsyncIterator[bytes]:
        while isinstance(event := await self._event(), h11.Data):
            yield bytes(event.data)
        surplus, _ = self._http.trailing_data
        if surplus.strip(b"\r\n"):
            raise Unreadable("more bytes came than the length of the response")

    def reusable(self) -> bool:
        """Prepare the connection for the next request; return whether that is possible."""
        ready = self._http.our_state is h11.DONE and self._http.their_state is h11.DONE
        if not ready or self._http.trailing_data[0] or not self.link.quiet:
            return False
        self._http.start_next_cycle()
        return True

    async def _event(self) -> h11.Event | type[h11.NEED_DATA | h11.PAUSED]:
        while True:
            try:
                event = self._http.next_event()
            except h11.RemoteProtocolError as error:
                raise self._unreadable(error) from None
            if event is not h11.NEED_DATA:
                return event
            data = await self.link.read()
            if not data and self._http.their_state is h11.SEND_RESPONSE:
                raise Unreadable(CLOSED)
            self._http.receive_data(data)

    def _unreadable(self, error: h11.RemoteProtocolError) -> Exception:
        if self.link.ended and self._http.their_state is h11.ERROR and "without sending complete" in str(error):
            return Unreadable(CUT_SHORT)
        return httpx.RemoteProtocolError("the response is not HTTP")


class _Body(httpx.AsyncByteStream):
    """Body of a response; returns the connection to the pool at its end, and closes it otherwise."""

    def __init__(self, transport: ConnectionPool, connection: _Connection) -> None:
        self._transport = transport
        self._connection: _Connection | None = connection

    async def __aiter__(self) -> AsyncIterator[bytes]:
        connection = self._connection
        if connection is None:
            return
        async for piece in connection.receive_body():
            yield piece
        self._connection = None
        self._transport.give_back(connection)

    async def aclose(self) -> None:
        if self._connection is not None:
            self._connection.link.abort()
            self._connection = None


class ConnectionPool(httpx.AsyncBaseTransport):
    """Pool of connections to one target.

    The extension ``repeatable`` of a request allows a connection that was idle for longer, and ``fresh`` demands a new
    one. The pool sets the extension ``connected`` to whether there was a connection.

    Args:
        context: The TLS context; needed for https addresses.
        max_idle: The most idle connections.
        proxy: The proxy that connections are made through, or None.
    """

    def __init__(self, context: ssl.SSLContext | None, max_idle: int, proxy: Proxy | None = None) -> None:
        self._context = context
        self._proxy = proxy
        self._max_idle = max_idle
        self._idle: list[_Connection] = []
        self._closed_unasked = False
        """Whether the service closes at once connections that it promised to keep open."""
        self._stays_open = False
        """Whether a connection has served a second request; before that, only repeatable requests reuse one."""
        self._open_links: set[_Link] = set()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request and read the head of its response.

        Raises:
            httpx.ConnectError: No connection could be made; nothing was sent.
            httpx.ProtocolError: The request or the response is not HTTP.
            Unreadable: The response was cut short or exceeds a limit.
        """
        body = await request.aread()
        fresh = request.extensions.get("fresh", False)
        reused = None if fresh else self._take(repeatable=request.extensions.get("repeatable", False))
        request.extensions["connected"] = False
        connection = reused or await self._connect(request.url)
        request.extensions["connected"] = True
        try:
            connection.send(request, body)
            head = await connection.receive_head()
        except BaseException:
            connection.link.abort()
            raise
        self._stays_open |= reused is not None
        connection.responded_early = head.status_code in _BEFORE_THE_BODY
        return httpx.Response(
            head.status_code,
            headers=head.headers.raw_items(),
            stream=_Body(self, connection),
            extensions={"http_version": b"HTTP/" + head.http_version, "reason_phrase": head.reason},
        )

    def give_back(self, connection: _Connection) -> None:
        """Return a connection to the pool if it can serve another request."""
        if len(self._idle) < self._max_idle and connection.reusable():
            connection.idle_since = asyncio.get_running_loop().time()
            self._idle.append(connection)
        else:
            connection.link.abort()

    async def aclose(self) -> None:
        """Close every connection and wait for the end."""
        self._idle.clear()
        for link in self._open_links:
            link.abort()
        for _ in range(_ITERATIONS_TO_CLOSE):
            await asyncio.sleep(0)

    def _take(self, *, repeatable: bool) -> _Connection | None:
        """Take the most recently used connection that may serve such a request."""
        now = asyncio.get_running_loop().time()
        for connection in tuple(self._idle):
            idle = now - connection.idle_since
            if not connection.link.quiet or idle >= READ_IDLE:
                self._closed_unasked |= connection.link.ended and idle < WRITE_IDLE
                self._idle.remove(connection)
                connection.link.abort()
        if not repeatable and (self._closed_unasked or not self._stays_open):
            return None
        for connection in reversed(self._idle):
            if repeatable or (now - connection.idle_since < WRITE_IDLE and not connection.responded_early):
                self._idle.remove(connection)
                return connection
        return None

    async def _connect(self, url: httpx.URL) -> _Connection:
        secure, host = url.scheme == "https", url.raw_host.decode("ascii")
        port, context = url.port or (443 if secure else 80), self._context if secure else None
        try:
            if self._proxy is None:
                return _Connection(await self._link(host, port, context))
            return await self._connect_through(self._proxy, host, port, context)
        except (OSError, ValueError, ProxyError) as error:
            cause = ConnectionRefusedError() if _is_refused(error) else error
            raise httpx.ConnectError(_NO_CONNECTION) from cause

    async def _connect_through(self, proxy: Proxy, host: str, port: int, context: ssl.SSLContext | None) -> _Connection:
        try:
            link = await self._link(proxy.host, proxy.port, proxy.context)
        except (OSError, ValueError):
            raise ProxyError("no connection to the proxy could be made") from None
        if context is None and proxy.forwards("http"):
            return _Connection(link, proxy)
        try:
            await proxy.tunnel(link, host, port)
            if context is not None:
                await link.secure(context, host)
        except BaseException:
            link.abort()
            raise
        return _Connection(link)

    async def _link(self, host: str, port: int, context: ssl.SSLContext | None) -> _Link:
        _, link = await asyncio.get_running_loop().create_connection(
            lambda: _Link(self._open_links),
            host,
            port,
            ssl=context,
            happy_eyeballs_delay=None if _is_address(host) else _CONNECTING_TWICE_AFTER,
        )
        return link


def _is_refused(error: Exception) -> bool:
    """Whether the connection was refused; for a host with several addresses asyncio says so only in the message."""
    return isinstance(error, ConnectionRefusedError) or f"[Errno {errno.ECONNREFUSED}]" in str(error)


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
