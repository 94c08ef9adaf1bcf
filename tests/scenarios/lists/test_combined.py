"""Pages of combined lists: their places, the combinations, and orders that explain deviations."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, islice, permutations, product
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from conformance.oracle.lists.slices import Aspect, Deviation, Known
from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.scenarios.lists import combined
from conformance.scenarios.lists.combined import CombinedLists
from tests.fakes.exchanges import page, refusal
from tests.fakes.runs import FakeRun

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

KNOWN = Known(1, True, frozenset(), bool)
WHOLE = page(["a", "b", "c"])


def sizes(form: combined.Form, count: int) -> set[tuple[int | None, ...]]:
    """Return the pages and sizes that a form draws for a list of different keys."""
    drawn = [form(range(count), Random(seed)) for seed in range(40)]
    return {tuple(value for place in places for value in (place.get("page"), place.get("perPage"))) for places in drawn}


@pytest.mark.parametrize(
    ("form", "count", "expected"),
    [
        (combined._unsized, 0, {()}),
        (combined._unsized, 1, {(None, None)}),
        (combined._numbered, 20, {()}),
        (combined._numbered, 21, {(2, None)}),
        (combined._largest, 0, {()}),
        (combined._largest, 1, {(None, 100)}),
        (combined._full, 0, {()}),
        (combined._full, 1, {(1, 1)}),
        (combined._full, 100, {(1, 100)}),
        (combined._full, 101, {()}),
        (combined._full_last, 1, {()}),
        (combined._full_last, 6, {(6, 1), (3, 2), (2, 3)}),
        (combined._one_over, 2, {()}),
        (combined._one_over, 7, {(4, 2), (3, 3), (2, 6)}),
        (combined._remainder, 4, {()}),
        (combined._remainder, 5, {(2, 3)}),
        (combined._remainder, 8, {(3, 3), (2, 5), (2, 6)}),
        (combined._divided, 1, {()}),
        (combined._divided, 2, {(1, 1, 2, 1)}),
        (combined._divided, 9, {(1, 3, 2, 3), (1, 5, 2, 5), (2, 2, 3, 2), (1, 4, 2, 4)}),
    ],
)
def test_the_places_of_a_form(form: combined.Form, count: int, expected: set[tuple[int | None, ...]]) -> None:
    """A form draws pages that the list has, and none if it has none of that kind."""
    assert sizes(form, count) == expected


@pytest.mark.parametrize(("form", "sized"), [(combined._full_last, 2), (combined._one_over, 7), (combined._divided, 5)])
def test_no_page_is_larger_than_the_largest(form: combined.Form, sized: int) -> None:
    """A list of hundreds of items has pages of at most a hundred."""
    assert all(value <= 100 for drawn in sizes(form, 100 * sized + 1) for value in drawn[1::2] if value is not None)


def test_pages_are_divided_between_equal_keys() -> None:
    """The first page ends between two equal keys, if there are any, and is no larger than a page can be."""
    drawn = [combined._divided("abbcdef", Random(seed)) for seed in range(20)]
    assert all(places == [{"page": 1, "perPage": 2}, {"page": 2, "perPage": 2}] for places in drawn)
    drawn = [combined._divided([*range(202), 201], Random(seed)) for seed in range(20)]
    assert all(places == [{"page": 101, "perPage": 2}, {"page": 102, "perPage": 2}] for places in drawn)


def test_few_combinations_cover_every_pair() -> None:
    """The first combinations have most pairs of parameters, and no combination comes twice."""
    rows = [*combined._covering(Random("any"))]
    values: list[tuple[Any, ...]] = [(None, "active", "archived"), combined._SORTS, combined._ORDERS, combined._FORMS]
    pairs = {pair for row in product(*values) for pair in combinations(enumerate(row), 2)}
    first = {pair for row in (*combined._REQUESTED, *rows[:45]) for pair in combinations(enumerate(row), 2)}

    assert len(set(rows)) == len(rows) == 3 * 4 * 3 * 8 - len(combined._REQUESTED)
    assert tuple(islice(rows, len(combined._FIRST))) == combined._FIRST
    assert first == pairs
    assert {row[:3] for row in (*combined._REQUESTED, *rows[:45]) if all(row[1:3])} == {
        row for row in product(*values[:3]) if all(row[1:])
    }


def test_parameters_come_in_every_order() -> None:
    """The parameters of a request are the same in any order, of which each is drawn."""
    asked = {"status": "active", "sort": "name", "order": None}
    drawn = [combined._shuffled(asked, Random(seed)) for seed in range(60)]

    assert all(each == asked for each in drawn)
    assert {tuple(each) for each in drawn} == set(permutations(asked))


def wrong(aspect: Aspect, *orders: tuple[str, str], **query: str) -> CombinedLists:
    """Return pages that deviate, and would be right in some orders."""
    fault = NonConformity("it is wrong", expected="a", actual="b")
    return CombinedLists((WHOLE, page(query=query)), KNOWN, outcome=Deviation(aspect, fault, frozenset(orders)))


UP, DOWN = ("name", "up"), ("name", "down")
RIGHT = CombinedLists((WHOLE, page(query={"sort": "name", "status": "active"})), KNOWN)


@pytest.mark.parametrize(
    ("lists", "aspects"),
    [
        ([wrong(Aspect.CONTENTS, UP, DOWN, sort="name"), wrong(Aspect.CONTENTS, UP, sort="name")], ["ORDER", "ORDER"]),
        ([wrong(Aspect.CONTENTS, UP, sort="name"), wrong(Aspect.CONTENTS, DOWN, sort="name")], ["CONTENTS"] * 2),
        ([wrong(Aspect.TOTAL, UP, sort="name")], ["TOTAL"]),
        ([wrong(Aspect.CONTENTS, UP)], ["CONTENTS"]),
        ([wrong(Aspect.CONTENTS, sort="createdAt", status="active"), RIGHT], ["ORDER", None]),
        ([wrong(Aspect.CONTENTS, sort="name", status="active"), RIGHT], ["CONTENTS", None]),
        (
            [wrong(Aspect.CONTENTS, sort="name"), wrong(Aspect.TOTAL, sort="name", status="active")],
            ["CONTENTS", "undecided"],
        ),
    ],
    ids=["one order", "two orders", "total", "unsorted", "one filtered sort", "some of a sort", "wrong unfiltered too"],
)
def test_the_order_explains_deviations(lists: list[CombinedLists], aspects: list[str | None]) -> None:
    """Pages that are all right in one other order are in the wrong order."""
    outcomes = [each.outcome for each in combined._attributed(lists)]

    assert [
        "undecided" if isinstance(each, CantTell) else each.aspect.name if each else None for each in outcomes
    ] == aspects


@pytest.mark.parametrize(
    ("query", "shorter"),
    [
        ({"page": 2, "perPage": 3}, True),
        ({"page": 2, "perPage": 2}, False),
        ({"page": 2}, True),
        ({"page": 2, "perPage": 3, "status": "active"}, True),
        ({"page": 1, "perPage": 3, "status": "active"}, False),
        ({}, False),
    ],
)
def test_a_refused_page_may_be_one_that_is_gone(query: dict[str, object], *, shorter: bool) -> None:
    """A page past the end may be refused; the first page of an empty list is not past its end."""
    asked = page(query=query).request

    for response, expected in ((refusal(), shorter), (page(), False)):
        pages = replace(response, request=asked)
        assert combined._is_shorter(CombinedLists((WHOLE, pages), KNOWN)) is expected


@pytest.mark.parametrize(("later", "kept"), [(["a", "b"], True), (["a", "b", "c"], False)])
def test_a_list_may_become_shorter_before_its_last_page_is_refused(later: list[str], *, kept: bool) -> None:
    """The list is read again after a refused page, since another user may have deleted an engagement before it."""
    wholes = iter([page(["a", "b", "c"]), *[page(later)] * 9])

    def respond(request: Request) -> Exchange:
        return refusal(404) if dict(request.query).get("page") == "2" else next(wholes)

    last = page(["c"], query={"page": 2, "perPage": 2})
    seen = combined._confirm(FakeRun(respond), CombinedLists((WHOLE, last), KNOWN))

    assert (seen.outcome is None) is kept
