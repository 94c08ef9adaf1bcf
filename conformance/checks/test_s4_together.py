"""Section 4, changes at once: simultaneous creations, edits, archives and deletions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.markers import requirement
from conformance.oracle import expect
from conformance.oracle.ledger.attribution import IN_PARALLEL
from conformance.oracle.outcomes import CantTell
from conformance.scenarios.engagements.together import ARCHIVED, DELETED, ParallelCreation, Race, expect_explained
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


@pytest.mark.parametrize(
    "rule", [pytest.param(rule, marks=requirement(rule)) for rule in (IN_PARALLEL, ARCHIVED, DELETED)]
)
def test_an_order_explains_changes_at_once(together: list[Race], rule: str) -> None:
    """The responses to changes at once, and to the requests right after them, fit an order of the changes."""
    expect_explained(together, rule)
