"""Section 4, PATCH /api/v1/engagements/:id: an update changes the sent fields, and nothing else."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from conformance.checks.markers import observes, requirement
from conformance.checks.observations import observing
from conformance.confirm.clock_ticks import expect_moved
from conformance.oracle import expect, read
from conformance.oracle.observe import describe_response, members, reads
from conformance.oracle.outcomes import CantTell
from conformance.oracle.timestamps import A_LONG_TICK
from conformance.scenarios.basics import (
    expect_missing,
    expect_not_honoured,
    missing_identifier,
    require_status,
    time_of,
)
from conformance.scenarios.engagements.editing import (
    Edit,
    Editing,
    OddEditing,
    edit,
    editing,
    has_taken_effect,
    odd_editing,
    undescribed,
)
from conformance.scenarios.text_rules import ensure_no_rule_for_texts
from conformance.wire import requests

if TYPE_CHECKING:
    from conformance.checks.observations import Described
    from conformance.running.run import Run


@requirement("update-engagement-succeeds")
def test_updating_succeeds(run: Run, editing: Editing) -> None:
    """An update of the name, of the description, and of both succeeds."""
    for done in editing.all:
        require_status(done.before, "active")
        if done.response.attempt > 1 and not done.response.succeeded and has_taken_effect(done):
            raise CantTell("the first response was lost, and the retried update changed nothing", done.response)
        if done.response.status == done.after.status == HTTPStatus.NOT_FOUND:
            raise CantTell("the engagement no longer exists", done.response, done.after)
        ensure_no_rule_for_texts(run, done.response)

        expect.success(done.response)


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
    before = run.send(editing.both.after.request) if described else undescribed(run, "edited-slowly")
    return edit(run, before, {field: f"{value} slowly" for field, value in done.sent.items()}, pause=A_LONG_TICK)


@requirement("update-engagement-own-values")
def test_own_values_are_not_honoured_by_update(odd_editing: OddEditing) -> None:
    """Identifier, status and times that are sent with an update are ignored or refused."""
    for done in odd_editing.own_values:
        require_status(done.before, "active")
        expect.status(done.response, lambda status: status // 100 in {2, 4}, "any 2xx, or a refusal")

        expect.found(done.after, "the engagement, under its identifier")
        expect_not_honoured(done.sent, done.after)


@requirement("update-engagement-duplicate-name")
def test_renaming_to_duplicate_is_accepted_or_a_conflict(run: Run, odd_editing: OddEditing) -> None:
    """Renaming an engagement to the name of another is accepted, or refused with 409."""
    require_status(odd_editing.after_null, "active")
    ensure_no_rule_for_texts(run, odd_editing.namesake)

    expect.success_or_conflict(odd_editing.namesake)


@requirement("update-unknown-engagement")
def test_unknown_engagement_cannot_be_updated(run: Run) -> None:
    """An engagement that does not exist cannot be updated."""
    expect_missing(run.send(requests.update_engagement(missing_identifier(run), {"name": run.name("missing-edited")})))


@observes("bad-body-of-unknown-resource")
def test_observe_bad_body_of_missing_engagement(run: Run) -> None:
    """Observe an update of a missing engagement with an invalid body."""
    response = run.send(requests.update_engagement(missing_identifier(run), {"name": 5}))
    run.observe("bad-body-of-unknown-resource", describe_response(response), response)


def _body(seen: Editing) -> Described:
    response = seen.name.response
    return members(response) if response.succeeded else describe_response(response), response


def _null_description(seen: OddEditing) -> Described:
    response, after = seen.null_description, seen.after_null
    stated = reads(read.data(after), "description")
    return f"{describe_response(response)}; the description is {stated} then", response, after


def _same_values(seen: OddEditing) -> Described:
    same = seen.same
    moved = time_of(same.before, "updatedAt") != time_of(same.after, "updatedAt")
    words = f"{describe_response(same.response)}, updatedAt {'moved' if moved else 'unchanged'}"
    return words, same.before, same.response, same.after


OBSERVATIONS: Final = (
    observing("update-status", editing, lambda seen: seen.name.response),
    observing("update-body", editing, _body),
    observing("update-empty-body", odd_editing, lambda seen: seen.empty.response),
    observing("update-null-name", odd_editing, lambda seen: seen.null_name),
    observing("update-null-description", odd_editing, _null_description),
    observing("update-same-values", odd_editing, _same_values),
    observing("duplicate-name-by-update", odd_editing, lambda seen: seen.namesake),
)
