"""Periods in which the target refused connections, and the requests in flight when each began."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.wire.bounded_reading import CLOSED, CUT_SHORT
from conformance.wire.errors import BROKEN, REFUSED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.wire.exchange import Exchange

_BROKEN_OFF: Final = frozenset({CLOSED, CUT_SHORT, BROKEN})
_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class Loss:
    """A period in which the target refused connections after it had responded before.

    Attributes:
        under_way: The requests that were sent and broken off when it began, in the order of their numbers.
        alone: Whether no other request was in flight beside the one that was broken off.
        returned: The first response after that; None if the target did not come back.
    """

    under_way: tuple[Exchange, ...]
    alone: bool
    returned: Exchange | None


def losses(exchanges: Iterable[Exchange]) -> list[Loss]:
    """Return the periods in which the target was lost, in order.

    A request counts as in flight at the start of a period if its connection broke, and no request that was sent after
    it got a response before connections were refused: such a response shows that the service still ran.
    """
    ordered = sorted(exchanges, key=lambda exchange: (exchange.started_at, exchange.number))
    responded = [exchange for exchange in ordered if exchange.received is not None]
    found: list[Loss] = []
    for refusal in ordered:
        if not _is_refused(refusal) or not (responded and responded[0].ended_at <= refusal.started_at):
            continue
        returned = next((exchange for exchange in responded if exchange.started_at >= refusal.started_at), None)
        if not found or (found[-1].returned is not None and found[-1].returned.started_at < refusal.started_at):
            found.append(_loss(refusal, returned, ordered))
    return found


def is_broken_off(exchange: Exchange) -> bool:
    """Whether a request was sent, and its connection broke before the response was complete."""
    return exchange.was_sent and exchange.error in _BROKEN_OFF


def joined_names(exchanges: Sequence[Exchange]) -> str:
    """Return the names of several requests as one text; of many, the first ones."""
    named = [exchange.named for exchange in exchanges]
    more = [f"{len(named) - _NAMED} more"] if len(named) > _NAMED else []
    *some, last = [*named[:_NAMED], *more]
    return f"{', '.join(some)} and {last}" if some else last


def _loss(refusal: Exchange, returned: Exchange | None, ordered: Sequence[Exchange]) -> Loss:
    before = [exchange for exchange in ordered if exchange.started_at < refusal.started_at]
    broken = [exchange for exchange in before if is_broken_off(exchange)]
    last = max((exchange.started_at for exchange in before if exchange.received is not None), default=None)
    under_way = [exchange for exchange in broken if last is None or exchange.ended_at > last]
    alone = len(under_way) == 1 and not any(
        _overlap(under_way[0], other) for other in ordered if other is not under_way[0]
    )
    return Loss(tuple(sorted(under_way, key=lambda exchange: exchange.number)), alone, returned)


def _is_refused(exchange: Exchange) -> bool:
    return not exchange.was_sent and exchange.error == REFUSED


def _overlap(exchange: Exchange, other: Exchange) -> bool:
    """Whether two requests were in flight at the same time."""
    return other.was_sent and exchange.started_at < other.ended_at and other.started_at < exchange.ended_at
