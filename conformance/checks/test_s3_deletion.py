"""Section 3, deletion: an engagement is gone for good, active or archived, and no other is affected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.checks.markers import requirement
from conformance.checks.observations import observing
from conformance.oracle import expect
from conformance.oracle.outcomes import CantTell
from conformance.scenarios.basics import expect_missing, missing_identifier
from conformance.scenarios.engagements.deletion import deletion
from conformance.wire import requests

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.scenarios.engagements.deletion import Deleted, Deletion


def _gone(deletion: Deletion) -> list[Deleted]:
    """Return the deleted engagements that cannot be read any more; another requirement judges the others."""
    done = [attempt for attempt in (deletion.active, deletion.archived) if attempt.response.succeeded]
    if not done:
        raise CantTell("no deletion succeeded", deletion.active.response, deletion.archived.response)
    gone = [attempt for attempt in done if not attempt.read.succeeded]
    if not gone:
        raise CantTell("the deletion had no effect", *(attempt.read for attempt in done))
    return gone


@requirement("delete-unknown-engagement")
def test_unknown_engagement_cannot_be_deleted(run: Run) -> None:
    """An engagement that does not exist cannot be deleted."""
    expect_missing(run.send(requests.delete_engagement(missing_identifier(run))))


@requirement("deleted-uneditable")
def test_deleted_engagement_cannot_be_edited(deletion: Deletion) -> None:
    """A deleted engagement is not found by an edit."""
    for attempt in _gone(deletion):
        expect.status_in(attempt.edit, 404)


@requirement("deleted-undeletable")
def test_deleted_engagement_cannot_be_deleted_again(deletion: Deletion) -> None:
    """A deleted engagement is not found by another deletion."""
    for attempt in _gone(deletion):
        expect.status_in(attempt.again, 404)


OBSERVATIONS: Final = (
    observing("unarchive-unknown", deletion, lambda seen: [attempt.unarchive for attempt in _gone(seen)]),
)
