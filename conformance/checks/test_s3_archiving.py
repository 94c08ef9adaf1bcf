"""Section 3, archiving: an active engagement becomes archived and read-only, and nothing else changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.checks.markers import requirement
from conformance.checks.observations import observing
from conformance.confirm.clock_ticks import expect_moved
from conformance.oracle import expect, read
from conformance.oracle.observe import describe_response
from conformance.oracle.timestamps import A_LONG_TICK
from conformance.scenarios.basics import (
    create_engagements,
    expect_missing,
    field_or_none,
    missing_identifier,
    read_engagement,
    require_status,
    time_of,
)
from conformance.scenarios.engagements.archiving import Archiving, archived_after, archiving
from conformance.scenarios.lists.finding import expect_listed
from conformance.wire import requests

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange


@requirement("archive-unknown-engagement")
def test_unknown_engagement_cannot_be_archived(run: Run) -> None:
    """An engagement that does not exist cannot be archived."""
    expect_missing(run.send(requests.archive_engagement(missing_identifier(run))))


@requirement("archive-sets-status")
def test_archived_engagement_reads_archived(archiving: Archiving) -> None:
    """An archived engagement has the status archived, in the response and in later reads."""
    read.success(archiving.first.response)
    read_engagement(archiving.first.after)

    again = archiving.again
    # The response to a second archive is open, except that it must not state the status active.
    denied = field_or_none(again.after, "status") == "archived" and field_or_none(again.response, "status") == "active"
    for exchange in (archiving.first.response, archiving.first.after, *([again.response] if denied else [])):
        expect.field("status", "archived", exchange)


@requirement("archive-refreshes-updated-at")
def test_archiving_refreshes_updated_at(run: Run, archiving: Archiving) -> None:
    """Archiving an engagement sets a later updatedAt."""
    require_status(archiving.first.before, "active")
    require_status(archiving.first.after, "archived")
    transition = archiving.first
    if time_of(transition.before, "updatedAt") == time_of(transition.after, "updatedAt"):
        # Another engagement with a longer pause, in case the service's clock ticks slowly.
        (another,) = create_engagements(run, "later")
        run.send(requests.update_engagement(another["id"], {"description": "edited, then archived"}))
        transition = archived_after(run, another, A_LONG_TICK)

    before, after = transition.before, transition.after
    moved = time_of(after, "updatedAt")
    expect_moved(run, moved, time_of(before, "updatedAt"), before, transition.response, after)


@requirement("archived-edit-refused")
def test_edit_of_archived_engagement_is_refused(archiving: Archiving) -> None:
    """An edit of an archived engagement is refused."""
    require_status(archiving.first.after, "archived")

    for edit in archiving.edits:
        expect.refused(edit)
    if field_or_none(archiving.again.after, "status") == "archived":
        expect.refused(archiving.late_edit)


@requirement("archived-listed")
def test_archived_engagement_is_listed(archiving: Archiving) -> None:
    """An archived engagement is still in the list."""
    require_status(archiving.after_edits, "archived")

    expect_listed("an archived engagement", archiving.found)


@requirement("archived-again-stays-archived")
def test_engagement_archived_again_stays_archived(archiving: Archiving) -> None:
    """An engagement that is archived again stays archived."""
    require_status(archiving.again.before, "archived")

    read_engagement(archiving.again.after)
    expect.field("status", "archived", archiving.again.response, archiving.again.after)


@requirement("create-engagement-duplicate-name")
def test_name_of_archived_engagement_is_free_or_taken(archiving: Archiving) -> None:
    """A new engagement with an archived one's name is separate, or refused with 409."""
    require_status(archiving.after_edits, "archived")
    response = archiving.namesake

    expect.success_or_conflict(response)
    if response.succeeded:
        identifier = read.identifier(response)
        ids = archiving.identifier, identifier
        expect.distinct_ids("an archived engagement and a new one of its name", ids, archiving.first.response, response)


def _archived_again(seen: Archiving) -> tuple[str, Exchange, Exchange, Exchange]:
    before, response, after = seen.again.before, seen.again.response, seen.again.after
    same = field_or_none(before, "updatedAt") == field_or_none(after, "updatedAt")
    return f"{describe_response(response)}, {'unchanged' if same else 'updatedAt refreshed'}", before, response, after


OBSERVATIONS: Final = (
    observing("archive-status", archiving, lambda seen: seen.first.response),
    observing("archive-again", archiving, _archived_again),
    observing("archived-edit-status", archiving, lambda seen: [*seen.edits, seen.late_edit]),
    observing("duplicate-name-of-archived", archiving, lambda seen: seen.namesake),
)
