"""Tests of the budget of one key."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from email.utils import format_datetime
from typing import Any

import pytest

from conformance.wire.exchange import Response
from conformance.wire.rate_limiter import GRACE, KeyBudget, RateLimiter
from tests.fakes.wires import WoundClock

LONGEST = 60.0


def limited(
    clock: WoundClock, remaining: int, until: float, *, status: int = 200, limit: int = 10, **more: str
) -> Response:
    """Return a response with these rate-limit headers."""
    headers = {
        "X-RateLimit-Limit": str(limit),
        "X-RateLimit-Remaining": str(remaining),
        "X-RateLimit-Reset": str(clock.now().timestamp() + until),
        **{name.replace("_", "-"): value for name, value in more.items()},
    }
    return Response(status, tuple(headers.items()), b"{}")


def date(clock: WoundClock) -> str:
    """Return the present time as a Date."""
    return format_datetime(clock.now(), usegmt=True)


@pytest.fixture
def rate_limiter(clock: WoundClock) -> RateLimiter:
    """A rate limiter that waits for a minute at most."""
    return RateLimiter(clock, LONGEST)


def after(rate_limiter: RateLimiter, budget: KeyBudget, *responses: Response | None) -> KeyBudget:
    """Return the budget after these responses."""
    for response in responses:
        run(rate_limiter.enter(budget, _never, at_once=True))
        rate_limiter.leave(budget, response)
    return budget


async def _never(seconds: float) -> None:
    pytest.fail(f"nothing may wait here, and certainly not {seconds} s")


def run(work: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine to its end."""
    return asyncio.run(work)


def test_a_key_has_one_budget(rate_limiter: RateLimiter) -> None:
    """Each key has its own budget; requests without a key have none."""
    assert rate_limiter.budget("Bearer a") is rate_limiter.budget("Bearer a")
    assert rate_limiter.budget("Bearer a") is not rate_limiter.budget("Bearer b")
    assert rate_limiter.budget(None) is not rate_limiter.budget(None)


def test_the_last_response_sets_the_budget(rate_limiter: RateLimiter, clock: WoundClock) -> None:
    """The last response sets the budget; without valid headers it is unlimited."""
    budget = rate_limiter.budget("a")
    assert budget.remaining is None

    assert after(rate_limiter, budget, limited(clock, 3, 30)).remaining == 3
    assert after(rate_limiter, budget, None).remaining == 3
    assert after(rate_limiter, budget, Response(200, (), b"")).remaining is None
    assert budget.under_way == 0


@pytest.mark.parametrize("status", [200, 402, 403, 404, 500])
def test_every_response_but_a_401_counts(rate_limiter: RateLimiter, clock: WoundClock, status: int) -> None:
    """A 401 says nothing about the limit; any other response does."""
    budget = after(rate_limiter, rate_limiter.budget("a"), limited(clock, 5, 30))

    assert after(rate_limiter, budget, limited(clock, 2, 30, status=401)).remaining == 5
    assert after(rate_limiter, budget, limited(clock, 2, 30, status=status)).remaining == 2


@pytest.mark.parametrize(
    ("until", "held"), [(30.0, 30.0 + GRACE), (LONGEST, LONGEST + GRACE), (LONGEST + 1, 0.0), (0.0, 0.0), (-5.0, 0.0)]
)
def test_a_window_that_is_used_up_is_waited_for(
    rate_limiter: RateLimiter, clock: WoundClock, until: float, held: float
) -> None:
    """The key is held until Reset, unless that is past or too late; then one request probes."""
    budget = after(rate_limiter, rate_limiter.budget("a"), limited(clock, 1, 30), limited(clock, 0, until))

    assert budget.held_until == pytest.approx(clock.monotonic() + held if held else 0.0)
    assert budget.remaining == (1 if held else None)
    assert budget.doubted is bool(held)


def test_a_service_that_always_sends_0_is_not_trusted(rate_limiter: RateLimiter, clock: WoundClock) -> None:
    """A service that always sends 0 delays no request."""
    budget = after(rate_limiter, rate_limiter.budget("a"), limited(clock, 0, 30), limited(clock, 0, 30))

    assert (budget.held_until, budget.remaining) == (0.0, None)
    assert after(rate_limiter, budget, limited(clock, 5, 30)).remaining == 5


