"""How the rate-limit headers of one key move from answer to answer."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from conformance.oracle import rate_limit_laws as headers
from conformance.oracle.judgement import Inapplicable, NonConformity, judged
from conformance.wire.exchange import SUCCESSES
from conformance.wire.ratelimits import SUCCESSIVE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from conformance.wire.exchange import Exchange

_MARGIN: Final = 2.0
"""Seconds that a time told in whole seconds may be off, twice."""
_SMALL_STEP: Final = 5.0
_CITED: Final = 25


def expect_falling(exchanges: Iterable[Exchange]) -> None:
    """Of successive successes that name one Reset, the last one tells of fewer remaining requests than the first.

    Raises:
        NonConformity: What remains has not fallen.
        Inapplicable: No such answers are there, or the Reset of this service moves with every request.
    """
    found = [window for key in _by_key(exchanges).values() for window in _windows(key)]
    if not found:
        raise Inapplicable(f"There were no {SUCCESSIVE} successive successes that name one Reset far enough ahead")
    judged(*[window[-1] for window in found[:_CITED]])
    for window in found:
        first, last = (headers.remaining(window[place]) for place in (0, -1))
        if first is not None and last is not None and last >= first:
            told = ", ".join(str(headers.remaining(exchange)) for exchange in window)
            raise NonConformity(
                f"{headers.REMAINING} has not fallen over {SUCCESSIVE} successive requests of one window",
                *window,
                expected=f"less than {first} after {SUCCESSIVE - 1} more requests",
                actual=told,
            )


def has_window(exchanges: Iterable[Exchange]) -> bool:
    """Whether there are enough successive successes to judge by."""
    return any(True for key in _by_key(exchanges).values() for _ in _windows(key))


def _by_key(exchanges: Iterable[Exchange]) -> dict[str, list[Exchange]]:
    """The exchanges of each key with the interface, in the order in which they were sent."""
    keys: dict[str, list[Exchange]] = {}
    for exchange in exchanges:
        credential = exchange.call.credential
        if exchange.call.is_proper and (credential is None or credential.authorization is not None):
            keys.setdefault(credential.name if credential else "", []).append(exchange)
    return {name: sorted(found, key=_begin) for name, found in keys.items()}


def _courses(exchanges: Sequence[Exchange]) -> Iterator[list[Exchange]]:
    """Successes of one key that came strictly one after the other and name one Reset; none if its windows slide."""
    if _slides(exchanges):
        return
    course: list[Exchange] = []
    busy_until = 0.0
    for exchange in exchanges:
        alone = _begin(exchange) >= busy_until
        counts = alone and _counts(exchange)
        if course and not (counts and headers.reset(exchange) == headers.reset(course[-1])):
            yield course
            course = []
        if counts:
            course.append(exchange)
        busy_until = max(busy_until, _end(exchange))
    yield course


def _windows(exchanges: Sequence[Exchange]) -> Iterator[Sequence[Exchange]]:
    """Every so many successive exchanges of one limit, if their Reset is not due at once as that of a bucket is."""
    named = {headers.reset(exchange): _begin(exchange) for exchange in exchanges if headers.ahead(exchange) is not None}
    for course in _courses(exchanges):
        for start in range(len(course) - SUCCESSIVE + 1):
            window = course[start : start + SUCCESSIVE]
            if _surely_ahead(window[-1], named) > _MARGIN and len({headers.limit(one) for one in window}) == 1:
                yield window


def _surely_ahead(exchange: Exchange, named: Mapping[str | None, float]) -> float:
    """Seconds that the Reset of an answer lies ahead at least.

    Args:
        exchange: The exchange.
        named: When each Reset was named last, by the run's clock, which alone does not tell the service's time.
    """
    if headers.date(exchange) is not None:
        return _ahead(exchange)
    return named[headers.reset(exchange)] - _end(exchange)


def _slides(exchanges: Sequence[Exchange]) -> bool:
    """Whether a Reset is followed by another one before its time has come; undated answers tell that by small steps."""
    told = [exchange for exchange in exchanges if exchange.judgeable and headers.ahead(exchange) is not None]
    return any(_moves(one, other) for one, other in pairwise(told) if headers.reset(one) != headers.reset(other))


def _moves(one: Exchange, other: Exchange) -> bool:
    if headers.date(one) is None or headers.date(other) is None:
        return abs(_reset(other) - _reset(one)) < _SMALL_STEP
    return _reset(one) - headers.service_time(other) > _MARGIN


def _reset(exchange: Exchange) -> float:
    return _ahead(exchange) + headers.service_time(exchange)


def _ahead(exchange: Exchange) -> float:
    return headers.ahead(exchange) or 0.0


def _counts(exchange: Exchange) -> bool:
    """Whether it surely counts against the limit and tells what remains."""
    received = exchange.received
    return (
        exchange.judgeable
        and exchange.call.is_proper
        and received is not None
        and received.status in SUCCESSES
        and headers.remaining(exchange) is not None
        and headers.ahead(exchange) is not None
    )


def _begin(exchange: Exchange) -> float:
    return exchange.started_at.timestamp()


def _end(exchange: Exchange) -> float:
    return _begin(exchange) + exchange.seconds
