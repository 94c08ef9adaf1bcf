"""Deletion of engagements with subordinate records, beside one that stays."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from conformance.interface.operations import KINDS
from conformance.oracle import read
from conformance.running.options import Effort
from conformance.running.scenarios import scenario
from conformance.scenarios.access.two_organizations import two_organizations
from conformance.scenarios.access.unauthenticated import NO_KEY
from conformance.scenarios.basics import create_engagements, field_or_none
from conformance.scenarios.engagements.histories import archived_last, histories
from conformance.scenarios.keys_in_turn import scoped_key_or_none, send_by_turns
from conformance.scenarios.lists.finding import latest
from conformance.scenarios.members.role_changes import key_of_bystander
from conformance.targets.capabilities import MissingMeans
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from conformance.interface.operations import SubordinateKind
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

_CHANGES: Final[Mapping[str, Callable[[Run, str], Request]]] = {
    "updateEngagement": lambda run, identifier: requests.update_engagement(identifier, {"name": run.name("renamed")}),
    "archiveEngagement": lambda _, identifier: requests.archive_engagement(identifier),
    "unarchiveEngagement": lambda _, identifier: requests.unarchive_engagement(identifier),
}
_CHANGES_BEFORE: Final = (
    ("updateEngagement",),
    ("archiveEngagement", "unarchiveEngagement", "archiveEngagement"),
    ("archiveEngagement", "unarchiveEngagement"),
    ("archiveEngagement",),
    (),
)
"""The changes, before the deletion, of the engagements with records of every kind."""
_MORE: Final = {Effort.QUICK: 4, Effort.STANDARD: 8, Effort.DEEP: 16}
"""The number of further engagements of the run, with other histories if there are any, that get a single record."""


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
    """Deleted engagements with records, and a neighbour that was not deleted.

    Attributes:
        deletions: The deletions, with all keys that may delete.
        reads: Reads of the engagements whose records still existed afterwards, by identifier.
        archived: The deleted engagements whose last change was an archive.
        deleted_records: The records of the deleted engagements, a list for each.
        neighbour: The engagement that was not deleted.
        kept: The records of the neighbour.
        unauthorized: Deletions of the neighbour that must be refused.
    """

    deletions: tuple[Exchange, ...]
    reads: Mapping[str, Exchange]
    archived: frozenset[str]
    neighbour: str
    deleted_records: tuple[list[Record], ...] = field(repr=False)
    kept: list[Record] = field(repr=False)
    unauthorized: tuple[Exchange, ...] = ()


@scenario(alone=True)
def cascade(run: Run) -> Cascade:
    """Give engagements records, change some of them, and delete all but one."""
    full, more, neighbour = _engagements_for_records(run)
    # Archived engagements may refuse records, so most are made before the engagements are archived.
    many = KINDS * 2 + KINDS[:1] * 2
    records = [_records(run, identifier, KINDS if place else many) for place, identifier in enumerate(full)]
    is_named_alike = _name_like(run, full[0], full[-1], neighbour)
    for identifier, changes in [*zip(full, _CHANGES_BEFORE, strict=True)][is_named_alike:]:
        _change(run, identifier, changes)
    records[1] += _made(_records(run, full[1], KINDS[:1]))  # it is archived
    for place, identifier in enumerate(more):
        records.append(_made(_records(run, identifier, (KINDS[place % len(KINDS)],))))
    deleted = [*full, *more]
    archived = frozenset(archived_last(histories(run))).intersection(deleted)
    kept = _records(run, neighbour, KINDS)
    run.send(latest(run))  # the laws of lists judge it: an engagement with several records is listed once
    unauthorized = _try_unauthorized(run, requests.delete_engagement(neighbour))
    keys = [key_of_bystander(run), scoped_key_or_none(run, "engagements:delete")]
    deletions = send_by_turns(run, [requests.delete_engagement(identifier) for identifier in deleted], keys)
    gone = [each for deletion, each in zip(deletions, records, strict=True) if deletion.succeeded]
    run.wait_until(lambda: not still_there(run, gone))
    kept = read_again(run, kept)
    left = dict.fromkeys(record.engagement for each in records for record in each if record.is_there)
    reads = {identifier: run.send(requests.get_engagement(identifier)) for identifier in left}
    return Cascade(tuple(deletions), reads, archived, neighbour, tuple(records), kept, unauthorized)


def _try_unauthorized(run: Run, deletion: Request) -> tuple[Exchange, ...]:
    """Send a deletion that must be refused: without a key, with one that may only read, with another organization's."""
    keys = [NO_KEY, scoped_key_or_none(run, "engagements:read")]
    if run.scenarios.result_if_any(two_organizations) is not None:
        keys.append(run.fixtures.other_organization())
    batch = [replace(deletion, credential=key, repeatable=True) for key in keys if key is not None]
    return tuple(sent for sent in run.send_permitted(batch) if sent is not None)