@pytest.mark.parametrize(
    ("limit", "status", "ignored"), [(10, 200, True), (2, 200, True), (1, 200, False), (10, 429, False)]
)
def test_a_0_after_a_wait_makes_the_headers_useless(
    rate_limiter: RateLimiter, clock: WoundClock, limit: int, status: int, *, ignored: bool
) -> None:
    """A limit of 1 always leaves 0, and a 429 is believed."""
    budget = after(
        rate_limiter, rate_limiter.budget("a"), limited(clock, 1, 30, limit=limit), limited(clock, 0, 30, limit=limit)
    )
    clock.sleep(31)
    after(rate_limiter, budget, limited(clock, 0, 30, limit=limit, status=status))

    assert budget.ignored is ignored
    assert (budget.held_until > clock.monotonic()) is not ignored
    if ignored:
        assert after(rate_limiter, budget, limited(clock, 3, 30)).remaining is None


def test_a_wait_that_helped_is_trusted_again(rate_limiter: RateLimiter, clock: WoundClock) -> None:
    """The next window counts like the first."""
    budget = after(rate_limiter, rate_limiter.budget("a"), limited(clock, 1, 30), limited(clock, 0, 30))
    clock.sleep(31)
    assert after(rate_limiter, budget, limited(clock, 9, 30)).remaining == 9
    assert budget.doubted is False

    after(rate_limiter, budget, limited(clock, 0, 20))
    assert budget.held_until == pytest.approx(clock.monotonic() + 20 + GRACE)
    assert budget.ignored is False


def test_late_responses_of_a_window_that_is_over_change_nothing(rate_limiter: RateLimiter, clock: WoundClock) -> None:
    """Responses in flight do not end a hold."""
    budget = after(rate_limiter, rate_limiter.budget("a"), limited(clock, 1, 30), limited(clock, 0, 30))
    held = budget.held_until

    after(rate_limiter, budget, limited(clock, 7, 30), limited(clock, 0, 50))

    assert (budget.held_until, budget.remaining) == (held, 1)


def test_a_key_is_held_for_the_longest_wait(rate_limiter: RateLimiter, clock: WoundClock) -> None:
    """A shorter wait does not end a longer one."""
    budget = rate_limiter.budget("a")
    rate_limiter.hold(budget, 20)
    rate_limiter.hold(budget, 5)

    assert budget.held_until == clock.monotonic() + 20
    assert budget.remaining == 1


def test_refusals_in_a_row_end_with_a_response(rate_limiter: RateLimiter, clock: WoundClock) -> None:
    """Any response but a 429 shows that the key is accepted."""
    budget = rate_limiter.budget("a")
    budget.refusals = 2

    assert after(rate_limiter, budget, limited(clock, 0, 5, status=429)).refusals == 2
    assert after(rate_limiter, budget, limited(clock, 5, 5)).refusals == 0


def test_a_held_key_waits_to_the_end(rate_limiter: RateLimiter, clock: WoundClock) -> None:
    """Requests wait exactly until the hold ends."""
    budget, waited = rate_limiter.budget("a"), []
    rate_limiter.hold(budget, 20)

    async def pause(seconds: float) -> None:
        waited.append(seconds)
        clock.sleep(seconds / 2 if len(waited) == 1 else seconds)

    run(rate_limiter.enter(budget, pause))

    assert waited == [20, 10]
    assert budget.under_way == 1


def test_a_request_that_may_not_wait_is_counted(rate_limiter: RateLimiter) -> None:
    """A request that tests the limit is sent at once."""
    budget = rate_limiter.budget("a")
    rate_limiter.hold(budget, 20)

    run(rate_limiter.enter(budget, _never, at_once=True))

    assert budget.under_way == 1


def test_no_more_are_under_way_than_are_left(rate_limiter: RateLimiter, clock: WoundClock) -> None:
    """A response with more quota wakes all waiting requests."""

    async def story() -> list[int]:
        budget = rate_limiter.budget("a")
        entered: list[int] = []
        budget.remaining = 2
        full = []
        for _ in range(2):
            await rate_limiter.enter(budget, _never)
            full.append(budget.full)
        assert full == [False, True]

        async def another(number: int) -> None:
            await rate_limiter.enter(budget, _never)
            entered.append(number)

        tasks = [asyncio.create_task(another(number)) for number in range(3)]
        await asyncio.sleep(0)
        assert entered == []
        tasks.pop().cancel()
        await asyncio.sleep(0)
        rate_limiter.leave(budget, limited(clock, 2, 30))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert entered == [0]
        rate_limiter.leave(budget, limited(clock, 9, 30))
        await asyncio.gather(*tasks)
        return entered

    assert run(asyncio.wait_for(story(), 20)) == [0, 1]


