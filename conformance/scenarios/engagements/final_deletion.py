"""Final scenario: delete every engagement of the run and check that it is gone."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.confirm.clock_ticks import ONE_SECOND_TICK
from conformance.oracle.outcomes import CheckOutcome, Inapplicable
from conformance.running.scenarios import scenario
from conformance.scenarios.access.every_operation import member_pages
from conformance.scenarios.engagements.cascade import cascade, look_again
from conformance.scenarios.engagements.histories import archived_last, histories
from conformance.scenarios.keys_in_turn import scoped_key_or_none, send_by_turns, send_with
from conformance.scenarios.lists.finding import ids_on, latest
from conformance.scenarios.members.member_list import removed_members
from conformance.wire import requests
from conformance.wire.exchange import NoResponse, NotSent

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    """

    responses: Mapping[str, Exchange]
    archived: frozenset[str]
    reads: tuple[Exchange, ...]
    page: Exchange
    organization: Exchange


@scenario(alone=True)
def final_deletion(run: Run) -> FinalDeletion:
    """Delete every engagement of the run, remove its members, and read what is left."""
    existing = histories(run)
    if not existing:
        raise Inapplicable("No engagement of the run existed at the end")
    before = run.scenarios.result_if_any(cascade)
    batch = {identifier: requests.delete_engagement(identifier) for identifier in existing}
    last = None if before is None else batch.pop(before.neighbour, None)
    responses = send_by_turns(run, [*batch.values()])
    if before is not None:
        look_again(run, before.kept)
        responses += before.deletions
    responses += [] if last is None else [run.send(last)]
    _delete_those_of_other(run)
    deletions = {exchange.request.identifier or "": exchange for exchange in responses}
    kinds = {frozenset(changes): identifier for identifier, changes in existing.items()}
    varied = sorted(kinds.items(), key=lambda kind: (-len(kind[0]), sorted(kind[0])))
    reading = [requests.get_engagement(identifier) for _, identifier in varied[:_READ]]
    reads, page = run.send_all(reading), run.send(latest(run))
    if any(exchange.accepted for exchange in reads) or _listed(page) & deletions.keys():
        run.sleep(ONE_SECOND_TICK)  # other checks judge whether it is gone at once
        reads, page = run.send_all(reading), run.send(latest(run))
    _remove_members(run)
    return FinalDeletion(
        deletions,
        frozenset(archived_last(existing)) | (frozenset() if before is None else before.archived),
        tuple(reads),
        page,
        run.send(requests.get_organization()),
    )


def _remove_members(run: Run) -> None:
    """Remove the members that were created for the run, with two keys in turn, and read the list, for the ledger."""
    gone = removed_members(run)
    left = [user_id for user_id, member in run.fixtures.members.items() if member.is_new and user_id not in gone]
    for place, user_id in enumerate(left):
        key = scoped_key_or_none(run, "organizations:write") if place % 2 else None
        with suppress(NotSent):  # the id may be another person's by now
            send_with(run, key, requests.remove_member(user_id))
    if left:
        member_pages(run)


def _delete_those_of_other(run: Run) -> None:
    """Delete the engagements of another organization that its key created, and read its list, for the ledger."""
    if left := histories(run, of_other=True):
        key = run.fixtures.other_organization()
        run.send_permitted([requests.delete_engagement(identifier).with_key(key) for identifier in left])
        run.send(latest(run).with_key(key))


def _listed(page: Exchange) -> frozenset[str]:
    """Return the identifiers on a page of the list; none if the key may not list, or the page cannot be read."""
    try:
        return ids_on(page)
    except (CheckOutcome, NoResponse):
        return frozenset()
