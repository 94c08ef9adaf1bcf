"""Judging what others may change meanwhile."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.oracle.judgement import NonConformity, Undecided
from conformance.oracle.steady import steadily


def wrong_unless_even(seen: int) -> None:
    """The law of these tests."""
    if seen % 2:
        raise NonConformity("it is odd", expected="even", actual=str(seen))


def judged(looks: Iterator[int], pauses: list[float]) -> int:
    """Judge successive looks; an organization is at rest where two looks are equal."""
    return steadily(lambda: next(looks), wrong_unless_even, at_rest=lambda seen: seen, sleep=pauses.append)


def test_what_is_right_is_looked_at_once() -> None:
    """No pause is spent on a service that is right."""
    pauses: list[float] = []

    assert judged(iter([2]), pauses) == 2
    assert pauses == []


@pytest.mark.parametrize("looks", [[1, 2], [1, 3, 2]])
def test_what_rights_itself_is_right(looks: list[int]) -> None:
    """A passing disturbance is nobody's fault."""
    assert judged(iter(looks), []) == 2


@pytest.mark.parametrize("looks", [[1, 1, 1], [3, 1, 1]])
def test_what_stays_wrong_at_rest_is_a_fault(looks: list[int]) -> None:
    """The second and the third look show the same fault and nothing moved."""
    with pytest.raises(NonConformity):
        judged(iter(looks), [])


def test_what_is_wrong_in_motion_is_undecided() -> None:
    """Others may be the cause."""
    with pytest.raises(Undecided, match="others were changing"):
        judged(iter([1, 1, 3]), [])
