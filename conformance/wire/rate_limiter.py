"""Client-side rate limiter per key, driven by the X-RateLimit headers while they prove reliable."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from conformance.wire.rate_limit_headers import Quota, ServiceClock, leaves_requests, quota, retry_after

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from conformance.wire.clock import Clock
    from conformance.wire.exchange import Response

    Pause = Callable[[float], Awaitable[None]]

GRACE: Final = 0.1
"""Seconds between the end of a window and the next request, for differences of the clocks."""

_LONGEST_WINDOW: Final = 366 * 24 * 3600.0
_BACKOFF: Final = (1.0, 2.0, 4.0)
_PATIENT: Final = 2
"""Waits after a 429 that leaves requests of the window, before the wire waits for the window's end."""
_BELIEVED: Final = 2
"""Waits for a window whose Remaining suddenly fell to 0, before such a fall is ignored."""


@dataclass(eq=False, slots=True)
class KeyBudget:
    """State of one key's rate limit.

    Attributes:
        remaining: Requests that may still be sent, those in flight included; None for any number.
        under_way: Requests in flight.
        held_until: The time before which nothing is sent (monotonic).
        trusted: Whether Remaining has ever been above 0: a service that always sends 0 is ignored.
        doubted: Whether the next response must show that the wait has helped.
        sudden: How often Remaining has fallen to 0 by more than the requests sent.
        ignored: Whether the headers have proved useless.
        refusals: Consecutive requests that were given up because of 429.
        given_up: Requests of each operation that were given up because of 429 after all waits.
        ends_late: Whether the window is said to end later than the longest wait, and at a plausible time.
    """

    remaining: int | None = None
    under_way: int = 0
    held_until: float = 0.0
    trusted: bool = False
    doubted: bool = False
    sudden: int = 0
    ignored: bool = False
    refusals: int = 0
    given_up: Counter[str] = field(default_factory=Counter)
    ends_late: bool = False
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def has_room(self) -> bool:
        """Whether the service reported more remaining requests than are in flight."""
        return self.remaining is not None and self.remaining > self.under_way

    @property
    def full(self) -> bool:
        """Whether all remaining requests are in flight."""
        return self.remaining is not None and 0 < self.remaining <= self.under_way

    def ignore(self) -> None:
        """Ignore the headers from now on."""
        self.ignored, self.remaining = True, None

    async def changed(self) -> None:
        """Wait for the end of a request in flight."""
        await self._changed.wait()

    def wake(self) -> None:
        """Wake all waiting tasks."""
        self._changed.set()
        self._changed.clear()


class RateLimiter:
    """Limits the requests of each key.

    Args:
        clock: The run's clock.
        longest_wait: The longest wait for a window, in seconds; the wire does not wait for a later end.

    Attributes:
        service: The service's clock.
        renews_early: Whether windows were renewed long before the Reset that was named for their end.
    """

    def __init__(self, clock: Clock, longest_wait: float) -> None:
        self.service = ServiceClock()
        self.renews_early = False
        self._clock = clock
        self._longest = longest_wait
        self._budgets: dict[str | None, KeyBudget] = {}

    def budget(self, authorization: str | None) -> KeyBudget:
        """Return the budget of a key; requests without a key are not limited."""
        return KeyBudget() if authorization is None else self._budgets.setdefault(authorization, KeyBudget())

    async def enter(self, budget: KeyBudget, pause: Pause, *, at_once: bool = False) -> None:
        """Wait until a request may be sent, and count it as in flight.

        Args:
            budget: The key's budget.
            pause: Pauses for some seconds; may raise if the run has less time.
            at_once: Whether to count the request without waiting.
        """
        while not at_once:
            delay = budget.held_until - self._clock.monotonic()
            if delay > 0:
                await pause(delay)
            elif budget.full:
                await budget.changed()
            else:
                break
        budget.under_way += 1

    def leave(self, budget: KeyBudget, response: Response | None) -> None:
        """Count the end of a request and learn from its response."""
        budget.under_way -= 1
        if response is not None:
            self.service.learn(response, self._clock.now())
            if response.status != HTTPStatus.UNAUTHORIZED:
                self._learn(budget, response)
        budget.wake()

    def wait_after_429(self, response: Response, waits: int) -> float | None:
        """Return the seconds until a retry of a refused request; None if that is too long.

        Args:
            response: The 429.
            waits: The waits of this request so far.
        """
        shown = quota(response)
        until_reset = None if shown is None else self._until(shown)
        retry_seconds = retry_after(response, self.service.time(self._clock.now()))
        if leaves_requests(response) and waits < _PATIENT:
            # The window is not used up: the cause is concurrency, so its end does not matter.
            if retry_seconds is not None and 0 < retry_seconds <= self._longest:
                return retry_seconds + GRACE
            return _BACKOFF[waits]
        candidates = [wait for wait in (until_reset, retry_seconds) if wait is not None and wait > 0]
        # Reset is when service resumes; if it did not, Retry-After is right.
        candidates = candidates if waits == 0 else sorted(candidates, reverse=True)
        fitting = next((wait + GRACE for wait in candidates if wait <= self._longest), None)
        if not candidates or (fitting is None and not self._knows_ends):
            return _BACKOFF[min(waits, len(_BACKOFF) - 1)]
        return fitting

    def is_short(self, budget: KeyBudget, needed: int) -> bool:
        """Whether at most ``needed`` requests are left until the late end of a window."""
        return (
            budget.ends_late
            and self._knows_ends
            and budget.trusted
            and budget.remaining is not None
            and budget.remaining <= needed + budget.under_way
        )

    def hold(self, budget: KeyBudget, seconds: float) -> None:
        """Send nothing with a key for some seconds, and then one request as a probe."""
        budget.held_until = max(budget.held_until, self._clock.monotonic() + seconds)
        budget.remaining = 1

    def _learn(self, budget: KeyBudget, response: Response) -> None:
        if response.status != HTTPStatus.TOO_MANY_REQUESTS:
            budget.refusals = 0
        shown = quota(response)
        if shown is None or budget.ignored:
            budget.remaining = None
        elif self._clock.monotonic() >= budget.held_until:
            self._believe(budget, shown, served=response.status != HTTPStatus.TOO_MANY_REQUESTS)

    def _believe(self, budget: KeyBudget, shown: Quota, *, served: bool) -> None:
        useless = served and budget.doubted and shown.remaining == 0 and shown.limit > 1
        budget.ignored, budget.doubted = useless, False
        budget.trusted = budget.trusted or shown.remaining > 0
        is_sudden = shown.remaining == 0 and budget.remaining is not None and budget.remaining > budget.under_way + 1
        budget.sudden += is_sudden
        # A sudden 0 that repeats is ignored; if it is true, a 429 will follow.
        useless = useless or (is_sudden and budget.sudden > _BELIEVED)
        budget.remaining = shown.remaining or None
        until = self._until(shown)
        budget.ends_late = self._longest < until <= _LONGEST_WINDOW
        if shown.remaining == 0 and budget.trusted and not useless and 0 < until <= self._longest:
            self.hold(budget, until + GRACE)
            budget.doubted = True

    @property
    def _knows_ends(self) -> bool:
        """Whether a Reset shows when a window ends; without a Date the offset of the clocks is unknown."""
        return self.service.offset is not None and not self.renews_early

    def _until(self, shown: Quota) -> float:
        return shown.reset - self.service.time(self._clock.now())