@pytest.mark.parametrize(
    ("reset", "requested", "waits", "wait"),
    [
        (20.0, None, 0, 20.0 + GRACE),
        (20.0, "50", 0, 20.0 + GRACE),
        (20.0, "50", 1, 50.0 + GRACE),
        (50.0, "20", 1, 50.0 + GRACE),
        (50.0, "20", 0, 50.0 + GRACE),
        (70.0, "20", 0, 20.0 + GRACE),
        (20.0, "70", 1, 20.0 + GRACE),
        (LONGEST, None, 0, LONGEST + GRACE),
        (70.0, None, 0, None),
        (70.0, "80", 0, None),
        (1.0, None, 0, 1.0 + GRACE),
        (-5.0, "20", 0, 20.0 + GRACE),
        (-5.0, None, 0, 1.0),
        (0.0, None, 0, 1.0),
        (-5.0, "0", 0, 1.0),
        (-5.0, None, 1, 2.0),
        (-5.0, None, 2, 4.0),
        (-5.0, None, 3, 4.0),
    ],
)
def test_a_refused_request_waits_for_reset_and_retry_after(
    rate_limiter: RateLimiter, clock: WoundClock, reset: float, requested: str | None, waits: int, wait: float | None
) -> None:
    """It waits for Reset, then for Retry-After; without them for growing times."""
    more: dict[str, Any] = {} if requested is None else {"Retry_After": requested}
    rate_limiter.service.learn(limited(clock, 0, reset, Date=date(clock)), clock.now())

    found = rate_limiter.wait_after_429(limited(clock, 0, reset, status=429, **more), waits)

    assert found == (None if wait is None else pytest.approx(wait))


@pytest.mark.parametrize(
    ("requested", "waits", "wait"),
    [
        (None, 0, 1.0),
        (None, 1, 2.0),
        (None, 2, 50.0 + GRACE),
        ("1", 0, 1.0 + GRACE),
        ("3", 0, 3.0 + GRACE),
        ("60", 1, 60.0 + GRACE),
        ("0", 0, 1.0),
        ("61", 1, 2.0),
        ("3", 2, 50.0 + GRACE),
    ],
)
def test_a_window_that_is_not_used_up_is_not_waited_for(
    rate_limiter: RateLimiter, clock: WoundClock, requested: str | None, waits: int, wait: float
) -> None:
    """A 429 that leaves requests is retried twice with short waits."""
    more: dict[str, Any] = {} if requested is None else {"Retry_After": requested}
    rate_limiter.service.learn(limited(clock, 5, 50, Date=date(clock)), clock.now())

    assert rate_limiter.wait_after_429(limited(clock, 5, 50, status=429, **more), waits) == pytest.approx(wait)


def test_without_a_date_a_far_reset_may_be_near(rate_limiter: RateLimiter, clock: WoundClock) -> None:
    """Without a Date the clocks' offset is unknown, so the wait is short."""
    assert rate_limiter.wait_after_429(limited(clock, 0, 70, status=429), 0) == 1.0
    assert rate_limiter.wait_after_429(limited(clock, 0, 70, status=429), 1) == 2.0
    assert rate_limiter.wait_after_429(limited(clock, 0, 20, status=429), 0) == pytest.approx(20 + GRACE)


def test_a_reset_is_by_the_clock_of_the_service(rate_limiter: RateLimiter, clock: WoundClock) -> None:
    """The offset of the service's clock is taken into account."""
    ahead = WoundClock()
    ahead.sleep(3600)
    budget = after(
        rate_limiter,
        rate_limiter.budget("a"),
        limited(ahead, 1, 30, Date=date(ahead)),
        limited(ahead, 0, 30, Date=date(ahead)),
    )

    assert budget.held_until == pytest.approx(clock.monotonic() + 30 + GRACE)


@pytest.mark.parametrize(("left", "held"), [(2, [True, True, False]), (1, [True, True, True])])
def test_a_sudden_end_is_believed_twice(
    rate_limiter: RateLimiter, clock: WoundClock, left: int, held: list[bool]
) -> None:
    """A sudden 0 is believed twice; an expected 0 always."""
    budget, waited = rate_limiter.budget("a"), []
    for _ in held:
        after(rate_limiter, budget, limited(clock, left, 30), limited(clock, 0, 30))
        waited.append(budget.held_until > clock.monotonic())
        clock.sleep(31)

    assert waited == held


@pytest.mark.parametrize(("needed", "short"), [(2, False), (3, True), (4, True)])
def test_few_are_left_with_those_under_way(
    rate_limiter: RateLimiter, clock: WoundClock, needed: int, *, short: bool
) -> None:
    """Requests in flight count as sent."""
    budget = after(rate_limiter, rate_limiter.budget("a"), limited(clock, 5, 3600, Date=date(clock)))
    for _ in range(2):
        run(rate_limiter.enter(budget, _never, at_once=True))

    assert rate_limiter.is_short(budget, needed) is short
