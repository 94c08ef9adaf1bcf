"""Tests of the end of a run by its budget, its time or its target, and of undoing after it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time

import httpx
import pytest

from conformance.wire.exchange import Exchange
from conformance.wire.requests import Request, create_engagement, delete_engagement, get_organization
from conformance.wire.run_limits import RunStopped
from tests.fakes.wires import Fixtures, Scripted, Turn, WoundClock, raw_response


async def fine(turn: Turn) -> None:
    """Answer properly."""
    await turn.say(raw_response())


async def silent(_: Turn) -> None:
    """Never answer."""
    await asyncio.sleep(60)


def test_the_budget_counts_every_request(make: Fixtures, clock: WoundClock) -> None:
    """Retries count, and nothing is sent beyond the budget."""
    transport = Scripted(lambda _: (503, {}))
    wire = make.wire(transport=transport, clock=clock, max_requests=6)
    wire.send(get_organization())

    with pytest.raises(RunStopped, match="the budget of 6 requests is used up"):
        wire.send(get_organization())

    assert len(transport.requests) == len(wire.exchanges) == wire.sent == 6
    assert wire.stopped == "the budget of 6 requests is used up"


def test_a_budget_used_up_amid_many_requests_keeps_what_came(make: Fixtures) -> None:
    """Responses before the end are recorded; each request in flight may take its place in the budget twice."""
    wire = make.wire(make.serve(fine), max_requests=20, workers=4)

    with pytest.raises(RunStopped):
        wire.send_all([get_organization()] * 40)

    assert 20 - 4 <= len(wire.exchanges) <= 20
    assert all(exchange.received is not None for exchange in wire.exchanges)


def test_requests_in_flight_at_the_end_of_the_budget_are_completed(make: Fixtures) -> None:
    """Requests in flight are completed, because their changes must be undone."""
    begun, over = threading.Event(), threading.Event()

    async def slow(turn: Turn) -> None:
        await asyncio.to_thread(over.wait, 20)
        await asyncio.sleep(0.05)
        await turn.say(raw_response())

    class Waiting:
        """An observer that lets six requests begin before any is sent, and delays the next until the budget ends."""

        requests = 0

        def before(self, _: Request) -> None:
            """Wait for that."""
            self.requests += 1
            if self.requests == 1:
                wire._loop.call_soon_threadsafe(begun.wait)
            if self.requests == 7:
                begun.set()
                while wire.stopped is None:
                    time.sleep(0.001)
                over.set()

        def after(self, _: Exchange) -> None:
            """Do nothing."""

    wire = make.wire(make.serve(slow), max_requests=5)
    wire.observe(Waiting())

    with pytest.raises(RunStopped, match="the budget of 5 requests is used up"):
        wire.send_all([create_engagement({"name": "n"})] * 20)

    assert [exchange.received is not None for exchange in wire.exchanges] == [True] * 5


def test_the_time_of_a_run_ends_requests_under_way(make: Fixtures) -> None:
    """A request does not outlast the run, and none is sent after it."""
    wire = make.wire(make.serve(silent), max_seconds=0.3)

    with pytest.raises(RunStopped, match=r"the time of 0\.3 s for the run is used up|does not fit into"):
        wire.send(get_organization())

    assert len(wire.exchanges) == 1
    assert (wire.exchanges[0].error or "").startswith("no complete response came within 0.")
    with pytest.raises(RunStopped):
        wire.send(get_organization())


def test_a_run_is_over_before_its_next_request(make: Fixtures, clock: WoundClock) -> None:
    """``is_over`` is true before the next request, so that no pause is wasted."""
    wire = make.wire(transport=Scripted(lambda _: (200, {})), clock=clock, max_seconds=20)

    over = []
    for seconds in (19, 1):
        clock.sleep(seconds)
        over.append(wire.is_over)
    assert over == [False, True]
    assert wire.stopped is None


def test_a_run_keeps_back_time_for_what_is_to_be_undone(make: Fixtures, clock: WoundClock) -> None:
    """The reserved time grows with the changes and the duration of responses."""

    def slow(_: httpx.Request) -> tuple[int, dict[str, str]]:
        clock.sleep(1)
        return 200, {}

    wire = make.wire(transport=Scripted(slow), clock=clock, max_seconds=20, workers=1)
    changes = 0
    wire.reserve_for(lambda: changes)
    wire.send(get_organization())
    clock.sleep(10)

    assert not wire.is_over
    changes = 9
    assert wire.is_over


def test_waits_beyond_the_time_of_a_run_are_not_begun(make: Fixtures, clock: WoundClock) -> None:
    """A rate-limit window that ends after the run is not waited for."""
    wire = make.wire(transport=Scripted(lambda _: (429, {"Retry-After": "50"})), clock=clock, max_seconds=20)

    with pytest.raises(RunStopped, match="a wait of 50 s does not fit into the 20 s for the run"):
        wire.send(get_organization())

    assert clock.pauses == []


def test_undoing_sends_although_the_run_is_over(make: Fixtures) -> None:
    """The changes of a run can be undone after it was stopped or its budget used up."""
    wire = make.wire(make.serve(fine))
    wire.send(get_organization())
    wire.stop("interrupted")

    with wire.undoing():
        assert wire.send(delete_engagement("x")).status == 200

    with pytest.raises(RunStopped):
        wire.send(get_organization())


def test_undoing_stays_within_the_budget(make: Fixtures) -> None:
    """A run reserves requests for undoing, and undoing sends no more than those."""
    wire = make.wire(make.serve(fine), max_requests=20)
    wire.reserve_for(lambda: 5)

    while not wire.stopped:
        with contextlib.suppress(RunStopped):
            wire.send(get_organization())
    assert len(wire.exchanges) == 20 - (2 * 5 + 6)

    with wire.undoing():
        for _ in range(2 * 5 + 6):
            wire.send(delete_engagement("x"))
        with pytest.raises(RunStopped, match="all 20 requests of the run were sent"):
            wire.send(delete_engagement("x"))


def test_undoing_has_a_deadline_of_its_own(make: Fixtures, clock: WoundClock) -> None:
    """Undoing has a time limit, which is shorter after a stop."""
    wire = make.wire(transport=Scripted(lambda _: (200, {})), clock=clock, undo_seconds=100)
    wire.stop("interrupted")

    with wire.undoing():
        clock.sleep(7)
        wire.send(delete_engagement("x"))
        clock.sleep(2)
        with pytest.raises(RunStopped, match="the time for undoing is used up"):
            wire.send(delete_engagement("x"))


def test_a_target_that_never_responds_is_given_up_soon(make: Fixtures, clock: WoundClock) -> None:
    """Three refused connections are enough if the target never responded."""
    server = make.serve(fine)
    server.vanish()
    wire = make.wire(server, clock=clock)

    with pytest.raises(RunStopped, match="no complete response ever came: the connection was refused"):
        wire.send(get_organization())

    assert [exchange.was_sent for exchange in wire.exchanges] == [False] * 3


def test_a_lost_target_ends_the_run(make: Fixtures, clock: WoundClock) -> None:
    """A target that responded, and then refuses connections for good, ends the run."""
    server = make.serve(fine)
    wire = make.wire(server, clock=clock)
    wire.send(get_organization())
    server.vanish()

    with pytest.raises(RunStopped, match="the target was lost and did not come back"):
        wire.send_all([create_engagement({"name": "n"})] * 8)

    assert 5 < clock.seconds < 30
    assert len(wire.exchanges) < 40


def test_a_target_that_comes_back_is_waited_for(make: Fixtures) -> None:
    """A target that returns after a while is found, and unsent requests are sent."""
    server = make.serve(fine)
    wire = make.wire(server)
    wire.send(get_organization())
    server.vanish()

    class Return:
        def before(self, _: object) -> None:
            """Nothing to do."""

        def after(self, exchange: object) -> None:
            if getattr(exchange, "received", None) is None and not back.is_alive():
                back.start()

    back = threading.Timer(0.3, server.listen)
    wire.observe(Return())
    responses = wire.send_all([create_engagement({"name": "n"})] * 8)
    back.join()

    assert [exchange.status for exchange in responses] == [200] * 8
    assert wire.stopped is None


def test_a_target_that_breaks_one_operation_is_not_lost(make: Fixtures, clock: WoundClock) -> None:
    """Consecutive failures cause a probe, whose response lets the run go on."""

    async def behave(turn: Turn) -> None:
        if turn.method == "POST":
            turn.reset()
        else:
            await fine(turn)

    wire = make.wire(make.serve(behave), clock=clock)
    wire.send(get_organization())

    for _ in range(20):
        assert wire.send(create_engagement({"name": "n"})).received is None

    assert wire.stopped is None
    assert "connection" in {exchange.check for exchange in wire.exchanges}
