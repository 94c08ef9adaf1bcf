"""Section 3, unarchiving: an operation of every engagement, with an effect that the interface leaves open."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from conformance.checks.markers import observes, requirement
from conformance.oracle import expect, observe, read
from conformance.oracle.outcomes import CantTell, Inapplicable
from conformance.scenarios.basics import read_engagement
from conformance.scenarios.engagements.archiving import in_archive
from conformance.scenarios.engagements.editing import Editing, has_taken_effect
from conformance.wire.exchange import REFUSALS, SUCCESSES

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.scenarios.engagements.unarchiving import Revival, Unarchiving

_NEVER: Final = frozenset({401, 404, 405, 429})


def revived(unarchiving: Unarchiving) -> Revival:
    """Return the requests on the engagement after it was archived and made active again.

    Raises:
        CantTell: It was not archived.
        Inapplicable: It is not active, or the main key may not unarchive.
    """
    in_archive(unarchiving.before)
    if unarchiving.response.status == HTTPStatus.FORBIDDEN:
        raise Inapplicable("the main key may not unarchive", unarchiving.response)
    if unarchiving.revival is None:
        status = read.text(read.data(unarchiving.after), "status", unarchiving.after)
        raise Inapplicable(f"the engagement is {status} after unarchiving", unarchiving.response, unarchiving.after)
    return unarchiving.revival


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
def test_unarchived_engagement_can_be_edited(editing: Editing, unarchiving: Unarchiving) -> None:
    """An engagement that is active after unarchiving can be edited again."""
    revival = revived(unarchiving)
    if not has_taken_effect(editing.name):
        raise CantTell("an update of the name does not take effect at all", editing.name.response, editing.name.after)

    expect.success(revival.edit)
    expect.success(revival.second)

    name = read.text(read_engagement(revival.after), "name", revival.after)
    expect.equal("name", name, revival.name, revival.edit, revival.after, pointer="/data/name")


@requirement("unarchived-archivable")
def test_unarchived_engagement_can_be_archived(unarchiving: Unarchiving) -> None:
    """An engagement that is active after unarchiving can be archived again."""
    revival = revived(unarchiving)

    expect.success(revival.archive)

    for exchange in (revival.after, revival.archive):
        status = read.text(read_engagement(exchange), "status", exchange)
        expect.equal("status", status, "archived", revival.archive, revival.after, pointer="/data/status")


@observes("unarchive-answer")
def test_observe_response_to_unarchiving(run: Run, unarchiving: Unarchiving) -> None:
    """Observe the response to unarchiving an archived engagement."""
    bare, response = unarchiving.bare, unarchiving.response
    words = observe.describe_response(bare)
    if response is not bare:
        words += f" without a body, {observe.describe_response(response)} with an empty object"
    run.observe("unarchive-answer", words, bare, response)


@observes("unarchive-body")
def test_observe_body_of_unarchiving(run: Run, unarchiving: Unarchiving) -> None:
    """Observe the members of the response to unarchiving."""
    response = unarchiving.response
    words = observe.members(response) if response.succeeded else f"none, but {observe.describe_response(response)}"
    run.observe("unarchive-body", words, response)


@observes("unarchive-status-afterwards")
def test_observe_status_after_unarchiving(run: Run, unarchiving: Unarchiving) -> None:
    """Observe the status of an engagement after unarchiving."""
    after = unarchiving.after
    words = f"{read.text(read.data(after), 'status', after)} after {observe.describe_response(unarchiving.response)}"
    run.observe("unarchive-status-afterwards", words, unarchiving.response, after)


@observes("unarchive-active")
def test_observe_unarchiving_of_active(run: Run, unarchiving: Unarchiving) -> None:
    """Observe the response to unarchiving an active engagement."""
    run.observe("unarchive-active", observe.describe_response(unarchiving.of_active), unarchiving.of_active)
