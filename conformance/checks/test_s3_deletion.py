"""Section 3, deletion: an engagement is gone for good, active or archived, and no other is affected."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from conformance.checks.markers import requirement
from conformance.checks.observations import observing
from conformance.oracle import expect, read
from conformance.oracle.outcomes import CantTell
from conformance.scenarios.basics import (
    expect_missing,
    field_or_none,
    missing_identifier,
)
from conformance.scenarios.engagements.deletion import deletion
from conformance.scenarios.lists.finding import ids_on
from conformance.wire import requests

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.scenarios.engagements.deletion import Deleted, Deletion


def deleted(deletion: Deletion) -> list[Deleted]:
    """Return the engagements whose deletion succeeded."""
    found = [attempt for attempt in (deletion.active, deletion.archived) if attempt.response.succeeded]
    if not found:
        raise CantTell("no deletion succeeded", deletion.active.response, deletion.archived.response)
    return found


def gone(deletion: Deletion) -> list[Deleted]:
    """Return the deleted engagements, if some cannot be read; another requirement judges that."""
    found = [attempt for attempt in deleted(deletion) if not attempt.read.succeeded]
    if not found:
        raise CantTell("the deletion had no effect", *(attempt.read for attempt in deleted(deletion)))
    return found


@requirement("delete-engagement-succeeds")
def test_deleting_succeeds(deletion: Deletion) -> None:
    """Deleting an engagement gives 200."""
    read.success(deletion.before)

    expect.success(deletion.active.response)


@requirement("archived-deletable")
def test_archived_engagement_can_be_deleted(deletion: Deletion) -> None:
    """An archived engagement can be deleted."""
    if field_or_none(deletion.archive, "status") != "archived":
        raise CantTell("the engagement did not become archived", deletion.archive)
    if deletion.active.response.status != HTTPStatus.OK:
        raise CantTell("deleting an active engagement does not succeed either", deletion.active.response)
    if deletion.archived.response.status == deletion.archived.read.status == HTTPStatus.NOT_FOUND:
        raise CantTell("the engagement was gone before it was deleted", deletion.archived.response)

    expect.success(deletion.archived.response)


@requirement("delete-unknown-engagement")
def test_unknown_engagement_cannot_be_deleted(run: Run) -> None:
    """An engagement that does not exist cannot be deleted."""
    expect_missing(run.send(requests.delete_engagement(missing_identifier(run))))


@requirement("deleted-unreadable")
def test_deleted_engagement_cannot_be_read(deletion: Deletion) -> None:
    """A deleted engagement is not found by a read."""
    for attempt in deleted(deletion):
        expect.status_in(attempt.read, 404)


@requirement("deleted-uneditable")
def test_deleted_engagement_cannot_be_edited(deletion: Deletion) -> None:
    """A deleted engagement is not found by an edit."""
    for attempt in gone(deletion):
        expect.status_in(attempt.edit, 404)


@requirement("deleted-undeletable")
def test_deleted_engagement_cannot_be_deleted_again(deletion: Deletion) -> None:
    """A deleted engagement is not found by another deletion."""
    for attempt in gone(deletion):
        expect.status_in(attempt.again, 404)


@requirement("deleted-unarchivable")
def test_deleted_engagement_cannot_be_archived(deletion: Deletion) -> None:
    """A deleted engagement is not found by an archive."""
    for attempt in gone(deletion):
        expect.status_in(attempt.archive, 404)


@requirement("deleted-not-unarchived")
def test_deleted_engagement_is_not_unarchived(deletion: Deletion) -> None:
    """Unarchiving a deleted engagement is refused, as not found or as an invalid request."""
    for attempt in gone(deletion):
        expect.status_in(attempt.unarchive, 404, 400, 403, 415, 422)


@requirement("deleted-unlisted")
def test_deleted_engagement_is_in_no_list(deletion: Deletion) -> None:
    """A deleted engagement is in no list, with or without a filter."""
    ids = {attempt.identifier for attempt in gone(deletion)}

    for page in deletion.lists:
        expect.not_listed("a deleted engagement", ids & ids_on(page), page)


OBSERVATIONS: Final = (
    observing("unarchive-unknown", deletion, lambda seen: [attempt.unarchive for attempt in gone(seen)]),
)
