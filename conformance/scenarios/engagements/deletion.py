"""Deletion of an active and of an archived engagement, and requests for them afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.confirm.clock_ticks import ONE_SECOND_TICK
from conformance.oracle import read
from conformance.running.scenarios import scenario
from conformance.scenarios.basics import create_engagements, ensure_responses
from conformance.scenarios.lists.finding import latest
from conformance.wire import requests

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange


@dataclass(frozen=True, slots=True)
class Deleted:
    """A deletion, and the requests about the engagement after it."""

    identifier: str
    response: Exchange
    read: Exchange
    edit: Exchange
    archive: Exchange
    unarchive: Exchange
    again: Exchange


@dataclass(frozen=True, slots=True)
class Deletion:
    """Deletions of an active and of an archived engagement.

    Attributes:
        active: The deletion of the active one.
        archived: The deletion of the archived one.
    """

    active: Deleted
    archived: Deleted


@scenario
def deletion(run: Run) -> Deletion:
    """Delete an active and an archived engagement; then send every operation that needs them to exist."""
    made = create_engagements(run, "delete", "archived")
    ids = [engagement["id"] for engagement in made]
    _, archive = run.send_all([requests.get_engagement(ids[0]), requests.archive_engagement(ids[1])])
    responses = run.send_all([requests.delete_engagement(identifier) for identifier in ids])
    ensure_responses([archive, *responses])
    reads = run.send_all([requests.get_engagement(identifier) for identifier in ids])
    if any(exchange.succeeded for exchange in reads):
        # Another requirement judges whether it is gone at once.
        run.sleep(ONE_SECOND_TICK)
        reads = run.send_all([requests.get_engagement(identifier) for identifier in ids])
    run.send_all(  # for the ledger
        [
            latest(run, sort="updatedAt", order="asc"),
            latest(run, status="active", sort="name", order="desc"),
            latest(run, status="archived", sort="updatedAt", order="asc"),
        ]
    )
    edits = run.send_all(
        [requests.update_engagement(identifier, {"name": run.name("deleted-edited")}) for identifier in ids]
    )
    archives = run.send_all([requests.archive_engagement(identifier) for identifier in ids])
    unarchives = run.send_all([requests.unarchive_engagement(identifier) for identifier in ids])
    again = run.send_all([requests.delete_engagement(identifier) for identifier in ids])
    ensure_responses([*edits, *archives, *unarchives, *again])
    tried = zip(ids, responses, reads, edits, archives, unarchives, again, strict=True)
    first, second = (Deleted(*attempt) for attempt in tried)
    _use_names_again(run, *(engagement.get("name") for engagement in reversed(made)))
    return Deletion(first, second)


def _use_names_again(run: Run, name: object, other: object) -> None:
    """Create an engagement with a deleted engagement's name, rename it to the other name, and repeat the creation.

    The first name is that of an engagement which was archived when it was deleted. Its first description comes last.
    """
    creation = requests.create_engagement({"name": name})
    if (identifier := read.identifier_or_none(run.send(creation))) is not None:
        run.send(requests.update_engagement(identifier, {"name": other}))
        run.send(requests.update_engagement(identifier, {"description": "Described after its renaming"}))
        run.send(creation)
