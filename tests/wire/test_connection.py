"""Which requests share a connection, and when a new one is made."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from conformance.wire import connection
from conformance.wire.call import create_engagement, get_organization
from tests.wire.conftest import Fixtures, Turn, answer

READ, WRITE = get_organization(), create_engagement({"name": "n"})
AGAIN = replace(WRITE, repeatable=True)


async def fine(turn: Turn) -> None:
    """Answer properly."""
    await turn.say(answer())


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Idle connections stay usable, however slow the machine is."""
    monkeypatch.setattr(connection, "READ_IDLE", 600.0)
    monkeypatch.setattr(connection, "WRITE_IDLE", 600.0)


@pytest.mark.parametrize(
    ("calls", "connections"),
    [
        ([READ, READ, READ], [1, 1, 1]),
        ([READ, WRITE, WRITE], [1, 2, 3]),
        ([READ, READ, WRITE, WRITE], [1, 1, 1, 1]),
        ([WRITE, READ, WRITE], [1, 1, 1]),
        ([WRITE, AGAIN, WRITE], [1, 1, 1]),
    ],
    ids=["reads", "writes at first", "writes later", "a write, a read and a write", "what may be repeated"],
)
def test_a_write_goes_over_what_has_served_twice(make: Fixtures, calls: list[object], connections: list[int]) -> None:
    """Before any connection has served a second request, none is risked for what cannot be repeated."""
    server = make.serve(fine)
    wire = make.wire(server)

    for call in calls:
        assert wire.send(call).status == 200  # type: ignore[arg-type]

    assert [turn.connection for turn in server.turns] == connections


@pytest.mark.parametrize(("word", "limit"), [(READ, "READ_IDLE"), (WRITE, "WRITE_IDLE")])
def test_a_connection_that_was_idle_too_long_is_not_used(
    make: Fixtures, monkeypatch: pytest.MonkeyPatch, word: object, limit: str
) -> None:
    """The bound for writes is one of its own."""
    server = make.serve(fine)
    wire = make.wire(server)
    for _ in range(2):
        wire.send(READ)
    monkeypatch.setattr(connection, limit, 0.0)

    assert wire.send(word).status == 200  # type: ignore[arg-type]

    assert [turn.connection for turn in server.turns] == [1, 1, 2]


def test_reads_do_not_mind_the_bound_for_writes(make: Fixtures, monkeypatch: pytest.MonkeyPatch) -> None:
    """They may be sent again if the connection turns out to be dead."""
    monkeypatch.setattr(connection, "WRITE_IDLE", 0.0)
    server = make.serve(fine)
    wire = make.wire(server)

    for _ in range(3):
        wire.send(READ)

    assert server.connections == 1


@pytest.mark.parametrize("header", ["Connection: close", "connection: Close"])
def test_a_connection_that_is_announced_to_close_is_not_kept(make: Fixtures, header: str) -> None:
    """The next request goes over a new one, also where the service then leaves it open."""

    async def behave(turn: Turn) -> None:
        await turn.say(answer(200, b"{}", header))

    server = make.serve(behave)
    wire = make.wire(server)

    for _ in range(3):
        assert wire.send(READ).status == 200

    assert server.connections == 3


def test_a_service_that_closes_unasked_gets_writes_over_new_connections(make: Fixtures) -> None:
    """Once it has closed one that it said it would keep, none is trusted with what cannot be repeated."""
    server = make.serve(fine)
    wire = make.wire(server)
    wire.send(READ)
    wire.send(READ)
    (kept,) = wire._sender._transport._idle  # type: ignore[attr-defined]
    server._loop.call_soon_threadsafe(server.turns[-1].writer.close)
    while not kept.link.ended:
        time.sleep(0.001)

    for call in (READ, READ, WRITE, WRITE):
        assert wire.send(call).status == 200

    assert [turn.connection for turn in server.turns] == [1, 1, 2, 2, 3, 4]


def test_no_more_are_kept_than_may_be_used_at_once(make: Fixtures) -> None:
    """As many as there are workers."""
    server = make.serve(fine)
    wire = make.wire(server, workers=2)
    wire.send_all([READ] * 8)

    assert len(wire._sender._transport._idle) <= 2  # type: ignore[attr-defined]
    assert server.connections <= 2


@pytest.mark.parametrize(
    ("host", "address"),
    [("127.0.0.1", True), ("::1", True), ("service.test", False), ("localhost", False), ("1.2.3", False)],
)
def test_what_is_an_address(host: str, *, address: bool) -> None:
    """Only names are looked up, and may have several addresses."""
    assert connection._is_address(host) is address
