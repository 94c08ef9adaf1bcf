"""Covering arrays: few rows of choices in which every two choices that go together meet."""

from __future__ import annotations

import random
from itertools import combinations
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

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

    A greedy search: each row begins with a choice that lacks most partners, and goes on with what lets most new pairs
    meet; of several such rows the best is taken.

    Args:
        questions: The values of each question.
        seed: What the search draws from.
        excluded: Pairs that must not meet; every choice needs a value of every other question beside it.
        rare: Choices that are taken only where a pair needs them.
    """
    return _Search(questions, excluded, rare, seed).rows()


class _Search:
    """The pairs that have not met yet, and how a row is made of them."""

    def __init__(
        self, questions: Mapping[str, Sequence[str]], excluded: Collection[Pair], rare: Collection[Choice], seed: int
    ) -> None:
        self._questions = {name: [(name, value) for value in questions[name]] for name in sorted(questions)}
        self._excluded = _partners(self._questions, excluded)
        self._missing = _partners(self._questions, all_pairs(questions, excluded))
        self._rare = frozenset(rare)
        self._lot = random.Random(seed)  # noqa: S311 - reproducible on purpose

    def rows(self) -> list[dict[str, str]]:
        found = []
        while any(self._missing.values()):
            row = max((self._row() for _ in range(_CANDIDATES)), key=self._gain)
            for choice in row:
                self._missing[choice] -= row
            found.append(dict(sorted(row)))
        return found

    def _row(self) -> set[Choice]:
        """A row that begins with a pair that has not met."""
        first = max(self._missing, key=lambda choice: (len(self._missing[choice]), self._lot.random()))
        second = max(sorted(self._missing[first]), key=lambda choice: (len(self._missing[choice]), self._lot.random()))
        row = {first, second}
        left = [name for name in self._questions if name not in {first[0], second[0]}]
        self._lot.shuffle(left)
        for name in left:
            row.add(self._next(name, row))
        return row

    def _next(self, name: str, row: set[Choice]) -> Choice:
        """The value of a question that lets most new pairs meet."""

        def worth(choice: Choice) -> tuple[int, bool, int, float]:
            missing = self._missing[choice]
            return len(missing & row), choice not in self._rare, len(missing), self._lot.random()

        return max((one for one in self._questions[name] if self._excluded[one].isdisjoint(row)), key=worth)

    def _gain(self, row: set[Choice]) -> int:
        return sum(len(self._missing[choice] & row) for choice in row)


def _partners(
    questions: Mapping[str, Sequence[Choice]], pairs: Collection[Pair] | Iterator[Pair]
) -> dict[Choice, set[Choice]]:
    """For each choice those that stand beside it in one of the pairs."""
    partners: dict[Choice, set[Choice]] = {choice: set() for choices in questions.values() for choice in choices}
    for one, other in pairs:
        partners[one].add(other)
        partners[other].add(one)
    return partners
