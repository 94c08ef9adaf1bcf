"""A key is driven past its limit, once, and what happens there is tried."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from conformance.oracle import laws, rate_limit_laws, read
from conformance.oracle.judgement import Undecided, Untested
from conformance.oracle.timestamps import parse_timestamp
from conformance.target.asking import MAIN_KEY
from conformance.target.capabilities import Unavailable
from conformance.target.profile import Mode
from conformance.wire import call
from conformance.wire.exchange import TOO_MANY_REQUESTS
from conformance.wire.ratelimits import ServiceClock, date_of, quota

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.running.run import Run
    from conformance.wire.call import Call, Credential
    from conformance.wire.exchange import Exchange

HIGHEST_LIMIT: Final = 300
"""Requests a window beyond which a limit is not tried."""

GRACE: Final = 2.0
"""Seconds after the reset within which service must have resumed."""

LONGEST_WAIT: Final = 75.0
"""Seconds that are waited for a reset."""

_TRIES: Final = 3
_LEAST: Final = 2
_AROUND: Final = 2
_SPARE: Final = 8
_SHORT_WINDOW: Final = 2.0
_LONGEST_LAG: Final = 30.0
"""Seconds at most by which the clock of an application is taken to be behind the one of its Date headers."""
_POLLS: Final = (1.0, 2.0, 4.0, 8.0, 15.0, 20.0, 25.0)


@dataclass(slots=True)
class Filling:
    """Requests sent to use a key's window up.

    Attributes:
        limit: What the service calls the limit.
        served: The successes.
        refused: The answers with 429.
        beyond: What surely came beyond the limit and was no 429; None where there is nothing of the kind.
    """

    limit: int
    served: list[Exchange] = field(default_factory=list)
    refused: list[Exchange] = field(default_factory=list)
    beyond: Exchange | None = None
    _by_reset: Counter[str] = field(default_factory=Counter)

    def take(self, exchange: Exchange) -> None:
        """Take an answer into account.

        Raises:
            Undecided: It is neither a success nor past the limit.
        """
        if exchange.status == TOO_MANY_REQUESTS:
            self.refused.append(exchange)
        elif exchange.succeeded:
            self.served.append(exchange)
            self._by_reset[rate_limit_laws.reset(exchange) or ""] += 1
            if self._is_beyond(exchange):
                self.beyond = self.beyond or exchange
        elif max(self._by_reset.values(), default=0) >= self.limit:
            self.beyond = self.beyond or exchange
        else:
            read.success(exchange)

    def _is_beyond(self, success: Exchange) -> bool:
        """Whether no way of limiting could have let a success pass.

        A fixed or sliding window allows the limit for one reset. A bucket that fills all the time, and two windows of
        which one follows the other, allow up to twice as much in less than a window's time.
        """
        of_one_reset = self._by_reset[rate_limit_laws.reset(success) or ""]
        ahead = _ahead(success)
        if of_one_reset > self.limit and (ahead is None or ahead > _SHORT_WINDOW):
            return True
        elapsed = (success.started_at - self.served[0].started_at).total_seconds() + success.seconds
        in_one_window = ahead is not None and elapsed < ahead - 1
        return max(of_one_reset, len(self.served) if in_one_window else 0) > 2 * self.limit + 2

    @property
    def is_crowded(self) -> bool:
        """Whether what was refused had requests left, as where the service as a whole takes no more at once."""
        return bool(self.refused) and all((rate_limit_laws.remaining(one) or 0) > 0 for one in self.refused)

    def take_alone(self, exchange: Exchange) -> None:
        """Take the answer to a request that nothing else was beside: if it is served, it was only too many at once."""
        if exchange.succeeded:
            self.refused.clear()
        self.take(exchange)

    @property
    def over(self) -> bool:
        """Whether enough is known, or so much was sent that more will not tell."""
        sent = len(self.served) + len(self.refused)
        return bool(self.refused) or self.beyond is not None or sent >= _TRIES * (self.limit + _SPARE)

    @property
    def left(self) -> int:
        """How many requests to send next: what the latest window has left, and some in any case."""
        latest = max(self.served, key=lambda exchange: exchange.number)
        return min(max(_LEAST, rate_limit_laws.remaining(latest) or 0), self.limit + _SPARE)


@dataclass(frozen=True, slots=True)
class Throttling:
    """What a key met at its limit.

    Attributes:
        filling: The requests that used its window up.
        refusals: Every 429 of the key.
        creation: A creation beyond the limit; None where none was refused, or writing is not allowed.
        passed: Creations that were served amid refusals, where every attempt came to that.
        created_name: The name that it carried.
        engagements: The engagements that were created last, looked for with the main key; None without a creation.
        changes: An edit with the name for a description, an archiving and a deletion of one engagement, all refused.
        missing: A read of that engagement, where the list of engagements has it no more; None where it has.
        other: A request with another key while this one was refused, between two that were; None where that did not
            come about.
        other_missing: Why there is no other key; None where there is one.
        resumed: The answer after the reset; None where it could not be waited for.
        unresumed: Why not.
    """

    filling: Filling
    refusals: tuple[Exchange, ...]
    creation: Exchange | None
    passed: tuple[Exchange, ...]
    created_name: str
    engagements: Exchange | None
    changes: tuple[Exchange, ...]
    missing: Exchange | None
    other: Exchange | None
    other_missing: str | None
    resumed: Exchange | None
    unresumed: str


@dataclass(slots=True)
class _Scene:
    """One attempt: the window is used up, and everything is tried before it ends."""

    filling: Filling
    name: str = ""
    creation: Exchange | None = None
    before: list[Exchange] = field(default_factory=list)
    other: Exchange | None = None
    after: list[Exchange] = field(default_factory=list)

    @property
    def refusals(self) -> list[Exchange]:
        """Every 429 of the key."""
        creation = [] if self.creation is None else [self.creation]
        return _refused([*self.filling.refused, *self.before, *creation, *self.after])

    @property
    def last_refusal(self) -> Exchange:
        """The last 429 of the key."""
        return max(self.refusals, key=lambda exchange: exchange.number)

    @property
    def changes(self) -> tuple[Exchange, ...]:
        """What was refused and would have changed an engagement; none where another such request was served."""
        return tuple(self._changing) if _refused(self._changing) == self._changing else ()

    @property
    def _changing(self) -> list[Exchange]:
        return [one for one in (*self.before, *self.after) if one.call.method != "GET"]

    @property
    def refused_creation(self) -> Exchange | None:
        """The creation, if it was refused."""
        return self.creation if self.creation and _refused([self.creation]) else None

    @property
    def passed_creation(self) -> list[Exchange]:
        """The creation, if it was served although the reads around it were refused, and other writes all alike.

        One that says that it has requests left of its own, or another limit, was counted apart.
        """
        reads = [one for one in (*self.before, *self.after) if one.call.method == "GET"]
        alike = _refused(self._changing) in ([], self._changing)
        if self.creation is None or not self.creation.succeeded or _refused(reads) != reads or not alike:
            return []
        left, limits = rate_limit_laws.remaining(self.creation) or 0, {rate_limit_laws.limit(one) for one in reads}
        return [] if left > 0 or rate_limit_laws.limit(self.creation) not in limits else [self.creation]

    @property
    def other_meanwhile(self) -> Exchange | None:
        """The request with another key, if the key was refused before and after it."""
        return self.other if _refused(self.before) and _refused(self.after) else None


def throttling(run: Run) -> Throttling:
    """A key sends until it is refused; a creation, another key and a request after the reset are tried then."""
    key = run.fixtures.throttled()
    other, missing = _other_key(run, key)
    passed: list[Exchange] = []
    target = None if run.mode is Mode.READ_ONLY else _untouched_engagement(run)
    for _ in range(_TRIES):
        scene = _scene(run, key, other, target)
        passed += scene.passed_creation
        target = target if scene.changes else None
        resumed, unresumed = None, "the key was never refused"
        if scene.filling.refused:
            resumed, unresumed = _resume(run, key, scene.last_refusal)
        if resumed is None or not resumed.succeeded or _complete(scene, run, other):
            break
    newest = call.list_engagements(sort="createdAt", order="desc", perPage=100)
    listed = None if scene.refused_creation is None else run.send(newest)
    return Throttling(
        scene.filling,
        tuple(scene.refusals),
        scene.refused_creation,
        tuple(passed) if len(passed) == _TRIES else (),  # a bucket that is refilled may let one of them pass
        scene.name,
        listed,
        scene.changes,
        _missing(run, listed, scene.changes),
        scene.other_meanwhile,
        missing,
        resumed,
        unresumed,
    )


def _missing(run: Run, listed: Exchange | None, changes: Sequence[Exchange]) -> Exchange | None:
    """A read of the engagement that was to be deleted, unless it is in the list still."""
    target = changes[0].call.identifier if changes else None
    if target is None or listed is None or not listed.succeeded:
        return None
    there = any(read.id_of(item) == target for item in read.items(listed))
    return None if there else run.send(call.get_engagement(target))


def _other_key(run: Run, key: Credential) -> tuple[Credential | None, str | None]:
    """Another key than the one that is refused, or why there is none."""
    if key.name != MAIN_KEY:
        return run.fixtures.main, None
    try:
        return run.fixtures.scoped_key("organizations:read"), None
    except Unavailable as trouble:
        reason = f"It is the main key that is driven past its limit, and there is no other one. {trouble.reason}"
    try:
        return run.fixtures.other_organization(), None
    except Unavailable:
        return None, reason


def _untouched_engagement(run: Run) -> str | None:
    """The engagement that the main key created last, active and with nothing done to it since; None for none."""
    aimed = {one.call.identifier for one in run.wire.exchanges if one.call.operation.changes}
    made = [
        identifier
        for one in run.wire.exchanges
        if one.call.operation.id == "createEngagement" and one.call.credential is None
        for resource in laws.readable_resources(one)
        if (identifier := read.id_of(resource)) is not None
        and identifier not in aimed
        and resource.get("status") == "active"
    ]
    return made[-1] if made else None


def _scene(run: Run, key: Credential, other: Credential | None, target: str | None) -> _Scene:
    """Use the window up; then send a creation and another key's request amid some of the key's own.

    They go out together, so that a bucket that is refilled all the time has nothing left for the creation.
    """
    rest = None if other is None else run.send(call.get_organization().with_key(other))
    scene = _Scene(_fill(run, key))
    if not scene.filling.refused:
        return scene
    first = [_at_once(call.get_organization(), key)] * _AROUND
    last = [*first]
    amid: list[Call] = []
    if may_write := run.mode is not Mode.READ_ONLY:
        scene.name = run.name("throttled")
        amid.append(_at_once(call.create_engagement({"name": scene.name}), key))
    if target is not None:
        first[0] = _at_once(call.update_engagement(target, {"description": scene.name}), key)
        last = [_at_once(one, key) for one in (call.archive_engagement(target), call.delete_engagement(target))]
    if other is not None and rest is not None and (rate_limit_laws.remaining(rest) or 0) > 0:
        amid.append(_at_once(call.get_organization(), other))
    answers = run.send_all([*first, *amid, *last])
    scene.before, scene.after = answers[:_AROUND], answers[-_AROUND:]
    scene.creation = answers[_AROUND] if may_write else None
    scene.other = answers[_AROUND + len(amid) - 1] if len(amid) > may_write else None
    if other is not None and scene.other is not None and _refused([scene.other]):
        _ask_in_turn(run, key, other, scene)
    return scene


def _ask_in_turn(run: Run, key: Credential, other: Credential, scene: _Scene) -> None:
    """Send another key's request again between two of the key's own: all at once may be too many for the service."""
    asked = call.get_organization()
    first, again, last = (run.send(_at_once(asked, one)) for one in (key, other, key))
    scene.before.append(first)
    scene.after.append(last)
    scene.other = again if _refused([first, last]) == [first, last] else None


def _complete(scene: _Scene, run: Run, other: Credential | None) -> bool:
    """Whether all that can be tried came about before the window ended."""
    created = run.mode is Mode.READ_ONLY or scene.refused_creation is not None
    return created and (other is None or scene.other_meanwhile is not None)


def _refused(exchanges: list[Exchange]) -> list[Exchange]:
    return [exchange for exchange in exchanges if exchange.status == TOO_MANY_REQUESTS]


def _fill(run: Run, key: Credential) -> Filling:
    """Send until the key is refused, or surely should have been."""
    first = run.send(call.get_organization().with_key(key))
    limit = rate_limit_laws.limit(read.success(first))
    if limit is None or quota(first.answer) is None:
        raise Undecided("the rate-limit headers cannot be read", first)
    _ensure_budget(run, limit)
    filling = Filling(limit)
    filling.take(first)
    asked = _at_once(call.get_organization(), key)
    at_once = True
    while not filling.over:
        for exchange in run.send_all([asked] * filling.left) if at_once else [run.send(asked)]:
            filling.take(exchange)
        if at_once and filling.is_crowded:
            at_once = False
            filling.take_alone(run.send(asked))
    return filling


def _ensure_budget(run: Run, limit: int) -> None:
    most = run.options.max_requests
    left = HIGHEST_LIMIT if most is None else most - run.wire.sent
    if limit > HIGHEST_LIMIT:
        raise Untested(f"A limit of {limit} requests is more than the {HIGHEST_LIMIT} tried; name a throttled key.")
    if limit + 2 * _SPARE > left and most is not None:
        raise Untested(f"A limit of {limit} requests is more than the {max(left, 0)} left; raise --max-requests.")


def _at_once(asked: Call, key: Credential) -> Call:
    """A call that is neither delayed nor repeated for its limit."""
    return replace(asked, credential=key, expects_429=True)


def _ahead(exchange: Exchange) -> float | None:
    """Seconds from an answer's Date to the reset that it names, up to one too many; None without a Date."""
    clock, told = ServiceClock(), quota(exchange.answer)
    clock.learn(exchange.answer, exchange.started_at)
    return None if told is None or clock.offset is None else told.reset - clock.time(exchange.started_at)


