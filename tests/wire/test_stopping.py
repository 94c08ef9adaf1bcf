"""Tests of stopping and closing a wire with requests in flight."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from conformance.wire import client
from conformance.wire.client import Wire
from conformance.wire.exchange import Exchange
from conformance.wire.requests import Request, create_engagement, delete_engagement, get_organization
from conformance.wire.run_limits import RunStopped
from tests.fakes.wires import Fixtures, Scripted, Turn, raw_response


async def fine(turn: Turn) -> None:
    """Answer properly."""
    await turn.say(raw_response())


async def silent(_: Turn) -> None:
    """Never answer."""
    await asyncio.Event().wait()


def test_stop_gives_up_what_is_under_way(make: Fixtures) -> None:
    """Another thread can end the run; what was sent is recorded, and nothing follows."""
    arrived = threading.Event()

    async def behave(turn: Turn) -> None:
        arrived.set()
        await silent(turn)

    server = make.serve(behave)
    wire = make.wire(server, timeout=50)

    def stop() -> None:
        arrived.wait(20)
        wire.stop("interrupted")

    stopper = threading.Thread(target=stop)
    stopper.start()

    with pytest.raises(RunStopped, match="interrupted") as caught:
        wire.send(create_engagement({"name": "n"}))
    stopper.join()

    assert [exchange.error for exchange in wire.exchanges] == ["it was given up because the run was stopped"]
    assert caught.value.exchanges == wire.exchanges
    with pytest.raises(RunStopped, match="interrupted"):
        wire.send(get_organization())


def test_every_thread_is_released_whenever_the_run_is_stopped(make: Fixtures) -> None:
    """Requests that begin at the end of the run are refused and do not hang."""
    server = make.serve(fine)
    for _ in range(30):
        wire = make.wire(server)
        ended: list[str] = []

        def send(wire: Wire = wire, ended: list[str] = ended) -> None:
            try:
                while True:
                    wire.send_all([get_organization()] * 3)
            except RunStopped as stopped:
                ended.append(str(stopped))

        threads = [threading.Thread(target=send) for _ in range(3)]
        for thread in threads:
            thread.start()
        wire.stop("interrupted")
        wire.close()
        for thread in threads:
            thread.join(20)
        assert ended == ["interrupted"] * 3


class Stopping:
    """An observer that stops the run at the first exchange."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire

    def before(self, request: Request) -> None:
        """Do nothing."""

    def after(self, exchange: Exchange) -> None:
        """Stop it."""
        self.wire.stop("interrupted")


def test_stop_ends_waits(make: Fixtures) -> None:
    """A wait for a rate-limit window ends with the run; earlier responses are recorded."""
    wire = make.wire(transport=Scripted(lambda _: (429, {"Retry-After": "60"})))
    wire.observe(Stopping(wire))

    with pytest.raises(RunStopped, match="interrupted") as caught:
        wire.send(get_organization())

    assert [exchange.number for exchange in caught.value.exchanges] == [1]


def test_stop_lets_the_undoing_go_on(make: Fixtures) -> None:
    """Requests of undoing are not cancelled."""
    stopped = asyncio.Event()
    arrived = threading.Event()

    async def behave(turn: Turn) -> None:
        arrived.set()
        await stopped.wait()
        await fine(turn)

    server = make.serve(behave)
    wire = make.wire(server)

    def stop() -> None:
        arrived.wait(20)
        wire.stop("interrupted")
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0), wire._loop).result(20)  # what stop does there is done
        server._loop.call_soon_threadsafe(stopped.set)

    stopper = threading.Thread(target=stop)
    stopper.start()

    with wire.undoing():
        assert wire.send(delete_engagement("x")).status == 200
    stopper.join()


def test_a_closed_wire_sends_nothing(make: Fixtures) -> None:
    """After closing, a send says so; closing again does nothing."""
    wire = make.wire(make.serve(fine))
    wire.send(get_organization())
    wire.close()

    with pytest.raises(RunStopped, match=r"^the wire was closed$"):
        wire.send(get_organization())
    with wire.undoing(), pytest.raises(RunStopped, match=r"^the wire was closed$"):
        wire.send(get_organization())
    wire.close()
    wire.stop("it comes too late")
    assert wire.stopped == "the wire was closed"


