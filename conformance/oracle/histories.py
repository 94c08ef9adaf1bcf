"""What an engagement may be like at any time of a run, given all that was sent about it."""

from __future__ import annotations

from bisect import bisect_right, insort
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any

from conformance.oracle.effects import (
    DELETED,
    EXISTENCE,
    STATUS,
    TEXTS,
    Effect,
    Interval,
    accepted,
    effects_of,
    refused,
)
from conformance.oracle.timestamps import parse_timestamp

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from conformance.wire.exchange import Exchange


class Register:
    """The values that one field may have, by all effects on it.

    Requests that overlapped may have happened in either order; only what was over when another began came before it.
    """

    def __init__(self) -> None:
        self.effects: list[Effect] = []
        self._found: tuple[Interval, list[Effect]] | None = None

    def add(self, effect: Effect) -> None:
        """Take in an effect."""
        self._found = None
        insort(self.effects, effect, key=lambda one: one.span.start)

    def latest(self, span: Interval) -> Effect | None:
        """The certain effect that began last of those that were over when a read began."""
        for one in reversed(self.effects):
            if one.certain and one.span.before(span):
                return one
        return None

    def candidates(self, span: Interval) -> list[Effect]:
        """The effects of which one may have been the last before a read."""
        if self._found is None or self._found[0] != span:
            last = self.latest(span)
            begun = [one for one in self.effects if one.span.start < span.end]
            found = begun if last is None else [one for one in begun if not one.span.before(last.span)]
            self._found = span, found  # a read is asked for several times
        return self._found[1]

    def is_possible(self, value: str, span: Interval) -> bool:
        """Whether a read in that time may have shown a value."""
        return any(one.fits(value) for one in self.candidates(span))

    def certain_value(self, span: Interval) -> str | None:
        """The one value that every read in that time shows; None where there are several."""
        values = {one.value for one in self.candidates(span)}
        return values.pop() if len(values) == 1 else None

    def narrow(self, value: str, span: Interval) -> None:
        """Learn from a read that may be: what it shows has happened by then, and what it does not show has not."""
        found = self.candidates(span)
        showing = [one for one in found if one.fits(value)]
        if len(showing) != 1:
            return
        shown = showing[0]
        self._found = None
        if shown.value is None and len(found) == 1:
            shown.value = value
        if shown.certain:
            for one in found:
                if not one.certain and one.span.before(span) and shown.span.before(one.span):
                    self.effects.remove(one)
        elif shown.value is not None:
            shown.certain, shown.span = True, Interval(shown.span.start, min(shown.span.end, span.end))


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An engagement as one answer shows it."""

    exchange: Exchange
    span: Interval
    value: dict[str, Any]
    pointer: str = "/data"

    def text(self, name: str) -> str | None:
        """A field as text: of a description, absent, null and empty are the same; None where it cannot be read."""
        value = self.value.get(name)
        if name == "description" and value is None:
            return ""
        return value if isinstance(value, str) else None

    def moment(self, name: str) -> datetime | None:
        """A time; None where it cannot be read."""
        text = self.text(name)
        return None if text is None else parse_timestamp(text)


@dataclass(frozen=True, slots=True)
class Write:
    """A request that was to change an engagement, and when."""

    exchange: Exchange
    span: Interval
    effects: tuple[Effect, ...]

    @property
    def operation(self) -> str:
        """The operation's id."""
        return self.exchange.request.operation.id


