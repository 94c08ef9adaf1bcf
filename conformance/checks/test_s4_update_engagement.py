"""Section 4, PATCH /api/v1/engagements/:id: an update changes the sent fields, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from conformance.checks.clock_ticks import expect_moved
from conformance.checks.engagements import (
    A_LONG_TICK,
    FIELDS,
    another_identifier,
    create_engagements,
    expect_missing,
    expect_not_honoured,
    field_or_none,
    identifier_of,
    missing_identifier,
    read_engagement,
    require_active,
    tick_of,
    time_of,
)
from conformance.checks.markers import observes, requirement, scenario
from conformance.checks.test_s4_create_engagement import creating, own_values_at_creation
from conformance.oracle import expect, observe, read
from conformance.oracle.laws import readable_resources
from conformance.oracle.outcomes import CantTell, Inapplicable
from conformance.wire import requests
from conformance.wire.exchange import SUCCESSES

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_EARLIER: Final = "2002-03-04T05:06:07.891Z"
_LATER: Final = "2099-08-07T06:05:04.321Z"
_INVALID: Final = (400, 422)


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
        """Return all edits."""
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


def edit(run: Run, before: Exchange, sent: dict[str, Any], *, pause: float = 0.0) -> Edit:
    """Edit an engagement after a pause in which the service's clock has moved, and read it.

    The engagement is not changed otherwise, so an edit whose response is lost can be retried.
    """
    identifier = before.request.identifier or ""
    run.sleep(pause)
    response = run.send(replace(requests.update_engagement(identifier, sent), repeatable=True))
    return Edit(sent, before, response, run.send(requests.get_engagement(identifier)))


def editing(run: Run) -> Editing:
    """Set the description of an engagement without one, then its name, then both.

    A careless service could take the descriptions for other types than text. They are longer if the service requires
    a minimum length.
    """
    before = _unedited(run)
    tick = tick_of(readable_resources(before))
    description = _edit_briefly(run, before, {"description": "false"}, pause=tick)
    name = edit(run, description.after, {"name": run.name("e")}, pause=tick)  # shorter than before
    longer = {"name": f"{name.sent['name']} b", "description": "0012"}
    both = _edit_briefly(run, name.after, longer, pause=tick)
    return Editing(description, name, both)


def _unedited(run: Run) -> Exchange:
    """Return a read of an engagement without a description and without edits; another if the scenario starts again."""
    before = run.scenarios.result(creating).bare.after()
    if not any(
        exchange.request.identifier == before.request.identifier and exchange.request.operation.changes
        for exchange in run.wire.exchanges
    ):
        return before
    return _undescribed(run, "edited")


def _undescribed(run: Run, label: str) -> Exchange:
    """Return a read of a new engagement with a name and nothing else."""
    made = read.success(run.send(requests.create_engagement({"name": run.name(label)})))
    return run.send(requests.get_engagement(read.text(read.data(made), "id", made)))


def _edit_briefly(run: Run, before: Exchange, body: dict[str, str], *, pause: float) -> Edit:
    """Edit with a brief description, and with a longer one if that is refused."""
    brief = edit(run, before, body, pause=pause)
    if brief.response.received is None or brief.response.status not in _INVALID:
        return brief
    return edit(run, brief.after, body | {"description": f"{body['description']} and no more than that"}, pause=pause)


def odd_editing(run: Run) -> OddEditing:
    """Send edits that may be refused: values that the service sets, the same values, no field, null, a used name."""
    before = _subject(run)
    identifier = before.request.identifier or ""
    own_values, tick = _send_own_values(run, before), tick_of(readable_resources(before))
    same = edit(run, own_values[-1].after, _content(own_values[-1].after), pause=tick)
    empty = edit(run, same.after, {})
    null_name = run.send(requests.update_engagement(identifier, {"name": None, "description": run.name("null-name")}))
    # An empty name is open, but no reason for a server error; the description shows that the engagement is the run's.
    run.send(requests.update_engagement(identifier, {"name": "", "description": run.name("nameless")}))
    run.send(requests.get_engagement(identifier))  # for the ledger
    run.sleep(tick)
    null_description = run.send(requests.update_engagement(identifier, {"description": None}))
    after_null = run.send(requests.get_engagement(identifier))
    other = run.scenarios.result(creating).described
    namesake = run.send(requests.update_engagement(identifier, other.sent))
    run.send(requests.get_engagement(identifier))  # for the ledger
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
    known = identifier_of(before) or ""
    values = {
        "id": another_identifier(known, run.random("own-values-of-an-edit"), run.name("id")),
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


def _content(exchange: Exchange) -> dict[str, Any]:
    """Return the present name and description."""
    return {"name": field_or_none(exchange, "name"), "description": field_or_none(exchange, "description")}


editing_scenario = scenario(editing)
odd_editing_scenario = scenario(odd_editing)


def has_taken_effect(done: Edit) -> bool:
    """Whether a later read shows everything that an edit sent."""
    return all(field_or_none(done.after, field) == value for field, value in done.sent.items())


@requirement("update-engagement-succeeds")
def test_updating_succeeds(editing: Editing) -> None:
    """An update of the name, of the description, and of both succeeds."""
    for done in editing.all:
        require_active(done.before)
        if done.response.attempt > 1 and not done.response.succeeded and has_taken_effect(done):
            raise CantTell("the first response was lost, and the retried update changed nothing", done.response)
        if done.response.status == done.after.status == HTTPStatus.NOT_FOUND:
            raise CantTell("the engagement no longer exists", done.response, done.after)

        expect.success(done.response)


@requirement("update-engagement-takes-effect")
def test_update_takes_effect(editing: Editing) -> None:
    """A read after an update shows the sent values."""
    for done in editing.all:
        read.success(done.response)
        now = read_engagement(done.after)

        for field, value in done.sent.items():
            expect.equal(
                field, read.field(now, field, done.after), value, done.response, done.after, pointer=f"/data/{field}"
            )


@requirement("update-engagement-keeps-the-rest")
def test_update_keeps_the_rest(editing: Editing) -> None:
    """An update changes the sent fields and nothing else of the engagement."""
    for done in editing.all:
        read.success(done.response)
        # Another check judges over the whole run that createdAt stays.
        rest = [field for field in FIELDS if field not in {*done.sent, "createdAt", "updatedAt"}]

        before, now = read_engagement(done.before), read_engagement(done.after)
        expect.unchanged("the updated engagement", before, now, rest, done.before, done.response, done.after)


@requirement("update-engagement-keeps-the-rest")
def test_empty_update_keeps_everything(odd_editing: OddEditing) -> None:
    """An accepted update without any field leaves name, description and status unchanged."""
    done = odd_editing.empty
    if not done.response.succeeded:
        raise Inapplicable("An update without any field was refused")

    content = ("name", "description", "status")
    exchanges = done.before, done.response, done.after
    expect.unchanged("the engagement", read_engagement(done.before), read_engagement(done.after), content, *exchanges)


@requirement("update-engagement-moves-updated-at")
def test_update_moves_updated_at(run: Run, editing: Editing) -> None:
    """An update moves updatedAt."""
    for unhurried in editing.all:
        done = unhurried
        if not has_taken_effect(done):
            raise CantTell("the update did not take effect", done.response, done.after)
        if time_of(done.before, "updatedAt") == time_of(done.after, "updatedAt"):
            done = _edited_slowly(run, editing, done)

        exchanges = done.before, done.response, done.after
        before, after = time_of(done.before, "updatedAt"), time_of(done.after, "updatedAt")
        if expect.moment(after, *exchanges) < expect.moment(before, *exchanges):
            raise CantTell("updatedAt has moved back", *exchanges)
        expect_moved(run, after, before, *exchanges)


def _edited_slowly(run: Run, editing: Editing, done: Edit) -> Edit:
    """Send an edit of the same fields after a longer pause, in case the service's clock ticks slowly."""
    described = done is not editing.description  # the first description is set on an engagement without one
    before = run.send(editing.both.after.request) if described else _undescribed(run, "edited-slowly")
    return edit(run, before, {field: f"{value} slowly" for field, value in done.sent.items()}, pause=A_LONG_TICK)


