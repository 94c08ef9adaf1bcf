"""Each key is sent no more than its rate limit allows, as far as the service tells truly."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from conformance.wire.rate_limit_headers import Quota, ServiceClock, leaves_requests, quota, retry_after

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from conformance.wire.clock import Clock
    from conformance.wire.exchange import Response

    Pause = Callable[[float], Awaitable[None]]

GRACE: Final = 0.1
"""Seconds after the end of a window before the next request, for clocks that are read at slightly different moments."""

_LONGEST_WINDOW: Final = 366 * 24 * 3600.0
_UNAUTHORIZED, _TOO_MANY = 401, 429
_BACKOFF: Final = (1.0, 2.0, 4.0)
_PATIENT: Final = 2
"""Waits after a 429 that leaves requests of the window, before the window's end is waited for all the same."""
_BELIEVED: Final = 2
"""Waits for a window of which nothing is left all of a sudden, before that is believed no more."""


@dataclass(eq=False, slots=True)
class KeyBudget:
    """What is known about one key's limit.

    Attributes:
        remaining: Requests that may still be sent, those under way included; None for any number.
        under_way: Requests sent and not answered.
        held_until: Nothing is sent before this (monotonic time).
        trusted: Whether Remaining has ever been above 0: a service that always says 0 is not believed.
        doubted: Whether the next response must show that waiting has helped.
        sudden: How often Remaining has fallen to 0 from more than was sent.
        ignored: Whether the headers have proved useless.
        refusals: Requests in a row that were given up because of 429.
        in_vain: How many requests of each operation were given up for it after all the waiting that there is.
        far: Whether the window ends later than is waited for, and not so late that nobody can mean it.
    """

    remaining: int | None = None
    under_way: int = 0
    held_until: float = 0.0
    trusted: bool = False
    doubted: bool = False
    sudden: int = 0
    ignored: bool = False
    refusals: int = 0
    in_vain: Counter[str] = field(default_factory=Counter)
    far: bool = False
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def has_room(self) -> bool:
        """Whether the service has told of more requests left than are under way."""
        return self.remaining is not None and self.remaining > self.under_way

    @property
    def full(self) -> bool:
        """Whether a response must come before it is known if more may be sent."""
        return self.remaining is not None and 0 < self.remaining <= self.under_way

    def ignore(self) -> None:
        """Ignore what is said about the limit from now on."""
        self.ignored, self.remaining = True, None

    async def changed(self) -> None:
        """Wait for a request under way to end."""
        await self._changed.wait()

    def wake(self) -> None:
        """Let everything that waits look again."""
        self._changed.set()
        self._changed.clear()


class RateLimiter:
    """Decides when a key may send.

    Args:
        clock: The run's clock.
        longest_wait: Seconds that are waited for a window at most; a longer one is not waited for at all.
    """

    def __init__(self, clock: Clock, longest_wait: float) -> None:
        self.service = ServiceClock()
        self._clock = clock
        self._longest = longest_wait
        self._budgets: dict[str | None, KeyBudget] = {}

    def budget(self, authorization: str | None) -> KeyBudget:
        """What is known about a key's limit; no key is never paced."""
        return KeyBudget() if authorization is None else self._budgets.setdefault(authorization, KeyBudget())

    async def enter(self, budget: KeyBudget, pause: Pause, *, at_once: bool = False) -> None:
        """Wait until a request may be sent, and count it as under way.

        Args:
            budget: The key's.
            pause: Lets time pass; may raise where the run has not that much.
            at_once: Count only, do not wait.
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
        """A request has ended; take what its response says into account."""
        budget.under_way -= 1
        if response is not None:
            self.service.learn(response, self._clock.now())
            if response.status != _UNAUTHORIZED:
                self._learn(budget, response)
        budget.wake()

    def wait_after_429(self, response: Response, waits: int) -> float | None:
        """Seconds until a refused request is worth repeating; None if that is too long.

        Args:
            response: The 429.
            waits: How often this request has waited already.
        """
        told = quota(response)
        until_reset = None if told is None else self._until(told)
        asked = retry_after(response, self.service.time(self._clock.now()))
        if leaves_requests(response) and waits < _PATIENT:
            # The window is not used up: what was refused came beside too many others, and its end is no matter.
            return asked + GRACE if asked is not None and 0 < asked <= self._longest else _BACKOFF[waits]
        candidates = [wait for wait in (until_reset, asked) if wait is not None and wait > 0]
        # Reset is when service resumes; where it did not, the service means what it says by Retry-After.
        candidates = candidates if waits == 0 else sorted(candidates, reverse=True)
        fitting = next((wait + GRACE for wait in candidates if wait <= self._longest), None)
        # Without a Date nothing tells how far apart the two clocks are, and so when a Reset is.
        if not candidates or (fitting is None and self.service.offset is None):
            return _BACKOFF[min(waits, len(_BACKOFF) - 1)]
        return fitting

    def is_short(self, budget: KeyBudget, needed: int) -> bool:
        """Whether no more than so many requests are left, with those under way, until the far end of a window."""
        return (
            budget.far
            and budget.trusted
            and budget.remaining is not None
            and budget.remaining <= needed + budget.under_way
        )

    def hold(self, budget: KeyBudget, seconds: float) -> None:
        """Send nothing with a key for a while, then one request to see whether it is served again."""
        budget.held_until = max(budget.held_until, self._clock.monotonic() + seconds)
        budget.remaining = 1

    def _learn(self, budget: KeyBudget, response: Response) -> None:
        if response.status != _TOO_MANY:
            budget.refusals = 0
        told = quota(response)
        if told is None or budget.ignored:
            budget.remaining = None
        elif self._clock.monotonic() >= budget.held_until:
            self._believe(budget, told, served=response.status != _TOO_MANY)

    def _believe(self, budget: KeyBudget, told: Quota, *, served: bool) -> None:
        useless = served and budget.doubted and told.remaining == 0 and told.limit > 1
        budget.ignored, budget.doubted = useless, False
        budget.trusted = budget.trusted or told.remaining > 0
        is_sudden = told.remaining == 0 and budget.remaining is not None and budget.remaining > budget.under_way + 1
        budget.sudden += is_sudden
        # Responses of one kind that always say so are not believed for ever; where it is true, a 429 will say it again.
        useless = useless or (is_sudden and budget.sudden > _BELIEVED)
        budget.remaining = told.remaining or None
        until = self._until(told)
        budget.far = self.service.offset is not None and self._longest < until <= _LONGEST_WINDOW
        if told.remaining == 0 and budget.trusted and not useless and 0 < until <= self._longest:
            self.hold(budget, until + GRACE)
            budget.doubted = True

    def _until(self, told: Quota) -> float:
        return told.reset - self.service.time(self._clock.now())
