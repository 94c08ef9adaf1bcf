"""Confirmation of findings about state that other users may change meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from conformance import confirm
from conformance.oracle.outcomes import CantTell, NonConformity
from tests.fakes.exchanges import make_exchange

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.running.run import Run


def pausing(pauses: list[float]) -> Run:
    """Return a run that only notes its pauses."""
    return cast("Run", SimpleNamespace(sleep=pauses.append))


def wrong_unless_even(seen: int) -> None:
    """Fail unless a number is even."""
    if seen % 2:
        raise NonConformity("it is odd", expected="even", actual=str(seen))


def evidence(snapshots: Iterator[int], pauses: list[float]) -> int:
    """Judge successive snapshots; the organization is at rest if two are equal."""
    return confirm.stable(
        pausing(pauses), next(snapshots), wrong_unless_even, lambda: next(snapshots), same=lambda seen: seen
    )


def test_a_correct_snapshot_is_taken_once() -> None:
    """A correct service costs no pause."""
    pauses: list[float] = []

    assert evidence(iter([2]), pauses) == 2
    assert pauses == []


def test_pauses_grow() -> None:
    """A wrong snapshot is taken twice more, the second time after a longer pause."""
    pauses: list[float] = []

    assert evidence(iter([1, 1, 2]), pauses) == 2
    assert pauses == [0.4, 1.0]


@pytest.mark.parametrize("snapshots", [[1, 2], [1, 3, 2]])
def test_a_passing_disturbance_is_no_failure(snapshots: list[int]) -> None:
    """A later correct snapshot passes."""
    assert evidence(iter(snapshots), []) == 2


@pytest.mark.parametrize("snapshots", [[1, 1, 1], [3, 1, 1]])
def test_a_constant_failure_at_rest_is_a_failure(snapshots: list[int]) -> None:
    """The second and the third snapshot fail alike and nothing moved."""
    with pytest.raises(NonConformity):
        evidence(iter(snapshots), [])


def test_a_failure_in_motion_is_undecided() -> None:
    """Other users may be the cause."""
    with pytest.raises(CantTell, match="other users were changing"):
        evidence(iter([1, 1, 3]), [])


@pytest.mark.parametrize(
    ("at_rest", "actual"),
    [([1, 2], ["odd", "odd"]), ([1, 1], ["odd", "odder"]), ([1, 2], ["odd", "odder"])],
    ids=["same-fault-in-motion", "another-fault-at-rest", "another-fault-in-motion"],
)
def test_failure_and_rest_must_both_be_constant(at_rest: list[int], actual: list[str]) -> None:
    """The same failure in motion, or different failures at rest, are undecided."""
    made = make_exchange(number=9)
    snapshots = iter([(0, "wrong"), *zip(at_rest, actual, strict=True)])

    def judge(snapshot: tuple[int, str]) -> None:
        raise NonConformity("it is wrong", made, expected="right", actual=snapshot[1])

    with pytest.raises(CantTell) as raised:
        confirm.stable(pausing([]), next(snapshots), judge, lambda: next(snapshots), same=lambda snapshot: snapshot[0])
    assert raised.value.exchanges == (made,)


def judged_between(snapshots: list[tuple[int, str, int]]) -> None:
    """Judge snapshots that change something themselves: state before, failure, and state after."""
    left = iter(snapshots)

    def judge(snapshot: tuple[int, str, int]) -> None:
        if snapshot[1]:
            raise NonConformity("it is wrong", expected="right", actual=snapshot[1])

    confirm.stable_between(
        pausing([]), next(left), judge, lambda: next(left), still=lambda earlier, later: earlier[2] == later[0]
    )


@pytest.mark.parametrize("last", [(5, "odd", 7), (5, "odd", 5)], ids=["another-end", "the-same-end"])
def test_a_failure_with_each_snapshot_is_a_failure(last: tuple[int, str, int]) -> None:
    """The third snapshot began as the second ended: only the snapshots changed something."""
    with pytest.raises(NonConformity):
        judged_between([(1, "odd", 3), (3, "odd", 5), last])


def test_a_change_between_two_snapshots_is_undecided() -> None:
    """Equal differences are no rest if something changed between the snapshots."""
    with pytest.raises(CantTell, match="other users were changing"):
        judged_between([(1, "odd", 2), (2, "odd", 3), (4, "odd", 5)])


def test_the_state_before_the_second_snapshot_does_not_matter() -> None:
    """Only the second and the third snapshot must match."""
    with pytest.raises(NonConformity):
        judged_between([(1, "odd", 2), (7, "odd", 8), (8, "odd", 9)])


@pytest.mark.parametrize(
    "snapshots", [[(1, "", 2)], [(1, "odd", 2), (2, "", 3)], [(1, "odd", 2), (2, "odd", 3), (3, "", 4)]]
)
def test_a_correct_snapshot_ends_the_judgement(snapshots: list[tuple[int, str, int]]) -> None:
    """No snapshot follows a correct one."""
    judged_between(snapshots)


@pytest.mark.parametrize(("last", "rounds"), [(4, 2), (3, 1)])
def test_a_disturbed_judgement_begins_again(last: int, rounds: int) -> None:
    """In a further round, a new snapshot comes first; the last round's disturbance is undecided."""
    snapshots = iter([1, 3, 5, last])

    def look() -> int:
        return confirm.stable(
            pausing([]), 1, wrong_unless_even, lambda: next(snapshots), same=lambda _: object(), rounds=rounds
        )

    if rounds == 1:
        with pytest.raises(CantTell, match="other users were changing"):
            look()
        assert list(snapshots) == [5, last]
    else:
        assert look() == last


def test_a_second_fault_is_no_coincidence() -> None:
    """A wrong result counts if a second one is wrong, too; if not, it is undecided, and a right one needs no other."""
    with pytest.raises(NonConformity):
        confirm.again(1, wrong_unless_even, lambda: 3)
    with pytest.raises(CantTell, match="it is odd, but not a second time"):
        confirm.again(1, wrong_unless_even, lambda: 2)
    confirm.again(2, wrong_unless_even, lambda: pytest.fail("a second result"))
