"""Whether the limit of a key falls by requests of other keys, as far as the answers of a run tell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from conformance.oracle.rate_limit_course import Told
from conformance.wire.exchange import SUCCESSES, TOO_MANY_REQUESTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from conformance.wire.exchange import Exchange

_MARGIN: Final = 1.0
"""Seconds that a Date is cut by."""

_OTHERS: Final = 5
"""Requests of other keys between two of one key, by which it is seen that they take nothing from it."""


@dataclass(slots=True)
class Signs:
    """What the answers to keys tell that only this run uses.

    Attributes:
        kept: Answers between which other keys sent requests, and that name no more taken than the key itself sent.
        doubtful: Answers that name more taken than that.
        has_windows: Whether a window was not over when a second answer to the same key came.
    """

    kept: list[Exchange] = field(default_factory=list)
    doubtful: list[Exchange] = field(default_factory=list)
    has_windows: bool = False


def of_one_window(first: Told, later: Told) -> bool:
    """Whether the window that an answer names was not over when a later one came; its limit is the same.

    Windows that slide name another end each time, and the first end is still to come.
    """
    if first.limit != later.limit or first.reset is None or first.ahead is None or later.ahead is None:
        return False
    still = first.is_dated and later.is_dated and first.at - (later.at - later.ahead) > _MARGIN
    return first.reset == later.reset or still


def signs(exchanges: Iterable[Exchange], keys: Collection[str]) -> Signs:
    """Look at all answers to some keys.

    Args:
        exchanges: The exchanges of the run.
        keys: The names of the keys that only this run uses, from their first request on.
    """
    sent = [Told.by(one) for one in exchanges if one.was_sent]
    found = Signs()
    for name in keys:
        own = [one for one in sent if _name(one) == name]
        if own:
            _look_at(found, own, [one for one in sent if _name(one) not in {name, None}])
    return found


def _look_at(found: Signs, own: Sequence[Told], others: Sequence[Told]) -> None:
    """Compare what a key has lost, from the beginning and within each window, with what it sent by then."""
    windows: list[list[Told]] = []
    for one in sorted(own, key=lambda told: told.begin):
        if one.ahead is None or one.limit is None or one.remaining is None or not _is_of_key(one):
            continue
        if one.limit - one.remaining > sum(1 for other in own if other.begin < one.end):
            found.doubtful.append(one.exchange)
        if windows and of_one_window(windows[-1][0], one):
            windows[-1].append(one)
        else:
            windows.append([one])
    for first, *_, last in (told for told in windows if len(told) > 1):
        if first.end <= last.begin:
            found.has_windows = True
            _compare(found, first, last, own, others)


def _compare(found: Signs, first: Told, last: Told, own: Sequence[Told], others: Sequence[Told]) -> None:
    taken = (first.remaining or 0) - (last.remaining or 0)
    if taken > sum(1 for one in own if one is not first and one.begin < last.end and one.end > first.begin):
        found.doubtful.append(last.exchange)
    elif sum(1 for one in others if one.begin >= first.end and one.end <= last.begin) >= _OTHERS:
        found.kept += [first.exchange, last.exchange]


def _is_of_key(told: Told) -> bool:
    """Whether an answer speaks of the key's own limit: a key that is not known any more has none."""
    received = told.exchange.received
    return received is not None and (received.status in SUCCESSES or received.status == TOO_MANY_REQUESTS)


def _name(told: Told) -> str | None:
    """The name of the key that a request showed; None for none."""
    credential = told.exchange.request.credential
    if credential is None:
        return ""
    return None if credential.invalid or credential.authorization is None else credential.name
