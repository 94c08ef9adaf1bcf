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

    with pytest.raises(NonConformity, match="contains 1"):
        paging.expect_lengths(tuple(snapshot))


def test_total_that_depends_on_the_page_of_a_long_list() -> None:
    """The pages read show the other total."""
    snapshot = snapshot_of(3000, 100, paging.MOST_PAGES)
    snapshot[5] = page(5, 100, 3000, stated=2900)

    with pytest.raises(NonConformity, match="depends on the page"):
        paging.expect_total(tuple(snapshot))


def test_list_that_has_grown_between_the_responses() -> None:
    """Pages that do not cover the total, although they could, are undecided."""
    with pytest.raises(CantTell, match="more pages"):
        paging.expect_partition(tuple(snapshot_of(35, 13, 2)))
