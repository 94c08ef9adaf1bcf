"""A scripted server, a manual clock, a scripted transport, and wires to them."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from conformance.wire.client import Wire
from conformance.wire.redaction import Redactor
from conformance.wire.requests import Credential
from conformance.wire.settings import WireSettings

KEY = "sk_live_0123456789abcdef"


class Speaker:
    """The server's side of a connection."""

    writer: asyncio.StreamWriter

    async def say(self, data: bytes) -> None:
        """Send bytes."""
        self.writer.write(data)
        await self.writer.drain()

    def reset(self) -> None:
        """Break the connection with a TCP reset rather than a proper end."""
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


def endless(first: bytes, again: bytes, pause: float = 0.0) -> Callable[[Speaker], Awaitable[None]]:
    """Send the first bytes, then repeat the others forever."""

    async def behave(turn: Speaker) -> None:
        await turn.say(first)
        while True:
            await turn.say(again)
            await asyncio.sleep(pause)

    return behave


@dataclass
class Turn(Speaker):
    """A request that the server has received."""

    number: int
    connection: int
    head: bytes
    body: bytes
    writer: asyncio.StreamWriter

    @property
    def method(self) -> str:
        """The method of the request."""
        return self.head.split(b" ", 1)[0].decode()


Behaviour = Callable[[Turn], Awaitable[None]]


def raw_response(status: int = 200, body: bytes = b'{"data":{}}', *headers: str, reason: str = "OK") -> bytes:
    """A complete response with a proper length."""
    lines = [f"HTTP/1.1 {status} {reason}", "Content-Type: application/json", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


async def _settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def stop_listening(server: asyncio.Server | None) -> None:
    """Close a server; one that closes at once never closes the connections that it has just accepted."""
    if server is not None:
        for listener in server.sockets:
            asyncio.get_running_loop().remove_reader(listener.fileno())
        await _settle()
        server.close()


async def end_conversations(conversations: set[asyncio.Task[Any]]) -> None:
    """Cancel the tasks of a set, also those that have yet to begin, and close their connections."""
    while asyncio.all_tasks() - {asyncio.current_task()}:
        for task in list(conversations):
            task.cancel()
        await _settle()
    await _settle()  # those aborted are closed


@dataclass
class RawServer:
    """A server on loopback in its own thread."""

    behaviour: Behaviour
    turns: list[Turn] = field(default_factory=list)
    connections: int = 0
    port: int = 0

    def __post_init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.listen()

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"http://127.0.0.1:{self.port}"

    def listen(self) -> None:
        """Accept connections, on the same port as before."""
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(5)

    def vanish(self) -> None:
        """Refuse connections from now on, and break open ones."""
        asyncio.run_coroutine_threadsafe(self._vanish(), self._loop).result(5)

    def close(self) -> None:
        """Stop the server."""
        self.vanish()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _vanish(self) -> None:
        await stop_listening(self._server)
        await end_conversations(self._tasks)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        connection = self.connections
        try:
            while not writer.is_closing():
                head = await reader.readuntil(b"\r\n\r\n")
                lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
                body = await reader.readexactly(int(lengths[0].partition(b":")[2])) if lengths else b""
                turn = Turn(len(self.turns) + 1, connection, head, body, writer)
                self.turns.append(turn)
                await self.behaviour(turn)
        except (OSError, EOFError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.transport.abort()


class WoundClock:
    """A clock whose waits take no time."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.pauses: list[float] = []

    def now(self) -> datetime:
        """Return a time on the first day of 2026."""
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        """Return seconds since long before the test."""
        return 1000 + self.seconds

    def sleep(self, seconds: float) -> None:
        """Advance the clock."""
        self.seconds += seconds

    async def pause(self, seconds: float) -> None:
        """Advance the clock after all other tasks have run."""
        self.pauses.append(seconds)
        until = self.seconds + seconds
        for _ in range(5):  # others that are under way come first, as they would
            await asyncio.sleep(0)
        self.seconds = max(self.seconds, until)


class _Stream(httpx.AsyncByteStream):
    def __init__(self, body: bytes) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._body


class Scripted(httpx.AsyncBaseTransport):
    """A transport with a function from request to response."""

    def __init__(self, script: Callable[[httpx.Request], tuple[int, dict[str, str]] | Exception]) -> None:
        self.requests: list[httpx.Request] = []
        self._script = script

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the scripted response."""
        self.requests.append(request)
        await asyncio.sleep(0)
        result = self._script(request)
        if isinstance(result, Exception):
            raise result
        status, headers = result
        return httpx.Response(status, headers=headers, stream=_Stream(b'{"data":{}}'))


class Fixtures:
    """Creates servers and wires, and closes them at the end."""

    def __init__(self) -> None:
        self.opened: list[RawServer | Wire] = []

    def serve(self, behaviour: Behaviour) -> RawServer:
        """Start a server."""
        server = RawServer(behaviour)
        self.opened.append(server)
        return server

    def wire(self, target: str | RawServer = "http://target.test", **options: Any) -> Wire:
        """Create a wire to a target; the options are those of the settings, clock and transport."""
        clock, transport = options.pop("clock", None), options.pop("transport", None)
        options.setdefault("credential", Credential.bearer("api_key", KEY))
        base_url = target if isinstance(target, str) else target.url
        wire = Wire(WireSettings(base_url=base_url, **options), Redactor(), clock=clock, transport=transport)
        self.opened.append(wire)
        return wire
