"""Tests of the reuse of connections."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Any

import httpx
import pytest

from conformance.wire import connection
from conformance.wire.bounded_reading import MAX_RECEIVED_HEADERS
from conformance.wire.requests import Credential, create_engagement, get_organization
from tests.fakes.wires import Fixtures, Turn, raw_response

READ, WRITE = get_organization(), create_engagement({"name": "n"})
AGAIN = replace(WRITE, repeatable=True)


async def fine(turn: Turn) -> None:
    """Answer properly."""
    await turn.say(raw_response())


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable the idle limits, which a slow machine would exceed."""
    monkeypatch.setattr(connection, "READ_IDLE", 600.0)
    monkeypatch.setattr(connection, "WRITE_IDLE", 600.0)


@pytest.mark.parametrize(
    ("requests", "connections"),
    [
        ([READ, READ, READ], [1, 1, 1]),
        ([READ, WRITE, WRITE], [1, 2, 3]),
        ([READ, READ, WRITE, WRITE], [1, 1, 1, 1]),
        ([WRITE, READ, WRITE], [1, 1, 1]),
        ([WRITE, AGAIN, WRITE], [1, 1, 1]),
    ],
    ids=["reads", "writes at first", "writes later", "a write, a read and a write", "what may be repeated"],
)
def test_a_write_goes_over_what_has_served_twice(
    make: Fixtures, requests: list[object], connections: list[int]
) -> None:
    """Before any reuse has succeeded, unrepeatable requests get new connections."""
    server = make.serve(fine)
    wire = make.wire(server)

    for request in requests:
        assert wire.send(request).status == 200  # type: ignore[arg-type]

    assert [turn.connection for turn in server.turns] == connections


@pytest.mark.parametrize(("word", "limit"), [(READ, "READ_IDLE"), (WRITE, "WRITE_IDLE")])
def test_a_connection_that_was_idle_too_long_is_not_used(
    make: Fixtures, monkeypatch: pytest.MonkeyPatch, word: object, limit: str
) -> None:
    """Writes have their own idle limit."""
    server = make.serve(fine)
    wire = make.wire(server)
    for _ in range(2):
        wire.send(READ)
    monkeypatch.setattr(connection, limit, 0.0)

    assert wire.send(word).status == 200  # type: ignore[arg-type]

    assert [turn.connection for turn in server.turns] == [1, 1, 2]


def test_an_idle_timeout_does_not_count_as_an_early_close(make: Fixtures, monkeypatch: pytest.MonkeyPatch) -> None:
    """The service has closed nothing, so writes may still reuse connections."""
    server = make.serve(fine)
    wire = make.wire(server)
    wire.send(READ)
    wire.send(READ)
    with monkeypatch.context() as hurried:
        hurried.setattr(connection, "READ_IDLE", 0.0)
        wire.send(READ)
    wire.send(WRITE)

    assert [turn.connection for turn in server.turns] == [1, 1, 2, 2]


