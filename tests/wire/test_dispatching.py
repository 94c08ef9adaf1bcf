"""Tests of waiting, sending, retrying and the loss of the target."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest

from conformance.wire import run_limits
from conformance.wire.client import Wire
from conformance.wire.dispatcher import FAILURES, FIRST_FAILURES, PROBES
from conformance.wire.requests import Credential, create_engagement, get_engagement, get_organization
from conformance.wire.run_limits import RunStopped
from tests.fakes.wires import Fixtures, Scripted, WoundClock

MINE = create_engagement({"name": "n"})
READ = get_engagement("e")
BROKEN, UNREACHED = httpx.ReadError("broken"), httpx.ConnectError("refused")


def responding(*script: object, then: object = 200) -> Scripted:
    """A transport with these responses, then one for all others; statuses or exceptions."""
    rest = iter(script)

    def response(_: httpx.Request) -> Any:
        found = next(rest, then)
        return found if isinstance(found, Exception) else (found, {})

    return Scripted(response)


def checks(wire: Wire) -> list[str]:
    """Return the senders in order: a check, or the wire itself."""
    return ["wire" if exchange.check == "connection" else "check" for exchange in wire.exchanges]


@pytest.mark.parametrize("error", [BROKEN, UNREACHED])
def test_a_target_that_never_responded_is_given_up_after_some_attempts(
    make: Fixtures, clock: WoundClock, error: Exception
) -> None:
    """The sender does not matter, and no probe is sent."""
    wire = make.wire(transport=responding(then=error), clock=clock, workers=1)

    with pytest.raises(RunStopped, match="no complete response ever came") as stopped:
        wire.send_all([get_organization()] * 2 * FIRST_FAILURES)

    assert checks(wire) == ["check"] * FIRST_FAILURES
    assert stopped.value.exchanges == (wire.exchanges[-1],)


def test_a_first_response_of_any_kind_shows_that_there_is_a_target(make: Fixtures, clock: WoundClock) -> None:
    """The first response comes just in time."""
    wire = make.wire(transport=responding(*[UNREACHED] * (FIRST_FAILURES - 1), 404), clock=clock)

    assert wire.send(get_organization()).status == 404
    assert wire.send(get_organization()).status == 200
    assert wire.stopped is None


def test_the_target_is_probed_after_consecutive_failures(make: Fixtures, clock: WoundClock) -> None:
    """A single failure may be the request's fault; a response resets the count."""
    some = [BROKEN] * (FAILURES - 1)
    wire = make.wire(transport=responding(200, *some, 404, *some, BROKEN, 200), clock=clock)
    wire.send(get_organization())

    for _ in range(2 * FAILURES):
        wire.send(MINE)

    assert checks(wire) == ["check"] * (2 * FAILURES + 1) + ["wire"]
    assert clock.pauses == [PROBES[0]]
    wire.send(MINE)
    assert wire.stopped is None


def test_a_missing_connection_causes_a_probe_at_once(make: Fixtures, clock: WoundClock) -> None:
    """Then the request that was not sent is sent again."""
    wire = make.wire(transport=responding(200, UNREACHED, UNREACHED, 200, 201), clock=clock)
    wire.send(get_organization())

    assert wire.send(MINE).status == 201
    assert checks(wire) == ["check", "check", "wire", "wire", "check"]


def test_a_lost_target_is_probed_with_growing_pauses(make: Fixtures, clock: WoundClock) -> None:
    """The reason says that it was lost, with the last probe."""
    wire = make.wire(transport=responding(200, then=UNREACHED), clock=clock)
    wire.send(get_organization())

    with pytest.raises(RunStopped, match=r"^the target was lost and did not come back$") as stopped:
        wire.send(MINE)

    assert clock.pauses == list(PROBES)
    assert checks(wire) == ["check", "check"] + ["wire"] * len(PROBES)
    assert [exchange.attempt for exchange in wire.exchanges[2:]] == list(range(1, len(PROBES) + 1))
    assert stopped.value.exchanges == (wire.exchanges[-1],)
    with pytest.raises(RunStopped, match="the target was lost"):
        wire.send(MINE)


