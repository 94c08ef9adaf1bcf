"""Server on raw sockets: the reference service with a hostile behaviour before it or in its place."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import unquote

from conformance.reference.application import Application, create_app
from tests.fakes.wires import Speaker, end_conversations, stop_listening

_HOP_BY_HOP: Final = {"content-length", "connection", "transfer-encoding"}


@dataclass(frozen=True)
class Reply:
    """A response before it is written."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def data(self) -> Any:
        """The body, parsed as JSON."""
        return json.loads(self.body)

    def with_headers(self, **headers: str) -> Reply:
        """Return a copy with other headers; underscores stand for hyphens."""
        new = {name.replace("_", "-"): value for name, value in headers.items()}
        kept = tuple(pair for pair in self.headers if pair[0].lower() not in {name.lower() for name in new})
        return replace(self, headers=(*kept, *new.items()))

    def written(self, *, length: int | None = None, version: str = "1.1") -> bytes:
        """Return the bytes of the response."""
        size = len(self.body) if length is None else length
        lines = [f"HTTP/{version} {self.status} Reason", *(f"{name}: {value}" for name, value in self.headers)]
        lines += [] if self.status == 204 else [f"Content-Length: {size}"]
        return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (b"" if self.status == 204 else self.body)


def json_reply(status: int, body: object, **headers: str) -> Reply:
    """Return a JSON response."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Reply(status, (("Content-Type", "application/json"),), content).with_headers(**headers)


@dataclass
class Turn(Speaker):
    """A request that the server received."""

    target: HostileTarget
    number: int
    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    writer: asyncio.StreamWriter

    async def honest(self) -> Reply:
        """Return the response of the reference service."""
        return await asked(self.target.honest, self.method, self.path, self.headers, self.body)

    async def send(self, reply: Reply) -> None:
        """Send a response."""
        await self.say(reply.written())

    async def stall(self) -> None:
        """Send nothing more for longer than every timeout."""
        await asyncio.sleep(120)

    def close(self) -> None:
        """Close the connection."""
        self.writer.close()


Behaviour = Callable[[Turn], Awaitable[None]]


async def honestly(turn: Turn) -> None:
    """Respond as the reference service does."""
    await turn.send(await turn.honest())


async def asked(app: Application, method: str, path: str, headers: dict[str, str], body: bytes = b"") -> Reply:
    """Return the response of an application to a request."""
    raw_path, _, query = path.partition("?")
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http", "method": method,
        "path": unquote(raw_path), "raw_path": raw_path.encode("latin-1"), "query_string": query.encode("latin-1"),
        "root_path": "", "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 1),
        "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()],
    }  # fmt: skip
    incoming = [{"type": "http.request", "body": body, "more_body": False}]
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return incoming.pop() if incoming else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    head = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in sent[0]["headers"]]
    content = b"".join(message.get("body", b"") for message in sent[1:])
    return Reply(sent[0]["status"], tuple(pair for pair in head if pair[0].lower() not in _HOP_BY_HOP), content)


@dataclass
class HostileTarget:
    """A server in its own thread.

    Attributes:
        behaviour: The reaction to a request.
        honest: The reference service behind the server.
        greeting: The reaction to a connection before any request; returns whether to continue.
        early: The reaction to a request before its body is read; returns whether it responded.
        context: The TLS context; None for plain HTTP.
        heads: The raw head of every request.
        turns: The number of requests.
        port: The port; 0 uses a free one.
        api_key: The key of the runs; by default the full key of the reference service.
    """

    behaviour: Behaviour = honestly
    honest: Application = field(default_factory=create_app)
    greeting: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[bool]] | None = None
    early: Callable[[Turn], Awaitable[bool]] | None = None
    context: ssl.SSLContext | None = None
    heads: list[bytes] = field(default_factory=list)
    turns: int = 0
    port: int = 0
    api_key: str = ""

    def __post_init__(self) -> None:
        self.api_key = self.api_key or self.honest.bootstrap.api_key
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._run(self._listen())

    @property
    def url(self) -> str:
        """The base URL."""
        return f"{'https' if self.context else 'http'}://127.0.0.1:{self.port}"

    def inventory(self) -> dict[str, Any]:
        """Return everything that the reference service shows of the organization."""
        return self._run(self._inventory())  # type: ignore[no-any-return]

    def close(self) -> None:
        """Stop the server and the reference service."""
        self._run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()
        self.honest.close()

    def vanish(self, seconds: float | None) -> None:
        """Break all connections, and refuse new ones for some seconds or, with None, for ever."""
        task = self._loop.create_task(self._vanish(seconds))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(
            self._connected, "127.0.0.1", self.port, ssl=self.context, limit=2**20
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def _end(self) -> None:
        await stop_listening(self._server)
        await end_conversations(self._tasks)

    async def _vanish(self, seconds: float | None) -> None:
        await stop_listening(self._server)
        for task in self._tasks - {asyncio.current_task()}:
            task.cancel()
        await asyncio.sleep(0.05)
        if seconds is not None:
            await asyncio.sleep(seconds)
            await self._listen()

    async def _inventory(self) -> dict[str, Any]:
        key = {"authorization": f"Bearer {self.honest.bootstrap.api_key}"}
        found = {"organization": (await asked(self.honest, "GET", "/api/v1/organizations/current", key)).data["data"]}
        for name, path in (
            ("engagements", "/api/v1/engagements"),
            ("members", "/api/v1/organizations/current/members"),
        ):
            page, items = 1, []
            while True:
                reply = await asked(self.honest, "GET", f"{path}?page={page}&perPage=100", key)
                items += reply.data["data"]
                if len(reply.data["data"]) < 100:
                    break
                page += 1
            found[name] = sorted(items, key=lambda item: item["id"])
        return found

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            if self.greeting is None or await self.greeting(reader, writer):
                await self._converse(reader, writer)
        except (OSError, EOFError, asyncio.CancelledError, asyncio.LimitOverrunError):
            pass
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while not writer.is_closing():
            head = await reader.readuntil(b"\r\n\r\n")
            self.heads.append(head)
            lines = head.decode("latin-1").split("\r\n")
            method, path, _ = lines[0].split(" ", 2)
            headers = dict(line.split(": ", 1) for line in lines[1:] if line)
            length = next((int(value) for name, value in headers.items() if name.lower() == "content-length"), 0)
            self.turns += 1
            turn = Turn(self, self.turns, method, path, headers, b"", writer)
            if self.early is None or not await self.early(turn):
                turn.body = await reader.readexactly(length)
                await self.behaviour(turn)


@contextlib.contextmanager
def hostile(behaviour: Behaviour = honestly, **parts: Any) -> Iterator[HostileTarget]:
    """Run a server inside a ``with``."""
    target = HostileTarget(behaviour, **parts)
    try:
        yield target
    finally:
        target.close()
