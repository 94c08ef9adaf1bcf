"""Edits of one field, of several, and of fields of the service."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from conformance.oracle import read
from conformance.oracle.laws.responses import readable_resources
from conformance.running.scenarios import scenario
from conformance.scenarios.access.every_operation import unknown_like
from conformance.scenarios.basics import create_engagements, field_or_none, or_with_long_description, tick_of
from conformance.scenarios.engagements.creating import creating, own_values_at_creation
from conformance.scenarios.keys_in_turn import scoped_key_or_none, send_with
from conformance.scenarios.samples import counted
from conformance.wire import requests

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Credential

    Keys = tuple[Credential | None, Credential | None]

_EARLIER: Final = "2002-03-04T05:06:07.891Z"
_LATER: Final = "2099-08-07T06:05:04.321Z"
_MAIN: Final = (None, None)
_MORE_EDITS: Final = 4
"""Edits of an engagement with which at least eleven were accepted."""
_LONG: Final = 300
"""Characters of a description beyond what an index of a database or a column of short texts holds."""


@dataclass(frozen=True, slots=True)
class Edit:
    """An edit between two reads of the engagement."""

    sent: dict[str, Any]
    before: Exchange
    response: Exchange
    after: Exchange


@dataclass(frozen=True, slots=True)
class Editing:
    """Edits of an engagement.

    Attributes:
        description: An edit of the description alone, long enough after the creation for the clock to have moved.
        name: An edit of the name alone, as long after the former.
        both: An edit of both, again as long after that; the new name begins with the old one.
    """

    description: Edit
    name: Edit
    both: Edit

    @property
    def all(self) -> tuple[Edit, Edit, Edit]:
        """All edits."""
        return self.description, self.name, self.both


@dataclass(frozen=True, slots=True)
class OddEditing:
    """Edits that the interface leaves open, each by its field of this class, or by a read before or after it."""

    own_values: tuple[Edit, ...]
    same: Edit
    empty: Edit
    null_name: Exchange
    null_description: Exchange
    after_null: Exchange
    namesake: Exchange


def edit(
    run: Run, before: Exchange, sent: dict[str, Any], *, pause: float = 0.0, keys: Keys = _MAIN, insist: bool = False
) -> Edit:
    """Edit an engagement after a pause in which the service's clock has moved, and read it.

    The engagement is not changed otherwise, so an edit whose response is lost can be retried.

    Args:
        run: The run.
        before: A read of the engagement.
        sent: The body.
        pause: The seconds of the pause.
        keys: The keys for the edit and for the read; None for the main key.
        insist: Whether to send longer descriptions if a brief one is refused as invalid.
    """
    identifier = before.request.identifier or ""
    run.sleep(pause)
    update = replace(requests.update_engagement(identifier, sent), repeatable=True)
    response = send_with(run, keys[0], update)
    if insist:
        response = or_with_long_description(run, response)
    after = send_with(run, keys[1], requests.get_engagement(identifier))
    return Edit(response.sent_object or sent, before, response, after)


@scenario
def editing(run: Run) -> Editing:
    """Set the description of an engagement without one, then its name, then both.

    A careless service could take the descriptions for numbers, even for equal ones. They are longer if the service
    refuses those. The first edit and the read after it have other keys than the next edit: a service may write back
    what it keeps for each key, or refuse a key that has not read what another one wrote.
    """
    before = _unedited(run)
    tick = tick_of(readable_resources(before))
    keys = scoped_key_or_none(run, "engagements:write"), scoped_key_or_none(run, "engagements:read")
    description = edit(run, before, {"description": "12"}, pause=tick, keys=keys, insist=True)
    name = edit(run, description.after, {"name": run.name("e")}, pause=tick)  # shorter than before
    longer = {"name": f"{name.sent['name']}-b", "description": "0012"}
    both = edit(run, name.after, longer, pause=tick, keys=(keys[0], None), insist=True)
    return Editing(description, name, both)


def _unedited(run: Run) -> Exchange:
    """Return a read of an engagement without a description and without edits; another if the scenario starts again."""
    before = run.scenarios.result(creating).bare.after()
    if not any(
        exchange.request.identifier == before.request.identifier and exchange.request.operation.changes
        for exchange in run.wire.exchanges
    ):
        return before
    return undescribed(run, "edited")


def undescribed(run: Run, label: str) -> Exchange:
    """Return a read of a new engagement with a name and nothing else."""
    made = read.success(run.send(requests.create_engagement({"name": run.name(label)})))
    return run.send(requests.get_engagement(read.identifier(made)))


@scenario
def odd_editing(run: Run) -> OddEditing:
    """Send edits that may be refused: values that the service sets, the same values, no field, null, a used name."""
    before = _subject(run)
    identifier = before.request.identifier or ""
    own_values, tick = _send_own_values(run, before), tick_of(readable_resources(before))
    content = {field: field_or_none(own_values[-1].after, field) for field in ("name", "description")}
    same = edit(run, own_values[-1].after, content, pause=tick)
    empty = edit(run, same.after, {})
    null_name = run.send(requests.update_engagement(identifier, {"name": None, "description": run.name("null-name")}))
    # An empty name is open, but no reason for a server error; the description shows that the engagement is the run's.
    run.send(requests.update_engagement(identifier, {"name": "", "description": run.name("nameless")}))
    run.send(requests.get_engagement(identifier))  # for the ledger
    run.sleep(tick)
    null_description = run.send(requests.update_engagement(identifier, {"description": None}))
    after_null = run.send(requests.get_engagement(identifier))
    # For the ledger: a former name, after which no former description may come back, and the same edit after another.
    other = requests.update_engagement(identifier, run.scenarios.result(creating).described.sent)
    former = requests.update_engagement(identifier, {"name": field_or_none(before, "name")})
    reading = requests.get_engagement(identifier)
    run.sleep(tick)  # the fifth edit must move updatedAt, too
    namesake, *_ = run.send_in_turn([other, reading, former, reading])
    if namesake.accepted:
        run.send_in_turn([other, reading])
    texts = ("Edited again", counted(_LONG))  # of two long ones only the end differs
    bodies = [{"description": f"{texts[number // 2]} {number}"} for number in range(_MORE_EDITS)]  # for the ledger
    bystander = read.identifier_or_none(run.scenarios.result(creating).described.response)
    if own_values[0].response.succeeded and bystander is not None:  # the service ignores an id in a body
        bodies[0]["id"] = bystander
    run.send_in_turn([requests.update_engagement(identifier, body) for body in bodies])
    return OddEditing(own_values, same, empty, null_name, null_description, after_null, namesake)


def _subject(run: Run) -> Exchange:
    """Return a read of an engagement that no other scenario edits."""
    for creation in run.scenarios.result(own_values_at_creation):
        if creation.read is not None:
            return creation.read
    (engagement,) = create_engagements(run, "odd-edits")
    return run.send(requests.get_engagement(engagement["id"]))


def _send_own_values(run: Run, before: Exchange) -> tuple[Edit, ...]:
    """Send edits with values that the service sets: all at once, and singly if that is refused."""
    values = {
        "id": unknown_like(read.identifier_or_none(before), run.random("own-values-of-an-edit")),
        "status": "archived",
        "createdAt": _EARLIER,
        "updatedAt": _LATER,
    }
    named = {"name": run.name("own")}
    edits = [edit(run, before, named | values)]
    if not edits[0].response.succeeded:
        for name, value in values.items():
            edits.append(edit(run, edits[-1].after, {"name": run.name("own"), name: value}))
    return tuple(edits)


def has_taken_effect(done: Edit) -> bool:
    """Whether a later read shows everything that an edit sent."""
    return all(field_or_none(done.after, field) == value for field, value in done.sent.items())
