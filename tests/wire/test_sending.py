"""Tests of sending, its order and its observers."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
import threading
import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import httpx
import pytest

from conformance.wire.exchange import Exchange, NoResponse, NotSent
from conformance.wire.requests import Request, create_engagement, get_engagement, get_organization
from conformance.wire.retry_policy import BEYOND_GATEWAY
from conformance.wire.run_limits import RunStopped
from conformance.wire.settings import USER_AGENT
from tests.fakes.wires import Fixtures, RawServer, Scripted, Turn, WoundClock, raw_response

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


async def fine(turn: Turn) -> None:
    """Answer properly."""
    await turn.say(raw_response())


async def echo(turn: Turn) -> None:
    """Return the path, with later requests first."""
    path = turn.head.split(b" ")[1]
    await asyncio.sleep(0.002 * (50 - int(path.rsplit(b"/", 1)[1])))
    await turn.say(raw_response(200, path))


def test_order_does_not_depend_on_the_responses(make: Fixtures) -> None:
    """Exchanges are in the order of the requests, and concurrency is limited by the workers."""
    server = make.serve(echo)
    wire = make.wire(server, workers=4)

    exchanges = wire.send_all([get_engagement(str(number)) for number in range(50)])

    assert [int(exchange.response.body.rsplit(b"/", 1)[1]) for exchange in exchanges] == list(range(50))
    assert [exchange.number for exchange in exchanges] == list(range(1, 51))
    assert server.connections <= 4


def test_threads_share_the_wire(make: Fixtures) -> None:
    """Several threads can send concurrently, each under its own name."""
    wire = make.wire(make.serve(fine))

    def send(name: str) -> None:
        with wire.checking(name):
            for _ in range(10):
                wire.send(get_organization())

    threads = [threading.Thread(target=send, args=(f"check {number}",)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    checks = [exchange.check for exchange in wire.exchanges]
    assert {name: checks.count(name) for name in checks} == {f"check {number}": 10 for number in range(6)}
    assert [exchange.number for exchange in wire.exchanges] == list(range(1, 61))


def test_names_end_with_their_block(make: Fixtures) -> None:
    """After the block, requests belong to the earlier name."""
    wire = make.wire(make.serve(fine))

    with wire.checking("journey"):
        with wire.checking("check"):
            wire.send(get_organization())
        wire.send(get_organization())
    wire.send(get_organization())

    assert [exchange.check for exchange in wire.exchanges] == ["check", "journey", "run"]


def test_requests_carry_what_they_should(make: Fixtures) -> None:
    """Default headers, the run's and the request's own are sent once each; own ones have priority."""
    server = make.serve(fine)
    wire = make.wire(server.url + "/base/", headers=(("X-Gateway", "staging"), ("X-Run", "of the run")))

    request = create_engagement({"name": "é"})
    wire.send(
        Request(operation=request.operation, body=request.body, headers=(("x-run", "of the call"), ("Accept", "*/*")))
    )

    lines = server.turns[0].head.decode().split("\r\n")
    assert lines[0] == "POST /base/api/v1/engagements HTTP/1.1"
    fields = {line.partition(": ")[0].lower(): line.partition(": ")[2] for line in lines[1:] if line}
    assert len(fields) == len([line for line in lines[1:] if line])
    assert fields == {
        "host": f"127.0.0.1:{server.port}",
        "user-agent": USER_AGENT,
        "accept": "*/*",
        "accept-encoding": "gzip, deflate",
        "x-gateway": "staging",
        "x-run": "of the call",
        "authorization": "Bearer sk_live_0123456789abcdef",
        "content-length": "14",
    }
    assert server.turns[0].body == '{"name": "é"}'.encode()


def test_connections_are_reused(make: Fixtures) -> None:
    """Sequential requests share one connection."""
    server = make.serve(fine)
    wire = make.wire(server)

    for _ in range(5):
        wire.send(get_organization())

    assert server.connections == 1


def test_connections_closed_by_the_service_are_not_used(make: Fixtures) -> None:
    """No creation is lost if the service closes after every response without notice."""
    closed = threading.Event()

    async def behave(turn: Turn) -> None:
        await fine(turn)
        turn.writer.close()
        await turn.writer.wait_closed()
        closed.set()

    wire = make.wire(make.serve(behave))

    for _ in range(5):
        assert wire.send(create_engagement({"name": "n"})).status == 200
        closed.wait(20)
        closed.clear()
        wire.send_all([])
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0.05), wire._loop).result(20)


def test_a_repetition_goes_over_a_new_connection(make: Fixtures, clock: WoundClock) -> None:
    """If all idle connections are dead, one retry is enough."""
    served: Counter[int] = Counter()

    async def behave(turn: Turn) -> None:
        served[turn.connection] += 1
        if served[turn.connection] > 1:
            turn.reset()
        else:
            await asyncio.sleep(0.05)  # so that several connections are made
            await fine(turn)

    wire = make.wire(make.serve(behave), clock=clock)
    for _ in range(3):
        exchanges = wire.send_all([get_organization()] * 8)

        assert [exchange.status for exchange in exchanges] == [200] * 8
        assert max(exchange.attempt for exchange in exchanges) <= 2


def test_repeating_stops_at_what_is_not_safe(make: Fixtures, clock: WoundClock) -> None:
    """After a broken connection only GET and repeatable requests are retried."""

    async def behave(turn: Turn) -> None:
        if b"/engagements" in turn.head:
            turn.reset()
        else:
            await fine(turn)

    wire = make.wire(make.serve(behave), clock=clock)
    wire.send(get_organization())
    creation = create_engagement({"name": "n"})

    attempts = {
        name: wire.send(request).attempt
        for name, request in {
            "read": get_engagement("x"),
            "creation": creation,
            "refused creation": replace(creation, repeatable=True),
            "flood": replace(get_engagement("x"), expects_429=True),
        }.items()
    }

    assert attempts == {"read": 3, "creation": 1, "refused creation": 3, "flood": 1}
    assert clock.pauses[:2] == [0.2, 1.0]


@pytest.mark.parametrize("status", [502, 503, 504])
def test_requests_are_retried_after_a_gateways_response(status: int, make: Fixtures, clock: WoundClock) -> None:
    """A gateway's response causes a retry if that is safe; every attempt is recorded."""
    wire = make.wire(transport=Scripted(lambda _: (status, {})), clock=clock)

    read, creation = wire.send(get_organization()), wire.send(create_engagement({}))

    assert [(exchange.attempt, exchange.judgeable) for exchange in wire.exchanges] == [
        *((attempt, False) for attempt in range(1, BEYOND_GATEWAY + 2)), (1, False)
    ]  # fmt: skip
    assert (read.attempt, creation.attempt) == (BEYOND_GATEWAY + 1, 1)
    with pytest.raises(NoResponse, match=f"a gateway responded with {status}"):
        _ = read.response