def test_the_request_before_a_loss_is_named(make: Fixtures, clock: WoundClock) -> None:
    """The reason names the request before the loss, and cites its exchange."""
    wire = make.wire(transport=responding(200, BROKEN, then=UNREACHED), clock=clock)
    wire.send(get_organization())
    named = r"^the target was lost after POST /api/v1/engagements \(request 2\) and did not come back$"

    assert wire.send(MINE).received is None
    with pytest.raises(RunStopped, match=named) as stopped:
        wire.send(get_organization())

    assert stopped.value.exchanges == (wire.exchanges[1], wire.exchanges[-1])


def test_questions_that_take_long_are_fewer(make: Fixtures, clock: WoundClock) -> None:
    """A target that never responds to probes is given up, too; each has a short timeout."""

    def response(_: httpx.Request) -> Any:
        if len(transport.requests) == 1:
            return 200, {}
        clock.sleep(3)
        return UNREACHED

    transport = Scripted(response)
    wire = make.wire(transport=transport, clock=clock)
    wire.send(get_organization())

    with pytest.raises(RunStopped, match="the target was lost"):
        wire.send(MINE)

    assert 12 < clock.seconds < 20
    assert checks(wire).count("wire") < len(PROBES)


def test_all_requests_wait_for_one_search(make: Fixtures, clock: WoundClock) -> None:
    """The target is probed once for all, and each request is sent after its return."""
    lost = threading.Event()

    def response(request: httpx.Request) -> Any:
        if len(transport.requests) == 1:
            return 200, {}
        if request.method == "POST" and not lost.is_set():
            return UNREACHED
        lost.set()
        return 200, {}

    transport = Scripted(response)
    wire = make.wire(transport=transport, clock=clock, workers=4)
    wire.send(get_organization())

    found = wire.send_all([MINE] * 4)

    assert [exchange.status for exchange in found] == [200] * 4
    assert checks(wire).count("wire") == 1


def test_a_target_that_is_lost_again_is_probed_again(make: Fixtures, clock: WoundClock) -> None:
    """Failures before its return no longer count."""
    few = [BROKEN] * (FAILURES - 1)
    wire = make.wire(transport=responding(200, UNREACHED, 200, *few, UNREACHED, 200), clock=clock)
    wire.send(get_organization())

    for _ in range(FAILURES):
        last = wire.send(MINE)

    assert last.status == 200
    assert checks(wire) == [*["check"] * 2, "wire", *["check"] * FAILURES, "wire", "check"]


def test_requests_wait_while_the_target_is_probed(make: Fixtures) -> None:
    """Undoing does not wait, because its time is short."""
    searching, found = threading.Event(), asyncio.Event()

    class Held(WoundClock):
        """A pause waits for the test."""

        async def pause(self, seconds: float) -> None:
            searching.set()
            await found.wait()

    def response(request: httpx.Request) -> Any:
        return UNREACHED if request.method == "POST" and not found.is_set() else (200, {})

    transport = Scripted(response)
    wire = make.wire(transport=transport, clock=Held())
    wire.send(get_organization())
    statuses: list[int] = []
    senders = [
        threading.Thread(target=lambda request=request: statuses.append(wire.send(request).status))
        for request in (MINE, READ)
    ]
    senders[0].start()
    searching.wait(20)
    with wire.undoing():
        assert wire.send(READ).status == 200

    senders[1].start()
    for _ in range(10_000):
        if len(wire._tasks) == len(senders):
            break
        time.sleep(0.001)
    asyncio.run_coroutine_threadsafe(asyncio.sleep(0.01), wire._loop).result(20)
    assert len(transport.requests) == 3
    wire._loop.call_soon_threadsafe(found.set)
    for sender in senders:
        sender.join(20)

    assert statuses == [200, 200]
    assert [request.method for request in transport.requests[:4]] == ["GET", "POST", "GET", "GET"]


