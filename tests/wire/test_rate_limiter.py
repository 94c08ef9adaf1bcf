"""Tests of the rate limiter with reliable and unreliable headers."""

from __future__ import annotations

import contextlib
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from email.utils import format_datetime
from itertools import chain, repeat
from typing import TYPE_CHECKING

import httpx
import pytest

from conformance.wire.exchange import NoResponse
from conformance.wire.requests import (
    Credential,
    create_engagement,
    get_organization,
    invite_member,
    list_members,
    update_engagement,
)
from conformance.wire.run_limits import RunStopped
from tests.fakes.wires import Fixtures, Scripted, WoundClock

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.wire.waits import Waiting


class Limited:
    """A service with a fair limit in fixed windows, whose clock may differ from ours."""

    def __init__(self, clock: WoundClock, limit: int = 10, window: int = 30, ahead: float = 0.0, late: int = 0) -> None:
        self.clock, self.limit, self.window, self.ahead, self.late = clock, limit, window, ahead, late
        self.used: dict[tuple[str, int], int] = {}
        self.refused = 0

    def __call__(self, request: httpx.Request) -> tuple[int, dict[str, str]]:
        """Serve a request, or refuse it."""
        now = self.clock.now() + timedelta(seconds=self.ahead)
        number = int(now.timestamp()) // self.window
        key = (request.headers.get("authorization", ""), number)
        self.used[key] = self.used.get(key, 0) + 1
        served = self.used[key] <= self.limit
        self.refused += not served
        headers = {
            "Date": format_datetime(now, usegmt=True),
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(max(0, self.limit - self.used[key])),
            "X-RateLimit-Reset": str((number + 1) * self.window + self.late),
        }
        return (200 if served else 429), headers


def headers(limit: object, remaining: object, reset: object, **more: str) -> dict[str, str]:
    """Make the three headers, and others."""
    given = {"X-RateLimit-Limit": limit, "X-RateLimit-Remaining": remaining, "X-RateLimit-Reset": reset}
    return {name: str(value) for name, value in given.items()} | {
        name.replace("_", "-"): value for name, value in more.items()
    }


@pytest.mark.parametrize("ahead", [0.0, 31_557_600.0, -86_400.4])
@pytest.mark.parametrize("workers", [1, 8])
def test_a_fair_limit_is_observed(ahead: float, workers: int, make: Fixtures, clock: WoundClock) -> None:
    """No request is refused and no window is unused, at any offset of the service's clock."""
    service = Limited(clock, ahead=ahead)
    wire = make.wire(transport=Scripted(service), clock=clock, workers=workers)

    exchanges = wire.send_all([get_organization()] * 35)

    assert [exchange.status for exchange in exchanges] == [200] * 35
    assert service.refused == 0
    assert clock.seconds < 4 * 30 + 5


def test_other_keys_do_not_wait(make: Fixtures, clock: WoundClock) -> None:
    """The limit of one key does not delay another."""
    service = Limited(clock, limit=3)
    wire = make.wire(transport=Scripted(service), clock=clock)
    wire.send_all([get_organization()] * 3)

    for number in range(5):
        wire.send(get_organization().with_key(Credential.bearer(f"key {number}", f"key-{number}")))

    assert clock.pauses == []


