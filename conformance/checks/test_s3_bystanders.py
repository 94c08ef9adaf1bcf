"""Section 3, bystanders: engagements of the run that no request changed stay unchanged."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.checks.markers import requirement
from conformance.confirm.clock_ticks import ONE_SECOND_TICK
from conformance.oracle import expect, read
from conformance.oracle.outcomes import CantTell
from conformance.scenarios.basics import FIELDS, field_or_none, read_engagement, require_active
from conformance.scenarios.engagements.bystanders import Afterwards, settled
from conformance.scenarios.lists.finding import PER_PAGE, ids_on
from conformance.verdicts.stages import Stage
from conformance.wire import requests
from conformance.wire.exchange import SUCCESSES

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.scenarios.engagements.archiving import Archiving
    from conformance.scenarios.engagements.deletion import Deletion
    from conformance.scenarios.engagements.editing import Editing
    from conformance.wire.exchange import Exchange

pytestmark = pytest.mark.stage(Stage.LOOKING_BACK)

_READS: Final = frozenset({"getEngagement", "listEngagements"})
_THERE: Final = "the engagement, as it was read before"

Sights = dict[tuple[str, str], list[tuple["Exchange", dict[str, Any]]]]
"""Responses about engagements in order, by identifier and operation; another check compares reads and lists."""


@requirement("reading-changes-nothing")
def test_reading_changes_nothing(run: Run, afterwards: Afterwards) -> None:
    """Two reads of an engagement with nothing in between are equal."""
    first, second = afterwards.late, afterwards.settled
    if field_or_none(first, "updatedAt") != field_or_none(second, "updatedAt"):
        # Another request of the run may have ended in between, but not twice.
        run.sleep(ONE_SECOND_TICK)
        first, second = run.send(first.request), run.send(first.request)

    expect.unchanged(
        "an engagement that was only read", read_engagement(first), read_engagement(second), FIELDS, first, second
    )


@requirement("archive-spares-others")
def test_archiving_spares_others(run: Run, archiving: Archiving, afterwards: Afterwards) -> None:
    """Archiving an engagement leaves the others unchanged."""
    read.success(archiving.first.response)
    require_active(afterwards.early)
    named = {exchange.request.identifier for exchange in run.wire.exchanges if _may_change_status(exchange)}

    _expect_steadfast(_sights(run, "createEngagement"), _created(run) - named, "status")
    settled(afterwards)
    if afterwards.archive.succeeded:
        exchanges = afterwards.beside_edit, afterwards.archive, afterwards.beside_archive
        before, after = read_engagement(afterwards.beside_edit), read_engagement(afterwards.beside_archive)
        expect.unchanged("an engagement other than the archived one", before, after, FIELDS, *exchanges)


@requirement("update-engagement-spares-others")
def test_updating_spares_others(run: Run, editing: Editing, afterwards: Afterwards) -> None:
    """Updating an engagement leaves name, description and updatedAt of the others unchanged."""
    read.success(editing.name.response)

    named = {
        exchange.request.identifier for exchange in run.wire.exchanges if exchange.request.operation.id not in _READS
    }

    read_engagement(afterwards.early)
    _expect_steadfast(_sights(run), _created(run) - named, "name", "description")
    # Others of the run may have subordinate records, which may count as a change.
    early, late, edited = afterwards.early, afterwards.late, afterwards.beside_edit
    if afterwards.edit.succeeded:
        exchanges = afterwards.settled, afterwards.edit, edited
        expect.unchanged(
            "an engagement other than the edited one", settled(afterwards), read_engagement(edited), FIELDS, *exchanges
        )
    if field_or_none(edited, "updatedAt") != field_or_none(afterwards.beside_archive, "updatedAt"):
        raise CantTell("archiving another engagement moves updatedAt, too", edited, afterwards.beside_archive)
    expect.unchanged(
        "an engagement that was left alone", read_engagement(early), read_engagement(late), ["updatedAt"], early, late
    )


@requirement("delete-spares-others")
def test_deleting_spares_others(run: Run, deletion: Deletion, afterwards: Afterwards) -> None:
    """Deleting an engagement leaves the others in place and unchanged."""
    read.success(deletion.active.response)
    read_engagement(afterwards.early)
    targets = {exchange.request.identifier for exchange in run.wire.exchanges if _may_end(exchange)}
    existing = {identifier for identifier, _ in _sights(run)} & _created(run) - targets

    for survivor in (afterwards.late, afterwards.beside_deletion):
        expect.found(survivor, _THERE)
    if afterwards.deletion.succeeded:
        exchanges = afterwards.beside_archive, afterwards.deletion, afterwards.beside_deletion
        settled(afterwards)
        before, after = read_engagement(afterwards.beside_archive), read_engagement(afterwards.beside_deletion)
        expect.unchanged("an engagement other than the deleted one", before, after, FIELDS, *exchanges)
    if read.number(afterwards.page, "total") <= PER_PAGE:
        for identifier in sorted(existing - ids_on(afterwards.page)):
            expect.found(run.send(requests.get_engagement(identifier)), _THERE)


def _may_end(exchange: Exchange) -> bool:
    """Whether an exchange may end an engagement, or change its identifier."""
    sent = exchange.request
    return sent.operation.id == "deleteEngagement" or (
        sent.operation.id == "updateEngagement" and b'"id"' in (sent.body or b"")
    )


def _may_change_status(exchange: Exchange) -> bool:
    """Whether an exchange may change the status of an engagement, or end it."""
    sent = exchange.request
    edits_name_or_description = sent.operation.id == "updateEngagement" and b'"status"' not in (sent.body or b"")
    return sent.operation.id not in _READS and not edits_name_or_description


def _expect_steadfast(sights_of: Sights, bystanders: set[str], *fields: str) -> None:
    """Expect the same fields in every response about engagements that no request had a reason to change."""
    for (identifier, _), sights in sights_of.items():
        first, engagement = sights[0]
        for exchange, later in sights[1:] if identifier in bystanders else ():
            expect.unchanged("an engagement that was left alone", engagement, later, fields, first, exchange)


def _created(run: Run) -> set[str]:
    """Return the identifiers that exactly one creation of the run returned."""
    creations = [
        exchange
        for exchange in run.wire.exchanges
        if exchange.request.operation.id == "createEngagement" and _is_success(exchange)
    ]
    given = Counter(read.identifier_or_none(creation) for creation in creations)
    return {identifier for identifier, times in given.items() if identifier is not None and times == 1}


def _sights(run: Run, *beside: str) -> Sights:
    """Return the responses about engagements from reads and from lists, each with the operations beside them."""
    found: Sights = defaultdict(list)
    for exchange in run.wire.exchanges:
        operation = exchange.request.operation.id
        if operation in {*_READS, *beside} and _is_success(exchange):
            for engagement in _engagements(exchange):
                for kind in (operation,) if operation in _READS else _READS:
                    if (identifier := read.id_of(engagement)) is not None:
                        found[identifier, kind].append((exchange, engagement))
    return found


def _engagements(exchange: Exchange) -> list[dict[str, Any]]:
    try:
        return read.items(exchange) if exchange.request.operation.response == "list" else [read.data(exchange)]
    except CantTell:
        return []


def _is_success(exchange: Exchange) -> bool:
    """Whether an exchange is a success with the main key."""
    received = exchange.received
    proper = exchange.request.is_proper and exchange.request.credential is None
    return proper and received is not None and received.status in SUCCESSES
