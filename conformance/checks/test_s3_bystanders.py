"""Section 3, bystanders: engagements of the run that nothing was done to stay as they were."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.checks.engagements import identifier_of
from conformance.checks.marks import journey, requirement
from conformance.checks.searching import NEWEST, PER_PAGE, ids_on
from conformance.oracle import expect, read
from conformance.oracle.judgement import Undecided, judged
from conformance.wire import call

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

pytestmark = pytest.mark.stage(1)  # after those whose exchanges are judged here

_READS: Final = frozenset({"getEngagement", "listEngagements"})
_NOT_FOUND: Final = 404

Sights = dict[tuple[str, str], list[tuple["Exchange", dict[str, Any]]]]
"""What was seen of engagements, in order, by identifier and operation: that both agree is judged elsewhere."""


def afterwards(run: Run) -> Exchange:
    """The newest engagements are listed when everything else is over."""
    return run.send(call.list_engagements(**NEWEST))


afterwards_journey = journey(afterwards, alone=True)


@requirement("archive-spares-others")
def test_archiving_spares_bystanders(run: Run, afterwards: Exchange) -> None:
    """An engagement that was never archived never reads archived."""
    _expect_steadfast(run, afterwards, "status")


@requirement("update-engagement-spares-others")
def test_updating_spares_bystanders(run: Run, afterwards: Exchange) -> None:
    """The name and the description of an engagement that was never updated never change."""
    _expect_steadfast(run, afterwards, "name", "description")


@requirement("delete-spares-others")
def test_deleting_spares_bystanders(run: Run, afterwards: Exchange) -> None:
    """An engagement that was never deleted can be read as long as the run lasts."""
    deleted = {one.call.identifier for one in run.wire.exchanges if one.call.operation.id == "deleteEngagement"}
    seen = {identifier for identifier, _ in _sights(run)} & _created(run).keys() - deleted
    if read.number(afterwards, "total") > PER_PAGE or not seen:
        raise Undecided("the list does not show all engagements at once", afterwards)

    judged(afterwards)
    for identifier in sorted(seen - ids_on(afterwards)):
        again = run.send(call.get_engagement(identifier))
        expect.status(again, lambda status: status != _NOT_FOUND, "the engagement, as it was read before")


def _expect_steadfast(run: Run, afterwards: Exchange, *fields: str) -> None:
    """Fields of engagements that no call but creations and reads was about are the same whenever they were seen."""
    read.success(afterwards)
    touched = {one.call.identifier for one in run.wire.exchanges if one.call.operation.id not in _READS}
    own = _created(run).keys() - touched
    for (identifier, _), sights in _sights(run).items():
        first, engagement = sights[0]
        for exchange, later in sights[1:] if identifier in own else ():
            expect.unchanged("an engagement that nothing was done to", engagement, later, fields, first, exchange)


def _created(run: Run) -> dict[str, Exchange]:
    """The creations of the run by the identifier that only they gave."""
    found: dict[str, list[Exchange]] = defaultdict(list)
    for one in run.wire.exchanges:
        if one.call.operation.id == "createEngagement" and _is_success(one) and (identifier := identifier_of(one)):
            found[identifier].append(one)
    return {identifier: creations[0] for identifier, creations in found.items() if len(creations) == 1}


def _sights(run: Run) -> Sights:
    found: Sights = defaultdict(list)
    for one in run.wire.exchanges:
        if one.call.operation.id in _READS and _is_success(one):
            for engagement in _engagements(one):
                if isinstance(engagement.get("id"), str):
                    found[engagement["id"], one.call.operation.id].append((one, engagement))
    return found


def _engagements(exchange: Exchange) -> list[dict[str, Any]]:
    try:
        return read.items(exchange) if exchange.call.operation.answer == "list" else [read.data(exchange)]
    except Undecided:
        return []


def _is_success(exchange: Exchange) -> bool:
    """Whether this is a success that the main key was given."""
    received = exchange.received
    proper = exchange.call.is_proper and exchange.call.credential is None
    return proper and received is not None and 200 <= received.status < 300  # noqa: PLR2004
