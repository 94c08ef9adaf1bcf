"""Section 4: the order of the list of engagements."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import pytest

from conformance import confirm
from conformance.checks.markers import requirement
from conformance.oracle import read
from conformance.oracle.laws import lists as list_laws
from conformance.oracle.laws.registry import Law
from conformance.oracle.lists import paging
from conformance.oracle.lists.listing import (
    Listing,
    expect_filtered,
    expect_no_gap,
    expect_order,
    holds,
    name_among,
    time_of,
)
from conformance.oracle.outcomes import CantTell, Inapplicable, NonConformity
from conformance.oracle.read import STATUSES
from conformance.oracle.rendering import render
from conformance.scenarios.lists.filtered import FilteredLists, listing_with_status
from conformance.scenarios.whole_run_laws import expect_law
from conformance.verdicts.stages import Stage

if TYPE_CHECKING:
    from conformance.confirm.lists import Snapshot
    from conformance.oracle.lists.listing import Key
    from conformance.running.run import Run
    from conformance.scenarios.lists.paged import PagedLists
    from conformance.scenarios.lists.seeded_engagements import SeededEngagements
    from conformance.scenarios.lists.sorted import (
        SortedLists,
    )
    from conformance.wire.exchange import Exchange

pytestmark = pytest.mark.usefixtures("new_engagements")


@dataclass(frozen=True, slots=True)
class Order:
    """The order of a list.

    Attributes:
        field: The name of the field.
        key: The function that maps an item to its value for comparison.
        stocked: Whether seeded engagements must be in the list.
    """

    field: str
    key: Key
    stocked: bool = False


_BY_CREATION: Final = Order("createdAt", time_of("createdAt"))
_BY_CHANGE: Final = Order("updatedAt", time_of("updatedAt"))


def _by_name(seeded: SeededEngagements) -> Order:
    return Order("name", name_among(seeded.names), stocked=bool(seeded.names))


@requirement("sort-by-created-at")
def test_sorted_by_created_at(run: Run, by_created_at: SortedLists, paged_engagements: PagedLists) -> None:
    """With sort=createdAt the list is in the order of createdAt, in both directions and across pages."""
    _expect_sorted(run, by_created_at, _BY_CREATION, paged_engagements)


@requirement("sort-by-updated-at")
def test_sorted_by_updated_at(run: Run, by_updated_at: SortedLists, paged_engagements: PagedLists) -> None:
    """With sort=updatedAt the list is in the order of updatedAt, in both directions and across pages."""
    _expect_sorted(run, by_updated_at, _BY_CHANGE, paged_engagements)


@requirement("sort-by-name")
def test_sorted_by_name(run: Run, by_name: SortedLists, paged_engagements: PagedLists) -> None:
    """With sort=name the list is in the order of names, in both directions and across pages."""
    _expect_sorted(run, by_name, _by_name(by_name.seeded), paged_engagements)
    _expect_in_place(run, by_name, paged_engagements)


@requirement("sort-descending-by-default")
def test_descending_by_default_by_name(run: Run, by_name: SortedLists) -> None:
    """With sort=name and without an order the list is descending."""
    confirm.stable_list(run, by_name.default, partial(_expect_descending, _by_name(by_name.seeded)))


@requirement("sort-with-filter")
def test_active_ones_sorted_by_name(
    run: Run,
    active_by_name: Snapshot,
    by_name: SortedLists,
    engagements_by_status: FilteredLists,
    paged_engagements: PagedLists,
) -> None:
    """Active engagements are in the order of names, across pages, and none is lost."""
    order, names = _by_name(by_name.seeded), by_name.seeded.active_names()

    def judge(snapshot: Snapshot) -> None:
        expect_filtered(Listing(snapshot), "status", "active")
        _compared(Listing(snapshot), order, descending=False)
        expect_no_gap(Listing(snapshot), names, order.key)

    try:
        confirm.stable_list(run, active_by_name, judge)
    except NonConformity:
        _expect_plain_filter(run, engagements_by_status)
        _expect_plainly_sorted(run, by_name, order)
        _expect_plain_pages(run, paged_engagements)
        raise


@requirement("sort-with-filter")
def test_archived_ones_sorted_by_change(run: Run, archived_by_change: Snapshot, by_updated_at: SortedLists) -> None:
    """Archived engagements are in the order of their last change, across pages."""

    def judge(snapshot: Snapshot) -> None:
        holds(lambda: expect_filtered(Listing(snapshot), "status", "archived"), "the filter does not hold", *snapshot)
        _expect(Listing(snapshot), _BY_CHANGE, descending=True)

    try:
        confirm.stable_list(run, archived_by_change, judge)
    except NonConformity:
        _expect_plainly_sorted(run, by_updated_at, _BY_CHANGE)
        raise


@pytest.mark.stage(Stage.WEIGHING)
@pytest.mark.parametrize(
    "filtered",
    [
        pytest.param(False, marks=requirement("sort-by-name"), id="everything"),
        pytest.param(True, marks=requirement("sort-with-filter"), id="filtered"),
    ],
)
def test_every_list_is_in_the_order_of_names(run: Run, by_name: SortedLists, *, filtered: bool) -> None:
    """Every list of the run sorted by name is in that order."""
    law = partial(_in_order_of_names, _by_name(by_name.seeded), filtered=filtered)
    expect_law(run, Law(law, ("listEngagements",), confirmed=True))


def _in_order_of_names(order: Order, exchange: Exchange, *, filtered: bool) -> bool:
    """Return a law for lists with a filter, or for those without a filter."""
    asked = dict(exchange.request.query)
    if asked.get("sort") != "name" or ("status" in asked) is not filtered or not exchange.succeeded:
        return False
    if not list_laws.is_list(exchange) or not list_laws.is_unrepeated(exchange):
        return False
    if asked.get("order", "desc") not in {"asc", "desc"}:
        return False
    return _expect(Listing((exchange,)), order, descending=asked.get("order") != "asc") > 1


def _expect_sorted(run: Run, lists: SortedLists, order: Order, pages: PagedLists) -> None:
    """Judge both directions, and expect the list without an order in either of them."""
    try:
        confirm.stable_list(
            run, lists.ascending, lambda snapshot: _compared(Listing(snapshot), order, descending=False)
        )
    except NonConformity as fault:
        if all(_is_ascending(Listing((response,)), order) for response in fault.exchanges):
            _expect_plain_pages(run, pages)  # each page may be in order, but not the sequence of pages
        raise
    confirm.stable_list(run, lists.descending, lambda snapshot: _expect(Listing(snapshot), order, descending=True))
    confirm.stable_list(run, lists.default, lambda snapshot: _expect_either(Listing(snapshot), order))


def _expect_in_place(run: Run, lists: SortedLists, pages: PagedLists) -> None:
    """Expect pages of the ascending list to be parts of it: names without ties have the places of the whole list."""
    try:
        confirm.stable_list(run, (*lists.default, *lists.ascending), partial(_in_place, _by_name(lists.seeded)))
    except NonConformity:
        _expect_plain_pages(run, pages)
        raise


def _in_place(order: Order, snapshot: Snapshot) -> None:
    """Judge a snapshot: the whole list, if it is a single page, and pages of it."""
    whole, parts = (
        Listing(snapshot[:1]),
        [response for response in snapshot[1:] if "page" in dict(response.request.query)],
    )
    items = whole.items
    if not parts or any(read.number(page, "total") != len(items) for page in (*whole.responses, *parts)):
        return
    counts = Counter(str(item.value.get("name")) for item in items)
    known = {item.identifier: place for place, item in enumerate(items) if order.key(item.value) is not None}
    single = {item.identifier for item in items if counts[str(item.value.get("name"))] == 1}
    if len(known) <= 1:  # the direction of the whole list is unknown
        return
    ascends = _is_ascending(whole, order)
    for part in parts:
        first = _before(part, len(items))
        if first is None:
            continue
        for item in Listing((part,)).items:
            if item.identifier not in known.keys() & single:
                continue
            place = known[item.identifier] if ascends else len(items) - 1 - known[item.identifier]
            if first + item.place != place:
                raise NonConformity(
                    "the pages of the list by name are not parts of it",
                    *snapshot,
                    expected=f"{render(item.value.get('name'))} as item {place + 1} of the ascending list",
                    actual=f"item {first + item.place + 1}",
                    pointer=item.pointer,
                )


def _before(part: Exchange, total: int) -> int | None:
    """Return the number of items before those of a page; None if it is not the requested page."""
    asked = dict(part.request.query)
    page, size = int(asked["page"]), int(asked.get("perPage", list_laws.DEFAULT_PER_PAGE))
    first = (page - 1) * size
    return first if len(read.items(part)) == min(size, total - first) else None


def _expect_plain_filter(run: Run, lists: FilteredLists) -> None:
    """Expect that the filter holds in another order, since otherwise filter and order cannot be judged together."""
    for status in STATUSES:
        judge = partial(_expect_only, status)
        confirm.otherwise_fine(run, listing_with_status(lists.snapshot, status).responses, judge, "in another order")


def _expect_only(status: str, snapshot: Snapshot) -> None:
    expect_filtered(Listing(snapshot), "status", status)


def _expect_plainly_sorted(run: Run, lists: SortedLists, order: Order) -> None:
    """Expect that the order holds without a filter."""
    why = "without a filter"
    confirm.otherwise_fine(
        run, lists.ascending, lambda snapshot: _expect(Listing(snapshot), order, descending=False), why
    )
    confirm.otherwise_fine(
        run, lists.descending, lambda snapshot: _expect(Listing(snapshot), order, descending=True), why
    )
    confirm.otherwise_fine(run, lists.default, lambda snapshot: _expect_either(Listing(snapshot), order), why)


def _expect_plain_pages(run: Run, lists: PagedLists) -> None:
    """Expect that pages lose nothing without a filter."""
    for snapshot in filter(None, (lists.snapshot, lists.unasked)):
        confirm.otherwise_fine(
            run,
            snapshot,
            lambda snapshot: paging.expect_partition(snapshot, lists.known(snapshot)),
            "in the default order",
        )


def _expect(listing: Listing, order: Order, *, descending: bool) -> int:
    return expect_order(listing, order.field, order.key, descending=descending)


def _compared(listing: Listing, order: Order, *, descending: bool) -> None:
    """Expect that the order holds, and that there was something to compare."""
    if _expect(listing, order, descending=descending) > 1:
        return
    if order.stocked:
        raise CantTell("none of the pages that could be read holds enough engagements of the run")
    raise Inapplicable(f"There were no two engagements of different {order.field} to compare")


def _expect_either(listing: Listing, order: Order) -> None:
    try:
        _expect(listing, order, descending=True)
    except NonConformity as fault:
        if not _is_ascending(listing, order):
            raise fault from None


def _expect_descending(order: Order, snapshot: Snapshot) -> None:
    listing = Listing(snapshot)
    try:
        _compared(listing, order, descending=True)
    except NonConformity as fault:
        if not _is_ascending(listing, order):
            raise CantTell(f"the list is in no order of {order.field} at all", *snapshot) from fault
        raise


def _is_ascending(listing: Listing, order: Order) -> bool:
    try:
        _expect(listing, order, descending=False)
    except NonConformity:
        return False
    return True
