"""Confirmation of findings about state that other users of an organization may change meanwhile."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeVar

from conformance.oracle.outcomes import CantTell, NonConformity

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.running.run import Run

S = TypeVar("S")


class _Disturbed(CantTell):
    """An apparent failure while other users were changing the organization: a later retry may help."""


PAUSES: Final = (0.4, 1.0)
"""The pauses in seconds before further snapshots, if all are wrong."""


def stable(
    run: Run,
    first: S,
    judge: Callable[[S], object],
    retake: Callable[[], S],
    *,
    same: Callable[[S], object],
    rounds: int = 1,
) -> S:
    """Judge a snapshot of state that other users may change too, as ``stable_between`` does.

    Args:
        run: The run.
        first: The existing snapshot.
        judge: Raises ``NonConformity`` if a snapshot is wrong.
        retake: Sends the requests and returns a new snapshot.
        same: Returns the part that two snapshots must share for the organization to have been at rest.
        rounds: Number of times to begin while others are changing the organization.

    Returns:
        The snapshot that was judged last.

    Raises:
        NonConformity: The failure stayed while nothing moved.
        CantTell: There was a failure, but other users were changing the organization.
    """

    def still(earlier: S, later: S) -> bool:
        return same(earlier) == same(later)

    for _ in range(rounds - 1):
        with suppress(_Disturbed):
            return stable_between(run, first, judge, retake, still=still)
        first = retake()
    return stable_between(run, first, judge, retake, still=still)


def stable_between(
    run: Run, first: S, judge: Callable[[S], object], retake: Callable[[], S], *, still: Callable[[S, S], bool]
) -> S:
    """Judge a snapshot of state that other users may change too, if taking it changes something itself.

    If a snapshot is wrong, two more are taken after pauses. It is a non-conformity only if the second and the third
    show the same failure and nothing moved between them.

    Args:
        run: The run.
        first: The existing snapshot.
        judge: Raises ``NonConformity`` if a snapshot is wrong.
        retake: Sends the requests and returns a new snapshot.
        still: Whether other users changed nothing from the end of one snapshot to the beginning of the next.

    Returns:
        The snapshot that was judged last.

    Raises:
        NonConformity: The failure stayed while nothing moved.
        CantTell: There was a failure, but other users were changing the organization.
    """
    seen = first
    if (fault := _fault(judge, seen)) is None:
        return seen
    for pause in PAUSES:
        run.sleep(pause)
        before, earlier = seen, fault
        seen = retake()
        if (fault := _fault(judge, seen)) is None:
            return seen
    if still(before, seen) and (earlier.message, earlier.actual) == (fault.message, fault.actual):
        raise fault
    raise _Disturbed(f"{fault.message}, but other users were changing the organization", *fault.exchanges)


def again(first: S, judge: Callable[[S], object], retake: Callable[[], S]) -> None:
    """Judge a result that others may have changed, and a second one if it looks wrong.

    Two faults in a row are no coincidence.

    Args:
        first: The existing result.
        judge: Raises ``NonConformity`` if a result is wrong.
        retake: Does the same again and returns the new result.

    Raises:
        NonConformity: The second result is wrong too.
        CantTell: The second result is right.
    """
    if (fault := _fault(judge, first)) is not None:
        judge(retake())
        raise CantTell(f"{fault.message}, but not a second time", *fault.exchanges) from fault


def _fault(judge: Callable[[S], object], seen: S) -> NonConformity | None:
    try:
        judge(seen)
    except NonConformity as fault:
        return fault
    return None