def test_a_refused_request_is_sent_again(make: Fixtures, clock: WoundClock) -> None:
    """A limit used up by another client is waited out, also for a creation; all attempts are recorded."""
    service = Limited(clock, limit=1)
    service.used[(f"Bearer {'sk_live_0123456789abcdef'}", int(clock.now().timestamp()) // 30)] = 1
    wire = make.wire(transport=Scripted(service), clock=clock)

    exchange = wire.send(create_engagement({"name": "n"}))

    assert exchange.status == 200
    assert [recorded.received.status for recorded in wire.exchanges if recorded.received] == [429, 200]
    assert 29 < clock.seconds < 32


WAITS: list[tuple[Callable[[float], dict[str, str]], float, float]] = [
    (lambda now: headers(9, 0, now + 20), 20, 21),
    (lambda now: headers(9, 0, now + 20.5, Retry_After="70"), 20.5, 21),
    (lambda _: {"Retry-After": "7"}, 7, 8),
    (lambda _: {"Retry-After": "Thu, 01 Jan 2026 00:00:09 GMT"}, 9, 10),
    (lambda now: headers(9, 0, now - 20), 1, 2),
    (lambda now: headers(9, 0, now * 1000, Retry_After="5"), 5, 6),
    (lambda _: headers("x", "y", "z"), 1, 2),
    (lambda _: {}, 1, 2),
    (lambda _: {"Retry-After": "soon"}, 1, 2),
    (lambda now: headers(9, 0, now + 200), 1, 2),  # a clock ahead of ours, without a Date
    (lambda now: headers(9, 0, now + 200, Retry_After="0"), 1, 2),
]


@pytest.mark.parametrize(("given", "least", "most"), WAITS)
def test_waits_follow_the_headers(
    given: Callable[[float], dict[str, str]], least: float, most: float, make: Fixtures, clock: WoundClock
) -> None:
    """A refused request waits for Reset, else for Retry-After, else a little."""
    script = iter([(429, given(clock.now().timestamp())), (200, {})])
    wire = make.wire(transport=Scripted(lambda _: next(script)), clock=clock)

    assert wire.send(get_organization()).status == 200
    assert least <= clock.seconds < most


def test_a_retry_after_beyond_the_reset_is_believed_in_the_end(make: Fixtures, clock: WoundClock) -> None:
    """If the service still refuses at its Reset, the retry waits for Retry-After."""
    began = clock.now().timestamp()

    def serve(_: object) -> tuple[int, dict[str, str]]:
        now = clock.now().timestamp()
        return (200, {}) if now - began >= 70 else (429, headers(9, 0, now + 2, Retry_After=str(int(71 - now + began))))

    wire = make.wire(transport=Scripted(serve), clock=clock)

    assert wire.send(get_organization()).status == 200
    assert wire.sent == 3


FOREVER: dict[str, Callable[[float], dict[str, str]]] = {
    "Reset years ahead": lambda now: headers(9, 0, now + 1e8),
    "Retry-After years ahead": lambda _: {"Retry-After": "99999999"},
    "Reset always a minute ahead": lambda now: headers(9, 0, now + 60),
    "no headers": lambda _: {},
}


@pytest.mark.parametrize("kind", FOREVER)
def test_429_for_everything_ends_the_run(kind: str, make: Fixtures, clock: WoundClock) -> None:
    """A service that always refuses ends the run soon, with few requests."""
    wire = make.wire(transport=Scripted(lambda _: (429, FOREVER[kind](clock.now().timestamp()))), clock=clock)

    exchange = wire.send(get_organization())
    with pytest.raises(NoResponse, match="the service returned only 429"):
        _ = exchange.response
    with pytest.raises(RunStopped, match="the service returned only 429"):
        wire.send(get_organization())

    assert clock.seconds < 7 * 90
    assert wire.sent <= 9


@pytest.mark.parametrize(("refusals", "ends"), [(9, False), (10, False), (99, True)])
def test_a_key_that_was_served_is_tried_again_before_the_run_ends(
    refusals: int, make: Fixtures, clock: WoundClock, *, ends: bool
) -> None:
    """Refusals due to concurrency do not last."""
    rest = iter([200, *[429] * refusals])

    def serve(_: object) -> tuple[int, dict[str, str]]:
        status = next(rest, 200)
        return status, headers(1000, 900 if status == 200 else 0, clock.now().timestamp() + 1)

    wire = make.wire(transport=Scripted(serve), clock=clock)
    assert wire.send(get_organization()).status == 200
    with pytest.raises(RunStopped, match="the service returned only 429") if ends else nullcontext():
        for _ in range(2):
            wire.send(get_organization())

    if not ends:
        assert wire.send(get_organization()).status == 200


def test_429_for_one_kind_of_request_does_not_end_the_run(make: Fixtures, clock: WoundClock) -> None:
    """A separate limit for invitations, of a day, does not stop other requests."""

    def serve(request: httpx.Request) -> tuple[int, dict[str, str]]:
        now = clock.now().timestamp()
        return (429, headers(3, 0, now + 86_400)) if request.method == "POST" else (200, headers(1000, 900, now + 60))

    wire = make.wire(transport=Scripted(serve), clock=clock)
    inviting = [invite_member({"email": f"{name}@example.com", "role": "member"}) for name in "abcdef"]

    refused = wire.send_all(inviting)

    assert {exchange.received.status for exchange in refused if exchange.received is not None} == {429}
    assert wire.send(get_organization()).status == 200


def test_429_that_no_waiting_ends_is_waited_for_twice(make: Fixtures, clock: WoundClock) -> None:
    """A 429 for some edits, without a used-up window, does not cost a minute each."""

    def serve(request: httpx.Request) -> tuple[int, dict[str, str]]:
        refused = request.method == "PATCH" and b"archived" in request.content
        return (429 if refused else 200), headers(1000, 900, clock.now().timestamp() + 60)

    wire = make.wire(transport=Scripted(serve), clock=clock)
    began = clock.monotonic()

    edits = [update_engagement("e", {"name": name}) for name in ("archived", "active") * 10]
    received = [wire.send(edit).received for edit in edits]

    assert [response and response.status for response in received] == [429, 200] * 10
    assert 120 < clock.monotonic() - began < 180


@pytest.mark.parametrize("limit", [1000, 0])
def test_lists_that_always_leave_nothing_are_waited_for_twice(limit: int, make: Fixtures, clock: WoundClock) -> None:
    """Other responses show remaining requests; headers with a limit of 0 are invalid."""

    def serve(request: httpx.Request) -> tuple[int, dict[str, str]]:
        shown = (limit, 0) if request.url.path.endswith("/members") else (1000, 900)
        return 200, headers(*shown, clock.now().timestamp() + 50)

    wire = make.wire(transport=Scripted(serve), clock=clock)
    began = clock.monotonic()

    for _ in range(10):
        wire.send(get_organization())
        wire.send(list_members())

    assert clock.monotonic() - began < (110 if limit else 1)


def test_429_for_another_key_does_not_end_the_run(make: Fixtures, clock: WoundClock) -> None:
    """A key that is always refused is not waited for again, and the main key goes on."""
    other = Credential.bearer("other", "other-key")
    wire = make.wire(
        transport=Scripted(lambda request: (429 if "other" in request.headers["authorization"] else 200, {})),
        clock=clock,
    )

    for _ in range(10):
        wire.send(get_organization().with_key(other))

    assert wire.sent <= 18
    assert wire.send(get_organization()).status == 200


def test_requests_that_expect_429_are_not_delayed(make: Fixtures, clock: WoundClock) -> None:
    """A request that exceeds a limit is sent at once, and the 429 is its response."""
    service = Limited(clock, limit=5)
    wire = make.wire(transport=Scripted(service), clock=clock)

    exchanges = wire.send_all([replace(get_organization(), expects_429=True)] * 8)

    assert sorted(exchange.status for exchange in exchanges) == [200] * 5 + [429] * 3
    assert clock.pauses == []


FAULTY: dict[str, Callable[[float, int], dict[str, str]]] = {
    "always 0": lambda now, _: headers(100, 0, now + 60),
    "0 after the first": lambda now, number: headers(100, 1 if number == 1 else 0, now + 5),
    "0 until a moment that is past": lambda now, number: headers(100, 1 if number == 1 else 0, now - 5),
    "0 until a moment in milliseconds": lambda now, number: headers(100, 1 if number == 1 else 0, now * 1000),
    "more than the limit": lambda now, _: headers(5, 50, now + 60),
    "negative": lambda now, _: headers(5, -1, now + 60),
    "words": lambda now, _: headers("many", "some", now),
    "a zero limit": lambda now, _: headers(0, 0, now + 60),
    "digits of another script": lambda now, _: headers(5, "0", now + 60) | {"X-RateLimit-Remaining": "00"},
}


@pytest.mark.parametrize("kind", FAULTY)
def test_faulty_headers_do_not_slow_a_run_down(kind: str, make: Fixtures, clock: WoundClock) -> None:
    """Useless headers cost at most one short wait."""
    transport = Scripted(lambda _: (200, FAULTY[kind](clock.now().timestamp(), len(transport.requests))))
    wire = make.wire(transport=transport, clock=clock)

    for _ in range(50):
        assert wire.send(get_organization()).status == 200

    assert clock.seconds <= 5.2


RESERVED = "the remaining requests of the key are reserved for undoing: its window resets too late"


@pytest.mark.parametrize(
    ("window", "changes", "sent"),
    [(3600, 5, 23), (3600, 1, 27), (3600, 0, 40), (30, 5, 60), (10**10, 5, 40)],
    ids=["far", "one change", "nothing to undo", "near", "beyond belief"],
)
def test_the_last_requests_before_a_late_reset_are_reserved_for_undoing(
    window: int, changes: int, sent: int, make: Fixtures, clock: WoundClock
) -> None:
    """If the window ends too late, the run ends while its changes can still be undone."""
    service = Limited(clock, limit=40, window=window)
    wire = make.wire(transport=Scripted(service), clock=clock, workers=1)
    wire.reserve_for(lambda: changes)

    for _ in range(60):
        with contextlib.suppress(RunStopped):
            wire.send(get_organization())

    assert sum(service.used.values()) - service.refused == sent
    if sent < 40:
        assert wire.stopped == RESERVED
        with wire.undoing():
            for _ in range(changes + 12):
                assert wire.send(get_organization()).status == 200


def test_a_short_window_with_a_late_reset_ends_no_run(make: Fixtures, clock: WoundClock) -> None:
    """If the quota is renewed long before the Reset, another clock has named it: the wire waits for no Reset then."""
    service = Limited(clock, limit=40, window=8, late=250)
    wire = make.wire(transport=Scripted(service), clock=clock, workers=1)
    wire.reserve_for(lambda: 5)

    assert [wire.send(get_organization()).status for _ in range(120)] == [200] * 120
    assert wire.stopped is None
    assert clock.seconds < 60


def test_a_concurrent_request_is_completed_if_the_rest_is_reserved(make: Fixtures, clock: WoundClock) -> None:
    """The first of two responses ends the run, and the other is still recorded."""
    wire = make.wire(transport=Scripted(Limited(clock, limit=40, window=3600)), clock=clock, workers=2)
    wire.reserve_for(lambda: 5)

    while wire.stopped is None:
        with contextlib.suppress(RunStopped):  # the first response may come before the second request has begun
            assert [exchange.status for exchange in wire.send_all([get_organization()] * 2)] == [200, 200]
    assert wire.stopped == RESERVED
    assert {exchange.status for exchange in wire.exchanges} == {200}


@pytest.mark.parametrize("undoing", [True, False])
def test_nothing_is_reserved_for_other_keys_or_during_undoing(
    make: Fixtures, clock: WoundClock, *, undoing: bool
) -> None:
    """The reserved requests are for undoing with the main key only."""
    service = Limited(clock, limit=40, window=3600)
    wire = make.wire(transport=Scripted(service), clock=clock, workers=1)
    wire.reserve_for(lambda: 5)
    read = get_organization()
    request = read if undoing else read.with_key(Credential.bearer("other", "another-key"))

    with wire.undoing() if undoing else contextlib.nullcontext():
        assert [wire.send(request).status for _ in range(40)] == [200] * 40
    assert wire.stopped is None


@pytest.mark.parametrize("undoing", [True, False])
def test_a_wait_for_the_limit_is_known(make: Fixtures, clock: WoundClock, *, undoing: bool) -> None:
    """The wire publishes what it waits for, and how long; undoing waits in the same way."""
    seen: list[Waiting | None] = []

    class Watched(WoundClock):
        async def pause(self, seconds: float) -> None:
            seen.append(wire.waiting)
            await super().pause(seconds)

    watched = Watched()
    wire = make.wire(transport=Scripted(Limited(watched, limit=3)), clock=watched, workers=1)

    with wire.undoing() if undoing else contextlib.nullcontext():
        assert [wire.send(get_organization()).status for _ in range(5)] == [200] * 5

    (waiting,) = seen
    assert waiting is not None
    assert waiting.what == "the rate limit"
    assert 25 < waiting.left <= 30.2
    assert wire.waiting is None


@pytest.mark.parametrize(("changes", "probes"), [(5, 5), (0, 0)])
@pytest.mark.parametrize("step", [0, 1])
def test_headers_that_never_fall_are_ignored(
    step: int, changes: int, probes: int, make: Fixtures, clock: WoundClock
) -> None:
    """Headers that count up, or never change, are ignored after a few requests."""
    reset = int(clock.now().timestamp()) + 7200
    script = Scripted(lambda _: (200, _dated(clock, headers(1000, 1 + step * len(script.requests), reset))))
    wire = make.wire(transport=script, clock=clock, workers=1)
    wire.reserve_for(lambda: changes)

    for _ in range(60):
        assert wire.send(get_organization()).status == 200

    assert wire.stopped is None
    assert len(script.requests) == 60 + probes


@pytest.mark.parametrize(
    ("lost", "stopped"),
    [({2}, False), ({2, 3, 4, 5}, False), ({2, 3, 4, 5, 6}, True)],
    ids=["one", "all but one", "all"],
)
@pytest.mark.parametrize("error", [502, httpx.ReadTimeout("late")])
def test_a_request_without_a_response_is_no_evidence(
    lost: set[int], error: int | Exception, make: Fixtures, clock: WoundClock, *, stopped: bool
) -> None:
    """Requests without a response are no evidence, unless all of them fail."""
    reset = int(clock.now().timestamp()) + 7200

    def response(_: httpx.Request) -> tuple[int, dict[str, str]] | Exception:
        if len(script.requests) not in lost:
            return 200, _dated(clock, headers(1000, 10, reset))
        return (error, {}) if isinstance(error, int) else error

    script = Scripted(response)
    wire = make.wire(transport=script, clock=clock, workers=1)
    wire.reserve_for(lambda: 5)

    assert wire.send(get_organization()).status == 200

    assert wire.stopped == (RESERVED if stopped else None)
    assert len(script.requests) == 6 + stopped
    assert {exchange.attempt for exchange in wire.exchanges} == {1}


@pytest.mark.parametrize(
    ("then", "sent"),
    [([10, 10, 10, 10, 9], 7), ([9], 3), ([None], 3)],
    ids=["lazily", "at once", "nothing"],
)
def test_a_count_that_falls_within_five_requests_is_observed(
    then: list[int | None], sent: int, make: Fixtures, clock: WoundClock
) -> None:
    """This includes headers that are rarely updated, or missing in the next response."""
    reset = int(clock.now().timestamp()) + 7200
    shown = chain([10, *then], repeat(then[-1]))

    def response(_: httpx.Request) -> tuple[int, dict[str, str]]:
        remaining = next(shown)
        return 200, _dated(clock, {} if remaining is None else headers(1000, remaining, reset))

    script = Scripted(response)
    wire = make.wire(transport=script, clock=clock, workers=1)
    wire.reserve_for(lambda: 5)

    assert wire.send(get_organization()).status == 200

    assert wire.stopped == RESERVED
    assert len(script.requests) == sent


def _dated(clock: WoundClock, shown: dict[str, str]) -> dict[str, str]:
    return {**shown, "Date": format_datetime(clock.now(), usegmt=True)}


def test_refused_keys_are_not_paced(make: Fixtures, clock: WoundClock) -> None:
    """The rate-limit headers of a 401 delay no request."""
    script = Scripted(lambda _: (401, headers(9, 1 if len(script.requests) == 1 else 0, clock.now().timestamp() + 60)))
    wire = make.wire(transport=script, clock=clock)

    for credential in [Credential("none", None), Credential.bearer("unknown", "x")] * 5:
        wire.send(get_organization().with_key(credential))

    assert clock.pauses == []


def test_the_service_clock_is_known(make: Fixtures, clock: WoundClock) -> None:
    """The Date of the responses shows the offset of the service's clock."""
    wire = make.wire(transport=Scripted(Limited(clock, ahead=3600)), clock=clock)
    assert wire.service_clock is None

    wire.send(get_organization())

    assert wire.service_clock == 3600


@pytest.mark.parametrize("date", ["", "yesterday", "Thu, 99 Jan 2026 00:00:00 GMT", "Thu, 01 Jan 99999 00:00:00 GMT"])
def test_odd_dates_tell_nothing(date: str, make: Fixtures, clock: WoundClock) -> None:
    """An invalid Date is ignored."""
    wire = make.wire(transport=Scripted(lambda _: (200, {"Date": date})), clock=clock)

    wire.send(get_organization())

    assert wire.service_clock is None