def test_closing_ends_other_threads(make: Fixtures) -> None:
    """A thread that waits for a response is released when the wire is closed."""
    arrived = threading.Event()

    async def behave(turn: Turn) -> None:
        arrived.set()
        await silent(turn)

    wire = make.wire(make.serve(behave), timeout=50)
    caught: list[BaseException] = []

    def send() -> None:
        try:
            wire.send(get_organization())
        except RunStopped as stopped:
            caught.append(stopped)

    thread = threading.Thread(target=send)
    thread.start()
    arrived.wait(20)
    wire.close()
    thread.join(20)

    assert len(caught) == 1


def test_a_response_is_waited_for_as_long_as_the_wire_is_open(make: Fixtures, monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread is checked repeatedly."""
    monkeypatch.setattr(client, "_LIVENESS_SECONDS", 0.001)

    async def behave(turn: Turn) -> None:
        await asyncio.sleep(0.1)
        await fine(turn)

    assert make.wire(make.serve(behave)).send(get_organization()).status == 200


def test_a_request_at_the_moment_of_closing_is_released(make: Fixtures, monkeypatch: pytest.MonkeyPatch) -> None:
    """A closed loop cannot respond."""
    monkeypatch.setattr(client, "_LIVENESS_SECONDS", 0.001)
    wire = make.wire(transport=Scripted(lambda _: (200, {})))
    wire.close()
    monkeypatch.setattr(wire._loop, "call_soon_threadsafe", lambda *_: None)  # it was open when this was asked of it

    with wire.undoing(), pytest.raises(RunStopped, match="the wire was closed"):
        wire.send(get_organization())


def test_a_request_during_closing_is_refused(make: Fixtures) -> None:
    """A closed wire refuses even requests of undoing."""
    closing, closed = threading.Event(), asyncio.Event()

    class Lingering(Scripted):
        """A transport that closes slowly."""

        async def aclose(self) -> None:
            """Wait for the test."""
            closing.set()
            await closed.wait()

    transport = Lingering(lambda _: (200, {}))
    wire = make.wire(transport=transport)
    wire.stop("it was interrupted")
    closer = threading.Thread(target=wire.close)
    closer.start()
    closing.wait(20)

    try:
        with wire.undoing(), pytest.raises(RunStopped, match="it was interrupted"):
            wire.send(get_organization())
    finally:
        wire._loop.call_soon_threadsafe(closed.set)
        closer.join(20)
    assert transport.requests == []


def test_a_slow_resolver_keeps_no_process_alive(tmp_path: Path) -> None:
    """A process ends although the resolution of a name goes on."""
    program = tmp_path / "program.py"
    program.write_text(
        "import socket, threading\n"
        "begun, never = threading.Event(), threading.Event()\n"
        "socket.getaddrinfo = lambda *_, **__: (begun.set(), never.wait())\n"
        "from conformance.wire.client import Wire\n"
        "from conformance.wire.redaction import Redactor\n"
        "from conformance.wire.requests import Credential, get_organization\n"
        "from conformance.wire.settings import WireSettings\n"
        "key = Credential.bearer('api_key', 'k' * 20)\n"
        "wire = Wire(WireSettings(base_url='http://slow.test', credential=key), Redactor())\n"
        "threading.Timer(0.1, lambda: begun.wait() and wire.stop('over')).start()\n"
        "try:\n"
        "    wire.send(get_organization())\n"
        "except Exception as error:\n"
        "    print(type(error).__name__)\n"
        "wire.close()\n"
    )

    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=60, check=True)

    assert (done.stdout, done.stderr) == ("RunStopped\n", "")


def test_a_write_in_flight_is_completed(make: Fixtures) -> None:
    """The run is stopped, and undoing begins once the service has responded to the write."""
    arrived, answer = threading.Event(), threading.Event()

    async def slow(turn: Turn) -> None:
        if turn.method == "POST":
            arrived.set()
            await asyncio.to_thread(answer.wait)
        await turn.say(raw_response(201))

    wire = make.wire(make.serve(slow))
    seen: list[Exchange] = []
    sending = threading.Thread(target=lambda: seen.append(wire.send(create_engagement({"name": "a"}))))
    sending.start()
    arrived.wait(20)
    wire.stop("over")
    threading.Timer(0.2, answer.set).start()

    with wire.undoing():
        (exchange,) = wire.exchanges
        assert exchange.status == 201
    sending.join(20)
    assert seen == [exchange]
