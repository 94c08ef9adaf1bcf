"""Deletion of an engagement with subordinate records, beside one that stays."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.oracle import read
from conformance.running.scenarios import scenario
from conformance.scenarios.access.every_operation import RetryNewKeys
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
        deletions: The deletions, of an edited engagement, an archived one, an unarchived one and a new one.
        reads: Reads of the engagements whose records still existed afterwards, by identifier.
        gone: The records of the deleted engagements, a list for each.
        kept: The records of the neighbour.
    """

    deletions: tuple[Exchange, ...]
    reads: Mapping[str, Exchange]
    gone: tuple[list[Record], ...] = field(repr=False)
    kept: list[Record] = field(repr=False)


@scenario
def cascade(run: Run) -> Cascade:
    """Give engagements records of each kind, the first one two; delete all but one.

    Before that, one is renamed, another is archived, unarchived and archived again, and the third only unarchived. It
    is deleted with a key that has no other permission, if there is one.
    """
    bodies = [{"name": run.name("doomed")} for _ in range(4)]
    bodies[0]["description"] = "Soon deleted."
    *doomed, neighbour = run.send_all(
        [requests.create_engagement(body) for body in (*bodies, {"name": run.name("neighbour")})]
    )
    gone = tuple(_records(run, made, KINDS * (2 if made is doomed[0] else 1)) for made in doomed)
    kept = _records(run, neighbour)
    renamed, archived, unarchived, new = map(read.identifier, doomed)
    read.success(run.send(requests.update_engagement(renamed, {"name": run.name("renamed")})))
    for identifier in (archived, unarchived):
        read.success(run.send(requests.archive_engagement(identifier)))
        if run.send(requests.unarchive_engagement(identifier)).accepted and identifier == archived:
            run.send(requests.archive_engagement(archived))
    deletions = (
        *(run.send(requests.delete_engagement(identifier)) for identifier in (renamed, archived)),
        _delete_by_key(run, unarchived),
        run.send(requests.delete_engagement(new)),
    )
    for_good = tuple(records for deletion, records in zip(deletions, gone, strict=True) if deletion.succeeded)
    run.wait_until(lambda: not _still_there(run, for_good))
    for record in kept:
        _look(run, record)
    left = dict.fromkeys(record.engagement for records in gone for record in records if record.is_there)
    return Cascade(
        deletions, {identifier: run.send(requests.get_engagement(identifier)) for identifier in left}, gone, kept
    )


def _delete_by_key(run: Run, identifier: str) -> Exchange:
    """Delete an engagement with a key that has no other permission; with the main key if that is refused."""
    deletion = requests.delete_engagement(identifier)
    with suppress(MissingMeans):
        response = RetryNewKeys(run).send(deletion.with_key(run.fixtures.scoped_key("engagements:delete")))
        if not response.refused:
            return response
    return run.send(deletion)


def _records(run: Run, created: Exchange, kinds: Sequence[SubordinateKind] = KINDS) -> list[Record]:
    """Make a record of each of some kinds."""
    records = [Record(kind, read.identifier(created)) for kind in kinds]
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
