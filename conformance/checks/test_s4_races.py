"""Section 4 in races: whatever overlaps, the answers fit an order in which each request is carried out as a whole."""

from __future__ import annotations

from conformance.checks.markers import requirement, scenario
from conformance.checks.races import Race, archive_races, deletion_races, edit_races, expect_order

edit_races_scenario = scenario(edit_races)
archive_races_scenario = scenario(archive_races)
deletion_races_scenario = scenario(deletion_races)


@requirement("update-engagement-in-parallel")
def test_racing_updates_take_effect_as_a_whole(edit_races: list[Race]) -> None:
    """What updates leave that were sent at the same time is what they leave in some order."""
    expect_order(edit_races, "no order of the updates leaves what is read after them")


@requirement("archive-effective-at-once")
def test_archive_among_edits_is_effective_at_once(archive_races: list[Race]) -> None:
    """No edit succeeds that starts after the answer to an archive, whatever else is under way."""
    expect_order(archive_races, "no order of the edits and the archive gives these answers")


@requirement("delete-effective-at-once")
def test_deletion_among_reads_is_effective_at_once(deletion_races: list[Race]) -> None:
    """No read succeeds that starts after the answer to a deletion, whatever else is under way."""
    expect_order(deletion_races, "no order of the reads, the edits and the deletion gives these answers")