def test_a_gateway_that_recovers_is_forgiven(make: Fixtures, clock: WoundClock) -> None:
    """A short Retry-After is observed; the next response counts."""
    statuses = iter([503, 200])
    wire = make.wire(transport=Scripted(lambda _: (next(statuses), {"Retry-After": "3"})), clock=clock)

    assert wire.send(get_organization()).status == 200
    assert clock.pauses == [3.0]


@pytest.mark.parametrize("status", [500, 501, 505, 401, 404, 302])
def test_other_responses_cause_no_retry(status: int, make: Fixtures, clock: WoundClock) -> None:
    """Any other response is the service's and causes no retry."""
    wire = make.wire(transport=Scripted(lambda _: (status, {})), clock=clock)

    assert wire.send(get_organization()).status == status
    assert len(wire.exchanges) == 1


class Watcher:
    """An observer that records its calls."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, int]] = []
        self.forbidden: Request | None = None

    def before(self, request: Request) -> None:
        """Record it, or raise."""
        if request is self.forbidden:
            raise PermissionError("not that")
        self.seen.append(("before", threading.get_ident()))

    def after(self, exchange: Exchange) -> None:
        """Record it."""
        self.seen.append((f"after {exchange.number}", threading.get_ident()))


def test_observers_see_every_attempt(make: Fixtures, clock: WoundClock) -> None:
    """An observer is called before a request and after each attempt, in the sending thread."""
    statuses = iter([503, 200, 200])
    wire = make.wire(transport=Scripted(lambda _: (next(statuses), {})), clock=clock)
    watcher = Watcher()
    wire.observe(watcher)

    wire.send(get_organization())
    wire.send(get_organization())

    assert [what for what, _ in watcher.seen] == ["before", "after 1", "after 2", "before", "after 3"]
    assert {thread for _, thread in watcher.seen} == {threading.get_ident()}


def test_observers_are_not_called_for_a_late_request(make: Fixtures) -> None:
    """Observers are not called for a request that is not sent."""
    wire = make.wire(make.serve(fine))
    watcher = Watcher()
    wire.observe(watcher)
    wire.stop("enough")

    with pytest.raises(RunStopped, match="enough"):
        wire.send(create_engagement({"name": "n"}))
    assert watcher.seen == []


def test_requests_in_flight_are_cancelled_if_no_thread_waits(make: Fixtures) -> None:
    """An observer prevents the second of two requests while the first has no response."""
    arrived = threading.Event()

    async def behave(_: Turn) -> None:
        arrived.set()
        await asyncio.Event().wait()

    class Late(Watcher):
        """An observer that prevents a request once the earlier one is in flight."""

        def before(self, request: Request) -> None:
            """Wait for that."""
            if request is self.forbidden:
                arrived.wait(20)
            super().before(request)

    wire = make.wire(make.serve(behave), timeout=1000)
    watcher = Late()
    watcher.forbidden = get_engagement("2")
    wire.observe(watcher)

    with pytest.raises(PermissionError):
        wire.send_all([get_engagement("1"), watcher.forbidden])

    for _ in range(1000):
        if wire.exchanges:
            break
        time.sleep(0.02)
    assert [exchange.error for exchange in wire.exchanges] == ["it was given up because the run was stopped"]


def test_nothing_is_sent_where_a_guard_keeps_one_of_several_requests_back(make: Fixtures) -> None:
    """None of the requests is sent or observed."""
    forbidden = get_engagement("3")

    def guard(requests: Sequence[Request]) -> None:
        if forbidden in requests:
            raise NotSent("not that")

    wire = make.wire(make.serve(fine))
    watcher = Watcher()
    wire.guard(guard)
    wire.observe(watcher)

    with pytest.raises(NotSent, match="not that"):
        wire.send_all([get_engagement("1"), get_engagement("2"), forbidden])
    assert watcher.seen == []
    assert wire.send(get_engagement("2")).number == 1


def test_observers_can_prevent_a_request(make: Fixtures) -> None:
    """An observer's exception is raised by ``send``, and that request is not sent."""
    server = make.serve(fine)
    wire = make.wire(server, workers=1)
    watcher = Watcher()
    wire.observe(watcher)
    requests = [get_engagement("1"), get_engagement("2"), get_engagement("3")]
    watcher.forbidden = requests[1]

    with pytest.raises(PermissionError, match="not that"):
        wire.send_all(requests)

    assert [turn.head.split(b" ")[1][-1:] for turn in server.turns] == [b"1"]


