"""Judging what other users of an organization may change meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from conformance.oracle.outcomes import CantTell, NonConformity

if TYPE_CHECKING:
    from collections.abc import Callable

L = TypeVar("L")


class Disturbed(CantTell):
    """It looked wrong, but others were changing the organization: later looks may help."""


_PAUSES: Final = (0.4, 1.0)


def steadily(
    read: Callable[[], L], judge: Callable[[L], None], *, at_rest: Callable[[L], object], sleep: Callable[[float], None]
) -> L:
    """Judge a look at something that others may change too, as ``steadily_between`` does.

    Args:
        read: Sends what it takes and gives what was seen.
        judge: Raises ``NonConformity`` where that is wrong.
        at_rest: What of a look must be equal in two looks for the organization to have been at rest.
        sleep: Lets time pass.

    Returns:
        The look that was judged last.

    Raises:
        NonConformity: The fault stayed while nothing moved.
        Disturbed: It looked wrong, but the organization was moving.
    """
    return steadily_between(read, judge, still=lambda earlier, other: at_rest(earlier) == at_rest(other), sleep=sleep)


def steadily_between(
    read: Callable[[], L], judge: Callable[[L], None], *, still: Callable[[L, L], bool], sleep: Callable[[float], None]
) -> L:
    """Judge a look at something that others may change too, where a look changes something itself.

    What looks wrong gets two further looks, with pauses. It is a non-conformity only where the second and the
    third look show the same fault and nothing moved between them.

    Args:
        read: Sends what it takes and gives what was seen.
        judge: Raises ``NonConformity`` where that is wrong.
        still: Whether others changed nothing from the end of one look to the beginning of the next.
        sleep: Lets time pass.

    Returns:
        The look that was judged last.

    Raises:
        NonConformity: The fault stayed while nothing moved.
        Disturbed: It looked wrong, but the organization was moving.
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
    raise Disturbed(f"{fault.message}, but others were changing the organization", *fault.exchanges)


def _fault(judge: Callable[[L], None], seen: L) -> NonConformity | None:
    try:
        judge(seen)
    except NonConformity as fault:
        return fault
    return None
