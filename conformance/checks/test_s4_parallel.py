"""Section 4 in parallel: simultaneous creations and edits, and refusals from the response to an archive on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.checks.markers import requirement
from conformance.oracle import expect, read
from conformance.oracle.outcomes import CantTell, NonConformity, evidence
from conformance.scenarios.basics import field_or_none, read_engagement
from conformance.scenarios.engagements.parallel import (
    REFUSED_BESIDE,
    Closing,
    FieldEdit,
    ParallelCreation,
)
from conformance.scenarios.lists.finding import expect_listed

if TYPE_CHECKING:
    from conformance.scenarios.engagements.creating import Creating


@requirement("create-engagement-in-parallel")
def test_parallel_creations_are_engagements_of_their_own(
    creating: Creating, parallel_creation: ParallelCreation
) -> None:
    """Engagements created simultaneously have different identifiers, and lists show all of them."""
    responses, ids = parallel_creation.responses, parallel_creation.identifiers
    if not any(response.succeeded for response in responses):
        raise CantTell("no creation succeeded", *responses)
    for response in responses:
        expect.success(response)

    expect.distinct_ids("parallel creations", ids, *responses)
    if not creating.found.ids >= creating.found.wanted:
        raise CantTell("engagements created in sequence are not listed either", *responses)
    expect_listed("an engagement created in parallel", parallel_creation.found)


@requirement("update-engagement-in-parallel")
def test_parallel_updates_both_take_effect(parallel_edits: list[tuple[FieldEdit, FieldEdit]]) -> None:
    """Two simultaneous updates of different fields both take effect if both succeed."""
    for pair in parallel_edits:
        if all(edit.response.status in REFUSED_BESIDE for edit in pair):
            raise CantTell("each update was refused because of the other", *(edit.response for edit in pair))
        for edit in pair:
            _expect_right_alone(edit)

        for edit in pair:
            exchanges = (*(edited.response for edited in pair), edit.after)
            expected = f"any 2xx and {edit.value}, or 404 or 409"
            actual = f"{edit.response.status}, and {field_or_none(edit.after, edit.field)}"
            expect.holds(
                edit.right, f"the update of {edit.field} is lost", *exchanges, expected=expected, actual=actual
            )


def _expect_right_alone(edit: FieldEdit) -> None:
    """Expect a failed edit to succeed alone, so that the fault is about parallel requests."""
    if edit.alone is not None:
        response, after = edit.alone
        if read_engagement(after).get(edit.field) != edit.value or not response.succeeded:
            raise CantTell(f"an update of {edit.field} does not succeed alone either", response, after)
    read_engagement(edit.after)


@requirement("archive-effective-at-once")
def test_archive_is_effective_at_once(archives_at_once: list[Closing]) -> None:
    """No edit that starts after the response to an archive succeeds."""
    _expect_closed(archives_at_once, "an edit succeeded after the response to the archive", "a refusal of every edit")


@requirement("delete-effective-at-once")
def test_deletion_is_effective_at_once(deletions_at_once: list[Closing]) -> None:
    """No read that starts after the response to a deletion succeeds."""
    _expect_closed(deletions_at_once, "a read succeeded after the response to the deletion", "a refusal of every read")


def _expect_closed(closings: list[Closing], message: str, expected: str) -> None:
    """Expect no success after the responses; if requests still succeed a while later, another requirement is broken."""
    for closing in closings:
        read.success(closing.response)
        if closing.later is not None and closing.later.succeeded:
            raise CantTell(f"{message}, and still does later", closing.response, closing.later)
        evidence(closing.response, *closing.attempts)
        for attempt in closing.attempts:
            if attempt.succeeded:
                raise NonConformity(message, closing.response, attempt, expected=expected, actual=str(attempt.status))