def test_reads_do_not_mind_the_bound_for_writes(make: Fixtures, monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeatable requests may be sent again if the connection is dead."""
    monkeypatch.setattr(connection, "WRITE_IDLE", 0.0)
    server = make.serve(fine)
    wire = make.wire(server)

    for _ in range(3):
        wire.send(READ)

    assert server.connections == 1


@pytest.mark.parametrize("header", ["Connection: close", "connection: Close"])
def test_a_connection_with_connection_close_is_not_reused(make: Fixtures, header: str) -> None:
    """The next request uses a new connection, even if the service keeps it open."""

    async def behave(turn: Turn) -> None:
        await turn.say(raw_response(200, b"{}", header))

    server = make.serve(behave)
    wire = make.wire(server)

    for _ in range(3):
        assert wire.send(READ).status == 200

    assert server.connections == 3
    open_links = wire._sender._transport._open_links  # type: ignore[attr-defined]
    for _ in range(20_000):
        if not open_links:
            break
        time.sleep(0.001)
    assert not open_links


def test_a_connection_with_surplus_bytes_is_not_reused(make: Fixtures) -> None:
    """An extra line end after a response is not part of the next response."""

    async def behave(turn: Turn) -> None:
        await turn.say(raw_response() + b"\r\n")

    server = make.serve(behave)
    wire = make.wire(server)

    for _ in range(3):
        assert wire.send(READ).status == 200

    assert [turn.connection for turn in server.turns] == [1, 2, 3]


def test_after_early_closes_writes_get_new_connections(make: Fixtures) -> None:
    """After such a close, unrepeatable requests get new connections."""
    server = make.serve(fine)
    wire = make.wire(server)
    wire.send(READ)
    wire.send(READ)
    (idle,) = wire._sender._transport._idle  # type: ignore[attr-defined]
    server._loop.call_soon_threadsafe(server.turns[-1].writer.close)
    while not idle.link.ended:
        time.sleep(0.001)

    for request in (READ, READ, WRITE, WRITE):
        assert wire.send(request).status == 200

    assert [turn.connection for turn in server.turns] == [1, 1, 2, 2, 3, 4]


@pytest.mark.parametrize(
    ("status", "word", "connections"),
    [(401, READ, 1), (401, AGAIN, 1), (401, WRITE, 2), (413, WRITE, 2), (404, WRITE, 1), (409, WRITE, 1)],
)
def test_an_unrepeatable_request_does_not_follow_an_early_refusal(
    make: Fixtures, status: int, word: object, connections: int
) -> None:
    """Some servers refuse a key and close without notice, and a request sent meanwhile is lost."""

    async def behave(turn: Turn) -> None:
        await turn.say(raw_response(status if len(server.turns) == 3 else 200))

    server = make.serve(behave)
    wire = make.wire(server)
    for _ in range(3):
        wire.send(READ.with_key(Credential.bearer("unknown_key", "another")))

    assert wire.send(word).status == 200  # type: ignore[arg-type]
    assert wire.send(READ).status == 200

    assert server.connections == connections


@pytest.mark.parametrize("closed_first", [True, False])
def test_an_early_close_is_remembered(*, closed_first: bool) -> None:
    """Other idle connections do not matter."""

    async def story() -> tuple[bool, bool]:
        now = asyncio.get_running_loop().time()
        ended, quiet = linked()[0], linked()[0]
        ended.eof_received()
        closed, expired = connection._Connection(ended), connection._Connection(quiet)
        closed.idle_since, expired.idle_since = now, now - 2 * connection.READ_IDLE
        transport = connection.ConnectionPool(None, 2)
        transport._idle = [closed, expired] if closed_first else [expired, closed]
        transport._stays_open = True
        return transport._take(repeatable=True) is None, transport._closed_unasked

    assert asyncio.run(story()) == (True, True)


def test_idle_connections_are_limited(make: Fixtures) -> None:
    """At most as many connections as workers stay idle."""
    server = make.serve(fine)
    wire = make.wire(server, workers=2)
    wire.send_all([READ] * 8)

    assert len(wire._sender._transport._idle) <= 2  # type: ignore[attr-defined]
    assert server.connections <= 2


class Recorded(asyncio.Transport):
    """A transport that records its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.done: list[object] = []

    def pause_reading(self) -> None:
        """Record it."""
        self.done.append("pause")

    def resume_reading(self) -> None:
        """Record it."""
        self.done.append("resume")

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Record the bytes."""
        self.done.append(bytes(data))

    def abort(self) -> None:
        """Record it."""
        self.done.append("abort")


def linked() -> tuple[Any, Recorded, set[Any]]:
    """A link, its transport, and the open links."""
    links: set[Any] = set()
    link, transport = connection._Link(links), Recorded()
    link.connection_made(transport)
    return link, transport, links


def test_all_received_bytes_are_read_together() -> None:
    """All received bytes are returned together; none after the end."""

    async def story() -> list[bytes]:
        link, _, _ = linked()
        link.data_received(b"one ")
        link.data_received(b"two")
        found = [await link.read()]
        reading = asyncio.create_task(link.read())
        await asyncio.sleep(0)
        assert not reading.done()
        link.data_received(b"three")
        found.append(await reading)
        link.data_received(b"four")
        link.eof_received()
        return [*found, await link.read(), await link.read()]

    assert asyncio.run(asyncio.wait_for(story(), 20)) == [b"one two", b"three", b"four", b""]


@pytest.mark.parametrize(("size", "read"), [(MAX_RECEIVED_HEADERS - 100, True), (MAX_RECEIVED_HEADERS + 100, False)])
def test_a_long_head_may_come_in_pieces(size: int, *, read: bool) -> None:
    """Reading goes on within the limit."""

    async def story() -> int:
        link = linked()[0]
        made = connection._Connection(link)
        made.send(httpx.Request("GET", "http://service.test/"), b"")
        link.data_received(b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * size)
        reading = asyncio.create_task(made.receive_head())
        await asyncio.sleep(0)
        link.data_received(b"\r\nContent-Length: 0\r\n\r\n")
        return (await reading).status_code

    if read:
        assert asyncio.run(story()) == 200
    else:
        with pytest.raises(httpx.RemoteProtocolError, match=r"^the response is not HTTP$"):
            asyncio.run(story())


@pytest.mark.parametrize("end", ["eof_received", "connection_lost"])
def test_the_end_ends_a_waiting_read(end: str) -> None:
    """A waiting read ends with the connection."""

    async def story() -> bytes:
        link, _, _ = linked()
        reading = asyncio.create_task(link.read())
        await asyncio.sleep(0)
        getattr(link, end)(*([None] if end == "connection_lost" else []))
        assert link.ended
        rest: bytes = await reading
        return rest

    assert asyncio.run(asyncio.wait_for(story(), 20)) == b""


def test_a_flood_is_held_back_until_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading pauses if too many bytes are unread."""
    monkeypatch.setattr(connection, "_BUFFERED", 10)
    link, transport, _ = linked()
    link.data_received(bytes(10))
    assert transport.done == []
    link.data_received(b"x")
    assert transport.done == ["pause"]

    assert len(asyncio.run(link.read())) == 11
    assert transport.done == ["pause", "resume"]


def test_an_ended_link_takes_nothing_more() -> None:
    """An aborted link writes nothing and is no longer open."""
    link, transport, links = linked()
    assert links == {link}
    assert link.quiet
    link.write(b"one")
    link.abort()
    link.write(b"two")

    assert transport.done == [b"one", "abort"]
    assert not link.quiet
    link.connection_lost(None)
    assert links == set()


def test_a_link_with_unread_bytes_is_not_quiet() -> None:
    """A link with unread bytes is not reused."""
    link, _, _ = linked()
    link.data_received(b"x")

    assert not link.quiet


@pytest.mark.parametrize(
    ("host", "address"),
    [("127.0.0.1", True), ("::1", True), ("service.test", False), ("localhost", False), ("1.2.3", False)],
)
def test_an_address_is_no_name(host: str, *, address: bool) -> None:
    """Only names are resolved, and may have several addresses."""
    assert connection._is_address(host) is address