def _engagements_for_records(run: Run) -> tuple[list[str], list[str], str]:
    """Return active engagements for records of every kind, others for a single record each, and one that stays.

    They are engagements of the run, and new ones if there are too few.
    """
    known = histories(run)
    active = [identifier for identifier, changes in known.items() if "archiveEngagement" not in changes]
    lacking = ["doomed"] * (len(_CHANGES_BEFORE) + 1 - len(active))
    active += [engagement["id"] for engagement in create_engagements(run, *lacking, known=known)]
    *full, neighbour = active[: len(_CHANGES_BEFORE) + 1]
    others = {tuple(changes): identifier for identifier, changes in known.items()}
    more = dict.fromkeys([*others.values(), *known])
    return (
        full,
        [identifier for identifier in more if identifier not in {*full, neighbour}][: _MORE[run.effort]],
        neighbour,
    )


def _change(run: Run, identifier: str, changes: Sequence[str]) -> None:
    """Carry out changes on an engagement; what unarchiving does, and another archive then, is open."""
    responses = [run.send(_CHANGES[change](run, identifier)) for change in changes]
    for response in responses[:1]:
        read.success(response)


def _name_like(run: Run, identifier: str, other: str, neighbour: str) -> bool:
    """Give an engagement the name of a neighbour, so that only ids tell their records apart, and another its beginning.

    Returns:
        Whether the service permits equal names.
    """
    name = field_or_none(run.send(requests.get_engagement(neighbour)), "name")
    if not isinstance(name, str):
        return False
    names = {identifier: name, other: name[:-1]}
    renamed = run.send_all([requests.update_engagement(key, {"name": value}) for key, value in names.items()])
    return renamed[0].accepted


def _made(records: Sequence[Record]) -> list[Record]:
    return [record for record in records if record.error is None]


def _records(run: Run, engagement: str, kinds: Sequence[SubordinateKind]) -> list[Record]:
    """Make a record of each of some kinds."""
    records = [Record(kind, engagement) for kind in kinds]
    for record in records:
        try:
            record.id = run.fixtures.make_subordinate(record.engagement, record.kind)
        except MissingMeans as missing:
            record.error = missing
        record.was_there = _read(run, record)
    return records


def read_again(run: Run, records: Sequence[Record]) -> list[Record]:
    """Return records as they are now."""
    now = [replace(record) for record in records]
    for record in now:
        _read(run, record)
    return now


def archive_neighbour(run: Run, done: Cascade) -> list[Record]:
    """Archive the engagement that was not deleted; return its records as they are then, without those that it hides."""
    run.send(requests.archive_engagement(done.neighbour))
    records = zip(done.kept, read_again(run, done.kept), strict=True)
    return [now for before, now in records if now.is_there or not before.is_there]


def _read(run: Run, record: Record) -> bool:
    """Return whether a record exists now; a record with an earlier error is skipped."""
    if record.id is None or record.error is not None:
        return False
    try:
        record.is_there = run.fixtures.subordinate_exists(record.engagement, record.kind, record.id)
    except MissingMeans as missing:
        record.error = missing
    return record.is_there and record.error is None


def still_there(run: Run, gone: Sequence[list[Record]]) -> list[Record]:
    """Read every record again that existed at the last read."""
    return [record for records in gone for record in records if record.is_there and _read(run, record)]
