"""Section 4: the name of the organization can be changed, and nothing else."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance import confirm
from conformance.checks.markers import requirement
from conformance.checks.observations import observing
from conformance.oracle import expect, read
from conformance.oracle.observe import describe_response
from conformance.oracle.outcomes import CantTell, Inapplicable
from conformance.scenarios.basics import field_or_none
from conformance.scenarios.organization.name_changes import FIXED, Rename, Renaming, differences, renaming, standing
from conformance.scenarios.renaming import REFUSED_AS_INVALID
from conformance.verdicts.stages import Stage

if TYPE_CHECKING:
    from conformance.checks.observations import Described
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange


pytestmark = pytest.mark.stage(Stage.FIRST)

COUNTS: Final = ("memberCount", "engagementCount")


def renaming_again(run: Run) -> Renaming:
    """Send the same with other names."""
    return renaming(run)


# --- checks


@requirement("update-organization-succeeds")
def test_renaming_succeeds(renaming: Renaming) -> None:
    """Renaming the organization gives 200."""
    response = renaming.plain.response
    if response.status in REFUSED_AS_INVALID:  # unlike the present name
        raise CantTell("the service has a rule for names that those of the run break", response)
    expect.success(response)


@requirement("update-organization-answers-new-name")
def test_response_carries_new_name(renaming: Renaming) -> None:
    """The response to a renaming carries the new name, and the id and slug of the organization."""
    response, after = renaming.plain.response, renaming.plain.after
    known = read.data(after)

    for rename in (renaming.plain, *renaming.kept):
        expect.field("name", rename.name, rename.response)
    for rename in renaming.kept:
        expect.field("id", read.text(known, "id", after), after, rename.response)
    for field in ("id", "slug"):
        expect.field(field, read.text(known, field, after), after, response)


@requirement("update-organization-takes-effect")
def test_new_name_is_read(run: Run, renaming: Renaming) -> None:
    """A read of a renamed organization shows its new name."""
    with confirm.cant_tell_if_others_interfere(run):
        confirm.again(renaming, _judge_new_name, partial(run.scenarios.result, renaming_again))


def _judge_new_name(renaming: Renaming) -> None:
    read.success(renaming.plain.response)
    name = renaming.plain.name
    expect.field("name", name, renaming.plain.response, renaming.plain.after)
    for rename in renaming.odd:  # another check judges how these are kept, this one that they have an effect
        if rename.response.succeeded and read.data(rename.after).get("name") == name:
            expect.field("name", rename.name, rename.response, rename.after)


@requirement("update-organization-keeps-the-rest")
def test_rest_stays(run: Run, renaming: Renaming) -> None:
    """Renaming the organization leaves id, slug, plan, createdAt and settings unchanged, for every name."""
    read.success(renaming.plain.response)

    before = renaming.before
    for rename in (renaming.plain, *renaming.odd):
        was, now = standing(before), standing(rename.after)
        with confirm.cant_tell_if_others_interfere(run):
            expect.unchanged("the organization", was, now, was, before, rename.response, rename.after)
        before = rename.after


@requirement("update-organization-keeps-text")
def test_odd_names_are_kept(run: Run, renaming: Renaming) -> None:
    """A name with quotes, markup and characters of many scripts reads back as sent, if it is accepted."""
    with confirm.cant_tell_if_others_interfere(run):
        confirm.again(renaming, _judge_names, partial(run.scenarios.result, renaming_again))


def _judge_names(renaming: Renaming) -> None:
    _ensure_plain_name_kept(renaming.plain)
    accepted = [rename for rename in renaming.odd if rename.response.succeeded]
    if not accepted:
        raise Inapplicable("the service accepts none of the odd names")

    for rename in accepted:
        expect.field("name", rename.name, rename.response, rename.after)


def _ensure_plain_name_kept(plain: Rename) -> None:
    if plain.response.succeeded and read.data(plain.after).get("name") != plain.name:
        raise CantTell("a plain name is not kept either", plain.response, plain.after)


@requirement("update-organization-refused-changes-nothing")
def test_refused_empty_name_is_not_kept(renaming: Renaming) -> None:
    """If an empty name is refused, the organization has a name afterwards."""
    response, after = renaming.nameless[-1], renaming.empty.after
    if not response.refused:
        raise Inapplicable("an empty name is not refused")
    if read.data(renaming.last.after).get("name") == "":
        raise Inapplicable("the organization had no name before")

    expect.other_than("name", "", "the name is empty", response, after)


@requirement("update-organization-only-name")
def test_other_fields_are_not_honoured(run: Run, renaming: Renaming) -> None:
    """An update of the organization cannot change other fields than the name; they are ignored or refused."""
    _judge_claims(renaming)
    with confirm.cant_tell_if_others_interfere(run):
        confirm.again(renaming, _judge_what_others_change, partial(run.scenarios.result, renaming_again))


def _judge_what_others_change(renaming: Renaming) -> None:
    """Judge settings and name, which another user may have set to the sent values."""
    before, after = renaming.empty.after, renaming.after_foreign
    was, now = standing(before), standing(after)
    settings = [name for name in was if name not in FIXED]
    expect.unchanged("the organization", was, now, settings, *renaming.foreign, after)
    _judge_name(renaming)


def _judge_name(renaming: Renaming) -> None:
    """Expect the name that was sent with the other fields, if that succeeded, and otherwise the previous one."""
    right, now = (read.data(exchange).get("name") for exchange in (renaming.empty.after, renaming.after_foreign))
    together = renaming.foreign[0]
    if together.succeeded:
        _ensure_plain_name_kept(renaming.plain)
        right = (together.sent_object or {}).get("name", right)
    expect.equal("name", now, right, *renaming.foreign, renaming.after_foreign, pointer="/data/name")


def _judge_claims(renaming: Renaming) -> None:
    before, after = renaming.empty.after, renaming.after_foreign
    was, now = standing(before), standing(after)
    if standing(renaming.before) != standing(renaming.plain.after):
        raise CantTell("a renaming alone changes more than the name", renaming.before, renaming.plain.after)

    expect.unchanged("the organization", was, now, FIXED, *renaming.foreign, after)
    for response in renaming.foreign:
        _judge_stated(was, response)
    for field in COUNTS:
        message = f"{field} is the number that a client sent"
        expect.other_than(field, renaming.claimed[field], message, *renaming.foreign, after)


def _judge_stated(was: dict[str, Any], response: Exchange) -> None:
    """Expect the organization's own values in the response to an update, and not the sent ones."""
    for field in ("id", "slug"):
        stated = field_or_none(response, field) if response.succeeded else None
        if stated is not None:
            expect.equal(field, stated, was[field], response, pointer=f"/data/{field}")


def _empty_update(seen: Renaming) -> Described:
    same = read.data(seen.last.after).get("name") == read.data(seen.empty.after).get("name")
    state = "unchanged" if same else "changed"
    if any(response.succeeded for response in seen.nameless):
        state = "as another update without a name has left it"
    return f"{describe_response(seen.empty.response)}, name {state}", seen.empty.response, seen.empty.after


def _foreign_fields(seen: Renaming) -> Described:
    changed = differences(seen.empty.after, seen.after_foreign)
    outcome = f"changed {', '.join(changed)}" if changed else "nothing changed"
    return f"{describe_response(seen.foreign[0])}, {outcome}", *seen.foreign


OBSERVATIONS: Final = (
    observing("organization-empty-update", renaming, _empty_update),
    observing("organization-foreign-fields", renaming, _foreign_fields),
)