def _resume(run: Run, key: Credential, refusal: Exchange) -> tuple[Exchange | None, str]:
    """Ask again after the reset that a 429 named, at first at once and then after the grace.

    Returns:
        The last answer, or None with the reason why nothing can be said.
    """
    told = quota(refusal.answer)
    if told is None:
        return None, "the rate-limit headers of the 429 cannot be read"
    spread = clocks_apart(run.wire.exchanges)
    if run.wire.service_clock is None or spread > _LONGEST_LAG:
        return _poll(run, key)
    if _until(run, told.reset) > LONGEST_WAIT:
        return None, f"the reset is more than {LONGEST_WAIT:.0f} s ahead, which is not waited for"
    answer = refusal
    late = [0.1, GRACE + 0.1]
    if (lag := max(spread, _lag(run))) > 1:
        late.append(GRACE + 0.1 + lag + 1)
    for seconds in late:
        run.sleep(max(0.0, _until(run, told.reset + seconds)))
        answer = run.send(_at_once(call.get_organization(), key))
        if answer.status != TOO_MANY_REQUESTS:
            break
    return answer, ""


def _lag(run: Run) -> float:
    """Seconds that the clock which createdAt comes from is behind that of the Date headers, cut to whole seconds.

    A front server may give the Date; the application reckons the reset with its own clock.
    """
    lags = [
        dated - created.timestamp()
        for one in run.wire.exchanges
        if one.call.operation.id == "createEngagement"
        for resource in laws.readable_resources(one)
        if isinstance(text := resource.get("createdAt"), str)
        if (created := parse_timestamp(text)) is not None and (dated := date_of(one.answer)) is not None
    ]
    return max(0.0, min(_LONGEST_LAG, min(lags, default=0.0)))


def clocks_apart(exchanges: Iterable[Exchange]) -> float:
    """Seconds by which the clocks surely differ that Date headers come from, as where several servers share the work.

    A Date is cut to whole seconds, and given at some time between the request and the end of its answer.
    """
    dated = [(one, date) for one in exchanges if one.received and (date := date_of(one.received)) is not None]
    least = [date - one.started_at.timestamp() - one.seconds for one, date in dated]
    most = [date + 1 - one.started_at.timestamp() for one, date in dated]
    return max(0.0, max(least) - min(most)) if dated else 0.0


def _poll(run: Run, key: Credential) -> tuple[Exchange | None, str]:
    """Ask now and again: without a Date nobody knows what the service's clock says."""
    for pause in _POLLS:
        run.sleep(pause)
        answer = run.send(_at_once(call.get_organization(), key))
        if answer.status != TOO_MANY_REQUESTS:
            return answer, ""
    return None, "the service tells no time, or several, so that nobody knows when the reset is"


def _until(run: Run, reset: float) -> float:
    """Seconds until the service's clock, which its Date headers tell, shows a time; never too few."""
    return reset - (run.clock.now().timestamp() + (run.wire.service_clock or 0.0))
