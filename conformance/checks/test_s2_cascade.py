"""The subordinate records of a deleted engagement: tasks, targets, reports, wiki pages, API requests, threat models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.markers import requirement
from conformance.oracle import expect, read
from conformance.oracle.outcomes import CantTell, Inapplicable
from conformance.targets.capabilities import MissingMeans
from conformance.verdicts.stages import Stage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.interface.operations import SubordinateKind
    from conformance.scenarios.engagements.cascade import Cascade, Record
    from conformance.scenarios.engagements.final_deletion import FinalDeletion
    from conformance.wire.exchange import Exchange

pytestmark = pytest.mark.stage(Stage.CLEANUP)


def _require_known(record: Record, *at: Exchange) -> Record:
    """Return the record, which must have existed, and whose state must be known."""
    if record.error is not None:
        raise MissingMeans(record.error.need, record.error.reason)
    if not record.was_there:
        raise CantTell(f"the {record.kind} did not exist after it was made", *at)
    return record


_of_each_kind = pytest.mark.parametrize(
    "kind",
    [
        pytest.param("task", marks=requirement("subordinate-tasks-go")),
        pytest.param("target", marks=requirement("subordinate-targets-go")),
        pytest.param("report", marks=requirement("subordinate-reports-go")),
        pytest.param("wikiPage", marks=requirement("subordinate-wiki-pages-go")),
        pytest.param("apiRequest", marks=requirement("subordinate-api-requests-go")),
        pytest.param("threatModel", marks=requirement("subordinate-threat-models-go")),
    ],
)


@_of_each_kind
def test_records_go(cascade: Cascade, kind: SubordinateKind) -> None:
    """A deleted engagement takes its subordinate records of each kind with it."""
    for deletion, records in zip(cascade.deletions, cascade.deleted_records, strict=True):
        read.success(deletion)
        for record in (_require_known(record, deletion) for record in records if record.kind == kind):
            after = cascade.reads.get(record.engagement)
            if record.is_there and after is not None and after.accepted:
                raise CantTell("the engagement itself still exists", deletion, after)
            _expect_gone(record, deletion)


@_of_each_kind
def test_records_of_the_last_engagement_go(final_deletion: FinalDeletion, kind: SubordinateKind) -> None:
    """An engagement that keys were refused to delete takes its records with it when it is deleted."""
    records = [record for record in final_deletion.gone if record.kind == kind]
    if not records:
        raise Inapplicable("no engagement whose deletion had been refused was deleted with such a record")
    for record in records:
        deletion = final_deletion.responses[record.engagement]
        _expect_gone(_require_known(record, deletion), deletion)


def _expect_gone(record: Record, deletion: Exchange) -> None:
    expect.holds(
        not record.is_there,
        f"the {record.kind} of a deleted engagement still exists",
        deletion,
        expected="gone within the target's patience",
        actual="it exists",
    )


@requirement("subordinates-of-others-stay")
def test_records_of_neighbour_stay(cascade: Cascade) -> None:
    """Deleting an engagement leaves the subordinate records of another one alone."""
    _judge_kept(cascade, cascade.kept, cascade.deletions)


@requirement("subordinates-of-others-stay")
def test_records_of_the_last_engagement_stay(cascade: Cascade, final_deletion: FinalDeletion) -> None:
    """Deleting all other engagements of the run leaves the subordinate records of one alone."""
    before = {cascade.neighbour, *(deletion.request.identifier for deletion in cascade.deletions)}
    later = sorted(final_deletion.responses.keys() - before)
    if not later:
        raise Inapplicable("no further engagement was deleted")
    if not final_deletion.kept:
        raise MissingMeans(f"subordinates:{cascade.kept[0].kind}", "It cannot be read in an archive.")
    _judge_kept(cascade, final_deletion.kept, [final_deletion.responses[identifier] for identifier in later])


def _judge_kept(cascade: Cascade, records: Sequence[Record], deletions: Sequence[Exchange]) -> None:
    done = [deletion for deletion in deletions if deletion.accepted]
    if not done:
        read.success(deletions[0])
    if served := [sent for sent in cascade.unauthorized if not sent.refused]:
        raise CantTell("the other engagement was deleted with a key that must be refused", *served)
    known = [record for record in records if record.error is None]
    for record in known or records:
        _require_known(record, *done)
        expect.exists(f"the {record.kind} of another engagement", record.is_there, *done)
