"""Section 4 in races: the responses of overlapping requests fit an order of the requests."""

from __future__ import annotations

from conformance.checks.markers import requirement
from conformance.scenarios.engagements.races import Race, expect_order


@requirement("update-engagement-in-parallel")
def test_racing_updates_take_effect_as_a_whole(edit_races: list[Race]) -> None:
    """Simultaneous updates leave an engagement as they leave it in some order."""
    expect_order(edit_races, "no order of the updates explains the read after them")


@requirement("archive-effective-at-once")
def test_archive_among_edits_is_effective_at_once(archive_races: list[Race]) -> None:
    """No edit succeeds that starts after the response to an archive, with any other requests in flight."""
    expect_order(archive_races, "no order of the edits and the archive explains these responses")


@requirement("delete-effective-at-once")
def test_deletion_among_reads_is_effective_at_once(deletion_races: list[Race]) -> None:
    """No read succeeds that starts after the response to a deletion, with any other requests in flight."""
    expect_order(deletion_races, "no order of the reads, the edits and the deletion explains these responses")
