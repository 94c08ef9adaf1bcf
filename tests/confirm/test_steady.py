"""Judgement of state that other users may change meanwhile."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.confirm.steady import steadily, steadily_between
from conformance.oracle.outcomes import CantTell, NonConformity
from tests.fakes.exchanges import make_exchange


def wrong_unless_even(seen: int) -> None:
    """Fail unless a number is even."""
    if seen % 2:
        raise NonConformity("it is odd", expected="even", actual=str(seen))


def evidence(snapshots: Iterator[int], pauses: list[float]) -> int:
    """Judge successive snapshots; the organization is at rest if two are equal."""
    return steadily(lambda: next(snapshots), wrong_unless_even, at_rest=lambda seen: seen, sleep=pauses.append)


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
        steadily(lambda: next(snapshots), judge, at_rest=lambda snapshot: snapshot[0], sleep=lambda _: None)
    assert raised.value.exchanges == (made,)


def judged_between(snapshots: list[tuple[int, str, int]]) -> None:
    """Judge snapshots that change something themselves: state before, failure, and state after."""
    left = iter(snapshots)

    def judge(snapshot: tuple[int, str, int]) -> None:
        if snapshot[1]:
            raise NonConformity("it is wrong", expected="right", actual=snapshot[1])

    steadily_between(
        lambda: next(left), judge, still=lambda earlier, later: earlier[2] == later[0], sleep=lambda _: None
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
