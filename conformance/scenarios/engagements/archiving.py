"""An engagement that is edited, archived, edited without effect and archived again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.running.scenarios import scenario
from conformance.scenarios.basics import create_engagements, ensure_responses, tick_of
from conformance.scenarios.lists.finding import Search, search
from conformance.wire import requests

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange


@dataclass(frozen=True, slots=True)
class Transition:
    """An archive between two reads of the engagement."""

    before: Exchange
    response: Exchange
    after: Exchange


@dataclass(frozen=True, slots=True)
class Archiving:
    """An engagement that is archived, and the requests after that.

    Attributes:
        identifier: The engagement's identifier.
        first: Its archive.
        edits: Edits after it.
        after_edits: A read after those.
        again: A second archive; the read before it is ``after_edits``.
        late_edit: An edit after that.
        found: The search for it in the list.
        namesake: The creation of another engagement with its name.
    """

    identifier: str
    first: Transition
    edits: tuple[Exchange, ...]
    after_edits: Exchange
    again: Transition
    late_edit: Exchange
    found: Search
    namesake: Exchange


def archived_after(run: Run, engagement: dict[str, Any], pause: float) -> Transition:
    """Archive an engagement after a pause in which the service's clock has moved."""
    before = run.send(requests.get_engagement(engagement["id"]))
    run.sleep(pause)
    response = run.send(requests.archive_engagement(engagement["id"]))
    return Transition(before, response, run.send(requests.get_engagement(engagement["id"])))


@scenario
def archiving(run: Run) -> Archiving:
    """Edit an engagement, archive it, try to edit it, search for it in the list and archive it again."""
    (subject,) = create_engagements(run, "archive")
    identifier, tick = subject["id"], tick_of([subject])
    run.send(requests.update_engagement(identifier, {"description": "0"}))
    first = archived_after(run, subject, tick)
    run.sleep(tick)
    edits = run.send_in_turn(
        [
            requests.update_engagement(identifier, {"name": subject.get("name"), "description": "0"}),  # as it is
            requests.update_engagement(identifier, {"name": run.name("archived-edited")}),
            requests.update_engagement(identifier, {"description": "Edited while in the archive"}),
        ]
    )
    after_edits = run.send(requests.get_engagement(identifier))
    found = search(run, [identifier], sort="updatedAt", order="asc")
    again = run.send(requests.archive_engagement(identifier))
    after_again = run.send(requests.get_engagement(identifier))
    late_edit = run.send(requests.update_engagement(identifier, {"name": run.name("revived"), "status": "active"}))
    namesake = run.send(requests.create_engagement({"name": subject.get("name")}))
    ensure_responses([first.response, *edits, again, late_edit])
    return Archiving(
        identifier=identifier,
        first=first,
        edits=tuple(edits),
        after_edits=after_edits,
        late_edit=late_edit,
        again=Transition(after_edits, again, after_again),
        found=found,
        namesake=namesake,
    )
