"""Unarchiving of engagements, and edits afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.interface.list_parameters import MAX_PER_PAGE
from conformance.oracle.laws.responses import readable_resources
from conformance.running.scenarios import scenario
from conformance.scenarios.access.reserved_engagements import engagements_in_every_state
from conformance.scenarios.basics import field_or_none, or_with_long_description, tick_of
from conformance.scenarios.engagements.archiving import archiving
from conformance.scenarios.engagements.editing import editing
from conformance.wire import requests

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request


_SHAPE_REFUSED: Final = frozenset({400, 415, 422})


@dataclass(frozen=True, slots=True)
class Reactivated:
    """Requests on an engagement that unarchiving made active: two edits, an archive and a read."""

    name: str
    edit: Exchange
    second: Exchange
    archive: Exchange
    after: Exchange


@dataclass(frozen=True, slots=True)
class Unarchiving:
    """Requests to unarchive an archived and an active engagement.

    Attributes:
        before: A read of the archived engagement.
        bare: The response to its unarchiving without a body.
        response: The same, or the response to an empty object if the former was refused as a bad request.
        after: A read after that.
        reactivated: The requests after that, if the engagement is active.
        active: A read of the active engagement.
        of_active: The response to the unarchiving of the active engagement.
    """

    before: Exchange
    bare: Exchange
    response: Exchange
    after: Exchange
    reactivated: Reactivated | None
    active: Exchange
    of_active: Exchange


@scenario
def unarchiving(run: Run) -> Unarchiving:
    """Unarchive an archived engagement and, if it is active then, edit and archive it again."""
    past = run.scenarios.result(archiving)
    active = run.scenarios.result(editing).both.after
    bare, of_active = run.send_all(
        [requests.unarchive_engagement(past.identifier), requests.unarchive_engagement(active.request.identifier or "")]
    )
    response = bare
    if bare.status in _SHAPE_REFUSED:
        # The shape of the request is unspecified; an empty object is the other plausible body.
        response = run.send(requests.unarchive_engagement(past.identifier).with_body(b"{}"))
    after = run.send(requests.get_engagement(past.identifier))
    run.sleep(tick_of(readable_resources(after)))  # so that the updatedAt of the next edit must be later
    reactivated = _use_reactivated(run, response.request) if field_or_none(after, "status") == "active" else None
    return Unarchiving(past.again.after, bare, response, after, reactivated, active, of_active)


def _use_reactivated(run: Run, unarchive: Request) -> Reactivated:
    identifier, name = unarchive.identifier or "", run.name("unarchived-edited")
    edit = run.send(requests.update_engagement(identifier, {"name": name}))
    run.send(requests.get_engagement(identifier))  # for the ledger
    described = requests.update_engagement(identifier, {"description": "Edited once more after that"})
    second = or_with_long_description(run, run.send(described))
    archive = run.send(requests.archive_engagement(identifier))
    after = run.send(requests.get_engagement(identifier))
    # For the ledger and the laws of every list: an edit of the archived engagement, and lists before and after.
    refused, reading = (
        requests.update_engagement(identifier, {"description": "Edited in the archive again"}),
        requests.get_engagement(identifier),
    )
    listed = requests.list_engagements(status="active", order="asc", perPage=MAX_PER_PAGE)  # valid without a sort
    archived = requests.list_engagements(status="archived", sort="updatedAt", perPage=MAX_PER_PAGE)
    run.send_in_turn([refused, reading, listed, archived, unarchive, reading, listed])
    # For the ledger: the name of archived engagements must not bring their description, nor an earlier one back.
    reserved = run.scenarios.result(engagements_in_every_state)
    texts = ({"description": "Edited after its second archive"}, {"name": reserved.name or name})
    run.send_in_turn([requests.update_engagement(identifier, body) for body in texts])
    return Reactivated(name, edit, second, archive, after)
