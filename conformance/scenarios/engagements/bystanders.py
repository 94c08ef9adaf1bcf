"""Reads of engagements after changes of others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.oracle import expect, read
from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.running.scenarios import scenario
from conformance.scenarios.basics import (
    FIELDS,
    field_or_none,
    read_engagement,
)
from conformance.scenarios.engagements.creating import creating
from conformance.scenarios.lists.finding import latest
from conformance.wire import requests

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange


@dataclass(frozen=True, slots=True)
class Afterwards:
    """Requests after all other scenarios.

    Attributes:
        page: The newest page of the list.
        early: A read of an unchanged engagement.
        late: The same read again.
        settled: The same read right after that.
        edit: The response to an edit of another engagement, with the same name if that is allowed.
        beside_edit: The read after that.
        archive: The response to the archive of that other engagement.
        beside_archive: The read after that.
        deletion: The response to the deletion of that other engagement.
        beside_deletion: The read after that.
    """

    page: Exchange
    early: Exchange
    late: Exchange
    settled: Exchange
    edit: Exchange
    beside_edit: Exchange
    archive: Exchange
    beside_archive: Exchange
    deletion: Exchange
    beside_deletion: Exchange


@scenario(alone=True)
def afterwards(run: Run) -> Afterwards:
    """Read an unchanged engagement after all other scenarios, while another of the same name is edited and deleted."""
    early = run.scenarios.result(creating).described.after()
    namesake = {"name": field_or_none(early, "name"), "description": "true"}
    late, other = run.send_all([early.request, requests.create_engagement(namesake)])
    if not other.succeeded:  # a used name may be refused, and so may a short description
        other = run.send(requests.create_engagement({"name": run.name("beside")}))
    identifier = read.identifier_or_none(other)
    if identifier in {None, early.request.identifier}:
        raise CantTell("there was no other engagement to archive and delete", other)
    edit = requests.update_engagement(str(identifier), {"description": "edited beside it"})
    archive, delete = requests.archive_engagement(str(identifier)), requests.delete_engagement(str(identifier))
    settled = run.send(early.request)
    page = latest(run, sort="name", order="desc")
    run.send(page)  # for the ledger, like the next one: nothing changes between them
    seen_beside = [run.send(step) for step in (edit, early.request, archive, early.request)]
    run.send(page)
    seen_beside += [run.send(step) for step in (delete, early.request)]
    return Afterwards(run.send(latest(run)), early, late, settled, *seen_beside)


def settled(afterwards: Afterwards) -> dict[str, Any]:
    """Return the unchanged engagement, if reading it does not change it."""
    before, after = afterwards.late, afterwards.settled
    try:
        expect.unchanged("the engagement", read_engagement(before), read_engagement(after), FIELDS, before, after)
    except NonConformity as fault:
        raise CantTell(f"{fault.message} by being read", before, after) from None
    return read_engagement(after)
