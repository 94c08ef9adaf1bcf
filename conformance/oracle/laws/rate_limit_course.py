"""Course of the rate-limit headers of one key from response to response."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Self

from conformance.oracle.laws import rate_limits
from conformance.oracle.outcomes import Inapplicable, NonConformity, evidence
from conformance.wire.rate_limit_headers import SUCCESSIVE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from conformance.wire.exchange import Exchange

_MARGIN: Final = 2.0
"""Seconds by which a time in whole seconds may be off, twice."""
_SMALL_STEP: Final = 5.0
_CITED: Final = 25


@dataclass(frozen=True, slots=True)
class AnnouncedLimit:
    """Rate-limit headers of an exchange, parsed once.

    Attributes:
        exchange: The exchange.
        begin: When it was sent, in seconds of the epoch.
        end: When its response came.
        is_dated: Whether the response has a Date.
        reset: The text of its Reset.
        ahead: Seconds from the response to that Reset; None if it is no time.
        at: The Reset by the service's clock; 0 if it is no time.
        limit: The limit; None if there is none.
        remaining: The Remaining; None if there is none.
        counts: Whether it counts against the limit for certain and has a Remaining.
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
        """Return the parsed headers of an exchange."""
        begin = exchange.started_at.timestamp()
        reset, ahead, remaining = (
            rate_limits.reset(exchange),
            rate_limits.ahead(exchange),
            rate_limits.remaining(exchange),
        )
        succeeded = exchange.judgeable and exchange.accepted
        return cls(
            exchange=exchange,
            begin=begin,
            end=begin + exchange.seconds,
            is_dated=rate_limits.date(exchange) is not None,
            reset=reset,
            ahead=ahead,
            at=0.0 if reset is None or ahead is None else float(reset),
            limit=rate_limits.limit(exchange),
            remaining=remaining,
            counts=succeeded and exchange.request.is_proper and ahead is not None and remaining is not None,
        )


def expect_falling(exchanges: Iterable[Exchange]) -> None:
    """Require that Remaining falls between the first and the last of successive successes with one Reset.

    Raises:
        NonConformity: Remaining has not fallen.
        Inapplicable: There are no such responses, or this service's Reset changes with every request.
    """
    found = [window for key in _by_key(exchanges).values() for window in _windows(key)]
    if not found:
        raise Inapplicable(f"there were no {SUCCESSIVE} successive successes with one Reset far enough ahead")
    evidence(*[window[-1].exchange for window in found[:_CITED]])
    for window in found:
        first, last = (window[place].remaining for place in (0, -1))
        if first is not None and last is not None and last >= first:
            raise NonConformity(
                f"{rate_limits.REMAINING} has not fallen over {SUCCESSIVE} successive requests of one window",
                *[reading.exchange for reading in window],
                expected=f"less than {first} after {SUCCESSIVE - 1} more requests",
                actual=", ".join(str(reading.remaining) for reading in window),
            )


def _by_key(exchanges: Iterable[Exchange]) -> dict[str, list[AnnouncedLimit]]:
    """Return the parsed headers of each key's requests, in the order in which they were sent.

    What is no key, or a key under another scheme, may count against another limit.
    """
    keys: dict[str, list[AnnouncedLimit]] = {}
    for exchange in exchanges:
        credential = exchange.request.credential
        if exchange.request.is_proper and (credential is None or not credential.invalid):
            keys.setdefault(exchange.request.key_name, []).append(AnnouncedLimit.by(exchange))
    return {name: sorted(found, key=lambda reading: reading.begin) for name, found in keys.items()}


def _courses(key: Sequence[AnnouncedLimit]) -> Iterator[list[AnnouncedLimit]]:
    """Yield successes of one key with one Reset that came strictly one after the other; none if its windows slide."""
    if _slides(key):
        return
    course: list[AnnouncedLimit] = []
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


def _windows(key: Sequence[AnnouncedLimit]) -> Iterator[Sequence[AnnouncedLimit]]:
    """Yield every series of successive exchanges of one limit, unless their Reset is due at once as a bucket's is."""
    named = {reading.reset: reading.begin for reading in key if reading.ahead is not None}
    for course in _courses(key):
        for start in range(len(course) - SUCCESSIVE + 1):
            window = course[start : start + SUCCESSIVE]
            if _least_ahead(window[-1], named) > _MARGIN and len({reading.limit for reading in window}) == 1:
                yield window


def _least_ahead(reading: AnnouncedLimit, named: Mapping[str | None, float]) -> float:
    """Return the least number of seconds that the Reset of a response is ahead.

    Args:
        reading: The parsed headers.
        named: When each Reset was named last, by the run's clock, which alone does not give the service's time.
    """
    return (reading.ahead or 0.0) if reading.is_dated else named[reading.reset] - reading.end


def _slides(key: Sequence[AnnouncedLimit]) -> bool:
    """Whether a new Reset replaced one before its time; undated responses show that by small steps."""
    readings = [reading for reading in key if reading.exchange.judgeable and reading.ahead is not None]
    return any(_moves(reading, other) for reading, other in pairwise(readings) if reading.reset != other.reset)


def _moves(reading: AnnouncedLimit, other: AnnouncedLimit) -> bool:
    if not (reading.is_dated and other.is_dated):
        return abs(other.at - reading.at) < _SMALL_STEP
    return reading.at - (other.at - (other.ahead or 0.0)) > _MARGIN
