"""The subordinate records of a deleted engagement: tasks, targets, reports, wiki pages, API requests, threat models."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.checks.markers import requirement, scenario
from conformance.oracle import expect, read
from conformance.oracle.effects import accepted
from conformance.oracle.outcomes import CantTell
from conformance.targets.capabilities import MissingMeans
from conformance.targets.profile import KINDS
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.running.run import Run
    from conformance.targets.profile import SubordinateKind
    from conformance.wire.exchange import Exchange


@dataclass(slots=True)
class Record:
    """A subordinate record, or the reason why nothing is known about it.

    Attributes:
        kind: Its kind.
        engagement: The engagement that it was made in.
        id: Its identifier; None if it could not be made.
        was_there: Whether it existed once it was made.
        is_there: Whether it existed after the deletions and the target's patience.
        error: The reason why it could not be made or read.
    """

    kind: SubordinateKind
    engagement: str
    id: str | None = None
    was_there: bool = False
    is_there: bool = False
    error: MissingMeans | None = None


@dataclass(frozen=True, slots=True)
class Cascade:
    """Deleted engagements with records of all kinds, and a neighbour that was not deleted.

    Attributes:
        deletions: The deletions, of an active engagement and of an archived one.
        reads: Reads of the engagements whose records still existed afterwards, by identifier.
        gone: The records of the deleted engagements, a list for each.
        kept: The records of the neighbour.
    """

    deletions: tuple[Exchange, ...]
    reads: Mapping[str, Exchange]
    gone: tuple[list[Record], ...] = field(repr=False)
    kept: list[Record] = field(repr=False)


def cascade(run: Run) -> Cascade:
    """Give engagements records of each kind, the first one two; delete all but one, one of them archived."""
    labels = ("doomed", "doomed-archived", "neighbour")
    *doomed, neighbour = run.send_all([requests.create_engagement({"name": run.name(label)}) for label in labels])
    gone = (_records(run, doomed[0], KINDS * 2), _records(run, doomed[1]))
    kept = _records(run, neighbour)
    for exchange in doomed[1:]:
        read.success(run.send(requests.archive_engagement(_id(exchange))))
    deletions = tuple(run.send(requests.delete_engagement(_id(exchange))) for exchange in doomed)
    for_good = tuple(records for deletion, records in zip(deletions, gone, strict=True) if deletion.succeeded)
    run.wait_until(lambda: not _still_there(run, for_good))
    for record in kept:
        _look(run, record)
    left = dict.fromkeys(record.engagement for records in gone for record in records if record.is_there)
    return Cascade(
        deletions, {identifier: run.send(requests.get_engagement(identifier)) for identifier in left}, gone, kept
    )


cascade_scenario = scenario(cascade)


def _id(exchange: Exchange) -> str:
    return read.text(read.data(exchange), "id", exchange)


def _records(run: Run, created: Exchange, kinds: Sequence[SubordinateKind] = KINDS) -> list[Record]:
    """Make a record of each of some kinds."""
    records = [Record(kind, _id(created)) for kind in kinds]
    for record in records:
        try:
            record.id = run.fixtures.make_subordinate(record.engagement, record.kind)
        except MissingMeans as error:
            record.error = error
        record.was_there = _look(run, record)
    return records


def _look(run: Run, record: Record) -> bool:
    """Return whether a record exists now; a record with an earlier error is skipped."""
    if record.id is None or record.error is not None:
        return False
    try:
        record.is_there = run.fixtures.subordinate_exists(record.engagement, record.kind, record.id)
    except MissingMeans as error:
        record.error = error
    return record.is_there and record.error is None


def _still_there(run: Run, gone: tuple[list[Record], ...]) -> list[Record]:
    """Read every record again that existed at the last read."""
    return [record for records in gone for record in records if record.is_there and _look(run, record)]


def _settled(record: Record, *at: Exchange) -> Record:
    """Return the record, if it existed and its state is known."""
    if record.error is not None:
        raise MissingMeans(record.error.need, record.error.reason)
    if not record.was_there:
        raise CantTell(f"the {record.kind} did not exist after it was made", *at)
    return record


def _judge_gone(cascade: Cascade, kind: SubordinateKind) -> None:
    for deletion, records in zip(cascade.deletions, cascade.gone, strict=True):
        read.success(deletion)
        for record in (_settled(record, deletion) for record in records if record.kind == kind):
            after = cascade.reads.get(record.engagement)
            if record.is_there and after is not None and accepted(after):
                raise CantTell("the engagement itself still exists", deletion, after)
            expect.holds(
                not record.is_there,
                f"the {kind} of a deleted engagement still exists",
                deletion,
                expected="gone within the target's patience",
                actual="it exists",
            )


@requirement("subordinate-targets-go")
def test_targets_go(cascade: Cascade) -> None:
    """A deleted engagement takes its targets with it."""
    _judge_gone(cascade, "target")


@requirement("subordinate-tasks-go")
def test_tasks_go(cascade: Cascade) -> None:
    """A deleted engagement takes its tasks with it."""
    _judge_gone(cascade, "task")


@requirement("subordinate-wiki-pages-go")
def test_wiki_pages_go(cascade: Cascade) -> None:
    """A deleted engagement takes its wiki pages with it."""
    _judge_gone(cascade, "wikiPage")


@requirement("subordinate-reports-go")
def test_reports_go(cascade: Cascade) -> None:
    """A deleted engagement takes its reports with it."""
    _judge_gone(cascade, "report")


@requirement("subordinate-threat-models-go")
def test_threat_models_go(cascade: Cascade) -> None:
    """A deleted engagement takes its threat models with it."""
    _judge_gone(cascade, "threatModel")


@requirement("subordinate-api-requests-go")
def test_api_requests_go(cascade: Cascade) -> None:
    """A deleted engagement takes its API requests with it."""
    _judge_gone(cascade, "apiRequest")


@requirement("subordinates-of-others-stay")
def test_records_of_neighbour_stay(cascade: Cascade) -> None:
    """Deleting an engagement leaves the subordinate records of another one alone."""
    for deletion in cascade.deletions:
        read.success(deletion)
    known = [record for record in cascade.kept if record.error is None]
    for record in known or cascade.kept:
        _settled(record, *cascade.deletions)
        expect.holds(
            record.is_there,
            f"the {record.kind} of an engagement is gone after another engagement was deleted",
            *cascade.deletions,
            expected="it exists",
            actual="gone",
        )
