"""Section 3, unarchiving: an operation of every engagement, with an effect that the interface leaves open."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from conformance.checks.markers import requirement
from conformance.checks.observations import observing
from conformance.oracle import expect, read
from conformance.oracle.observe import describe_response, members
from conformance.oracle.outcomes import CantTell, Inapplicable
from conformance.scenarios.basics import read_engagement, require_status
from conformance.scenarios.engagements.editing import Editing, has_taken_effect
from conformance.scenarios.engagements.unarchiving import unarchiving
from conformance.scenarios.text_rules import ensure_no_rule_for_texts
from conformance.wire.exchange import REFUSALS, SUCCESSES

if TYPE_CHECKING:
    from conformance.checks.observations import Described
    from conformance.running.run import Run
    from conformance.scenarios.engagements.unarchiving import Reactivated, Unarchiving

_NEVER: Final = frozenset({401, 404, 405, 429})


def _require_reactivated(unarchiving: Unarchiving) -> Reactivated:
    """Return the requests on the engagement after it was archived and made active again.

    Raises:
        CantTell: It was not archived.
        Inapplicable: It is not active, or the main key may not unarchive.
    """
    require_status(unarchiving.before, "archived")
    if unarchiving.response.status == HTTPStatus.FORBIDDEN:
        raise Inapplicable("the main key may not unarchive", unarchiving.response)
    if unarchiving.reactivated is None:
        status = read.text(read.data(unarchiving.after), "status", unarchiving.after)
        raise Inapplicable(f"the engagement is {status} after unarchiving", unarchiving.response, unarchiving.after)
    return unarchiving.reactivated


@requirement("unarchive-served")
def test_unarchiving_is_served(unarchiving: Unarchiving) -> None:
    """Unarchiving is an operation of an existing engagement, with any effect."""
    for engagement, response in (
        (unarchiving.before, unarchiving.bare),
        (unarchiving.before, unarchiving.response),
        (unarchiving.active, unarchiving.of_active),
    ):
        read.success(engagement)

        expect.status(
            response,
            lambda status: status in SUCCESSES or (status in REFUSALS and status not in _NEVER),
            "any 2xx, or a 4xx other than 401, 404, 405 or 429",
        )


@requirement("unarchived-editable")
def test_unarchived_engagement_can_be_edited(run: Run, editing: Editing, unarchiving: Unarchiving) -> None:
    """An engagement that is active after unarchiving can be edited again."""
    reactivated = _require_reactivated(unarchiving)
    if not has_taken_effect(editing.name):
        raise CantTell("an update of the name does not take effect at all", editing.name.response, editing.name.after)

    expect.success(reactivated.edit)
    ensure_no_rule_for_texts(run, reactivated.second)
    expect.success(reactivated.second)

    read_engagement(reactivated.after)
    expect.field("name", reactivated.name, reactivated.edit, reactivated.after)


@requirement("unarchived-archivable")
def test_unarchived_engagement_can_be_archived(unarchiving: Unarchiving) -> None:
    """An engagement that is active after unarchiving can be archived again."""
    reactivated = _require_reactivated(unarchiving)

    expect.success(reactivated.archive)

    for exchange in (reactivated.after, reactivated.archive):
        status = read.text(read_engagement(exchange), "status", exchange)
        expect.equal("status", status, "archived", reactivated.archive, reactivated.after, pointer="/data/status")


def _unarchived(seen: Unarchiving) -> Described:
    bare, response = seen.bare, seen.response
    words = describe_response(bare)
    if response is not bare:
        words += f" without a body, {describe_response(response)} with an empty object"
    return words, bare, response


def _body(seen: Unarchiving) -> Described:
    response = seen.response
    return members(response) if response.succeeded else f"none, but {describe_response(response)}", response


def _status_afterwards(seen: Unarchiving) -> Described:
    status = read.text(read.data(seen.after), "status", seen.after)
    return f"{status} after {describe_response(seen.response)}", seen.response, seen.after


OBSERVATIONS: Final = (
    observing("unarchive-answer", unarchiving, _unarchived),
    observing("unarchive-body", unarchiving, _body),
    observing("unarchive-status-afterwards", unarchiving, _status_afterwards),
    observing("unarchive-active", unarchiving, lambda seen: seen.of_active),
)