@dataclass(frozen=True, slots=True)
class OpenFinding:
    """A list that shows a field as it cannot be, of an engagement that nobody has read since the field's last change.

    Attributes:
        field: The field.
        last: What wrote it last, or first where nothing had surely written it yet.
        place: Where the finding stands among all.
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
        attempts: What was to change it, in the order of beginning.
        reads: Times and statuses of all reads of it, in the order of beginning.
        good: For each field, the last read that showed what it may.
        listed: For each field, the last list that showed what it may.
        sights: The reads of it so far, in the order of their ends.
        doubts: Lists that may show it wrongly, or truly what became of it.
        broken: Whether a fault was found, after which nothing more is said of it.
    """

    identifier: str
    creation: Write
    registers: dict[str, Register] = field(default_factory=dict)
    attempts: list[Write] = field(default_factory=list)
    reads: list[tuple[Interval, int]] = field(default_factory=list)
    good: dict[str, Snapshot] = field(default_factory=dict)
    listed: dict[str, Snapshot] = field(default_factory=dict)
    sights: list[Snapshot] = field(default_factory=list)
    doubts: list[OpenFinding] = field(default_factory=list)
    broken: bool = False

    def __post_init__(self) -> None:
        self.registers = {name: Register() for name in (*TEXTS, STATUS, EXISTENCE)}
        self.take(self.creation)

    @classmethod
    def born(cls, identifier: str, exchange: Exchange) -> History:
        """The history of an engagement that a creation made."""
        return cls(identifier, write(exchange))

    def take(self, one: Write) -> None:
        """Take in a request that was to change it."""
        insort(self.attempts, one, key=lambda other: other.span.start)
        for effect in one.effects:
            self.registers[effect.field].add(effect)

    def exists(self, span: Interval) -> bool:
        """Whether it was surely there all the time."""
        gone = self.registers[EXISTENCE].effects
        return self.creation.span.before(span) and not any(
            one.value == DELETED and one.span.start < span.end for one in gone
        )

    def deletion(self, span: Interval) -> Effect | None:
        """The deletion that was surely over when that time began."""
        last = self.registers[EXISTENCE].latest(span)
        return last if last is not None and last.value == DELETED else None

    def between(self, start: float, end: float, *, but: Collection[Exchange] = ()) -> list[Write]:
        """What was to change it within a time, also if it was under way at its beginning or end."""
        until = bisect_right(self.attempts, end, key=lambda one: one.span.start)
        return [one for one in self.attempts[:until] if one.span.end > start and one.exchange not in but]

    def quiet(self, start: float, end: float) -> bool:
        """Whether nothing can have changed it within a time; an update without new values may have moved updatedAt."""
        return not any(span.start < end and span.end > start for one in self.attempts for span in _spans_of_change(one))

    def may_go_back(self, earlier: Interval, later: Interval) -> bool:
        """Whether ``updatedAt`` may be earlier in one answer than in another one that came before.

        A service may read its clock before it has the engagement. So of changes that overlapped, the one that is
        carried out last may have the earlier time.
        """
        begun = [(one, span) for one in self.attempts if (span := _of_change(one)) and span.start < later.end]
        over = [span.start for one, span in begun if accepted(one.exchange) and span.before(later)]
        since = max(earlier.start, *over) if over else earlier.start
        return any(
            span.end > since and any(span.meets(beside) for other, beside in begun if other is not one)
            for one, span in begun
        )

    def alone(self, span: Interval, but: Exchange) -> bool:
        """Whether nothing else was under way that was to change it, and nothing is that never was answered."""
        return not any(one.span.meets(span) and one.exchange is not but for one in self._all_effects()) and not any(
            one.span.meets(span) for one in self.attempts if one.exchange is not but
        )

    def _all_effects(self) -> list[Effect]:
        return [effect for one in self.attempts for effect in one.effects]


def _of_change(one: Write) -> Interval | None:
    """The time within which a request may have changed the engagement; None where it cannot have."""
    spans = _spans_of_change(one)
    return Interval(one.span.start, max(span.end for span in spans)) if spans else None


def _spans_of_change(one: Write) -> list[Interval]:
    return [*(effect.span for effect in one.effects), *_of_touch(one)]


def _of_touch(one: Write) -> tuple[Interval, ...]:
    """When a request may have moved updatedAt, whatever else it did; never where it was refused."""
    if refused(one.exchange) or not one.exchange.was_sent:
        return ()
    return (one.span if accepted(one.exchange) else Interval(one.span.start, inf),)


def write(exchange: Exchange) -> Write:
    """An exchange as an attempt to change an engagement."""
    return Write(exchange, Interval.of(exchange), tuple(effects_of(exchange)))
