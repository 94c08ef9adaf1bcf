"""Repeated reads of lists that other users may have changed meanwhile."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeVar

from conformance.checks.torn_lists import others_moved
from conformance.oracle.listing import CantTellYet, contents
from conformance.oracle.outcomes import CantTell, CheckOutcome, NonConformity
from conformance.oracle.steady import steadily

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

Look = tuple["Exchange", ...]
J = TypeVar("J")

_LOOKS: Final = 3
_ROUNDS: Final = 2
_ROUNDS_BESIDE_OTHERS: Final = 5
_PAUSES_BESIDE_OTHERS: Final = (0.0, 0.1, 0.2, 0.2, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4)
_SHORT_PAUSES: Final = (0.0, 0.1, 0.2, 0.2, 0.4, 0.4)


class Looks:
    """An existing snapshot, and then new ones, while the run writes nothing else.

    Attributes:
        taken: Number of snapshots taken.
    """

    def __init__(self, run: Run, first: Look, anew: Callable[[], Look]) -> None:
        self._run = run
        self._first = first
        self._anew = anew
        self.taken = 0

    def __call__(self) -> Look:
        """Return the first snapshot, then a new one each time."""
        self.taken += 1
        return self._first if self.taken == 1 else self.anew()

    def anew(self) -> Look:
        """Take a new snapshot."""
        with self._run.wire.undisturbed():
            return self._anew()


def again(run: Run, look: Look) -> Look:
    """Send the same requests again, while the run writes nothing else."""
    with run.wire.undisturbed():
        return tuple(run.send_all([exchange.request for exchange in look]))


def expect_steadily(
    run: Run, first: Look, judge: Callable[[Look], object], *, anew: Callable[[], Look] | None = None
) -> None:
    """Judge a scenario's snapshot, which other users may have disturbed.

    A faulty snapshot is taken again, as with ``steadily``. If something kept moving, that is repeated once, and a few
    times more while others are seen to change the list.

    Args:
        run: The run.
        first: The existing snapshot.
        judge: Raises ``NonConformity`` if a snapshot is wrong.
        anew: Takes a new snapshot; by default with the same requests, but a grown list may need other pages.

    Raises:
        NonConformity: The fault persisted while nothing moved.
        CantTell: Others kept changing the organization, or there was nothing to judge.
    """
    fresh = anew or (lambda: again(run, first))
    looks = Looks(run, first, fresh)
    look = _of_one_piece(run, first, judge, looks.anew)
    for done in range(1, _ROUNDS_BESIDE_OTHERS + 1):
        looks, began = Looks(run, look, fresh), look
        try:
            steadily(looks, lambda seen: _judge(judge, seen), at_rest=contents, sleep=run.sleep)
        except CantTell as doubt:
            disturbed = looks.taken == _LOOKS or (looks.taken > 1 and isinstance(doubt, CantTellYet))
            if not disturbed or done == _ROUNDS_BESIDE_OTHERS:
                raise
            look = looks.anew()
            if done >= _ROUNDS and not others_moved(run, began[0], look[0]):
                raise
            look = _of_one_piece(run, look, judge, looks.anew)
        else:
            return


def expect_beside_others(
    run: Run,
    first: Look,
    judge: Callable[[Look], object],
    bounded: Callable[[Look, Exchange], object],
    *,
    anew: Callable[[], Look] | None = None,
) -> None:
    """Judge a scenario's snapshot, which others may have disturbed, and accept it by bounds while they are at work.

    A faulty snapshot is taken again, each time with its first request repeated after it. If these two responses show
    that others change the list, the snapshot only has to be within bounds; otherwise ``expect_steadily`` judges.

    Args:
        run: The run.
        first: The existing snapshot; its first response shows the list.
        judge: Raises ``NonConformity`` if a snapshot is wrong.
        bounded: The same for a snapshot beside others, with the response after it.
        anew: Takes a new snapshot; by default with the same requests.

    Raises:
        NonConformity: The fault persisted while nothing moved.
        CantTell: Others kept changing the list, or there was nothing to judge.
    """
    with suppress(NonConformity, CantTellYet):
        judge(first)
        return
    looks, moved = Looks(run, first, lambda: _bracketed(run, first, anew)), 0
    doubt: CantTell | None = None
    for pause in _PAUSES_BESIDE_OTHERS:
        run.sleep(pause)
        *seen, closing = looks.anew()
        look = tuple(seen)
        with suppress(NonConformity, CantTellYet):
            judge(look)
            return
        if others_moved(run, look[0], closing):
            moved += 1
            with suppress(NonConformity, CantTellYet):
                bounded(look, closing)
                return
        elif doubt is None and (doubt := _doubt(run, look, judge, anew)) is None:
            return
    if doubt is None and (doubt := _doubt(run, look, judge, anew)) is None:
        return
    others = f": other users were changing the list in {moved} of {len(_PAUSES_BESIDE_OTHERS)} reads" if moved else ""
    raise CantTell(doubt.message + others, *doubt.exchanges)


def _bracketed(run: Run, first: Look, anew: Callable[[], Look] | None) -> Look:
    return (*(again(run, first) if anew is None else anew()), run.send(first[0].request))


def _doubt(run: Run, look: Look, judge: Callable[[Look], object], anew: Callable[[], Look] | None) -> CantTell | None:
    """Return why a snapshot cannot be judged although others seem to be at rest; None if nothing is wrong."""
    try:
        expect_steadily(run, look, judge, anew=anew)
    except CantTell as doubt:
        return doubt
    return None


def expect_twice(look: J, judge: Callable[[J], object], anew: Callable[[], J]) -> None:
    """Judge a result that others may have changed, and a second one if it looks wrong.

    Two faults in a row are no coincidence.

    Args:
        look: The result.
        judge: Raises ``NonConformity`` if it is wrong.
        anew: Does the same again and returns the new result.

    Raises:
        NonConformity: The second result is wrong too.
        CantTell: The second result is right.
    """
    try:
        judge(look)
    except NonConformity as first:
        judge(anew())
        raise CantTell(f"{first.message}, but not a second time", *first.exchanges) from first


def expect_elsewhere(run: Run, first: Look, judge: Callable[[Look], object], why: str) -> None:
    """Expect that the property of another check holds in this snapshot, or in one of a few others.

    Raises:
        CantTell: It does not hold, so that there is nothing to judge.
    """
    doubt = CantTell(why, *first)
    look = first
    for pause in _SHORT_PAUSES:
        try:
            judge(look)
        except (NonConformity, CantTellYet) as fault:
            doubt = CantTell(f"{why}: {fault.message}", *fault.exchanges)
            run.sleep(pause)
            look = again(run, look)
        else:
            return
    raise doubt


def _of_one_piece(run: Run, first: Look, judge: Callable[[Look], object], fresh: Callable[[], Look]) -> Look:
    """Return a snapshot that others did not change while it was taken; the last one if all are torn."""
    look = first
    for pause in _SHORT_PAUSES:
        try:
            judge(look)
        except CantTellYet:
            run.sleep(pause)
            look = fresh()
        except CheckOutcome:
            break
        else:
            break
    return look


def _judge(judge: Callable[[Look], object], look: Look) -> None:
    judge(look)
