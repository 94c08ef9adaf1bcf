"""Section 4: the contents of the list of engagements and of its filter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance import confirm
from conformance.checks.markers import requirement
from conformance.oracle import read
from conformance.oracle.laws import lists as list_laws
from conformance.oracle.lists import filters
from conformance.oracle.lists.listing import Listing, expect_filtered, expect_once, holds, time_of
from conformance.oracle.outcomes import CantTell
from conformance.oracle.read import STATUSES
from conformance.scenarios.lists.filtered import (
    FilteredLists,
    listing_with_status,
)

if TYPE_CHECKING:
    from conformance.confirm.lists import Snapshot
    from conformance.running.run import Run
    from conformance.scenarios.lists.paged import PagedLists
    from conformance.scenarios.lists.seeded_engagements import SeededEngagements

pytestmark = pytest.mark.usefixtures("new_engagements")

_FIELDS: Final = ("id", "name", "description", "status", "createdAt", "updatedAt")


@requirement("list-engagements-complete")
def test_list_holds_both_states(run: Run, engagements_by_status: FilteredLists) -> None:
    """The list without a filter holds active and archived engagements."""
    seeded_engagements = engagements_by_status.seeded
    if not seeded_engagements.archived or not seeded_engagements.active:
        raise CantTell("no engagement could be archived")

    confirm.stable_list(
        run,
        engagements_by_status.snapshot,
        lambda snapshot: filters.expect_both(
            listing_with_status(snapshot, None),
            {"active": seeded_engagements.active, "archived": seeded_engagements.archived},
        ),
    )


@requirement("list-engagements-status-filter")
def test_status_filter_finds_all(run: Run, engagements_by_status: FilteredLists) -> None:
    """With a status, the list holds all engagements of that status and no others."""

    def judge(snapshot: Snapshot) -> None:
        known = _states(listing_with_status(snapshot, None), engagements_by_status.seeded)
        active, archived = listing_with_status(snapshot, "active"), listing_with_status(snapshot, "archived")
        filters.expect_found(active, "status", "active", known["active"], known["archived"])
        filters.expect_found(archived, "status", "archived", known["archived"], known["active"])

    confirm.stable_list(run, engagements_by_status.snapshot, judge)


@requirement("list-engagements-status-filter")
def test_status_filter_on_every_page(
    run: Run, archived_by_change: Snapshot, seeded_engagements: SeededEngagements
) -> None:
    """With a status, the second page, like the first, holds engagements of that status only."""

    def judge(snapshot: Snapshot) -> None:
        expect_filtered(Listing(snapshot), "status", "archived")
        for page in snapshot:
            filters.expect_found(Listing((page,)), "status", "archived", (), seeded_engagements.active)

    confirm.stable_list(run, archived_by_change, judge)


@requirement("list-engagements-status-filter")
def test_filtered_pages_are_full(
    run: Run, engagements_by_status: FilteredLists, archived_by_change: Snapshot, paged_engagements: PagedLists
) -> None:
    """With a status, each page holds as many items as the single-page list has left for it."""
    whole = _whole_of_archived(engagements_by_status)
    holds(
        lambda: [list_laws.page_length(response) for response in paged_engagements.snapshot],
        "pages are not full at all",
    )

    confirm.stable_list(run, (*whole, *archived_by_change), filters.expect_full_pages)


@requirement("list-engagements-status-filter")
def test_filtered_pages_lose_nothing(
    run: Run, engagements_by_status: FilteredLists, archived_by_change: Snapshot, paged_engagements: PagedLists
) -> None:
    """With a status, no item of the single-page list is lost or repeated between two pages."""
    whole, key = _whole_of_archived(engagements_by_status), time_of("updatedAt")
    plain = paged_engagements.snapshot[1:]
    confirm.otherwise_fine(
        run, plain, lambda snapshot: expect_once(Listing(snapshot)), "pages repeat items without a filter too"
    )

    confirm.stable_list(
        run, (*whole, *archived_by_change), lambda snapshot: filters.expect_nothing_lost(snapshot, "updatedAt", key)
    )


def _whole_of_archived(lists: FilteredLists) -> Snapshot:
    """Read the archived engagements as a single page."""
    return tuple(response for response in lists.snapshot if dict(response.request.query).get("status") == "archived")[
        :1
    ]


@requirement("list-engagements-filter-counts")
def test_filter_counts_alike_on_every_page(
    run: Run, engagements_by_status: FilteredLists, archived_by_change: Snapshot
) -> None:
    """With a status, each page states the total of the single-page list."""
    confirm.stable_list(
        run, (*_whole_of_archived(engagements_by_status), *archived_by_change), filters.expect_one_total
    )


@requirement("list-engagements-filter-counts")
def test_filter_counts(run: Run, engagements_by_status: FilteredLists) -> None:
    """With a status, the total is the number of engagements of that status."""

    def judge(snapshot: Snapshot) -> None:
        everything = listing_with_status(snapshot, None)
        by_status = {status: listing_with_status(snapshot, status) for status in STATUSES}
        filters.expect_counts("status", by_status, everything, _states(everything, engagements_by_status.seeded))

    confirm.stable_list(run, engagements_by_status.snapshot, judge)


def _states(everything: Listing, seeded: SeededEngagements) -> dict[str, list[str]]:
    """Return the seeded engagements by status, without those that the unfiltered list shows in another status."""
    listed = {read.id_of(item.value): item.value.get("status") for item in everything.items}
    states = {"active": seeded.active, "archived": seeded.archived}
    return {
        status: [identifier for identifier in identifiers if listed.get(identifier, status) == status]
        for status, identifiers in states.items()
    }
