"""Final scenario: delete every engagement of the run and check that it is gone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from conformance.confirm.clock_ticks import ONE_SECOND_TICK
from conformance.oracle import read
from conformance.oracle.exchanges import of_operation
from conformance.oracle.laws.responses import readable_resources
from conformance.oracle.outcomes import Inapplicable
from conformance.running.scenarios import scenario
from conformance.scenarios.engagements.cascade import Record, archive_neighbour, cascade, read_again, still_there
from conformance.scenarios.engagements.histories import archived_last, histories
from conformance.scenarios.keys_in_turn import send_by_turns
from conformance.scenarios.lists.finding import latest
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_READ: Final = 2


@dataclass(frozen=True, slots=True)
class FinalDeletion:
    """The deletions at the end of all engagements that the run created.

    Attributes:
        responses: The responses to the deletions, by identifier.
        archived: The engagements whose last change was an archive.
        reads: Reads of a few of them afterwards, each with another history, the most varied first.
        page: The list afterwards.
        organization: The organization after that.
        kept: The records of the engagement that was deleted last, before its deletion: those that can be read then.
        gone: The same records after it, and after the target's patience.
        spared: Reads of the newest active engagement before and after the deletions of the others; empty without one.
    """

    responses: Mapping[str, Exchange]
    archived: frozenset[str]
    reads: tuple[Exchange, ...]
    page: Exchange
    organization: Exchange
    kept: tuple[Record, ...]
    gone: tuple[Record, ...] = ()
    spared: tuple[Exchange, ...] = ()


@scenario(alone=True)
def final_deletion(run: Run) -> FinalDeletion:
    """Delete every engagement of the run, and read what is left."""
    existing = histories(run)
    if not existing:
        raise Inapplicable("no engagement of the run existed at the end")
    before = run.scenarios.result_if_any(cascade)
    batch = {identifier: requests.delete_engagement(identifier) for identifier in existing}
    last = None if before is None else batch.pop(before.neighbour, None)
    kept = [] if before is None else before.kept
    if before is not None and last is not None:
        kept = archive_neighbour(run, before)
    newest = _newest_active(run, batch.keys() - archived_last(existing))
    apart = [batch.pop(identifier) for identifier in newest] + ([] if last is None else [last])
    reads_of_newest = [requests.get_engagement(identifier) for identifier in newest]
    spared = run.send_all(reads_of_newest)
    responses = send_by_turns(run, [*batch.values()])
    kept = read_again(run, kept)
    spared += run.send_all(reads_of_newest)
    responses += [] if before is None else before.deletions
    responses += run.send_in_turn(apart)
    gone = [replace(record) for record in kept if responses[-1].succeeded]
    run.wait_until(lambda: not still_there(run, [gone]))
    deletions = {exchange.request.identifier or "": exchange for exchange in responses}
    reads, page = _read_after(run, existing, deletions)
    return FinalDeletion(
        responses=deletions,
        archived=frozenset(archived_last(existing)) | (frozenset() if before is None else before.archived),
        reads=reads,
        page=page,
        organization=run.send(requests.get_organization()),
        kept=tuple(kept),
        gone=tuple(gone),
        spared=tuple(spared),
    )


def _read_after(
    run: Run, existing: Mapping[str, Sequence[str]], deletions: Mapping[str, Exchange]
) -> tuple[tuple[Exchange, ...], Exchange]:
    """Read deleted engagements, one for each set of changes, and the list; again after a moment if one is there."""
    kinds = {frozenset(changes): identifier for identifier, changes in existing.items()}
    varied = sorted(kinds.items(), key=lambda kind: (-len(kind[0]), sorted(kind[0])))
    reading = [requests.get_engagement(identifier) for _, identifier in varied[:_READ]]
    reads, page = run.send_all(reading), run.send(latest(run))
    is_listed = any(read.id_of(item) in deletions for item in readable_resources(page))
    if is_listed or any(exchange.accepted for exchange in reads):
        run.sleep(ONE_SECOND_TICK)  # other checks judge whether it is gone at once
        reads, page = run.send_all(reading), run.send(latest(run))
    return tuple(reads), page


def _newest_active(run: Run, active: Collection[str]) -> list[str]:
    """Return the engagement that was created last, of some; none if the run created none of them."""
    creations = of_operation(run.wire.exchanges, "createEngagement")
    created = (read.identifier_or_none(creation) for creation in creations if creation.accepted)
    return [identifier for identifier in created if identifier is not None and identifier in active][-1:]
