"""Transitions of engagements during a run, derived from its exchanges."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from conformance.json_text import text_or_none
from conformance.oracle.effects import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.wire.exchange import Exchange

State = Literal["none", "active", "archived", "removed"]
Kind = Literal["stated", "open", "foreign"]
Way = tuple[State, str, State]

_OPERATIONS: Final = {
    "createEngagement": "create",
    "updateEngagement": "edit",
    "archiveEngagement": "archive",
    "unarchiveEngagement": "unarchive",
    "deleteEngagement": "delete",
}
STATED: Final[tuple[Way, ...]] = (
    ("none", "create", "active"),
    ("active", "edit", "active"),
    ("active", "archive", "archived"),
    ("active", "delete", "removed"),
    ("archived", "delete", "removed"),
)
"""The transitions that the interface states."""
OPEN: Final[tuple[Way, ...]] = (
    ("archived", "unarchive", "active"),
    ("archived", "unarchive", "archived"),
    ("archived", "archive", "archived"),
    ("active", "unarchive", "active"),
)
"""The transitions that the interface leaves open."""
_MOVING: Final = frozenset({"archiveEngagement", "unarchiveEngagement", "deleteEngagement"})


@dataclass(slots=True)
class Transition:
    """A transition from one state to another.

    Attributes:
        way: State, operation and next state.
        exchanges: The numbers of the exchanges with this transition; empty if it did not occur.
    """

    way: Way
    exchanges: list[int] = field(default_factory=list)

    @property
    def kind(self) -> Kind:
        """Whether the interface states this transition, leaves it open, or does not have it."""
        return "stated" if self.way in STATED else "open" if self.way in OPEN else "foreign"


def transitions(exchanges: Iterable[Exchange]) -> list[Transition]:
    """Return the transitions that the interface states or leaves open, and all others that occurred.

    Only certain transitions count: successes on an engagement that overlapped with no request that may change its
    state, from a state that a response had shown.
    """
    found = {way: Transition(way) for way in (*STATED, *OPEN)}
    for steps in _by_engagement(exchanges).values():
        for way, number in _ways(steps):
            found.setdefault(way, Transition(way)).exchanges.append(number)
    for transition in found.values():
        transition.exchanges.sort()
    return list(found.values())


def _by_engagement(exchanges: Iterable[Exchange]) -> dict[str, list[Exchange]]:
    """Return the exchanges with a response, by engagement, in the order of sending."""
    found: dict[str, list[Exchange]] = defaultdict(list)
    for exchange in exchanges:
        operation = exchange.operation_id
        if exchange.received is None or (operation not in _OPERATIONS and operation != "getEngagement"):
            continue
        identifier = _member(exchange, "id") if operation == "createEngagement" else exchange.request.identifier
        if identifier is not None:
            found[identifier].append(exchange)
    return {name: sorted(steps, key=lambda exchange: exchange.started_at) for name, steps in found.items()}


def _ways(steps: Sequence[Exchange]) -> Iterable[tuple[Way, int]]:
    """Yield the transitions of one engagement, with the numbers of the exchanges."""
    state: State | None = None
    waiting: tuple[State, Exchange] | None = None
    moving = [exchange for exchange in steps if exchange.operation_id in _MOVING]
    for exchange in steps:
        operation = exchange.operation_id
        if not exchange.accepted:
            continue
        if _overlaps(exchange, moving):
            state, waiting = None, None
            continue
        if operation == "getEngagement":
            state = _shown(exchange)
            if waiting is not None and state is not None:
                yield (waiting[0], _OPERATIONS[waiting[1].operation_id], state), waiting[1].number
            waiting = None
            continue
        before: State | None = "none" if operation == "createEngagement" else state
        state, waiting = ("removed" if operation == "deleteEngagement" else _shown(exchange)), None
        if before is None:
            continue
        if state is None:
            waiting = (before, exchange)
        else:
            yield (before, _OPERATIONS[operation], state), exchange.number


def _overlaps(exchange: Exchange, moving: Iterable[Exchange]) -> bool:
    """Whether a request that may change the state overlapped with the exchange, so that their order is unknown."""
    interval = Interval.of(exchange)
    return any(interval.overlaps(Interval.of(other)) for other in moving if other is not exchange)


def _shown(exchange: Exchange) -> State | None:
    """Return the status in a response, if it is one of the two."""
    match _member(exchange, "status"):
        case "active" | "archived" as status:
            return status
    return None


def _member(exchange: Exchange, name: str) -> str | None:
    return text_or_none(exchange.value_at(f"/data/{name}"))
