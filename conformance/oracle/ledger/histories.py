"""Possible values of an engagement at any time of a run, given all requests that were sent about it."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Any

from conformance.json_text import text_or_none
from conformance.oracle.effects import DELETED, EXISTENCE, Effect, Interval, effects_of
from conformance.oracle.laws.responses import first_resource
from conformance.oracle.rendering import render
from conformance.oracle.timestamps import parse_timestamp

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from datetime import datetime

    from conformance.wire.exchange import Exchange


class Register:
    """Values that one field may have, by all effects on it.

    Requests that overlapped may have happened in either order; only one that ended before another began is earlier.
    """

    def __init__(self) -> None:
        self.effects: list[Effect] = []
        self._found: tuple[Interval, list[Effect]] | None = None

    def add(self, effect: Effect) -> None:
        """Add an effect."""
        self._found = None
        insort(self.effects, effect, key=lambda known: known.interval.start)

    def forget(self, exchange: Exchange) -> None:
        """Remove the effects of a request that must not have any."""
        self._found = None
        self.effects = [effect for effect in self.effects if effect.exchange is not exchange]

    def latest(self, interval: Interval) -> Effect | None:
        """Return the certain effect that began last of those that ended before a read began."""
        for effect in reversed(self.effects):
            if effect.certain and effect.interval.before(interval):
                return effect
        return None

    def candidates(self, interval: Interval) -> list[Effect]:
        """Return the effects that may have been the last before a read."""
        if self._found is None or self._found[0] != interval:
            last = self.latest(interval)
            begun = [effect for effect in self.effects if effect.interval.start < interval.end]
            found = begun if last is None else [effect for effect in begun if not effect.interval.before(last.interval)]
            self._found = interval, found  # each read is queried several times
        return self._found[1]

    def expected(self, interval: Interval) -> str:
        """Return the values that a read in that interval may have shown, for a message."""
        return " or ".join(dict.fromkeys(render(effect.value) for effect in self.candidates(interval)))

    def is_possible(self, value: str, interval: Interval) -> bool:
        """Whether a read in that interval may have shown a value."""
        return any(effect.fits(value) for effect in self.candidates(interval))

    def certain_value(self, interval: Interval) -> str | None:
        """Return the one value that every read in that interval shows; None if there are several."""
        values = {effect.value for effect in self.candidates(interval)}
        return values.pop() if len(values) == 1 else None

    def narrow(self, value: str, interval: Interval, *, by_list: bool = False) -> None:
        """Narrow the effects by a read with a possible value: they happened if it shows them, else they did not.

        If several can have given the value, one of them was in force during the read, and no earlier value comes back.
        A list does not settle an unknown value: if a read shows another one, the list may be wrong.
        """
        found = self.candidates(interval)
        showing = [effect for effect in found if effect.fits(value)]
        if len(showing) != 1:
            if len(showing) < len(found) and {effect.value for effect in showing} == {value}:
                self.add(replace(showing[-1], interval=interval, certain=True))
            return
        shown = showing[0]
        self._found = None
        if shown.value is None and len(found) == 1 and not by_list:
            shown.value = value
        if shown.certain:
            for effect in found:
                if not effect.certain and effect.interval.before(interval) and shown.interval.before(effect.interval):
                    self.effects.remove(effect)
        elif shown.value is not None:
            shown.certain, shown.interval = True, Interval(shown.interval.start, min(shown.interval.end, interval.end))


@dataclass(frozen=True, slots=True)
class Shown:
    """An engagement as one response shows it."""

    exchange: Exchange
    interval: Interval
    value: dict[str, Any]
    pointer: str = "/data"

    def text(self, name: str) -> str | None:
        """Return a field as text; None if it cannot be read. An absent, null or empty description is ""."""
        value = self.value.get(name)
        if name == "description" and value is None:
            return ""
        return text_or_none(value)

    def moment(self, name: str) -> datetime | None:
        """Return a time; None if it cannot be read."""
        return parse_timestamp(self.text(name))


@dataclass(frozen=True, slots=True)
class Write:
    """A request that was to change an engagement, with its interval."""

    exchange: Exchange
    interval: Interval
    effects: tuple[Effect, ...]

    @property
    def operation(self) -> str:
        """The operation's id."""
        return self.exchange.operation_id


@dataclass(frozen=True, slots=True)
class OpenFinding:
    """A list that shows an impossible value of an engagement that was not read since the field's last change.

    Attributes:
        field: The field.
        last: The effect that wrote it last, or the first effect if no write is certain.
        place: The index of the finding among all.
    """

    field: str
    last: Effect
    place: int