def test_a_question_is_given_no_more_time_than_a_request(make: Fixtures, clock: WoundClock) -> None:
    """The next probe may find the target."""

    class Silent(Scripted):
        """A transport that never responds to the first probe."""

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            response = await super().handle_async_request(request)
            if len(self.requests) == 3:
                await asyncio.Event().wait()
            return response

    transport = Silent(lambda _: UNREACHED if len(transport.requests) == 2 else (200, {}))
    wire = make.wire(transport=transport, clock=clock, timeout=0.5)
    wire.send(get_organization())

    assert wire.send(MINE).status == 200
    assert wire.exchanges[2].error == "no complete response came within 0.5 s"


def test_requests_that_cannot_be_written_say_nothing_of_the_target(make: Fixtures) -> None:
    """Any number of them: nothing was sent."""
    transport = responding()
    wire = make.wire(transport=transport)

    for _ in range(2 * FAILURES):
        assert wire.send(get_engagement("")).received is None

    assert wire.send(get_organization()).status == 200
    assert len(transport.requests) == 1


def test_a_search_ends_with_the_run(make: Fixtures) -> None:
    """A stop does not wait for the target."""
    searching = threading.Event()

    class Endless(WoundClock):
        """A pause never ends."""

        async def pause(self, seconds: float) -> None:
            searching.set()
            await asyncio.Event().wait()

    wire = make.wire(transport=responding(200, then=UNREACHED), clock=Endless())
    wire.send(get_organization())

    def stop() -> None:
        searching.wait(20)
        wire.stop("interrupted")

    stopper = threading.Thread(target=stop)
    stopper.start()

    with pytest.raises(RunStopped, match="interrupted"):
        wire.send(MINE)
    stopper.join()
    search = wire._dispatcher._search
    wire.close()
    assert search is not None
    assert search.done()


def test_undoing_does_not_search_for_the_target(make: Fixtures, clock: WoundClock) -> None:
    """Its time is short, so it goes on with other changes."""
    wire = make.wire(transport=responding(200, then=UNREACHED), clock=clock)
    wire.send(get_organization())

    with wire.undoing():
        for _ in range(3):
            assert wire.send(MINE).received is None

    assert "wire" not in checks(wire)
    assert wire.stopped is None


