"""Dispatcher of the wire's requests: waiting, sending and retrying, in one event loop."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from conformance.wire.attempt import AttemptResult, Sender
from conformance.wire.concurrency import ConcurrencyLimiter
from conformance.wire.exchange import CONNECTION, CUT_OFF, TOO_MANY_REQUESTS
from conformance.wire.losses import is_broken_off, joined_names
from conformance.wire.main_key import MainKey, is_refusal, unjudged
from conformance.wire.rate_limit_headers import SUCCESSIVE, has_fallen, is_early, leaves_requests
from conformance.wire.rate_limiter import KeyBudget, RateLimiter
from conformance.wire.request_rate import RequestRate
from conformance.wire.requests import get_organization
from conformance.wire.retry_policy import WAITS, RetryPolicy
from conformance.wire.run_limits import Limits, RunStopped, StopCause, Undoing
from conformance.wire.waits import Waiting, Waits

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.wire.clock import Clock
    from conformance.wire.exchange import Exchange
    from conformance.wire.request_builder import RequestBuilder
    from conformance.wire.requests import Request
    from conformance.wire.settings import WireSettings

FIRST_FAILURES: Final = 3
"""Attempts without a response after which a target that has never responded is given up."""

FAILURES: Final = 6
"""Attempts in a row without a response after which the wire probes the target."""

PROBES: Final = (0.2, 0.4, 0.8, 1.2, 1.6, 1.6, 1.6, 1.6)
"""Seconds before each probe of a lost target."""

_AWAITING: Final = 1.0
"""Seconds between attempts while the wire waits for a target that has not responded yet."""

_LONGEST_PROBE: Final = 3.0
_LONGEST_LOSS: Final = 12.0
_UNDO_OVERHEAD: Final = 9 + SUCCESSIVE
"""Requests that undoing takes beside one for each change: for the check before, lost responses, and what is left."""
_SHORT_WINDOW: Final = 10.0
"""Seconds within which the quota of a short window is renewed."""
_REFUSALS: Final = 2
_PROBE_PAUSES: Final = (0.0, 1.0, 2.0)
"""Seconds before each attempt to find out whether the main key is still accepted."""
_NO_MEMORY: Final = "the response was not kept: earlier responses use all memory for responses"
_KEY_ENDED: Final = f"when the main key was refused for everything, and {CUT_OFF}"
_KEY_UNKNOWN: Final = f"and {CUT_OFF} before it was known whether the main key is still served"
_KEY_PROBED: Final = "when the wire asked whether the main key is still served"


@dataclass(slots=True)
class Job:
    """A request to send.

    Attributes:
        request: The request.
        check: The check or scenario that sends it.
        undoing: The permission to send although the run is over; None for ordinary calls.
        report: Called with every exchange as soon as it is recorded.
        exchange: The last exchange so far.
        is_in_flight: Whether its request was sent, and its response is awaited.
    """

    request: Request
    check: str
    undoing: Undoing | None
    report: Callable[[Exchange], None]
    exchange: Exchange | None = None
    is_in_flight: bool = False


class Dispatcher:
    """The part of the wire that runs in its event loop.

    Args:
        settings: The target and the limits.
        request_builder: Builds requests and records.
        sender: Sends requests.
        limits: The limits of the run.
        clock: The run's clock.
        record: Called with every exchange.
    """

    def __init__(
        self,
        settings: WireSettings,
        request_builder: RequestBuilder,
        sender: Sender,
        limits: Limits,
        clock: Clock,
        record: Callable[[Exchange], None],
    ) -> None:
        self.rate_limiter = RateLimiter(clock, settings.longest_wait)
        self.waits = Waits()
        self._main_key = MainKey(settings.credential, clock.pause)
        self._settings = settings
        self._request_builder = request_builder
        self._sender = sender
        self._limits = limits
        self._clock = clock
        self._record = record
        self._concurrency = ConcurrencyLimiter(settings.workers)
        self._request_rate = RequestRate(clock, settings.rate)
        self._keeping = asyncio.Lock()
        self._responded = False
        self._awaited_until = clock.monotonic() + settings.first_wait
        self._failures = 0
        self._search: asyncio.Task[None] | None = None
        self._broken_off: list[Exchange] = []
        """The exchanges that were cut short since the target's last response."""

    @property
    def waiting(self) -> Waiting | None:
        """The wait of the requests in flight; None if they do not wait."""
        left = self._awaited_until - self._clock.monotonic()
        if not self._responded and left > 0:
            return Waiting("the first response of the service", datetime.now(UTC) + timedelta(seconds=left))
        return self.waits.first

    async def carry_out(self, job: Job) -> Exchange:
        """Send a request until it has a response or a retry is of no use.

        Returns:
            The last attempt.

        Raises:
            RunStopped: Nothing more is sent.
        """
        retry_policy = RetryPolicy(job.request)
        budget = self.rate_limiter.budget(self._request_builder.credential(job.request).authorization)
        attempt = 0
        while True:
            attempt += 1
            await self._search_ended(job)
            exchange, outcome = await self._attempt(job, budget, attempt)
            pause = await self._pause_after(job, budget, retry_policy, exchange, outcome)
            if pause is None:
                return exchange
            await self._pause(pause, job)

    def abandon(self) -> list[asyncio.Task[None]]:
        """Stop the search for a lost target; return its task, if any."""
        if self._search is None:
            return []
        self._search.cancel()
        return [self._search]

    async def _attempt(self, job: Job, budget: KeyBudget, attempt: int) -> tuple[Exchange, AttemptResult]:
        await self.rate_limiter.enter(
            budget, lambda seconds: self._wait_for_window(seconds, job), at_once=job.request.expects_429
        )
        response = None
        try:
            async with self._concurrency.slot() as beside_others:
                had_room = budget.has_room
                exchange, outcome = await self._send(job, attempt, self._settings.timeout)
            response = exchange.received
            if not job.request.expects_429:
                self._concurrency.learn(response, beside_others=beside_others, had_room=had_room)
        finally:
            self.rate_limiter.leave(budget, response)
        if job.undoing is None and self._main_key.is_shown_by(job.request) and self._is_needed_for_undoing(budget):
            await self._keep_for_undoing(budget, exchange)
        return exchange, outcome

    async def _keep_for_undoing(self, budget: KeyBudget, exchange: Exchange) -> None:
        """End the run if the key's quota is only enough for undoing, unless its headers prove wrong."""
        async with self._keeping:
            if self._limits.stopped is None and self._is_needed_for_undoing(budget):
                if not await self._is_counted_down(exchange):
                    budget.ignore()
                elif await self._is_renewed_early(exchange):
                    self.rate_limiter.renews_early = True
                else:
                    self._limits.end(
                        "the remaining requests of the key are reserved for undoing: its window resets too late"
                    )

    async def _is_renewed_early(self, exchange: Exchange) -> bool:
        """Whether the window ends within some seconds, although its Reset is too late: its clock may be another."""
        await self._clock.pause(_SHORT_WINDOW)
        probe, _ = await self._probe(_probing(), 1)
        if exchange.received is None or probe.received is None:
            return False
        return is_early(exchange.received, probe.received, self.rate_limiter.service.time(self._clock.now()))

    async def _is_counted_down(self, exchange: Exchange) -> bool:
        """Whether the remaining quota falls after a few more requests, or none of them gets a response of the service.

        If it never falls, the headers say nothing about the quota.
        """
        before, compared = exchange.received, False
        for _ in range(SUCCESSIVE):
            probe, _ = await self._probe(_probing(), 1)
            if not probe.judgeable or probe.received is None:
                continue
            if before is None or has_fallen(before, probe.received):
                return True
            compared = True
        return not compared

    def _is_needed_for_undoing(self, budget: KeyBudget) -> bool:
        """Whether the key's quota is only enough for undoing, and its reset is too late to wait for."""
        changes = self._limits.to_undo()
        return changes > 0 and self.rate_limiter.is_short(budget, changes + _UNDO_OVERHEAD)

    async def _send(self, job: Job, attempt: int, seconds: float) -> tuple[Exchange, AttemptResult]:
        exchange, outcome = await self._exchange(job, attempt, seconds)
        try:
            has_ended = await self._has_key_ended(job, exchange)
        except (RunStopped, asyncio.CancelledError):
            self._keep(job, unjudged(exchange, _KEY_UNKNOWN))
            raise
        if has_ended:
            exchange, outcome = unjudged(exchange, _KEY_ENDED), AttemptResult.STOPPED
        self._keep(job, exchange)
        return exchange, outcome

    async def _exchange(self, job: Job, attempt: int, seconds: float) -> tuple[Exchange, AttemptResult]:
        """Send a request once, without recording it."""
        await self._pause(self._request_rate.turn(), job)
        self._limits.admit(job.undoing)
        left = self._limits.left(job.undoing)
        job.is_in_flight = True
        try:
            return await self._sender.attempt(
                job.request,
                number=self._limits.sent,
                check=job.check,
                attempt=attempt,
                seconds=seconds if left is None else min(seconds, left),
            )
        finally:
            job.is_in_flight = False

    def _keep(self, job: Job, exchange: Exchange) -> None:
        """Record and report an exchange."""
        has_room = self._limits.keep(exchange.received, exchange.seconds)
        self._record(exchange if has_room else replace(exchange, received=None, error=_NO_MEMORY))
        job.exchange = exchange
        if exchange.received is not None:
            self._broken_off = [earlier for earlier in self._broken_off if earlier.ended_at >= exchange.started_at]
        elif is_broken_off(exchange):
            self._broken_off.append(exchange)
        job.report(exchange)

    async def _has_key_ended(self, job: Job, exchange: Exchange) -> bool:
        """Whether the main key has expired, so that the response is withheld and the run ends; not during undoing."""

        async def ask(request: Request, attempt: int) -> Exchange:
            probe = Job(request, CONNECTION, job.undoing, lambda _: None)
            exchange, _ = await self._exchange(probe, attempt, min(self._settings.timeout, _LONGEST_PROBE))
            self._keep(probe, unjudged(exchange, _KEY_PROBED) if is_refusal(exchange) else exchange)
            return exchange

        if not await self._main_key.has_ended(exchange, ask) or self._main_key.ended is None:
            return False
        self._limits.end(self._main_key.ended)
        return job.undoing is None

    async def _pause_after(
        self, job: Job, budget: KeyBudget, retry_policy: RetryPolicy, exchange: Exchange, outcome: AttemptResult
    ) -> float | None:
        if outcome is AttemptResult.STOPPED:
            raise RunStopped(self._limits.stopped or "the wire was closed", exchange)
        if self._is_awaited(exchange, outcome):
            return _AWAITING
        if outcome is AttemptResult.RESPONDED:
            self._responded, self._failures = True, 0
        elif outcome is not AttemptResult.UNSENDABLE:
            await self._failed(job, exchange, outcome)
        if exchange.received is not None and exchange.received.status == TOO_MANY_REQUESTS:
            return await self._after_429(job, budget, retry_policy, exchange)
        return retry_policy.pause_after(exchange, outcome, self.rate_limiter.service.time(self._clock.now()))

    def _is_awaited(self, exchange: Exchange, outcome: AttemptResult) -> bool:
        """Whether the target has not responded yet and still has time; a gateway's response does not count."""
        came = exchange.judgeable or outcome is AttemptResult.UNSENDABLE
        return not self._responded and not came and self._clock.monotonic() < self._awaited_until

    async def _after_429(
        self, job: Job, budget: KeyBudget, retry_policy: RetryPolicy, exchange: Exchange
    ) -> float | None:
        """Hold the key until its window ends; return None if the request is given up."""
        if job.request.expects_429 or exchange.received is None:
            return None
        operation = job.request.operation.id
        # If the window is not used up and waiting did not help, the service returns 429 for some other reason.
        is_permanent = budget.given_up[operation] >= _REFUSALS and leaves_requests(exchange.received)
        wait = self.rate_limiter.wait_after_429(exchange.received, retry_policy.waits)
        if wait is not None and retry_policy.waits < WAITS and budget.refusals < _REFUSALS and not is_permanent:
            retry_policy.waits += 1
            self.rate_limiter.hold(budget, wait)
            return 0.0
        budget.refusals += 1
        budget.given_up[operation] += retry_policy.waits >= WAITS
        if job.undoing is None and budget.refusals >= _REFUSALS and self._main_key.is_shown_by(job.request):
            if not await self._is_served(budget):
                raise self._stopped("the service returned only 429", exchange)
            budget.refusals = 0
        return None

    async def _is_served(self, budget: KeyBudget) -> bool:
        """Whether the main key is accepted for another operation: one operation may have a limit of its own.

        Concurrent requests may be refused, so a key that had quota left is tried again after pauses.
        """
        probe = _probing()
        for attempt, pause in enumerate(_PROBE_PAUSES if budget.trusted else _PROBE_PAUSES[:1], 1):
            await self._pause(pause, probe)
            async with self._concurrency.slot():
                exchange, _ = await self._probe(probe, attempt)
            if exchange.received is None:
                return False
            if exchange.received.status != TOO_MANY_REQUESTS:
                return True
        return False

    async def _wait_for_window(self, seconds: float, job: Job) -> None:
        """Pause until a key may send again, and publish until when."""
        with self.waits.during("the rate limit", seconds):
            await self._pause(seconds, job)

    async def _pause(self, seconds: float, job: Job) -> None:
        if seconds > 0:
            self._limits.ensure_time(seconds, job.undoing)
            await self._clock.pause(seconds)

    async def _failed(self, job: Job, exchange: Exchange, outcome: AttemptResult) -> None:
        """Probe the target if several attempts in a row failed."""
        self._failures += 1
        if job.undoing is not None:
            return
        if not self._responded:
            if self._failures >= FIRST_FAILURES:
                raise self._stopped(f"no complete response ever came: {exchange.error}", exchange)
        elif outcome is AttemptResult.UNREACHED or self._failures >= FAILURES:
            if self._search is None:
                self._search = asyncio.create_task(self._search_for_target())
            await self._search_ended(job)

    async def _search_ended(self, job: Job) -> None:
        """Wait for the end of a search for the target."""
        if self._search is not None and job.undoing is None:
            await asyncio.shield(self._search)

    async def _search_for_target(self) -> None:
        """Probe the target, with pauses, until it responds.

        Raises:
            RunStopped: It does not.
        """
        began = self._clock.monotonic()
        probe = _probing()
        with self.waits.during("the service to come back", _LONGEST_LOSS):
            for attempt, pause in enumerate(PROBES, 1):
                await self._pause(pause, probe)
                _, outcome = await self._probe(probe, attempt)
                if outcome is AttemptResult.RESPONDED:
                    self._failures, self._search = 0, None
                    return
                if outcome is AttemptResult.STOPPED:
                    raise RunStopped(self._limits.stopped or "the wire was closed")
                if self._clock.monotonic() - began > _LONGEST_LOSS:
                    break
            raise self._lost(probe.exchange)

    async def _probe(self, probe: Job, attempt: int) -> tuple[Exchange, AttemptResult]:
        """Read the organization, with a short timeout."""
        return await self._send(probe, attempt, min(self._settings.timeout, _LONGEST_PROBE))

    def _lost(self, probe: Exchange | None) -> RunStopped:
        """End the run; name the requests in flight when the target was lost."""
        after = f" after {joined_names(self._broken_off)}" if self._broken_off else ""
        stopped = self._stopped(f"{StopCause.TARGET_LOST}{after} and did not come back", probe)
        return RunStopped(str(stopped), *self._broken_off, *stopped.exchanges)

    def _stopped(self, reason: str, exchange: Exchange | None) -> RunStopped:
        stopped = self._limits.end(reason)
        return RunStopped(str(stopped), *([] if exchange is None else [exchange]))


def _probing() -> Job:
    """Return a job of the wire itself, which no check waits for."""
    return Job(get_organization(), CONNECTION, None, lambda _: None)
