"""Covering arrays: rows of choices that contain every pair."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.selftest.pairwise import all_pairs, covering_rows

QUESTIONS = st.dictionaries(
    st.sampled_from("abcdefgh"),
    st.lists(st.sampled_from("123456"), min_size=1, max_size=6, unique=True),
    min_size=2,
)


def _met(rows: list[dict[str, str]]) -> set[object]:
    return {pair for row in rows for pair in combinations(sorted(row.items()), 2)}


@settings(max_examples=30)
@given(QUESTIONS, st.integers(0, 3))
def test_every_pair_meets(questions: dict[str, list[str]], seed: int) -> None:
    """The rows contain all pairs and a value of every question."""
    rows = covering_rows(questions, seed=seed)

    assert _met(rows) == set(all_pairs(questions))
    assert all(row.keys() == questions.keys() for row in rows)
    assert all(row[name] in questions[name] for row in rows for name in row)


def test_excluded_pairs_never_meet() -> None:
    """The rows contain all pairs except the excluded ones."""
    questions = {name: ["x", "y", "z"] for name in "abcde"}
    excluded = {(("a", "x"), ("b", "y")), (("c", "z"), ("e", "z"))}

    rows = covering_rows(questions, seed=1, excluded=excluded)

    assert _met(rows) == set(all_pairs(questions, excluded))
    assert len(list(all_pairs(questions, excluded))) == 10 * 9 - 2


def test_rows_are_few() -> None:
    """The number of rows is near its minimum, the product of the two longest lists."""
    questions = {f"q{place}": ["1", "2", "3", "4", "5"] for place in range(20)}

    assert 25 <= len(covering_rows(questions, seed=1)) <= 60


def test_rows_come_from_the_seed() -> None:
    """The same seed gives the same rows, another seed other rows."""
    questions = {name: ["1", "2", "3"] for name in "abcdef"}

    assert covering_rows(questions, seed=4) == covering_rows(questions, seed=4)
    assert covering_rows(questions, seed=4) != covering_rows(questions, seed=5)


def test_rare_choices_are_taken_only_where_needed() -> None:
    """A rare choice is in only as many rows as its pairs need."""
    questions = {**{name: ["1", "2", "3", "4"] for name in "abcdef"}, "limit": ["wide", "narrow"]}
    narrow = [row["limit"] for row in covering_rows(questions, seed=1, rare={("limit", "narrow")})].count("narrow")

    assert 4 <= narrow <= 8


@pytest.mark.parametrize("questions", [{}, {"a": ["1", "2"]}])
def test_without_pairs_there_are_no_rows(questions: dict[str, list[str]]) -> None:
    """A single question has no pair."""
    assert covering_rows(questions, seed=1) == []
