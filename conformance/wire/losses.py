"""Times in which the target refused connections, and the requests that were under way when each began."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from conformance.wire.bounded_reading import CLOSED, CUT_SHORT
from conformance.wire.errors import BROKEN, REFUSED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from conformance.wire.exchange import Exchange

_BROKEN_OFF: Final = frozenset({CLOSED, CUT_SHORT, BROKEN})
_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class Loss:
    """A time in which the target, which had answered before, refused connections.

    Attributes:
        under_way: The requests that were sent and broken off when it began, in the order of their numbers.
        alone: Whether nothing else was under way beside the one request that was broken off.
        refusal: The first request that no connection could be made for.
        returned: The first response after that; None if the target did not come back.
    """

    under_way: tuple[Exchange, ...]
    alone: bool
    refusal: Exchange
    returned: Exchange | None


def losses(exchanges: Iterable[Exchange]) -> list[Loss]:
    """The times in which the target was lost, in their order.

    A request counts as under way at the beginning of one if its connection broke, and no request that was sent after
    that was answered before connections were refused: such a response shows that the service still ran.
    """
    ordered = sorted(exchanges, key=lambda one: (one.started_at, one.number))
    responded = [one for one in ordered if one.received is not None]
    found: list[Loss] = []
    for refusal in ordered:
        if not _is_refused(refusal) or not (responded and end_of(responded[0]) <= refusal.started_at):
            continue
        returned = next((one for one in responded if one.started_at >= refusal.started_at), None)
        if not found or (found[-1].returned is not None and found[-1].returned.started_at < refusal.started_at):
            found.append(_loss(refusal, returned, ordered))
    return found


def is_broken_off(exchange: Exchange) -> bool:
    """Whether a request was sent, and its connection broke before the response was complete."""
    return exchange.was_sent and exchange.error in _BROKEN_OFF


def joined_names(exchanges: Sequence[Exchange]) -> str:
    """Several requests in one text; of many the first ones."""
    named = [one.named for one in exchanges]
    more = [f"{len(named) - _NAMED} more"] if len(named) > _NAMED else []
    *some, last = [*named[:_NAMED], *more]
    return f"{', '.join(some)} and {last}" if some else last


def _loss(refusal: Exchange, returned: Exchange | None, ordered: Sequence[Exchange]) -> Loss:
    broken = [one for one in ordered if is_broken_off(one) and one.started_at < refusal.started_at]
    lives = [one.started_at for one in ordered if one.received is not None and one.started_at < refusal.started_at]
    last = max(lives, default=None)
    under_way = [one for one in broken if last is None or end_of(one) > last]
    alone = len(under_way) == 1 and not any(_meet(under_way[0], one) for one in ordered if one is not under_way[0])
    return Loss(tuple(sorted(under_way, key=lambda one: one.number)), alone, refusal, returned)


def _is_refused(exchange: Exchange) -> bool:
    return not exchange.was_sent and exchange.error == REFUSED


def _meet(one: Exchange, other: Exchange) -> bool:
    """Whether two requests were under way at the same time."""
    return other.was_sent and one.started_at < end_of(other) and other.started_at < end_of(one)


def end_of(exchange: Exchange) -> datetime:
    """When an exchange was over, by the run's clock."""
    return exchange.started_at + timedelta(seconds=exchange.seconds)