@requirement("update-engagement-moves-updated-at")
def test_clearing_the_description_moves_updated_at(run: Run, odd_editing: OddEditing) -> None:
    """An update with null for the description moves updatedAt, if it removes the description."""
    done = Edit({"description": None}, odd_editing.empty.after, odd_editing.null_description, odd_editing.after_null)
    if not _has_cleared(done):
        raise Inapplicable("An update with null for the description was refused, or removed nothing")
    if time_of(done.before, "updatedAt") == time_of(done.after, "updatedAt"):
        filled = edit(run, done.after, {"description": "It is there again."})
        done = edit(run, filled.after, done.sent, pause=A_LONG_TICK)
        if not _has_cleared(done):
            raise CantTell("the description could not be removed a second time", done.before, done.response, done.after)

    exchanges = done.before, done.response, done.after
    expect_moved(run, time_of(done.after, "updatedAt"), time_of(done.before, "updatedAt"), *exchanges)


def _has_cleared(done: Edit) -> bool:
    return (
        done.response.succeeded
        and bool(field_or_none(done.before, "description"))
        and not field_or_none(done.after, "description")
    )


@requirement("update-engagement-own-values")
def test_own_values_are_not_honoured_by_update(odd_editing: OddEditing) -> None:
    """Identifier, status and times that are sent with an update are ignored or refused."""
    for done in odd_editing.own_values:
        require_active(done.before)
        expect.status(done.response, lambda status: status // 100 in {2, 4}, "any 2xx, or a refusal")

        expect.status(done.after, lambda status: status != HTTPStatus.NOT_FOUND, "the engagement, under its identifier")
        expect_not_honoured(done.sent, done.after)


@requirement("update-engagement-duplicate-name")
def test_renaming_to_duplicate_is_accepted_or_a_conflict(odd_editing: OddEditing) -> None:
    """Renaming an engagement to the name of another is accepted, or refused with 409."""
    require_active(odd_editing.after_null)
    permitted = "any 2xx or 409"

    expect.status(odd_editing.namesake, lambda status: status in SUCCESSES or status == HTTPStatus.CONFLICT, permitted)


@requirement("update-unknown-engagement")
def test_unknown_engagement_cannot_be_updated(run: Run) -> None:
    """An engagement that does not exist cannot be updated."""
    expect_missing(run.send(requests.update_engagement(missing_identifier(run), {"name": run.name("missing-edited")})))


@observes("update-status", "update-body")
def test_observe_response_to_update(run: Run, editing: Editing) -> None:
    """Observe the status and the body of a successful update."""
    response = editing.name.response
    run.observe("update-status", observe.describe_response(response), response)
    run.observe(
        "update-body",
        observe.members(response) if response.succeeded else observe.describe_response(response),
        response,
    )


@observes("update-empty-body", "update-null-name", "update-null-description")
def test_observe_updates_that_say_nothing(run: Run, odd_editing: OddEditing) -> None:
    """Observe an update with an empty object or with null."""
    run.observe("update-empty-body", observe.describe_response(odd_editing.empty.response), odd_editing.empty.response)
    run.observe("update-null-name", observe.describe_response(odd_editing.null_name), odd_editing.null_name)
    response, after = odd_editing.null_description, odd_editing.after_null
    reads = observe.reads(read.data(after), "description")
    run.observe(
        "update-null-description",
        f"{observe.describe_response(response)}; the description is {reads} then",
        response,
        after,
    )


@observes("update-same-values")
def test_observe_update_with_same_values(run: Run, odd_editing: OddEditing) -> None:
    """Observe whether an update that changes nothing moves updatedAt."""
    same = odd_editing.same
    moved = time_of(same.before, "updatedAt") != time_of(same.after, "updatedAt")
    words = f"{observe.describe_response(same.response)}, updatedAt {'moved' if moved else 'unchanged'}"
    run.observe("update-same-values", words, same.before, same.response, same.after)


@observes("duplicate-name-by-update")
def test_observe_renaming_to_duplicate(run: Run, odd_editing: OddEditing) -> None:
    """Observe a renaming to the name of another engagement."""
    run.observe("duplicate-name-by-update", observe.describe_response(odd_editing.namesake), odd_editing.namesake)


@observes("bad-body-of-unknown-resource")
def test_observe_bad_body_of_missing_engagement(run: Run) -> None:
    """Observe an update of a missing engagement with an invalid body."""
    response = run.send(requests.update_engagement(missing_identifier(run), {"name": 5}))
    run.observe("bad-body-of-unknown-resource", observe.describe_response(response), response)
