"""Tests of a main key that expires during a run."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import httpx
import pytest

from conformance.wire.client import Wire
from conformance.wire.exchange import Exchange
from conformance.wire.main_key import rests_on_ended_key
from conformance.wire.requests import (
    Credential,
    Request,
    create_engagement,
    delete_engagement,
    get_engagement,
    get_organization,
    unarchive_engagement,
)
from conformance.wire.run_limits import RunStopped
from tests.fakes.exchanges import make_exchange
from tests.fakes.wires import KEY, Fixtures, Scripted, WoundClock

MINE, READ = create_engagement({"name": "n"}), get_engagement("e")
SCOPED = Credential.bearer("engagements:read", "another-key")
ENDED = r"^the main key was refused from request {} on \(request {}, before it, was {} of run\)$"
QUESTIONS = ["/api/v1/organizations/current", "/api/v1/organizations/current/members", "/api/v1/engagements"]


def ending(after: int, status: int = 401, *, everybody: bool = False) -> Scripted:
    """A service that refuses the main key, or every key, after so many requests."""

    def response(request: httpx.Request) -> tuple[int, dict[str, str]]:
        refused = everybody or request.headers["Authorization"] == f"Bearer {KEY}"
        return (status if refused and len(transport.requests) > after else 200), {}

    transport = Scripted(response)
    return transport


def refusing(refused: Callable[[httpx.Request], bool], status: int = 403) -> Scripted:
    """A service that refuses some requests."""
    return Scripted(lambda request: (status if refused(request) else 200, {}))


def probes(wire: Wire) -> list[str]:
    """Return the requests of the wire itself."""
    return [exchange.request.path for exchange in wire.exchanges if exchange.check == "connection"]


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_refused_for_everything_ends_the_run(make: Fixtures, clock: WoundClock, status: int) -> None:
    """The reason names the first refused request and the one before; the refusals are recorded without a response."""
    wire = make.wire(transport=ending(2, status), clock=clock)
    wire.send(READ)
    wire.send(MINE)

    with pytest.raises(RunStopped, match=ENDED.format(3, 2, "createEngagement")) as stopped:
        wire.send(READ)

    assert probes(wire) == QUESTIONS
    assert [exchange.received for exchange in wire.exchanges[2:]] == [None] * 4
    assert [f"refused with {status}" in (exchange.error or "") for exchange in wire.exchanges[2:]] == [True] * 4
    assert stopped.value.exchanges == (wire.exchanges[2],)
    with pytest.raises(RunStopped, match="the main key was refused from request 3 on"):
        wire.send(READ)
    assert wire.sent == 6


def test_a_refused_operation_is_probed_once(make: Fixtures, clock: WoundClock) -> None:
    """A lasting refusal of one operation is its response, and costs one request."""
    wire = make.wire(transport=refusing(lambda request: request.url.path.endswith("/unarchive")), clock=clock)
    wire.send(READ)

    assert [wire.send(unarchive_engagement("e")).status for _ in range(3)] == [403] * 3

    assert probes(wire) == QUESTIONS[:1]
    assert wire.stopped is None


def test_another_operation_is_probed_too(make: Fixtures, clock: WoundClock) -> None:
    """The run goes on until the key is refused for all operations."""
    wire = make.wire(transport=refusing(lambda request: request.method != "GET"), clock=clock)
    wire.send(READ)

    assert [wire.send(request).status for request in (MINE, delete_engagement("e"), MINE)] == [403] * 3
    assert probes(wire) == QUESTIONS[:1] * 2


@pytest.mark.parametrize("served", [2, 3])
def test_one_served_question_is_enough(make: Fixtures, clock: WoundClock, served: int) -> None:
    """The key may lack permissions, so some refused probes are no evidence."""
    wire = make.wire(
        transport=refusing(lambda request: request.url.path in QUESTIONS[: served - 1] or request.method == "POST"),
        clock=clock,
    )
    wire.send(READ)

    assert wire.send(MINE).status == 403

    assert probes(wire) == QUESTIONS[:served]
    assert [exchange.judgeable for exchange in wire.exchanges] == [True, True, *[False] * (served - 1), True]


def test_a_hiccup_is_the_service_s(make: Fixtures, clock: WoundClock) -> None:
    """Probes have pauses, and a key that is accepted again is judged."""
    wire = make.wire(transport=Scripted(lambda _: (401 if 0 < clock.seconds < 0.5 else 200, {})), clock=clock)
    wire.send(READ)
    clock.sleep(0.1)

    assert wire.send(READ).status == 401
    assert clock.pauses == [0.0, 0.2, 0.5]


def test_a_key_that_was_never_served_is_judged(make: Fixtures, clock: WoundClock) -> None:
    """The run must first find out whether it is valid."""
    wire = make.wire(transport=ending(0), clock=clock)

    assert [wire.send(READ).status for _ in range(3)] == [401] * 3
    assert probes(wire) == []


def test_other_keys_are_not_probed(make: Fixtures, clock: WoundClock) -> None:
    """Other keys are often refused."""
    wire = make.wire(transport=refusing(lambda request: "another" in request.headers["Authorization"]), clock=clock)
    wire.send(READ)

    assert wire.send(READ.with_key(SCOPED)).status == 403
    assert probes(wire) == []


def test_refusals_of_other_keys_count_for_nothing_after_the_end(make: Fixtures, clock: WoundClock) -> None:
    """Other keys may have ended for the same reason."""

    class Late(Scripted):
        """A service that delays the other key until the main key has ended."""

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            while "another" in request.headers["Authorization"] and wire.stopped is None:  # noqa: ASYNC110 - there is no event
                await asyncio.sleep(0.001)
            return await super().handle_async_request(request)

    wire = make.wire(transport=Late(lambda _: (401 if wire.sent > 1 else 200, {})), clock=clock)
    wire.send(READ)

    with pytest.raises(RunStopped):
        wire.send_all([READ.with_key(SCOPED), READ])

    assert [exchange.received for exchange in wire.exchanges[1:]] == [None] * 5


def test_requests_in_flight_share_one_probe(make: Fixtures, clock: WoundClock) -> None:
    """All refusals wait for the same probes, and successes meanwhile stay."""
    requests = [get_engagement(str(number)) for number in range(8)]

    class AllAtOnce(Scripted):
        """A service that responds once all requests are in flight."""

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            while "/engagements/" in request.url.path and wire.sent < 3 + len(requests):  # noqa: ASYNC110 - there is no event
                await asyncio.sleep(0.001)
            return await super().handle_async_request(request)

    wire = make.wire(
        transport=AllAtOnce(
            lambda request: (401 if len(wire.exchanges) > 2 and not request.url.path.endswith("/7") else 200, {})
        ),
        clock=clock,
        workers=8,
    )
    for _ in range(3):
        wire.send(get_organization())

    with pytest.raises(RunStopped, match="from request 4 on"):
        wire.send_all(requests)

    assert probes(wire) == QUESTIONS
    judgeable = [exchange.request.identifier for exchange in wire.exchanges[3:] if exchange.judgeable]
    assert judgeable == ["7"]


def test_undoing_sees_the_refusals(make: Fixtures, clock: WoundClock) -> None:
    """Undoing reports what it could not undo, and the run has ended early."""
    wire = make.wire(transport=ending(1), clock=clock)
    wire.send(READ)

    with wire.undoing():
        assert [wire.send(delete_engagement(name)).status for name in "ab"] == [401, 401]

    assert probes(wire) == QUESTIONS
    assert str(wire.stopped).startswith("the main key was refused from request 2 on")


def test_a_budget_that_leaves_no_question_leaves_the_refusal_unjudged(make: Fixtures, clock: WoundClock) -> None:
    """The key may have ended, but no probe may be sent."""
    wire = make.wire(transport=ending(1), clock=clock, max_requests=2)
    wire.send(READ)

    with pytest.raises(RunStopped, match="the budget of 2 requests is used up"):
        wire.send(READ)

    assert [exchange.judgeable for exchange in wire.exchanges] == [True, False]
    assert "refused with 401" in str(wire.exchanges[-1].error)


def test_a_run_that_is_stopped_amid_the_questions_keeps_its_record(make: Fixtures) -> None:
    """The budget counts the refusal."""
    pausing = threading.Event()

    class Held(WoundClock):
        """A long pause never ends."""

        async def pause(self, seconds: float) -> None:
            if seconds > 0:
                pausing.set()
                await asyncio.Event().wait()

    wire = make.wire(transport=ending(1), clock=Held())
    wire.send(READ)

    def stop() -> None:
        pausing.wait(20)
        wire.stop("interrupted")

    stopper = threading.Thread(target=stop)
    stopper.start()

    with pytest.raises(RunStopped, match="interrupted"):
        wire.send(READ)
    stopper.join()

    assert [exchange.number for exchange in wire.exchanges] == [1, 2, 3]
    assert wire.exchanges[1].received is None


def test_questions_without_a_response_show_no_good_key(make: Fixtures, clock: WoundClock) -> None:
    """A refusal that may be due to the key is not judged."""
    transport = Scripted(lambda _: {1: (200, {}), 2: (401, {})}.get(len(transport.requests), httpx.ReadError("broken")))
    wire = make.wire(transport=transport, clock=clock)
    wire.send(READ)

    with pytest.raises(RunStopped, match="the main key was refused from request 2 on"):
        wire.send(READ)


def exchange(number: int, status: int, request: Request = READ) -> Exchange:
    """Return an exchange of a run."""
    return make_exchange(request, status, {"data": {}}, number=number)


@pytest.mark.parametrize(
    ("stopped", "later", "rests"),
    [
        (None, [], False),
        ("the target was lost and did not come back", [], False),
        ("the main key was refused from request 9 on", [], True),
        ("the main key was refused from request 9 on", [exchange(4, 200)], True),
        ("the main key was refused from request 9 on", [exchange(6, 200, READ.with_key(SCOPED))], True),
        ("the main key was refused from request 9 on", [exchange(6, 404)], True),
        ("the main key was refused from request 9 on", [exchange(6, 200)], False),
    ],
)
def test_refusals_after_the_end_of_the_main_key_do_not_count(
    stopped: str | None, later: list[Exchange], *, rests: bool
) -> None:
    """Refusals of other keys count only before the last success of an ended main key."""
    refusals = [exchange(3, 403, READ.with_key(SCOPED)), exchange(5, 401, READ.with_key(SCOPED))]

    assert rests_on_ended_key(refusals, [*refusals, *later], stopped) is rests
