"""Section 4: the contents of the list of engagements and of its filter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance import confirm
from conformance.checks.markers import requirement
from conformance.interface.list_parameters import STATUSES
from conformance.oracle import read
from conformance.oracle.lists import filters
from conformance.oracle.outcomes import CantTell
from conformance.scenarios.lists.filtered import FilteredLists, listing_with_status

if TYPE_CHECKING:
    from conformance.oracle.lists.listing import Listing, Snapshot
    from conformance.running.run import Run
    from conformance.scenarios.lists.seeded_engagements import SeededEngagements

pytestmark = pytest.mark.usefixtures("new_engagements")


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