@dataclass(slots=True)
class History:
    """All that is known of one engagement of the run.

    Attributes:
        identifier: Its id.
        creation: Its creation.
        registers: Its fields.
        attempts: The requests that were to change it, in the order of beginning.
        reads: Intervals and statuses of all reads of it, in the order of beginning.
        confirmed: For each field, the last read that showed a possible value.
        listed: For each field, the last list that showed a possible value.
        wrong_since: For each field, and for the existence, the first list that was wrong since the last right one.
        agreeing_list: The last list that agreed with the reads in every field.
        snapshots: The reads of it so far, in the order of their ends.
        at_creation: The response to its creation, if its createdAt is its updatedAt; else None.
        open_findings: Lists that show it wrongly, or correctly after an undetected change.
        broken: Whether a failure was found; the engagement is not judged afterwards.
    """

    identifier: str
    creation: Write
    registers: defaultdict[str, Register] = field(default_factory=lambda: defaultdict(Register))
    attempts: list[Write] = field(default_factory=list)
    reads: list[tuple[Interval, int]] = field(default_factory=list)
    confirmed: dict[str, Shown] = field(default_factory=dict)
    listed: dict[str, Shown] = field(default_factory=dict)
    wrong_since: dict[str, Interval] = field(default_factory=dict)
    agreeing_list: Shown | None = None
    snapshots: list[Shown] = field(default_factory=list)
    at_creation: Shown | None = None
    open_findings: list[OpenFinding] = field(default_factory=list)
    broken: bool = False

    def __post_init__(self) -> None:
        self.take(self.creation)

    @classmethod
    def created_by(cls, identifier: str, exchange: Exchange) -> History:
        """Return the history of an engagement that a creation made."""
        shown = Shown(exchange, Interval.of(exchange), first_resource(exchange) or {})
        at_once = shown.moment("createdAt") is not None and shown.moment("createdAt") == shown.moment("updatedAt")
        return cls(identifier, write(exchange), at_creation=shown if at_once else None)

    def take(self, attempt: Write) -> None:
        """Record a request that was to change the engagement."""
        insort(self.attempts, attempt, key=lambda other: other.interval.start)
        for effect in attempt.effects:
            self.registers[effect.field].add(effect)

    def seen(self, interval: Interval) -> Shown | None:
        """Return the last response that showed it, with its times, before an interval."""
        shown = (*self.snapshots, self.agreeing_list, self.at_creation)
        before = (snapshot for snapshot in shown if snapshot is not None and snapshot.interval.before(interval))
        return max(before, key=lambda snapshot: snapshot.interval.end, default=None)

    def since(self, snapshot: Shown) -> float:
        """Return the time from which a change may be missing in a response; none precedes the end of the creation."""
        return snapshot.interval.end if snapshot is self.at_creation else snapshot.interval.start

    def exists(self, interval: Interval) -> bool:
        """Whether the engagement existed during the whole interval for certain."""
        gone = self.registers[EXISTENCE].effects
        return self.creation.interval.before(interval) and not any(
            effect.value == DELETED and effect.interval.start < interval.end for effect in gone
        )

    def deletion(self, interval: Interval) -> Effect | None:
        """Return the deletion that ended for certain before the interval began."""
        last = self.registers[EXISTENCE].latest(interval)
        return last if last is not None and last.value == DELETED else None

    def between(self, start: float, end: float, *, but: Collection[Exchange] = ()) -> list[Write]:
        """Return the writes of an interval, those under way at its beginning or end included."""
        until = bisect_right(self.attempts, end, key=lambda attempt: attempt.interval.start)
        return [
            attempt for attempt in self.attempts[:until] if attempt.interval.end > start and attempt.exchange not in but
        ]

    def is_unchanged(self, start: float, end: float) -> bool:
        """Whether no request can have changed it within an interval; an update without values may move updatedAt."""
        return not any(interval.start < end and interval.end > start for interval in self.changes())

    def changes(self) -> Iterator[Interval]:
        """Yield the intervals in which a request may have changed the engagement, in the order of the requests."""
        for attempt in self.attempts:
            yield from _intervals_of_change(attempt)

    def may_go_back(self, earlier: Interval, later: Interval) -> bool:
        """Whether ``updatedAt`` may be earlier in one response than in a response that came before.

        A service may read its clock before it locks the engagement. So of overlapping changes, the one that is
        carried out last may have the earlier time.
        """
        begun = [
            (attempt, interval)
            for attempt in self.attempts
            if (interval := _of_change(attempt)) and interval.start < later.end
        ]
        over = [interval.start for attempt, interval in begun if attempt.exchange.accepted and interval.before(later)]
        since = max(earlier.start, *over) if over else earlier.start
        return any(
            interval.end > since and any(interval.overlaps(beside) for other, beside in begun if other is not attempt)
            for attempt, interval in begun
        )

    def alone(self, interval: Interval, but: Exchange) -> bool:
        """Whether no other write overlapped the interval, and no write without a response may still happen."""
        others = [attempt for attempt in self.attempts if attempt.exchange is not but]
        effects = [effect.interval for attempt in others for effect in attempt.effects]
        return not any(map(interval.overlaps, [*effects, *(attempt.interval for attempt in others)]))


def _of_change(attempt: Write) -> Interval | None:
    """Return the interval within which a request may have changed the engagement; None if it cannot have."""
    intervals = _intervals_of_change(attempt)
    return Interval(attempt.interval.start, max(interval.end for interval in intervals)) if intervals else None


def _intervals_of_change(attempt: Write) -> list[Interval]:
    """Return the intervals of a request's effects, and that in which it may have moved updatedAt, unless refused."""
    intervals = [effect.interval for effect in attempt.effects]
    if attempt.exchange.was_sent and not attempt.exchange.refused:
        end = attempt.interval.end if attempt.exchange.accepted else inf
        intervals.append(Interval(attempt.interval.start, end))
    return intervals


def write(exchange: Exchange) -> Write:
    """Return an exchange as an attempt to change an engagement."""
    return Write(exchange, Interval.of(exchange), tuple(effects_of(exchange)))
