"""Section 3, at the end: an engagement with any history can be deleted, and is gone then."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

import pytest

from conformance.checks.markers import requirement
from conformance.oracle import expect, read
from conformance.oracle.bulk import Sent, every_status
from conformance.oracle.outcomes import CantTell, Inapplicable
from conformance.scenarios.lists.finding import ids_on
from conformance.scenarios.organization.counts import Counts, expect_agreement
from conformance.scenarios.whole_run_ledger import LedgerResults, raise_if_explained
from conformance.verdicts.stages import Stage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.running.run import Run
    from conformance.scenarios.engagements.final_deletion import FinalDeletion


pytestmark = pytest.mark.stage(Stage.CLEANUP)


@requirement("delete-engagement-succeeds")
def test_everything_can_be_deleted(final_deletion: FinalDeletion, ledger_of_run: LedgerResults) -> None:
    """Deleting an engagement gives 200 after any changes."""
    active = final_deletion.responses.keys() - final_deletion.archived
    _expect_deleted("delete-engagement-succeeds", final_deletion, active, ledger_of_run)


@requirement("archived-deletable")
def test_everything_archived_can_be_deleted(final_deletion: FinalDeletion, ledger_of_run: LedgerResults) -> None:
    """Deleting an archived engagement gives 200 after any changes."""
    others = final_deletion.responses.keys() - final_deletion.archived
    if others and not any(final_deletion.responses[other].accepted for other in others):
        raise CantTell("deleting active engagements does not succeed either", final_deletion.responses[min(others)])

    _expect_deleted("archived-deletable", final_deletion, final_deletion.archived, ledger_of_run)


@requirement("deleted-unlisted")
def test_nothing_that_was_deleted_is_listed(final_deletion: FinalDeletion) -> None:
    """No engagement that was deleted at the end is in the list."""
    gone = {identifier for identifier, response in final_deletion.responses.items() if response.accepted}
    still = gone & ids_on(final_deletion.page)
    unread = [exchange for exchange in final_deletion.reads if exchange.accepted]
    if still and unread:
        raise CantTell("deleted engagements can be read, too", *unread)

    deletions = [final_deletion.responses[identifier] for identifier in sorted(still)[:1]]
    expect.not_listed("a deleted engagement", still, *deletions, final_deletion.page)


@requirement("delete-spares-others")
def test_the_newest_engagement_outlives_the_others(final_deletion: FinalDeletion) -> None:
    """The newest active engagement is unchanged after the deletion of all others."""
    if not final_deletion.spared or not final_deletion.spared[0].accepted:
        raise Inapplicable("no active engagement existed at the end")
    before, after = final_deletion.spared
    expect.status(after, lambda status: status == HTTPStatus.OK, "200, as before the deletions")

    kept = ("name", "description", "status", "updatedAt")
    expect.unchanged("the newest engagement", read.data(before), read.data(after), kept, before, after)


@requirement("deleted-uncounted")
def test_nothing_deleted_is_counted(run: Run, final_deletion: FinalDeletion, counts: Counts) -> None:
    """After the deletion of every engagement of the run, engagementCount is the total of the list, as before."""
    for organization in (counts.before, counts.after):
        if read.integer(read.data(organization), "engagementCount", organization) != read.number(
            counts.engagements, "total"
        ):
            raise Inapplicable("engagementCount was not the total of the list before either")
    last = Counts(final_deletion.organization, final_deletion.page, counts.members, final_deletion.organization)

    expect_agreement(run, last, "engagementCount", lambda seen: seen.engagements)


def _expect_deleted(
    rule: str, final_deletion: FinalDeletion, identifiers: Iterable[str], ledger_of_run: LedgerResults
) -> None:
    """Expect that the deletions with a response succeeded; a deletion whose response was lost is not retried."""
    sent = [
        Sent("an engagement of the run", final_deletion.responses[identifier]) for identifier in sorted(identifiers)
    ]
    if not sent:
        raise Inapplicable("no engagement of that kind existed at the end")

    responded = [deletion for deletion in sent if deletion.exchange.judgeable]
    if any(deletion.exchange.status == HTTPStatus.NOT_FOUND for deletion in responded):
        raise_if_explained(rule, ledger_of_run, "an engagement could not be found for its deletion")
    every_status(responded or sent, lambda status: status == HTTPStatus.OK, "200")
