"""Judgement of state that other users of an organization may change meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from conformance.oracle.outcomes import CantTell, NonConformity

if TYPE_CHECKING:
    from collections.abc import Callable

L = TypeVar("L")


class Disturbed(CantTell):
    """An apparent failure while other users were changing the organization: a later retry may help."""


_PAUSES: Final = (0.4, 1.0)


def steadily(
    read: Callable[[], L], judge: Callable[[L], None], *, at_rest: Callable[[L], object], sleep: Callable[[float], None]
) -> L:
    """Judge a snapshot of state that other users may change too, as ``steadily_between`` does.

    Args:
        read: Sends the requests and returns the snapshot.
        judge: Raises ``NonConformity`` if the snapshot is wrong.
        at_rest: Returns the part that two snapshots must share for the organization to have been at rest.
        sleep: Lets time pass.

    Returns:
        The snapshot that was judged last.

    Raises:
        NonConformity: The failure stayed while nothing moved.
        Disturbed: There was a failure, but other users were changing the organization.
    """
    return steadily_between(read, judge, still=lambda earlier, other: at_rest(earlier) == at_rest(other), sleep=sleep)


def steadily_between(
    read: Callable[[], L], judge: Callable[[L], None], *, still: Callable[[L, L], bool], sleep: Callable[[float], None]
) -> L:
    """Judge a snapshot of state that other users may change too, if taking it changes something itself.

    If a snapshot is wrong, two more are taken after pauses. It is a non-conformity only if the second and the third
    show the same failure and nothing moved between them.

    Args:
        read: Sends the requests and returns the snapshot.
        judge: Raises ``NonConformity`` if the snapshot is wrong.
        still: Whether other users changed nothing from the end of one snapshot to the beginning of the next.
        sleep: Lets time pass.

    Returns:
        The snapshot that was judged last.

    Raises:
        NonConformity: The failure stayed while nothing moved.
        Disturbed: There was a failure, but other users were changing the organization.
    """
    seen, fault = read(), None
    if (fault := _fault(judge, seen)) is None:
        return seen
    for pause in _PAUSES:
        sleep(pause)
        before, earlier = seen, fault
        seen = read()
        if (fault := _fault(judge, seen)) is None:
            return seen
    if still(before, seen) and (earlier.message, earlier.actual) == (fault.message, fault.actual):
        raise fault
    raise Disturbed(f"{fault.message}, but other users were changing the organization", *fault.exchanges)


def _fault(judge: Callable[[L], None], seen: L) -> NonConformity | None:
    try:
        judge(seen)
    except NonConformity as fault:
        return fault
    return None
