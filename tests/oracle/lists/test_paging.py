"""A list in one response and in pages, also with more pages than the suite reads."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.oracle.lists import paging
from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.wire.exchange import Exchange
from tests.fakes.exchanges import make_exchange

Snapshot = tuple[Exchange, ...]


def page(number: int, size: int, total: int, *, ids: list[str] | None = None, stated: int | None = None) -> Exchange:
    """Return a page of a list of ``total`` engagements, with other items or another total if given."""
    usual = [str(place) for place in range(total)[(number - 1) * size : number * size]]
    items: list[dict[str, Any]] = [{"id": identifier} for identifier in (usual if ids is None else ids)]
    count = total if stated is None else stated
    meta = {"total": count, "page": number, "perPage": size, "totalPages": -(-count // size)}
    query = (("page", str(number)), ("perPage", str(size)))
    return make_exchange("listEngagements", body={"data": items, "meta": meta}, query=query)


def snapshot_of(total: int, size: int, pages: int) -> list[Exchange]:
    """Return a response of 100 items, followed by this many pages."""
    return [page(1, 100, total), *(page(number, size, total) for number in range(1, pages + 1))]


def judge_all(snapshot: Snapshot) -> None:
    """Run every assertion about pages."""
    paging.expect_served(snapshot)
    paging.expect_partition(snapshot)
    paging.expect_total(snapshot)
    paging.expect_lengths(snapshot)


@pytest.mark.parametrize(
    "snapshot", [snapshot_of(35, 13, 3), snapshot_of(0, 1, 1), snapshot_of(3000, 100, paging.MOST_PAGES)]
)
def test_correct_pages(snapshot: list[Exchange]) -> None:
    """No assertion fails or is undecided."""
    judge_all(tuple(snapshot))


def test_repeated_item_in_a_long_list() -> None:
    """The pages read show the repetition."""
    snapshot = snapshot_of(3000, 100, paging.MOST_PAGES)
    snapshot[5] = page(5, 100, 3000, ids=["7", *(f"x{number}" for number in range(99))])

    with pytest.raises(NonConformity, match="twice"):
        paging.expect_partition(tuple(snapshot))


def test_short_page_in_a_long_list() -> None:
    """The pages read show the short page."""
    snapshot = snapshot_of(3000, 100, paging.MOST_PAGES)
    snapshot[5] = page(5, 100, 3000, ids=["x"])

    with pytest.raises(NonConformity, match="holds 1"):
        paging.expect_lengths(tuple(snapshot))


def test_total_that_depends_on_the_page_of_a_long_list() -> None:
    """The pages read show the other total."""
    snapshot = snapshot_of(3000, 100, paging.MOST_PAGES)
    snapshot[5] = page(5, 100, 3000, stated=2900)

    with pytest.raises(NonConformity, match="depends on the page"):
        paging.expect_total(tuple(snapshot))


def ordered(ids: str, *, number: int = 1, size: int = 100, total: int | None = None) -> Exchange:
    """Return a page with the items of these letters."""
    return page(number, size, len(ids) if total is None else total, ids=list(ids))


@pytest.mark.parametrize(
    "snapshot",
    [
        (ordered("edcba"), ordered("ab", size=2, total=5), ordered("cd", number=2, size=2, total=5)),
        (ordered("edcba"), ordered("cd", number=2, size=2, total=5), ordered("e", number=3, size=2, total=5)),
        (ordered("edcba"), ordered("ba", size=2, total=5)),
        (ordered("edcb", total=5), ordered("cd", size=2, total=5)),
    ],
    ids=["first pages", "last pages", "in another order on one page", "not all of the other list was seen"],
)
def test_pages_with_the_right_items(snapshot: Snapshot) -> None:
    """The reversed list gives the places, if all of it was read."""
    paging.expect_in_place(snapshot, 1, "abcde")


@pytest.mark.parametrize(
    ("snapshot", "whole", "number", "first"),
    [
        ((ordered("edcba"), ordered("ac", size=2, total=5), ordered("de", number=2, size=2, total=5)), 1, 1, "b"),
        ((ordered("edcba"), ordered("bd", number=2, size=2, total=5)), 1, 1, "c"),
        ((ordered("edcba"), ordered("", number=3, size=2, total=5)), 1, 1, "e"),
        ((ordered("edc", total=5), ordered("ba", total=5), ordered("xy", number=1, size=2, total=5)), 2, 2, "a"),
    ],
    ids=["lost between pages", "on the second page", "on the last page", "the other list in two responses"],
)
def test_pages_that_lack_an_item(snapshot: Snapshot, whole: int, number: int, first: str) -> None:
    """The failure names the first missing item and cites the lists."""
    with pytest.raises(NonConformity) as raised:
        paging.expect_in_place(snapshot, whole, "abcde")
    assert raised.value.message == "an engagement that belongs on these pages is missing from the list"
    assert raised.value.actual == f'{number} missing, the first is "{first}"'
    assert set(raised.value.exchanges) >= set(snapshot[:whole])


def test_an_item_that_shares_its_place_may_be_elsewhere() -> None:
    """Only other items are judged."""
    snapshot = (ordered("edcba"), ordered("ac", size=2, total=5))

    paging.expect_in_place(snapshot, 1, "acde")
    with pytest.raises(NonConformity):
        paging.expect_in_place(snapshot, 1, "b")


def test_list_that_has_grown_between_the_responses() -> None:
    """Pages that do not cover the total, although they could, are undecided."""
    with pytest.raises(CantTell, match="more pages"):
        paging.expect_partition(tuple(snapshot_of(35, 13, 2)))
