"""A list in one answer and in pages: what they tell together, also where there are more pages than are looked at."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.oracle import paging
from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.wire.exchange import Exchange
from tests.conftest import make_exchange

Look = tuple[Exchange, ...]


def page(number: int, size: int, total: int, *, ids: list[str] | None = None, told: int | None = None) -> Exchange:
    """A page of a list of ``total`` engagements, with other items or another total where given."""
    usual = [str(place) for place in range(total)[(number - 1) * size : number * size]]
    items: list[dict[str, Any]] = [{"id": identifier} for identifier in (usual if ids is None else ids)]
    count = total if told is None else told
    meta = {"total": count, "page": number, "perPage": size, "totalPages": -(-count // size)}
    query = (("page", str(number)), ("perPage", str(size)))
    return make_exchange("listEngagements", body={"data": items, "meta": meta}, query=query)


def looked_at(total: int, size: int, pages: int) -> list[Exchange]:
    """The answer of 100, and so many pages."""
    return [page(1, 100, total), *(page(number, size, total) for number in range(1, pages + 1))]


def judge_all(look: Look) -> None:
    """Everything that is said of pages."""
    paging.expect_served(look)
    paging.expect_partition(look)
    paging.expect_total(look)
    paging.expect_lengths(look)


@pytest.mark.parametrize("look", [looked_at(35, 13, 3), looked_at(0, 1, 1), looked_at(3000, 100, paging.MOST_PAGES)])
def test_honest_pages(look: list[Exchange]) -> None:
    """Nothing is wrong with them, and nothing stays open."""
    judge_all(tuple(look))


def test_repeated_item_in_a_long_list() -> None:
    """What stands twice is found in the pages that were looked at."""
    look = looked_at(3000, 100, paging.MOST_PAGES)
    look[5] = page(5, 100, 3000, ids=["7", *(f"x{number}" for number in range(99))])

    with pytest.raises(NonConformity, match="twice"):
        paging.expect_partition(tuple(look))


def test_short_page_in_a_long_list() -> None:
    """A page that is not full is found there too."""
    look = looked_at(3000, 100, paging.MOST_PAGES)
    look[5] = page(5, 100, 3000, ids=["x"])

    with pytest.raises(NonConformity, match="holds 1"):
        paging.expect_lengths(tuple(look))


def test_total_that_depends_on_the_page_of_a_long_list() -> None:
    """And so is a total that is another one on a later page."""
    look = looked_at(3000, 100, paging.MOST_PAGES)
    look[5] = page(5, 100, 3000, told=2900)

    with pytest.raises(NonConformity, match="depends on the page"):
        paging.expect_total(tuple(look))


def ordered(ids: str, *, number: int = 1, size: int = 100, total: int | None = None) -> Exchange:
    """A page with the items of these letters."""
    return page(number, size, len(ids) if total is None else total, ids=list(ids))


@pytest.mark.parametrize(
    "look",
    [
        (ordered("edcba"), ordered("ab", size=2, total=5), ordered("cd", number=2, size=2, total=5)),
        (ordered("edcba"), ordered("cd", number=2, size=2, total=5), ordered("e", number=3, size=2, total=5)),
        (ordered("edcba"), ordered("ba", size=2, total=5)),
        (ordered("edcb", total=5), ordered("cd", size=2, total=5)),
    ],
    ids=["first pages", "last pages", "in another order on one page", "not all of the other list was seen"],
)
def test_pages_that_hold_what_belongs_there(look: Look) -> None:
    """By the places in the list the other way round, where all of that was seen."""
    paging.expect_in_place(look, 1, "abcde")


@pytest.mark.parametrize(
    ("look", "whole", "number", "first"),
    [
        ((ordered("edcba"), ordered("ac", size=2, total=5), ordered("de", number=2, size=2, total=5)), 1, 1, "b"),
        ((ordered("edcba"), ordered("bd", number=2, size=2, total=5)), 1, 1, "c"),
        ((ordered("edcba"), ordered("", number=3, size=2, total=5)), 1, 1, "e"),
        ((ordered("edc", total=5), ordered("ba", total=5), ordered("xy", number=1, size=2, total=5)), 2, 2, "a"),
    ],
    ids=["lost between pages", "on the second page", "on the last page", "the other list in two answers"],
)
def test_pages_that_lack_what_belongs_there(look: Look, whole: int, number: int, first: str) -> None:
    """The first that is missing is told, with the lists that say so."""
    with pytest.raises(NonConformity) as raised:
        paging.expect_in_place(look, whole, "abcde")
    assert raised.value.message == "an engagement that belongs on these pages is missing from the list"
    assert raised.value.actual == f'{number} missing, the first is "{first}"'
    assert set(raised.value.exchanges) >= set(look[:whole])


def test_what_shares_its_place_may_stand_elsewhere() -> None:
    """Only of the others something is said."""
    look = (ordered("edcba"), ordered("ac", size=2, total=5))

    paging.expect_in_place(look, 1, "acde")
    with pytest.raises(NonConformity):
        paging.expect_in_place(look, 1, "b")


def test_list_that_has_grown_between_the_responses() -> None:
    """Pages that do not reach as far as the total, although they might, say nothing."""
    with pytest.raises(CantTell, match="more pages"):
        paging.expect_partition(tuple(looked_at(35, 13, 2)))
