"""How the rate-limit headers of one key move from answer to answer."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Self

from conformance.oracle import rate_limit_laws as headers
from conformance.oracle.outcomes import Inapplicable, NonConformity, evidence
from conformance.wire.exchange import SUCCESSES
from conformance.wire.rate_limit_headers import SUCCESSIVE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from conformance.wire.exchange import Exchange

_MARGIN: Final = 2.0
"""Seconds that a time told in whole seconds may be off, twice."""
_SMALL_STEP: Final = 5.0
_CITED: Final = 25


@dataclass(frozen=True, slots=True)
class Told:
    """What an exchange tells, read once.

    Attributes:
        exchange: The exchange.
        begin: When it was sent, in seconds of the epoch.
        end: When its answer came.
        is_dated: Whether the answer says what time it is of.
        reset: The text of its Reset.
        ahead: Seconds from the answer to that Reset; None where it is no time.
        at: The Reset by the service's clock; 0 where it is no time.
        limit: The limit; None where there is none.
        remaining: What remains; None where it tells none.
        counts: Whether it surely counts against the limit and tells what remains.
    """

    exchange: Exchange
    begin: float
    end: float
    is_dated: bool
    reset: str | None
    ahead: float | None
    at: float
    limit: int | None
    remaining: int | None
    counts: bool

    @classmethod
    def by(cls, exchange: Exchange) -> Self:
        """What an exchange tells."""
        begin, received = exchange.started_at.timestamp(), exchange.received
        reset, ahead, remaining = headers.reset(exchange), headers.ahead(exchange), headers.remaining(exchange)
        succeeded = exchange.judgeable and received is not None and received.status in SUCCESSES
        return cls(
            exchange=exchange,
            begin=begin,
            end=begin + exchange.seconds,
            is_dated=headers.date(exchange) is not None,
            reset=reset,
            ahead=ahead,
            at=0.0 if reset is None or ahead is None else float(reset),
            limit=headers.limit(exchange),
            remaining=remaining,
            counts=succeeded and exchange.request.is_proper and ahead is not None and remaining is not None,
        )


def expect_falling(exchanges: Iterable[Exchange]) -> None:
    """Of successive successes that name one Reset, the last one tells of fewer remaining requests than the first.

    Raises:
        NonConformity: What remains has not fallen.
        Inapplicable: No such answers are there, or the Reset of this service moves with every request.
    """
    found = [window for key in _by_key(exchanges).values() for window in _windows(key)]
    if not found:
        raise Inapplicable(f"There were no {SUCCESSIVE} successive successes that name one Reset far enough ahead")
    evidence(*[window[-1].exchange for window in found[:_CITED]])
    for window in found:
        first, last = (window[place].remaining for place in (0, -1))
        if first is not None and last is not None and last >= first:
            raise NonConformity(
                f"{headers.REMAINING} has not fallen over {SUCCESSIVE} successive requests of one window",
                *[reading.exchange for reading in window],
                expected=f"less than {first} after {SUCCESSIVE - 1} more requests",
                actual=", ".join(str(reading.remaining) for reading in window),
            )


def _by_key(exchanges: Iterable[Exchange]) -> dict[str, list[Told]]:
    """What the exchanges of each key with the interface tell, in the order in which they were sent."""
    keys: dict[str, list[Told]] = {}
    for exchange in exchanges:
        credential = exchange.request.credential
        if exchange.request.is_proper and (credential is None or credential.authorization is not None):
            keys.setdefault(credential.name if credential else "", []).append(Told.by(exchange))
    return {name: sorted(found, key=lambda reading: reading.begin) for name, found in keys.items()}


def _courses(key: Sequence[Told]) -> Iterator[list[Told]]:
    """Successes of one key that came strictly one after the other and name one Reset; none if its windows slide."""
    if _slides(key):
        return
    course: list[Told] = []
    busy_until = 0.0
    for reading in key:
        counts = reading.counts and reading.begin >= busy_until
        if course and not (counts and reading.reset == course[-1].reset):
            yield course
            course = []
        if counts:
            course.append(reading)
        busy_until = max(busy_until, reading.end)
    yield course


def _windows(key: Sequence[Told]) -> Iterator[Sequence[Told]]:
    """Every so many successive exchanges of one limit, if their Reset is not due at once as that of a bucket is."""
    named = {reading.reset: reading.begin for reading in key if reading.ahead is not None}
    for course in _courses(key):
        for start in range(len(course) - SUCCESSIVE + 1):
            window = course[start : start + SUCCESSIVE]
            if _surely_ahead(window[-1], named) > _MARGIN and len({reading.limit for reading in window}) == 1:
                yield window


def _surely_ahead(reading: Told, named: Mapping[str | None, float]) -> float:
    """Seconds that the Reset of an answer lies ahead at least.

    Args:
        one: The answer.
        named: When each Reset was named last, by the run's clock, which alone does not tell the service's time.
    """
    return (reading.ahead or 0.0) if reading.is_dated else named[reading.reset] - reading.end


def _slides(key: Sequence[Told]) -> bool:
    """Whether a Reset is followed by another one before its time has come; undated answers tell that by small steps."""
    readings = [reading for reading in key if reading.exchange.judgeable and reading.ahead is not None]
    return any(_moves(reading, other) for reading, other in pairwise(readings) if reading.reset != other.reset)


def _moves(reading: Told, other: Told) -> bool:
    if not (reading.is_dated and other.is_dated):
        return abs(other.at - reading.at) < _SMALL_STEP
    return reading.at - (other.at - (other.ahead or 0.0)) > _MARGIN
