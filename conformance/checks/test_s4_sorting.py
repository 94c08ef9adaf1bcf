"""Section 4: the order of the list of engagements."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from conformance.checks.filtered_lists import FilteredLists, engagements_by_status
from conformance.checks.laws_over_run import expect_law_steadily
from conformance.checks.looks import expect_steadily
from conformance.checks.marks import journey, requirement
from conformance.checks.sorted_lists import (
    SortedLists,
    active_by_name,
    archived_by_change,
    by_created_at,
    by_name,
    by_updated_at,
)
from conformance.checks.stock import new_engagements
from conformance.oracle import list_laws
from conformance.oracle.judgement import Inapplicable, NonConformity, Undecided
from conformance.oracle.listing import (
    Listing,
    expect_filtered,
    expect_no_gap,
    expect_order,
    holds,
    name_among,
    time_of,
)

if TYPE_CHECKING:
    from conformance.checks.looks import Look
    from conformance.oracle.listing import Key
    from conformance.running.run import Run

pytestmark = pytest.mark.usefixtures("new_engagements")

new_engagements_journey = journey(new_engagements)
by_created_at_journey = journey(by_created_at, alone=True)
by_updated_at_journey = journey(by_updated_at, alone=True)
by_name_journey = journey(by_name, alone=True)
active_by_name_journey = journey(active_by_name, alone=True)
engagements_by_status_journey = journey(engagements_by_status, alone=True)
archived_by_change_journey = journey(archived_by_change, alone=True)


@requirement("sort-by-created-at")
def test_sorted_by_created_at(run: Run, by_created_at: SortedLists) -> None:
    """With sort=createdAt the list is in the order of createdAt, both ways and across pages."""
    _expect_sorted(run, by_created_at, "createdAt", time_of("createdAt"))


@requirement("sort-by-updated-at")
def test_sorted_by_updated_at(run: Run, by_updated_at: SortedLists) -> None:
    """With sort=updatedAt the list is in the order of updatedAt, both ways and across pages."""
    _expect_sorted(run, by_updated_at, "updatedAt", time_of("updatedAt"))


@requirement("sort-by-name")
def test_sorted_by_name(run: Run, by_name: SortedLists) -> None:
    """With sort=name the list is in the order of names, both ways and across pages."""
    _expect_sorted(run, by_name, "name", name_among(by_name.stock.names))


@requirement("sort-descending-by-default")
def test_descending_by_default_by_creation(run: Run, by_created_at: SortedLists) -> None:
    """With sort=createdAt and without an order the list is descending."""
    expect_steadily(run, by_created_at.default, partial(_expect_descending, "createdAt", time_of("createdAt")))


@requirement("sort-descending-by-default")
def test_descending_by_default_by_change(run: Run, by_updated_at: SortedLists) -> None:
    """With sort=updatedAt and without an order the list is descending."""
    expect_steadily(run, by_updated_at.default, partial(_expect_descending, "updatedAt", time_of("updatedAt")))


@requirement("sort-descending-by-default")
def test_descending_by_default_by_name(run: Run, by_name: SortedLists) -> None:
    """With sort=name and without an order the list is descending."""
    expect_steadily(run, by_name.default, partial(_expect_descending, "name", name_among(by_name.stock.names)))


@requirement("sort-with-filter")
def test_active_ones_sorted_by_name(
    run: Run, active_by_name: Look, by_name: SortedLists, archived_by_change: Look, engagements_by_status: FilteredLists
) -> None:
    """Active engagements are in the order of names, across pages, and none of them is lost."""
    key, names = name_among(by_name.stock.names), by_name.stock.untouched_names()
    _expect_filters(engagements_by_status.look, archived_by_change)
    holds(lambda: _expect_plainly_sorted(by_name, "name", key), "without a filter")
    holds(lambda: expect_no_gap(Listing(by_name.ascending), names, key), "without a filter")

    def judge(look: Look) -> None:
        expect_filtered(Listing(look), "status", "active")
        _compared(Listing(look), "name", key, descending=False)
        expect_no_gap(Listing(look), names, key)

    expect_steadily(run, active_by_name, judge)


@requirement("sort-with-filter")
def test_archived_ones_sorted_by_change(run: Run, archived_by_change: Look, by_updated_at: SortedLists) -> None:
    """Archived engagements are in the order of their last change, across pages."""
    key = time_of("updatedAt")
    holds(lambda: _expect_plainly_sorted(by_updated_at, "updatedAt", key), "without a filter")

    def judge(look: Look) -> None:
        holds(lambda: expect_filtered(Listing(look), "status", "archived"), "the filter does not hold", *look)
        expect_order(Listing(look), "updatedAt", key, descending=True)

    expect_steadily(run, archived_by_change, judge)


@pytest.mark.stage(2)
@pytest.mark.parametrize(
    "field",
    [
        pytest.param("createdAt", marks=requirement("sort-by-created-at")),
        pytest.param("updatedAt", marks=requirement("sort-by-updated-at")),
    ],
)
def test_every_list_is_in_its_order(run: Run, field: str) -> None:
    """Every list of the run that was asked for in the order of a time is in that order."""
    expect_law_steadily(run, partial(list_laws.sorted_by_time, field), "listEngagements")


@pytest.mark.stage(2)
@requirement("sort-descending-by-default")
def test_no_list_ascends_unasked(run: Run) -> None:
    """No list of the run that was asked to be sorted by a time, without an order, is ascending."""
    expect_law_steadily(run, list_laws.descending_by_default, "listEngagements")


def _expect_filters(by_status: Look, archived: Look) -> None:
    """The filter holds where another order was asked for, on the first page and on the second."""
    for value, look in (("active", by_status[:1]), ("archived", by_status[1:2]), ("archived", archived)):
        holds(partial(expect_filtered, Listing(look), "status", value), "the filter does not hold", *look)


def _expect_plainly_sorted(lists: SortedLists, field: str, key: Key) -> None:
    expect_order(Listing(lists.ascending), field, key, descending=False)
    expect_order(Listing(lists.descending), field, key, descending=True)
    _expect_either(Listing(lists.default), field, key)


def _expect_sorted(run: Run, lists: SortedLists, field: str, key: Key) -> None:
    """Both orders hold, and the list without an order is in one of them."""
    expect_steadily(run, lists.ascending, lambda look: _compared(Listing(look), field, key, descending=False))
    expect_steadily(run, lists.descending, lambda look: expect_order(Listing(look), field, key, descending=True))
    expect_steadily(run, lists.default, lambda look: _expect_either(Listing(look), field, key))


def _compared(listing: Listing, field: str, key: Key, *, descending: bool) -> None:
    """The order holds, and there was something to compare."""
    if expect_order(listing, field, key, descending=descending) > 1:
        return
    if field == "name":
        raise Undecided("none of the pages that could be looked at holds enough engagements of the run")
    raise Inapplicable(f"There were no two engagements of different {field} to compare")


def _expect_either(listing: Listing, field: str, key: Key) -> None:
    try:
        expect_order(listing, field, key, descending=True)
    except NonConformity as fault:
        if _is_ascending(listing, field, key):
            return
        raise fault from None


def _expect_descending(field: str, key: Key, look: Look) -> None:
    listing = Listing(look)
    try:
        _compared(listing, field, key, descending=True)
    except NonConformity as fault:
        if not _is_ascending(listing, field, key):
            raise Undecided(f"the list is in no order of {field} at all", *look) from fault
        raise


def _is_ascending(listing: Listing, field: str, key: Key) -> bool:
    try:
        expect_order(listing, field, key, descending=False)
    except NonConformity:
        return False
    return True
