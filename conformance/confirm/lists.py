"""Repeated reads of lists that other users may have changed meanwhile."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from conformance.confirm.state import PAUSES, stable
from conformance.confirm.torn_lists import others_moved
from conformance.oracle.lists.listing import CantTellYet, contents
from conformance.oracle.outcomes import CantTell, CheckOutcome, NonConformity
from conformance.wire.exchange import OF_KEY

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.oracle.lists.listing import Snapshot
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_ROUNDS: Final = 2
_ROUNDS_BESIDE_OTHERS: Final = 5
_PAUSES_BESIDE_OTHERS: Final = (0.0, 0.1, 0.2, 0.2, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4)
_SHORT_PAUSES: Final = (0.0, 0.1, 0.2, 0.2, 0.4, 0.4)


def stable_list(
    run: Run, first: Snapshot, judge: Callable[[Snapshot], object], *, retake: Callable[[], Snapshot] | None = None
) -> None:
    """Judge a scenario's snapshot, which other users may have disturbed.

    A faulty snapshot is taken again, as with ``stable``. If something kept moving, that is repeated once, and a few
    times more while others are seen to change the list.

    Args:
        run: The run.
        first: The existing snapshot.
        judge: Raises ``NonConformity`` if a snapshot is wrong.
        retake: Takes a new snapshot; by default with the same requests, but a grown list may need other pages.

    Raises:
        NonConformity: The fault persisted while nothing moved.
        CantTell: Others kept changing the organization, or there was nothing to judge.
    """
    judge = _unless_shortened(judge)
    taken: list[Snapshot] = []

    def fresh() -> Snapshot:
        taken.append(_taken(run, first, retake))
        return taken[-1]

    snapshot = _untorn(run, first, judge, fresh)
    for done in range(1, _ROUNDS_BESIDE_OTHERS + 1):
        taken.clear()
        began = snapshot
        try:
            stable(run, snapshot, judge, fresh, same=contents)
        except CantTell as doubt:
            disturbed = len(taken) == len(PAUSES) or (taken and isinstance(doubt, CantTellYet))
            if not disturbed or done == _ROUNDS_BESIDE_OTHERS:
                raise
            snapshot = fresh()
            if done >= _ROUNDS and not others_moved(run, began[0], snapshot[0]):
                raise
            snapshot = _untorn(run, snapshot, judge, fresh)
        else:
            return


def list_within_bounds(
    run: Run,
    first: Snapshot,
    judge: Callable[[Snapshot], object],
    bounded: Callable[[Snapshot, Exchange], object],
    *,
    retake: Callable[[], Snapshot] | None = None,
) -> None:
    """Judge a scenario's snapshot; while other users change the list, only require that it is within bounds.

    A faulty snapshot is taken again, each time with its first request repeated after it. If these two responses show
    that others change the list, the snapshot only has to be within bounds; otherwise ``stable_list`` judges.

    Args:
        run: The run.
        first: The existing snapshot; its first response shows the list.
        judge: Raises ``NonConformity`` if a snapshot is wrong.
        bounded: The same for a snapshot beside others, with the response after it.
        retake: Takes a new snapshot; by default with the same requests.

    Raises:
        NonConformity: The fault persisted while nothing moved.
        CantTell: Others kept changing the list, or there was nothing to judge.
    """
    judge, bounded = _unless_shortened(judge), _unless_shortened(bounded)
    with suppress(NonConformity, CantTellYet):
        judge(first)
        return
    doubt: CantTell | None = None
    moved = 0
    for pause in _PAUSES_BESIDE_OTHERS:
        run.sleep(pause)
        with run.wire.undisturbed():
            snapshot, closing = _taken(run, first, retake), run.send(first[0].request)
        with suppress(NonConformity, CantTellYet):
            judge(snapshot)
            return
        if others_moved(run, snapshot[0], closing):
            moved += 1
            with suppress(NonConformity, CantTellYet):
                bounded(snapshot, closing)
                return
        elif doubt is None and (doubt := _doubt(run, snapshot, judge, retake)) is None:
            return
    if doubt is None and (doubt := _doubt(run, snapshot, judge, retake)) is None:
        return
    others = f": other users were changing the list in {moved} of {len(_PAUSES_BESIDE_OTHERS)} reads" if moved else ""
    raise CantTell(doubt.message + others, *doubt.exchanges)


def _unless_shortened(judge: Callable[..., object]) -> Callable[..., object]:
    """Return the judge of a list that may have been shortened between its pages, so that a page was refused."""

    def judged(snapshot: Snapshot, *beside: Exchange) -> None:
        try:
            judge(snapshot, *beside)
        except CantTell as doubt:
            first, *others = snapshot
            if first.accepted and any(page.refused and page.received_status not in OF_KEY for page in others):
                raise CantTellYet(doubt.message, *doubt.exchanges) from doubt
            raise

    return judged


def _taken(run: Run, first: Snapshot, retake: Callable[[], Snapshot] | None) -> Snapshot:
    """Take a new snapshot, by default with the same requests, while the run writes nothing else."""
    with run.wire.undisturbed():
        return tuple(run.send_all([exchange.request for exchange in first])) if retake is None else retake()


def _doubt(
    run: Run, snapshot: Snapshot, judge: Callable[[Snapshot], object], retake: Callable[[], Snapshot] | None
) -> CantTell | None:
    """Return why a snapshot cannot be judged although no other user seems active; None if nothing is wrong."""
    try:
        stable_list(run, snapshot, judge, retake=retake)
    except CantTell as doubt:
        return doubt
    return None


def _untorn(run: Run, first: Snapshot, judge: Callable[[Snapshot], object], fresh: Callable[[], Snapshot]) -> Snapshot:
    """Return a snapshot that others did not change while it was taken; the last one if all are torn."""
    snapshot = first
    for pause in _SHORT_PAUSES:
        try:
            judge(snapshot)
        except CantTellYet:
            run.sleep(pause)
            snapshot = fresh()
        except CheckOutcome:
            break
        else:
            break
    return snapshot
