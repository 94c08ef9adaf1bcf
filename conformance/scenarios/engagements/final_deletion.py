"""Final scenario: delete every engagement of the run and check that it is gone."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.confirm.clock_ticks import ONE_SECOND_TICK
from conformance.oracle import read
from conformance.oracle.outcomes import CheckOutcome, Inapplicable
from conformance.running.scenarios import scenario
from conformance.scenarios.keys_in_turn import send_by_turns
from conformance.scenarios.lists.finding import ids_on, latest
from conformance.wire import requests
from conformance.wire.exchange import NoResponse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_READ: Final = 2
_CREATION: Final = "createEngagement"
_CHANGES: Final = frozenset({_CREATION, "updateEngagement", "archiveEngagement", "unarchiveEngagement"})


@dataclass(frozen=True, slots=True)
class FinalDeletion:
    """The deletion of all engagements that the main key created and that existed at the end.

    Attributes:
        responses: The responses to the deletions, by identifier.
        archived: The engagements whose last change was an archive.
        reads: Reads of a few of them afterwards, each with another history, the most varied first.
        page: The list afterwards.
        organization: The organization after that.
    """

    responses: Mapping[str, Exchange]
    archived: frozenset[str]
    reads: tuple[Exchange, ...]
    page: Exchange
    organization: Exchange


@scenario(alone=True)
def final_deletion(run: Run) -> FinalDeletion:
    """Delete every engagement of the run; then read some of them, the list and the organization."""
    histories = _histories(run)
    if not histories:
        raise Inapplicable("No engagement of the run existed at the end")
    responses = send_by_turns(run, [requests.delete_engagement(identifier) for identifier in histories])
    kinds = {frozenset(changes): identifier for identifier, changes in histories.items()}
    varied = sorted(kinds.items(), key=lambda kind: (-len(kind[0]), sorted(kind[0])))
    reading = [requests.get_engagement(identifier) for _, identifier in varied[:_READ]]
    reads, page = run.send_all(reading), run.send(latest(run))
    if any(exchange.accepted for exchange in reads) or _listed(page) & histories.keys():
        run.sleep(ONE_SECOND_TICK)  # other checks judge whether it is gone at once
        reads, page = run.send_all(reading), run.send(latest(run))
    return FinalDeletion(
        dict(zip(histories, responses, strict=True)),
        frozenset(identifier for identifier, changes in histories.items() if changes[-1:] == ["archiveEngagement"]),
        tuple(reads),
        page,
        run.send(requests.get_organization()),
    )


def _histories(run: Run) -> dict[str, list[str]]:
    """Return the operations on each engagement that the main key created once, and that may still exist.

    The order is the same in every run of a seed, despite parallel requests.
    """
    done = [
        exchange
        for exchange in run.wire.exchanges
        if exchange.accepted and exchange.by_main_key and exchange.request.operation.id in _CHANGES
    ]
    creations = sorted(
        (exchange for exchange in done if exchange.request.operation.id == _CREATION),
        key=lambda exchange: exchange.check,
    )
    made = Counter(read.identifier_or_none(creation) for creation in creations)
    tried = {exchange.request.identifier for exchange in run.wire.exchanges if _may_be_gone(exchange)}
    return {
        identifier: [exchange.request.operation.id for exchange in done if exchange.request.identifier == identifier]
        for identifier, times in made.items()
        if identifier is not None and times == 1 and identifier not in tried
    }


def _listed(page: Exchange) -> frozenset[str]:
    """Return the identifiers on a page of the list; none if the key may not list, or the page cannot be read."""
    try:
        return ids_on(page)
    except (CheckOutcome, NoResponse):
        return frozenset()


def _may_be_gone(exchange: Exchange) -> bool:
    """Whether an exchange was a deletion of an engagement, or the main key did not find it."""
    return (exchange.missed and exchange.by_main_key) or exchange.request.operation.id == "deleteEngagement"