def test_a_response_for_which_there_is_no_room_is_not_recorded(
    make: Fixtures, clock: WoundClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exchange has the reason; the run ends, and earlier responses stay."""
    wire = make.wire(transport=responding(), clock=clock)
    wire.send(get_organization())
    monkeypatch.setattr(run_limits, "MAX_RESPONSE_BYTES", 0)

    wire.send(get_organization())

    recorded, dropped = wire.exchanges
    assert recorded.received is not None
    assert dropped.received is None
    assert dropped.error == "the response was not kept: earlier responses use all memory for responses"
    with pytest.raises(RunStopped, match="the responses of the run take more than"):
        wire.send(get_organization())


def test_a_gateways_date_is_by_the_clock_of_the_service(make: Fixtures, clock: WoundClock) -> None:
    """The earlier response showed that the window is not used up."""
    date = format_datetime(clock.now() + timedelta(hours=1), usegmt=True)
    until = format_datetime(clock.now() + timedelta(hours=1, seconds=4), usegmt=True)
    responses = iter([(200, {"Date": date}), (503, {"Retry-After": until}), (200, {})])
    wire = make.wire(transport=Scripted(lambda _: next(responses)), clock=clock)
    wire.send(get_organization())

    assert wire.send(get_organization()).status == 200
    assert clock.pauses == [pytest.approx(4, abs=1)]


def refusing(key: str, status: int = 429) -> Callable[[httpx.Request], Any]:
    """A service that refuses one key."""
    return lambda request: (status if request.headers.get("authorization") == key else 200, {})


def test_a_request_waits_for_its_limit_some_times_and_then_is_given_up(make: Fixtures, clock: WoundClock) -> None:
    """Waits grow; the next request of that key waits as often, and later ones do not."""
    other = Credential.bearer("other", "other")
    wire = make.wire(transport=Scripted(refusing("Bearer other")), clock=clock)

    sent = []
    for _ in range(4):
        before = wire.sent
        assert wire.send(get_organization().with_key(other)).received is not None
        sent.append(wire.sent - before)

    assert sent == [4, 4, 1, 1]
    assert wire.stopped is None


def test_a_window_that_ends_too_late_is_not_waited_for(make: Fixtures, clock: WoundClock) -> None:
    """The request is given up at once if the service's clock is known."""
    now = clock.now()
    headers = {
        "Date": format_datetime(now, usegmt=True),
        "X-RateLimit-Limit": "9",
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": str(int(now.timestamp()) + 3600),
    }
    wire = make.wire(transport=Scripted(lambda _: (429, headers)), clock=clock)

    assert wire.send(MINE).received is not None
    assert (wire.sent, clock.pauses) == (1, [])


def test_the_main_key_is_probed_before_the_run_ends(make: Fixtures, clock: WoundClock) -> None:
    """If only one operation is refused, it is retried and the run goes on."""
    wire = make.wire(
        transport=Scripted(lambda request: (429 if request.url.path.endswith("/e") else 200, {})), clock=clock
    )

    for _ in range(2):
        wire.send(get_engagement("e"))
    assert checks(wire) == ["check"] * 8 + ["wire"]
    assert wire.exchanges[-1].attempt == 1
    wire.send(get_engagement("e"))
    assert checks(wire)[9:] == ["check"] * 4
    assert wire.stopped is None


def test_a_main_key_without_a_probe_is_not_served(make: Fixtures, clock: WoundClock) -> None:
    """Its exchange has the refusal."""
    wire = make.wire(
        transport=Scripted(lambda request: (429, {}) if request.url.path.endswith("/e") else BROKEN), clock=clock
    )
    wire.send(get_engagement("e"))

    with pytest.raises(RunStopped, match=r"^the service returned only 429$") as stopped:
        wire.send(get_engagement("e"))
    assert stopped.value.exchanges == (wire.exchanges[-2],)
    assert checks(wire)[-2:] == ["check", "wire"]


def test_a_limit_of_one_operation_is_not_anothers(make: Fixtures, clock: WoundClock) -> None:
    """If waits for one operation did not help, other operations still wait."""
    left = {"X-RateLimit-Limit": "9", "X-RateLimit-Remaining": "5", "X-RateLimit-Reset": "1767225660"}
    served = get_organization().path
    wire = make.wire(
        transport=Scripted(lambda request: (200 if request.url.path == served else 429, left)), clock=clock
    )

    sent = []
    for request in (READ, READ, READ, MINE):
        before = checks(wire).count("check")
        assert wire.send(request).received is not None
        sent.append(checks(wire).count("check") - before)
    assert sent == [4, 4, 1, 4]


def test_a_wait_while_undoing_takes_none_of_the_runs_time(make: Fixtures, clock: WoundClock) -> None:
    """The run's time may be over."""
    responses = iter([(200, {}), (429, {"Retry-After": "2"})])
    wire = make.wire(transport=Scripted(lambda _: next(responses, (200, {}))), clock=clock, max_seconds=10.0)
    wire.send(get_organization())
    clock.sleep(9)

    with wire.undoing():
        assert wire.send(get_organization()).status == 200
    assert clock.seconds > 11


def test_undoing_is_not_ended_by_a_limit(make: Fixtures, clock: WoundClock) -> None:
    """Undoing reports what it could not undo."""
    wire = make.wire(transport=Scripted(lambda _: (429, {})), clock=clock)

    with wire.undoing():
        for _ in range(3):
            assert wire.send(MINE).received is not None

    assert wire.stopped is None
    assert "wire" not in checks(wire)


def test_an_expected_429_delays_nothing(make: Fixtures, clock: WoundClock) -> None:
    """Its 429 is its response, and delays no other request of that key."""
    wire = make.wire(transport=responding(429, 200), clock=clock)

    assert wire.send(replace(get_organization(), expects_429=True)).status == 429
    assert wire.send(get_organization()).status == 200
    assert clock.pauses == []


def test_an_expected_429_does_not_lower_the_concurrency(make: Fixtures, clock: WoundClock) -> None:
    """Its 429 is expected, even if it leaves requests."""
    crowded = Crowded(clock, 429, 899)
    wire = make.wire(transport=crowded, clock=clock, workers=8)
    wire.send_all([replace(get_organization(), expects_429=True)] * 40)
    before = crowded.refused

    wire.send_all([replace(get_organization(), expects_429=True)] * 40)

    assert crowded.refused - before > before / 2 > 0


def test_no_more_are_under_way_than_there_are_workers(make: Fixtures, clock: WoundClock) -> None:
    """Any number may be sent at once."""
    under_way, most, full = 0, 0, asyncio.Event()

    class Counting(Scripted):
        """A service that counts requests in flight, and responds to none before there are three."""

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            nonlocal under_way, most
            under_way += 1
            most = max(most, under_way)
            if most == 3:
                full.set()
            await full.wait()
            await asyncio.sleep(0)
            under_way -= 1
            return await super().handle_async_request(request)

    wire = make.wire(transport=Counting(lambda _: (200, {})), clock=clock, workers=3)
    wire.send_all([get_organization()] * 12)

    assert most == 3


def test_attempts_have_a_number_and_a_check(make: Fixtures, clock: WoundClock) -> None:
    """Every attempt of a request is recorded, for the check that sends it."""
    wire = make.wire(transport=responding(503, 503, 200), clock=clock)

    with wire.checking("a check"):
        last = wire.send(get_organization())

    assert [(exchange.number, exchange.attempt, exchange.check) for exchange in wire.exchanges] == [
        (1, 1, "a check"), (2, 2, "a check"), (3, 3, "a check"),
    ]  # fmt: skip
    assert last is wire.exchanges[-1]


class Crowded(httpx.AsyncBaseTransport):
    """A gateway or service that accepts two concurrent requests.

    Args:
        clock: The clock of the run, for the Date header.
        status: The status of its refusals.
        remaining: The X-RateLimit-Remaining of its refusals.
    """

    def __init__(self, clock: WoundClock, status: int, remaining: int = 0) -> None:
        self.under_way = 0
        self.refused = 0
        self._clock = clock
        self._status = status
        self._remaining = remaining

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Serve a request after other tasks have run."""
        if self.under_way == 2:
            self.refused += 1
            return self._response(self._status, self._remaining, 1)
        self.under_way += 1
        for _ in range(5):
            await asyncio.sleep(0)
        self.under_way -= 1
        return self._response(200, 900, 60)

    def _response(self, status: int, remaining: int, ahead: int) -> httpx.Response:
        now = self._clock.now()
        limit = {"Limit": 1000, "Remaining": remaining, "Reset": int(now.timestamp()) + ahead}
        headers = {"Date": format_datetime(now, usegmt=True)} | {
            f"X-RateLimit-{name}": str(limit[name]) for name in limit
        }
        return httpx.Response(status, headers=headers, stream=httpx.ByteStream(b'{"data":{}}'))


@pytest.mark.parametrize(("status", "remaining"), [(429, 0), (429, 899), (503, 899)])
def test_fewer_go_at_once_where_that_gets_them_refused(
    make: Fixtures, clock: WoundClock, status: int, remaining: int
) -> None:
    """After a few refusals the concurrency is lowered, although the key has quota left."""
    crowded = Crowded(clock, status, remaining)
    wire = make.wire(transport=crowded, clock=clock, workers=8)
    wire.send_all([get_organization()] * 120)
    before = crowded.refused
    assert before > 0

    responses = wire.send_all([get_organization()] * 40)

    assert {response.status for response in responses} == {200}
    assert crowded.refused == before
