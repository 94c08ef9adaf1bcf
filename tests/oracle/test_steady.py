"""Judging what others may change meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.oracle.steady import steadily, steadily_between
from conformance.wire.exchange import Exchange


def wrong_unless_even(seen: int) -> None:
    """The law of these tests."""
    if seen % 2:
        raise NonConformity("it is odd", expected="even", actual=str(seen))


def evidence(looks: Iterator[int], pauses: list[float]) -> int:
    """Judge successive looks; an organization is at rest where two looks are equal."""
    return steadily(lambda: next(looks), wrong_unless_even, at_rest=lambda seen: seen, sleep=pauses.append)


def test_what_is_right_is_looked_at_once() -> None:
    """No pause is spent on a service that is right."""
    pauses: list[float] = []

    assert evidence(iter([2]), pauses) == 2
    assert pauses == []


def test_pauses_grow() -> None:
    """What looks wrong is looked at twice more, the second time after longer."""
    pauses: list[float] = []

    assert evidence(iter([1, 1, 2]), pauses) == 2
    assert pauses == [0.4, 1.0]


@pytest.mark.parametrize("looks", [[1, 2], [1, 3, 2]])
def test_what_rights_itself_is_right(looks: list[int]) -> None:
    """A passing disturbance is nobody's fault."""
    assert evidence(iter(looks), []) == 2


@pytest.mark.parametrize("looks", [[1, 1, 1], [3, 1, 1]])
def test_what_stays_wrong_at_rest_is_a_fault(looks: list[int]) -> None:
    """The second and the third look show the same fault and nothing moved."""
    with pytest.raises(NonConformity):
        evidence(iter(looks), [])


def test_what_is_wrong_in_motion_is_undecided() -> None:
    """Others may be the cause."""
    with pytest.raises(CantTell, match="other users were changing"):
        evidence(iter([1, 1, 3]), [])


@pytest.mark.parametrize(
    ("at_rest", "actual"),
    [([1, 2], ["odd", "odd"]), ([1, 1], ["odd", "odder"]), ([1, 2], ["odd", "odder"])],
    ids=["same-fault-in-motion", "another-fault-at-rest", "another-fault-in-motion"],
)
def test_both_the_fault_and_the_rest_must_stay(
    exchange: Callable[..., Exchange], at_rest: list[int], actual: list[str]
) -> None:
    """The same fault while others were busy, or another fault each time: neither blames the service."""
    made = exchange(number=9)
    looks = iter([(0, "wrong"), *zip(at_rest, actual, strict=True)])

    def judge(look: tuple[int, str]) -> None:
        raise NonConformity("it is wrong", made, expected="right", actual=look[1])

    with pytest.raises(CantTell) as raised:
        steadily(lambda: next(looks), judge, at_rest=lambda look: look[0], sleep=lambda _: None)
    assert raised.value.exchanges == (made,)


def judged_between(looks: list[tuple[int, str, int]]) -> None:
    """Judge looks that change something themselves: what it was before, the fault, and what it was after."""
    left = iter(looks)

    def judge(look: tuple[int, str, int]) -> None:
        if look[1]:
            raise NonConformity("it is wrong", expected="right", actual=look[1])

    steadily_between(
        lambda: next(left), judge, still=lambda earlier, later: earlier[2] == later[0], sleep=lambda _: None
    )


@pytest.mark.parametrize("last", [(5, "odd", 7), (5, "odd", 5)], ids=["another-end", "the-same-end"])
def test_a_fault_that_comes_with_each_look_is_a_fault(last: tuple[int, str, int]) -> None:
    """The third look began where the second one ended: nobody but the looks themselves changed anything."""
    with pytest.raises(NonConformity):
        judged_between([(1, "odd", 3), (3, "odd", 5), last])


def test_a_change_between_two_looks_is_undecided() -> None:
    """Two looks that grew alike are no rest where something came between them."""
    with pytest.raises(CantTell, match="other users were changing"):
        judged_between([(1, "odd", 2), (2, "odd", 3), (4, "odd", 5)])


def test_what_was_before_the_second_look_does_not_matter() -> None:
    """Only the second and the third look must meet."""
    with pytest.raises(NonConformity):
        judged_between([(1, "odd", 2), (7, "odd", 8), (8, "odd", 9)])


@pytest.mark.parametrize(
    "looks", [[(1, "", 2)], [(1, "odd", 2), (2, "", 3)], [(1, "odd", 2), (2, "odd", 3), (3, "", 4)]]
)
def test_a_look_that_is_right_ends_it(looks: list[tuple[int, str, int]]) -> None:
    """No look is asked for after one that is right."""
    judged_between(looks)
