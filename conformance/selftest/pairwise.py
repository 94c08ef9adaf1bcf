"""Covering arrays: few rows of choices in which every two choices that go together meet."""

from __future__ import annotations

import random
from itertools import combinations
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

Choice = tuple[str, str]
"""The name of a question, and one of its values."""

Pair = tuple[Choice, Choice]
"""Two choices of different questions, in the order of their names."""

_CANDIDATES: Final = 8
"""Rows that are made for each one that is taken."""


def all_pairs(questions: Mapping[str, Sequence[str]], excluded: Collection[Pair] = ()) -> Iterator[Pair]:
    """Every two choices that may meet.

    Args:
        questions: The values of each question.
        excluded: Pairs that must not meet.
    """
    for one, other in combinations(sorted(questions), 2):
        for value in questions[one]:
            for beside in questions[other]:
                pair = ((one, value), (other, beside))
                if pair not in excluded:
                    yield pair


def covering_rows(
    questions: Mapping[str, Sequence[str]],
    *,
    seed: int,
    excluded: Collection[Pair] = (),
    rare: Collection[Choice] = (),
) -> list[dict[str, str]]:
    """Rows that answer every question, so that every two choices meet in one of them at least.

    A greedy search: each row begins with a pair that lacks most, and goes on, from the questions with many values to
    those with few, with what lets most new pairs meet; of several such rows the best is taken.

    Args:
        questions: The values of each question.
        seed: What the search draws from.
        excluded: Pairs that must not meet; every choice needs a value of every other question beside it.
        rare: Choices that are taken only where a pair needs them.
    """
    return _Search(questions, excluded, rare, seed).rows()


class _Search:
    """The pairs that have not met yet, and how a row is made of them.

    Choices are numbered, and a set of choices is an integer with a bit for each.
    """

    def __init__(
        self, questions: Mapping[str, Sequence[str]], excluded: Collection[Pair], rare: Collection[Choice], seed: int
    ) -> None:
        self._choices = [(name, value) for name in sorted(questions) for value in questions[name]]
        numbers = {choice: number for number, choice in enumerate(self._choices)}
        self._values = {name: [numbers[name, value] for value in values] for name, values in questions.items()}
        self._excluded = _partners(numbers, excluded)
        self._missing = _partners(numbers, all_pairs(questions, excluded))
        self._rare = {numbers[choice] for choice in rare}
        self._lot = random.Random(seed)  # noqa: S311 - reproducible on purpose

    def rows(self) -> list[dict[str, str]]:
        found = []
        while any(self._missing):
            row = max((self._row() for _ in range(_CANDIDATES)), key=self._gain)
            together = _set(row)
            for number in row:
                self._missing[number] &= ~together
            found.append(dict(sorted(self._choices[number] for number in row)))
        return found

    def _row(self) -> list[int]:
        """A row that begins with a pair that has not met."""
        first = max(range(len(self._choices)), key=self._lack)
        second = max(_numbers(self._missing[first]), key=self._lack)
        row, together = [first, second], _set((first, second))
        begun = {self._choices[number][0] for number in row}
        left = sorted(self._values.keys() - begun)
        self._lot.shuffle(left)
        for name in sorted(left, key=lambda name: -len(self._values[name])):
            row.append(self._next(name, together))
            together |= 1 << row[-1]
        return row

    def _lack(self, number: int) -> tuple[int, float]:
        """How many partners a choice lacks; the lot decides between those that lack as many."""
        return self._missing[number].bit_count(), self._lot.random()

    def _next(self, name: str, row: int) -> int:
        """The value of a question that lets most new pairs meet."""

        def worth(number: int) -> tuple[int, bool, tuple[int, float]]:
            return (self._missing[number] & row).bit_count(), number not in self._rare, self._lack(number)

        return max((one for one in self._values[name] if not self._excluded[one] & row), key=worth)

    def _gain(self, row: list[int]) -> int:
        together = _set(row)
        return sum((self._missing[number] & together).bit_count() for number in row)


def _set(numbers: Iterable[int]) -> int:
    """The set of some numbers."""
    return sum(1 << number for number in numbers)


def _numbers(members: int) -> list[int]:
    """The numbers in a set."""
    return [number for number in range(members.bit_length()) if members >> number & 1]


def _partners(numbers: Mapping[Choice, int], pairs: Iterable[Pair]) -> list[int]:
    """For each choice, by its number, those that stand beside it in one of the pairs."""
    partners = [0] * len(numbers)
    for one, other in pairs:
        partners[numbers[one]] |= 1 << numbers[other]
        partners[numbers[other]] |= 1 << numbers[one]
    return partners
