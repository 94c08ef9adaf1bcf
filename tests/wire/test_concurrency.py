"""Tests of the concurrency limit, which is lowered if that prevents refusals."""

from __future__ import annotations

import asyncio

import pytest

from conformance.wire.concurrency import ConcurrencyLimiter
from conformance.wire.exchange import Response

SERVED = Response(status=200, headers=(), body=b"")
REFUSED = Response(status=503, headers=(), body=b"")


def learn(width: ConcurrencyLimiter, *responses: Response | None, beside_others: bool = True) -> int:
    """Return the limit after these responses."""
    for response in responses:
        width.learn(response, beside_others=beside_others)
    return width.now


@pytest.mark.parametrize("status", [200, 404, 429, 500, 502, 504])
def test_other_responses_narrow_nothing(status: int) -> None:
    """Only a 503 lowers the limit by itself."""
    assert learn(ConcurrencyLimiter(8), *[Response(status=status, headers=(), body=b"")] * 50, *[None] * 50) == 8


@pytest.mark.parametrize(("beside_others", "had_room", "now"), [(True, True, 4), (True, False, 8), (False, True, 8)])
def test_a_429_narrows_it_where_the_key_had_room(*, beside_others: bool, had_room: bool, now: int) -> None:
    """A 429 counts only if the key had quota left."""
    width = ConcurrencyLimiter(8)
    for _ in range(3):
        assert width.now == 8
        width.learn(Response(status=429, headers=(), body=b""), beside_others=beside_others, had_room=had_room)

    assert width.now == now


@pytest.mark.parametrize(("status", "remaining", "now"), [(429, 9, 4), (429, 0, 8), (200, 9, 8)])
def test_429_within_a_window_narrows_it(status: int, remaining: int, now: int) -> None:
    """A 429 with remaining requests lowers the limit."""
    headers = (("X-RateLimit-Limit", "10"), ("X-RateLimit-Remaining", str(remaining)), ("X-RateLimit-Reset", "1"))

    assert learn(ConcurrencyLimiter(8), *[Response(status, headers, b"")] * 4) == now


def test_each_few_refusals_halve_it() -> None:
    """The limit is halved, down to one, and earlier refusals no longer count."""
    width = ConcurrencyLimiter(8)

    assert learn(width, *[REFUSED] * 5) == 8
    assert [learn(width, REFUSED, *[REFUSED] * 5) for _ in range(4)] == [4, 2, 1, 1]


def test_refusals_now_and_then_narrow_nothing() -> None:
    """A few refusals do not lower the limit."""
    within = Response(
        429, (("X-RateLimit-Limit", "9"), ("X-RateLimit-Remaining", "5"), ("X-RateLimit-Reset", "1")), b""
    )

    assert learn(ConcurrencyLimiter(8), *[REFUSED, SERVED, SERVED, SERVED] * 50) == 8
    assert learn(ConcurrencyLimiter(8), *[within, *[SERVED] * 20] * 5) == 8


def test_half_of_an_odd_number_is_a_number() -> None:
    """Old results are dropped."""
    assert repr(learn(ConcurrencyLimiter(5), *[REFUSED] * 6)) == "2"


@pytest.mark.parametrize(("served", "now"), [(10, 4), (11, 8)])
def test_only_the_latest_refusals_narrow_it(served: int, now: int) -> None:
    """Six refusals of sixteen requests."""
    assert learn(ConcurrencyLimiter(8), *[REFUSED] * 5, *[SERVED] * served, REFUSED) == now


@pytest.mark.parametrize(("served", "now"), [(4, 2), (5, 1)])
def test_only_the_latest_refusals_alone_say_that_it_is_not_for_the_others(served: int, now: int) -> None:
    """Four refusals of eight requests."""
    width = ConcurrencyLimiter(2)
    learn(width, *[REFUSED] * 6)

    assert learn(width, *[REFUSED] * 3, *[SERVED] * served, REFUSED, beside_others=False) == now


def test_refusals_alone_say_nothing_before_all_go_alone() -> None:
    """Refusals of single requests at the full limit do not count."""
    width = ConcurrencyLimiter(2)

    assert learn(width, *[REFUSED] * 50, beside_others=False) == 2
    assert learn(width, *[REFUSED] * 6) == 1
    assert learn(width, *[REFUSED] * 3, beside_others=False) == 1


def test_refusals_of_what_goes_alone_are_not_for_the_others() -> None:
    """The full limit holds again, for good."""
    width = ConcurrencyLimiter(4)
    assert learn(width, *[REFUSED] * 12) == 1

    assert learn(width, *[REFUSED] * 3, beside_others=False) == 1
    assert learn(width, REFUSED, beside_others=False) == 4
    assert learn(width, *[REFUSED] * 50) == 4


def test_single_refusals_of_what_goes_alone_change_nothing() -> None:
    """Rare failures of single requests do not restore the limit."""
    width = ConcurrencyLimiter(4)
    learn(width, *[REFUSED] * 12)

    assert learn(width, *[REFUSED, SERVED, SERVED] * 20, beside_others=False) == 1


def test_one_worker_stays_one() -> None:
    """Then requests are sent one at a time."""
    assert learn(ConcurrencyLimiter(1), *[REFUSED] * 50, beside_others=False) == 1


@pytest.mark.parametrize(("refusals", "most"), [(0, 8), (6, 4), (12, 2), (18, 1)])
def test_no_more_go_through_than_it_says(refusals: int, most: int) -> None:
    """Each request gets whether others are in flight."""
    width = ConcurrencyLimiter(8)
    learn(width, *[REFUSED] * refusals)
    beside: list[bool] = []
    under_way = highest = 0

    async def send_one() -> None:
        nonlocal under_way, highest
        async with width.slot() as beside_others:
            beside.append(beside_others)
            under_way += 1
            highest = max(highest, under_way)
            await asyncio.sleep(0)
            under_way -= 1

    async def all_of_them() -> None:
        await asyncio.gather(*(send_one() for _ in range(20)))

    asyncio.run(all_of_them())

    assert (highest, len(beside)) == (most, 20)
    assert beside[0] is False
    assert any(beside) is (most > 1)


def test_a_lower_limit_applies_to_waiting_requests() -> None:
    """A lower limit applies to all waiting requests."""
    width = ConcurrencyLimiter(8)
    under_way: list[int] = []
    now = 0

    async def send_one() -> None:
        nonlocal now
        async with width.slot():
            now += 1
            under_way.append(now)
            await asyncio.sleep(0)
            now -= 1
            width.learn(REFUSED if len(under_way) < 20 else SERVED, beside_others=True)

    async def all_of_them() -> None:
        await asyncio.gather(*(send_one() for _ in range(60)))

    asyncio.run(all_of_them())

    assert width.now < 8
    assert max(under_way[-20:]) <= width.now
