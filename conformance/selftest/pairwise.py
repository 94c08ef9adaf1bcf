"""Covering arrays: few rows of choices that contain every allowed pair of choices."""

from __future__ import annotations

import random
from itertools import combinations
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

Choice = tuple[str, str]
"""The name of a question and a value of it."""

Pair = tuple[Choice, Choice]
"""Choices of two questions, in the order of their names."""

_CANDIDATES: Final = 8
"""Candidates for each row."""


def all_pairs(questions: Mapping[str, Sequence[str]], excluded: Collection[Pair] = ()) -> Iterator[Pair]:
    """Return every allowed pair of choices.

    Args:
        questions: The values of each question.
        excluded: Forbidden pairs.
    """
    for first, second in combinations(sorted(questions), 2):
        for first_value in questions[first]:
            for second_value in questions[second]:
                pair = ((first, first_value), (second, second_value))
                if pair not in excluded:
                    yield pair


def covering_rows(
    questions: Mapping[str, Sequence[str]],
    *,
    seed: int,
    excluded: Collection[Pair] = (),
    rare: Collection[Choice] = (),
) -> list[dict[str, str]]:
    """Return rows with a value of every question, which together contain every allowed pair of choices.

    A greedy search: each row starts with the choices that lack most pairs. Then it adds, from the questions with many
    values to those with few, the value that adds most new pairs. The best of several candidates becomes the row.

    Args:
        questions: The values of each question.
        seed: The seed of the search.
        excluded: Forbidden pairs; every choice must be allowed with some value of every other question.
        rare: Choices to use only if a pair needs them.
    """
    return _Search(questions, excluded, rare, seed).rows()


class _Search:
    """The search for rows, with the pairs that are still missing.

    Choices are numbered; a set of choices is an integer with a bit for each.
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
        self._generator = random.Random(seed)  # noqa: S311 - reproducible on purpose

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
        """Return a candidate that starts with a missing pair."""
        first = max(range(len(self._choices)), key=self._lack)
        second = max(_numbers(self._missing[first]), key=self._lack)
        row, together = [first, second], _set((first, second))
        begun = {self._choices[number][0] for number in row}
        left = sorted(self._values.keys() - begun)
        self._generator.shuffle(left)
        for name in sorted(left, key=lambda name: -len(self._values[name])):
            row.append(self._next(name, together))
            together |= 1 << row[-1]
        return row

    def _lack(self, number: int) -> tuple[int, float]:
        """Return the number of missing pairs of a choice, and a random number to break ties."""
        return self._missing[number].bit_count(), self._generator.random()

    def _next(self, name: str, row: int) -> int:
        """Return the value of a question that adds most new pairs."""

        def gain(number: int) -> tuple[int, bool, tuple[int, float]]:
            return (self._missing[number] & row).bit_count(), number not in self._rare, self._lack(number)

        return max((number for number in self._values[name] if not self._excluded[number] & row), key=gain)

    def _gain(self, row: list[int]) -> int:
        together = _set(row)
        return sum((self._missing[number] & together).bit_count() for number in row)


def _set(numbers: Iterable[int]) -> int:
    """Return the set of numbers."""
    return sum(1 << number for number in numbers)


def _numbers(members: int) -> list[int]:
    """Return the numbers in a set."""
    return [number for number in range(members.bit_length()) if members >> number & 1]


def _partners(numbers: Mapping[Choice, int], pairs: Iterable[Pair]) -> list[int]:
    """Return for each choice, by its number, the set of its partners in the pairs."""
    partners = [0] * len(numbers)
    for first, second in pairs:
        partners[numbers[first]] |= 1 << numbers[second]
        partners[numbers[second]] |= 1 << numbers[first]
    return partners
