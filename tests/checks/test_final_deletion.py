"""Outcomes of the last deletions if engagements were gone before."""

from __future__ import annotations

import pytest

from conformance.checks.test_s3_final_deletion import test_everything_archived_can_be_deleted as archived_is_deletable
from conformance.checks.test_s3_final_deletion import test_everything_can_be_deleted as everything_is_deletable
from conformance.oracle.ledger.findings import Finding, Findings
from conformance.oracle.outcomes import CantTell, CheckOutcome, NonConformity
from conformance.scenarios.engagements.final_deletion import FinalDeletion
from conformance.scenarios.whole_run_ledger import LedgerResults
from conformance.wire import requests
from tests.fakes.exchanges import make_exchange, page

GONE = make_exchange(requests.get_engagement("a"), 404)


@pytest.mark.parametrize(
    ("status", "root", "outcome"),
    [
        (404, "create-engagement-lasts", CantTell),
        (404, "delete-spares-others", CantTell),
        (404, "archive-sets-status", NonConformity),
        (404, None, NonConformity),
        (409, "create-engagement-lasts", NonConformity),
    ],
)
def test_what_was_gone_before_cannot_be_deleted(status: int, root: str | None, outcome: type[CheckOutcome]) -> None:
    """A 404 says nothing of deletions if another broken requirement explains that the engagement is gone."""
    found = [] if root is None else [Finding(root, GONE, (), "a read failed", "200", "404", identifier="a")]
    ledger, organization = LedgerResults(Findings(found)), make_exchange("getCurrentOrganization")
    deletions = {"a": make_exchange(requests.delete_engagement("a"), status)}

    for check, archived in ((everything_is_deletable, frozenset[str]()), (archived_is_deletable, frozenset({"a"}))):
        with pytest.raises(outcome):
            check(FinalDeletion(deletions, archived, (), page([]), organization, ()), ledger)
