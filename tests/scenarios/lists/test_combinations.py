"""Combinations of list parameters: the places of their pages, and the pairs that they cover."""

from __future__ import annotations

from itertools import combinations as pairs_of
from itertools import islice, permutations, product
from random import Random
from typing import Any

import pytest

from conformance.scenarios.lists import combinations


def sizes(form: combinations.Form, count: int) -> set[tuple[int | None, ...]]:
    """Return the pages and sizes that a form draws for a list of different keys."""
    drawn = [form(range(count), Random(seed)) for seed in range(40)]
    return {tuple(value for place in places for value in (place.get("page"), place.get("perPage"))) for places in drawn}


@pytest.mark.parametrize(
    ("form", "count", "expected"),
    [
        (combinations._unsized, 0, {()}),
        (combinations._unsized, 1, {(None, None)}),
        (combinations._numbered, 20, {()}),
        (combinations._numbered, 21, {(2, None)}),
        (combinations._largest, 0, {()}),
        (combinations._largest, 1, {(None, 100)}),
        (combinations._full, 0, {()}),
        (combinations._full, 1, {(1, 1)}),
        (combinations._full, 100, {(1, 100)}),
        (combinations._full, 101, {()}),
        (combinations._full_last, 1, {()}),
        (combinations._full_last, 6, {(6, 1), (3, 2), (2, 3)}),
        (combinations._one_over, 2, {()}),
        (combinations._one_over, 7, {(4, 2), (3, 3), (2, 6)}),
        (combinations._remainder, 4, {()}),
        (combinations._remainder, 5, {(2, 3)}),
        (combinations._remainder, 8, {(3, 3), (2, 5), (2, 6)}),
        (combinations._divided, 1, {()}),
        (combinations._divided, 2, {(1, 1, 2, 1)}),
        (combinations._divided, 9, {(1, 3, 2, 3), (1, 5, 2, 5), (2, 2, 3, 2), (1, 4, 2, 4)}),
    ],
)
def test_the_places_of_a_form(form: combinations.Form, count: int, expected: set[tuple[int | None, ...]]) -> None:
    """A form draws pages that the list has, and none if it has none of that kind."""
    assert sizes(form, count) == expected


@pytest.mark.parametrize(
    ("form", "sized"), [(combinations._full_last, 2), (combinations._one_over, 7), (combinations._divided, 5)]
)
def test_no_page_is_larger_than_the_largest(form: combinations.Form, sized: int) -> None:
    """A list of hundreds of items has pages of at most a hundred."""
    assert all(value <= 100 for drawn in sizes(form, 100 * sized + 1) for value in drawn[1::2] if value is not None)


def test_pages_are_divided_between_equal_keys() -> None:
    """The first page ends between two equal keys, if there are any, and is no larger than a page can be."""
    drawn = [combinations._divided("abbcdef", Random(seed)) for seed in range(20)]
    assert all(places == [{"page": 1, "perPage": 2}, {"page": 2, "perPage": 2}] for places in drawn)
    drawn = [combinations._divided([*range(202), 201], Random(seed)) for seed in range(20)]
    assert all(places == [{"page": 101, "perPage": 2}, {"page": 102, "perPage": 2}] for places in drawn)


def test_few_combinations_cover_every_pair() -> None:
    """The first combinations have most pairs of parameters, and no combination comes twice."""
    rows = [*combinations._covering(Random("any"))]
    values: list[tuple[Any, ...]] = [
        (None, "active", "archived"),
        combinations._SORTS,
        combinations._ORDERS,
        combinations._FORMS,
    ]
    pairs = {pair for row in product(*values) for pair in pairs_of(enumerate(row), 2)}
    first = {pair for row in (*combinations._REQUESTED, *rows[:45]) for pair in pairs_of(enumerate(row), 2)}

    assert len(set(rows)) == len(rows) == 3 * 4 * 3 * 8 - len(combinations._REQUESTED)
    assert tuple(islice(rows, len(combinations._FIRST))) == combinations._FIRST
    assert first == pairs
    assert {row[:3] for row in (*combinations._REQUESTED, *rows[:45]) if all(row[1:3])} == {
        row for row in product(*values[:3]) if all(row[1:])
    }


def test_parameters_come_in_every_order() -> None:
    """The parameters of a request are the same in any order, of which each is drawn."""
    asked = {"status": "active", "sort": "name", "order": None}
    drawn = [combinations._shuffled(asked, Random(seed)) for seed in range(60)]

    assert all(each == asked for each in drawn)
    assert {tuple(each) for each in drawn} == set(permutations(asked))