def test_an_application_in_this_process_can_be_tested(make: Fixtures) -> None:
    """A transport of httpx's own for ASGI applications works too."""

    async def application(_: object, __: object, send: object) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})  # type: ignore[operator]
        await send({"type": "http.response.body", "body": b'{"data":{}}'})  # type: ignore[operator]

    wire = make.wire(transport=httpx.ASGITransport(application))

    assert [exchange.status for exchange in wire.send_all([get_organization()] * 20)] == [200] * 20


def test_an_application_that_fails_is_an_error(make: Fixtures, clock: WoundClock) -> None:
    """An application's exception becomes an error without its message."""
    transport = Scripted(
        lambda request: ValueError(request.headers["authorization"]) if request.method == "POST" else (200, {})
    )
    wire = make.wire(transport=transport, clock=clock)

    assert wire.send(create_engagement({})).error == "the response could not be read (ValueError)"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A self-signed certificate for 127.0.0.1 and its key."""
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj /CN=target"
    extension = "subjectAltName=IP:127.0.0.1"
    subprocess.run(
        [*command.split(), "-addext", extension, "-keyout", str(key), "-out", str(certificate)],
        check=True,
        capture_output=True,
    )
    return certificate, key


class TlsServer(RawServer):
    """The server with TLS."""

    certificate: tuple[Path, Path]

    async def _listen(self) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.certificate)
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port, ssl=context)
        self.port = self._server.sockets[0].getsockname()[1]

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"https://127.0.0.1:{self.port}"


class GreetingServer(RawServer):
    """A server that speaks first, and not TLS."""

    async def _connected(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 welcome\r\n")
        await writer.drain()
        writer.close()


def test_connecting_takes_part_in_the_timeout(make: Fixtures, clock: WoundClock) -> None:
    """Nothing was sent to a server that never ends the TLS handshake."""
    wire = make.wire(make.serve(fine).url.replace("http:", "https:"), clock=clock, timeout=0.2)

    with pytest.raises(NoResponse, match=r"no connection could be made within 0\.2 s"):
        wire.send(get_organization())

    assert not any(exchange.was_sent for exchange in wire.exchanges)


@pytest.fixture
def tls_server(certificate: tuple[Path, Path], make: Fixtures) -> TlsServer:
    """A server with an unknown certificate."""
    TlsServer.certificate = certificate
    server = TlsServer(fine)
    make.opened.append(server)
    return server


def test_unknown_certificates_are_refused(tls_server: TlsServer, make: Fixtures, clock: WoundClock) -> None:
    """No key is sent to a server with an unverified certificate; the reason is recorded."""
    with pytest.raises(NoResponse, match="the TLS certificate is not accepted: self-signed certificate"):
        make.wire(tls_server, clock=clock).send(get_organization())

    assert tls_server.turns == []


@pytest.mark.parametrize("trust", ["ca_file", "no verification"])
def test_certificates_can_be_accepted(
    trust: str, certificate: tuple[Path, Path], tls_server: TlsServer, make: Fixtures
) -> None:
    """A CA file makes the certificate acceptable, and so does disabled verification."""
    options: dict[str, object] = {"ca_file": str(certificate[0])} if trust == "ca_file" else {"verify": False}
    wire = make.wire(tls_server, **options)

    assert [exchange.status for exchange in wire.send_all([get_organization()] * 5)] == [200] * 5


def test_plain_servers_are_no_tls_servers(make: Fixtures, clock: WoundClock) -> None:
    """A server without TLS has its own message."""
    server = GreetingServer(fine)
    make.opened.append(server)
    wire = make.wire(server.url.replace("http:", "https:"), clock=clock)

    with pytest.raises(NoResponse, match="no TLS connection could be made"):
        wire.send(get_organization())
