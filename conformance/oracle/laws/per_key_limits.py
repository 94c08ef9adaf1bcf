"""Rate limits per key: whether requests with other keys reduce the limit of a key, by the run's responses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from conformance.oracle.laws.rate_limit_course import AnnouncedLimit
from conformance.wire.exchange import SUCCESSES, TOO_MANY_REQUESTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from conformance.wire.exchange import Exchange

_MARGIN: Final = 1.0
"""Seconds by which a Date is truncated."""

_TRIED: Final = 3
"""Requests with which the provisioner may have tried a key before it returned it."""

_OTHERS: Final = 5
"""Requests with other keys between two of one key that suffice to show that they do not reduce its limit."""


@dataclass(slots=True)
class LimitEvidence:
    """Evidence from responses to keys that only this run uses.

    Attributes:
        kept: Responses between which other keys sent requests, and whose Remaining counts only the key's own.
        doubtful: Responses whose Remaining counts more requests than the key sent.
        has_windows: Whether a window was still open at a second response to the same key.
    """

    kept: list[Exchange] = field(default_factory=list)
    doubtful: list[Exchange] = field(default_factory=list)
    has_windows: bool = False


def of_one_window(first: AnnouncedLimit, later: AnnouncedLimit) -> bool:
    """Whether the window of one response was still open at a later one, with the same limit.

    A sliding window has another end each time, and the first end is still in the future.
    """
    if first.limit != later.limit or first.reset is None or first.ahead is None or later.ahead is None:
        return False
    still = first.is_dated and later.is_dated and first.at - (later.at - later.ahead) > _MARGIN
    return first.reset == later.reset or still


def limit_evidence(exchanges: Iterable[Exchange], keys: Collection[str]) -> LimitEvidence:
    """Collect the evidence from all responses to some keys.

    Args:
        exchanges: The exchanges of the run.
        keys: The names of the keys that only this run uses, from their first request on.
    """
    sent = [AnnouncedLimit.by(exchange) for exchange in exchanges if exchange.was_sent]
    found = LimitEvidence()
    for name in keys:
        own = [reading for reading in sent if _name(reading) == name]
        if own:
            _compare_windows(found, own, [reading for reading in sent if _name(reading) not in {name, None}])
    return found


def _compare_windows(found: LimitEvidence, own: Sequence[AnnouncedLimit], others: Sequence[AnnouncedLimit]) -> None:
    """Compare the decrease of a key's Remaining, in total and within each window, with its requests by then."""
    windows: list[list[AnnouncedLimit]] = []
    tried: int | None = None
    for reading in sorted(own, key=lambda reading: reading.begin):
        if reading.ahead is None or reading.limit is None or reading.remaining is None or not _is_of_key(reading):
            continue
        unexplained = reading.limit - reading.remaining - sum(1 for other in own if other.begin < reading.end)
        tried = unexplained if tried is None else tried
        if unexplained > max(0, min(tried, _TRIED)):
            found.doubtful.append(reading.exchange)
        if windows and of_one_window(windows[-1][0], reading):
            windows[-1].append(reading)
        else:
            windows.append([reading])
    for first, *_, last in (window for window in windows if len(window) > 1):
        if first.end <= last.begin:
            found.has_windows = True
            _compare(found, first, last, own, others)


def _compare(
    found: LimitEvidence,
    first: AnnouncedLimit,
    last: AnnouncedLimit,
    own: Sequence[AnnouncedLimit],
    others: Sequence[AnnouncedLimit],
) -> None:
    taken = (first.remaining or 0) - (last.remaining or 0)
    if taken > sum(
        1 for reading in own if reading is not first and reading.begin < last.end and reading.end > first.begin
    ):
        found.doubtful.append(last.exchange)
    elif sum(1 for reading in others if reading.begin >= first.end and reading.end <= last.begin) >= _OTHERS:
        found.kept += [first.exchange, last.exchange]


def _is_of_key(reading: AnnouncedLimit) -> bool:
    """Whether a response describes the key's own limit: a key that is no longer valid has none."""
    received = reading.exchange.received
    return received is not None and (received.status in SUCCESSES or received.status == TOO_MANY_REQUESTS)


def _name(reading: AnnouncedLimit) -> str | None:
    """Return the name of the key of a request; None for an invalid key or none."""
    request = reading.exchange.request
    key = request.credential
    has_valid_key = key is None or not (key.invalid or key.authorization is None)
    return request.key_name if has_valid_key else None
