"""Linearizability of overlapping requests: whether a sequential order explains all responses.

After Wing and Gong: the search looks for an order that preserves real time, in which every response is what a
sequential service would have sent. A request without a response may have been carried out or not. ``history_of``
leaves out reads that overlapped a change: what they show is open.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from math import inf
from typing import TYPE_CHECKING

from conformance.oracle.effects import MICROSECONDS, TEXTS, Interval, must_be_accepted, must_read_back_exactly
from conformance.oracle.laws.responses import first_resource
from conformance.oracle.rendering import render

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.wire.exchange import Exchange


@dataclass(frozen=True, slots=True)
class EngagementState:
    """State of an engagement in a sequential service; a deleted engagement has None in its place."""

    name: str
    description: str
    status: str = "active"


class RequestOutcome(Enum):
    """Outcome of a request."""

    DONE = "done"
    NOT_FOUND = "not found"
    REFUSED = "refused"
    UNKNOWN = "no response"


@dataclass(frozen=True, slots=True)
class Event:
    """One request and its outcome.

    Attributes:
        operation: ``update``, ``archive``, ``delete`` or ``read``.
        outcome: Its outcome.
        interval: Its interval; without an end if it got no response.
        sent: The fields that an update sends.
        seen: The state that a read shows; None if it cannot be read.
        words: Its description.
        overlapped: Whether another change overlapped it: it may then be refused in any state, or be a second deletion.
    """

    operation: str
    outcome: RequestOutcome
    interval: Interval
    sent: tuple[tuple[str, str], ...] = ()
    seen: EngagementState | None = None
    words: str = ""
    overlapped: bool = False

    def after(self, state: EngagementState | None) -> Iterator[EngagementState | None]:
        """Yield the states that this may lead to from a state; none if its response is impossible there."""
        if self.outcome is RequestOutcome.UNKNOWN:
            yield state
        if self.overlapped and self.outcome in {RequestOutcome.NOT_FOUND, RequestOutcome.REFUSED}:
            yield state
        elif state is None and self.overlapped and self.operation == "delete" and self.outcome is RequestOutcome.DONE:
            yield None
        elif self.outcome is RequestOutcome.NOT_FOUND:
            if state is None:
                yield state
        elif state is not None:
            yield from self._in(state)

    def _in(self, state: EngagementState) -> Iterator[EngagementState | None]:
        if self.outcome is RequestOutcome.REFUSED:
            yield state
        elif self.operation == "read":
            if self.seen is None or self.seen == state:
                yield state
        elif self.operation == "archive":
            yield replace(state, status="archived")
        elif self.operation == "delete":
            yield None
        elif state.status == "active":
            yield replace(state, **dict(self.sent))


def order_of(initial: EngagementState, events: Sequence[Event]) -> list[Event] | None:
    """Return an order in which the events can have happened; None if there is none.

    Args:
        initial: The engagement before all of them.
        events: The events.
    """
    dead: set[tuple[frozenset[int], EngagementState | None]] = set()

    def search(left: frozenset[int], state: EngagementState | None) -> list[Event] | None:
        if not left:
            return []
        if (left, state) in dead:
            return None
        for place in sorted(left):
            event = events[place]
            if any(events[other].interval.before(event.interval) for other in left if other != place):
                continue
            for following in event.after(state):
                if (rest := search(left - {place}, following)) is not None:
                    return [event, *rest]
        dead.add((left, state))
        return None

    return search(frozenset(range(len(events))), initial)


def history_of(exchanges: Sequence[Exchange]) -> list[Event]:
    """Return the events of requests on one engagement that constrain their order."""
    known = [(exchange, event) for exchange in exchanges if (event := _event(exchange)) is not None]
    # Also an edit whose texts are not judged can be the reason to refuse another one.
    changing = [exchange for exchange in exchanges if exchange.was_sent and exchange.request.method != "GET"]
    reads = [event for _, event in known if event.operation == "read"]
    changes = [
        replace(
            event,
            overlapped=any(event.interval.overlaps(_interval(other)) for other in changing if other is not exchange),
        )
        for exchange, event in known
        if event.operation != "read"
    ]
    done = [event.interval for event in changes if event.outcome in {RequestOutcome.DONE, RequestOutcome.UNKNOWN}]
    return [*changes, *(event for event in reads if not any(event.interval.overlaps(interval) for interval in done))]


def _interval(exchange: Exchange) -> Interval:
    interval = Interval.of(exchange)
    return Interval(interval.start, inf) if _outcome(exchange) is RequestOutcome.UNKNOWN else interval


def describe_events(events: Sequence[Event]) -> str:
    """Describe a history in the order of the requests, with times in milliseconds since the first one."""
    ordered = sorted(events, key=lambda event: event.interval.start)
    first = ordered[0].interval.start if ordered else 0.0
    return "; ".join(f"{_milliseconds(event.interval, first)}: {event.words}" for event in ordered)


def _milliseconds(interval: Interval, first: float) -> str:
    start, end = ((moment - first) * 1000 / MICROSECONDS for moment in (interval.start, interval.end))
    return f"{start:.1f} to {end:.1f} ms" if end != inf else f"from {start:.1f} ms"


def _event(exchange: Exchange) -> Event | None:
    operations = {
        "updateEngagement": "update",
        "archiveEngagement": "archive",
        "deleteEngagement": "delete",
        "getEngagement": "read",
    }
    operation = operations.get(exchange.operation_id)
    if operation is None or not exchange.was_sent:
        return None
    outcome = _outcome(exchange)
    body = exchange.sent_fields
    texts = {name: body[name] for name in TEXTS if name in body}
    if not all(isinstance(text, str) and must_read_back_exactly(text) for text in texts.values()):
        return None
    sent = tuple(texts.items())
    if operation == "read" and outcome not in {RequestOutcome.DONE, RequestOutcome.NOT_FOUND}:
        return None
    if (
        outcome is RequestOutcome.REFUSED
        and operation == "update"
        and not all(must_be_accepted(value) for _, value in sent)
    ):
        return None  # it may have been refused for its content, before the engagement was looked up
    seen = _seen(exchange) if operation == "read" and outcome is RequestOutcome.DONE else None
    words = " ".join([operation, *(f"{name}={render(value)}" for name, value in sent), "->", exchange.status_text])
    if seen is not None:
        words += f", {seen.status}, name={render(seen.name)}, description={render(seen.description)}"
    return Event(operation, outcome, _interval(exchange), sent, seen, words)


def _outcome(exchange: Exchange) -> RequestOutcome:
    if exchange.accepted:
        return RequestOutcome.DONE
    if not exchange.refused:
        return RequestOutcome.UNKNOWN
    return RequestOutcome.NOT_FOUND if exchange.missed else RequestOutcome.REFUSED


def _seen(exchange: Exchange) -> EngagementState | None:
    data = first_resource(exchange) or {}
    name, description, status = data.get("name"), data.get("description") or "", data.get("status")
    if isinstance(name, str) and isinstance(description, str) and isinstance(status, str):
        return EngagementState(name, description, status)
    return None
