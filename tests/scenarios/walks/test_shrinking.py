"""Search for the shortest failing sequence, within a budget."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from conformance.scenarios.walks.shrinking import shrink

Steps = Sequence[int]


class Trial:
    """Attempts of sequences: one fails if it holds all that is needed, and its length is the failure."""

    def __init__(self, *needed: int) -> None:
        self.needed = set(needed)
        self.tried: list[list[int]] = []

    def __call__(self, steps: Steps) -> str | None:
        """Return the failure of a sequence."""
        self.tried.append(list(steps))
        return f"of {len(steps)}" if self.needed <= set(steps) else None

    @property
    def cost(self) -> int:
        """The cost of all attempts."""
        return sum(len(steps) for steps in self.tried)


@pytest.mark.parametrize(
    ("length", "needed"),
    [
        (1, (0,)),
        (2, (1,)),
        (3, (1,)),
        (8, (0,)),
        (8, (7,)),
        (9, (4,)),
        (12, (0, 11)),
        (13, (3, 4, 9)),
        (5, (0, 1, 2, 3, 4)),
    ],
)
def test_unneeded_steps_are_removed(length: int, needed: tuple[int, ...]) -> None:
    """The result is minimal, with the failure of its last attempt."""
    trial = Trial(*needed)
    best, found = shrink(range(length), "at first", [], trial, 10_000)

    assert list(best) == list(needed)
    assert found == (f"of {len(needed)}" if len(needed) < length else "at first")


def test_halves_are_tried_first() -> None:
    """Smaller parts follow, each as often as it helps; an empty sequence is never tried."""
    trial = Trial(5)
    shrink(range(8), "at first", [], trial, 10_000)

    assert trial.tried == [[4, 5, 6, 7], [6, 7], [4, 5], [5]]

    trial = Trial(2)
    shrink(range(3), "at first", [], trial, 10_000)
    assert trial.tried == [[1, 2], [2]]


def test_a_sequence_of_one_is_not_tried_again() -> None:
    """It cannot be shortened."""
    trial = Trial()

    assert shrink([7], "at first", [], trial, 100) == ([7], "at first")
    assert trial.tried == []


@pytest.mark.parametrize("budget", range(60))
def test_attempts_stay_within_the_budget(budget: int) -> None:
    """The result is the shortest sequence that failed so far."""
    trial = Trial(3, 9)
    best, found = shrink(range(12), "at first", [[3, 9, 1]], trial, budget)

    failed = [steps for steps in trial.tried if {3, 9} <= set(steps)]
    assert trial.cost <= budget
    assert list(best) == (failed[-1] if failed else list(range(12)))
    assert found == (f"of {len(best)}" if failed else "at first")


def test_an_attempt_may_use_the_whole_budget() -> None:
    """An attempt that costs one more is not made."""
    assert shrink([1, 2], "at first", [], Trial(2), 1) == ([2], "of 1")
    assert shrink([1, 2], "at first", [], Trial(2), 0) == ([1, 2], "at first")
    assert shrink([1, 2, 3], "at first", [[2, 3]], Trial(2, 3), 2) == ([2, 3], "of 2")
    assert shrink([1, 2, 3], "at first", [[2, 3]], Trial(2, 3), 1) == ([1, 2, 3], "at first")


def test_guesses_are_tried_in_their_order() -> None:
    """The first that fails ends them; longer or too costly ones are skipped."""
    trial = Trial(2)
    guesses = [[1, 2, 3, 4], [1], [3], [1, 2], [2]]
    best, found = shrink([1, 2, 3, 4], "at first", guesses, trial, 4)

    assert trial.tried == [[1], [3], [1, 2]]
    assert (best, found) == ([1, 2], "of 2")

    trial = Trial(2)
    shrink([1, 2, 3, 4, 5], "at first", [[1, 2, 3, 4], [1, 2]], trial, 3)
    assert trial.tried == [[1, 2], [2]]
