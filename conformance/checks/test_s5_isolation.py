"""Section 5: a key acts on its own organization, and cannot reach anything of another."""

from __future__ import annotations

from itertools import count as numbers
from math import inf
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance import confirm
from conformance.checks.markers import for_each, requirement
from conformance.checks.observations import observing
from conformance.oracle import expect, read
from conformance.oracle.effects import Interval
from conformance.oracle.exchanges import of_operation
from conformance.oracle.laws.responses import readable_resources
from conformance.oracle.ledger.changes import REFUSALS_OF_UNARCHIVE
from conformance.oracle.ledger.rules import is_of_main
from conformance.oracle.observe import describe_response
from conformance.oracle.outcomes import CantTell, Inapplicable, NonConformity, Untested, evidence
from conformance.running.options import Effort
from conformance.scenarios.access.every_operation import ON_ENGAGEMENT, member_of
from conformance.scenarios.access.two_organizations import (
    CREATED,
    MemberOfOne,
    TwoOrganizations,
    count_across,
    is_alike,
    member_of_one,
    two_organizations,
)
from conformance.targets.capabilities import MissingMeans
from conformance.verdicts.stages import Stage
from conformance.wire.requests import MAIN_KEY, OTHER_KEY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.checks.observations import Described
    from conformance.running.run import Run
    from conformance.scenarios.access.two_organizations import CrossCount
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Credential

_SHOWING_NAME: Final = ("getCurrentOrganization", "updateCurrentOrganization")
_REFUSED: Final = (403, 404)


@requirement("isolation-own-organization")
def test_two_keys_read_two_organizations(two_organizations: TwoOrganizations) -> None:
    """The keys of two organizations read organizations with different identifiers."""
    (own, own_read), (other, other_read) = two_organizations.own, two_organizations.other

    expect.distinct_ids("the organizations of both keys", (own, other), own_read, other_read)


@pytest.mark.stage(Stage.WHOLE_RUN)
@requirement("isolation-own-organization")
def test_updates_are_of_the_organization_of_the_key(two_organizations: TwoOrganizations, run: Run) -> None:
    """The response to an update of the organization with another organization's key shows that organization."""
    two_organizations.ensure_two()
    other, other_read = two_organizations.other
    updates = [update for update in _updates(run, OTHER_KEY) if update.accepted]
    if not updates:
        raise Inapplicable("nothing was updated with another organization's key")

    for update in updates:
        expect.equal("id", read.data(update).get("id"), other, other_read, update, pointer="/data/id")


@for_each(ON_ENGAGEMENT, "isolation")
def test_other_engagements_are_out_of_reach(two_organizations: TwoOrganizations, operation: str) -> None:
    """An engagement of another organization in any state gets 404 or 403, as if it did not exist."""
    two_organizations.ensure_two()
    permitted = REFUSALS_OF_UNARCHIVE if operation == "unarchiveEngagement" else _REFUSED

    attempts = two_organizations.attempts[operation]
    if not attempts:
        raise CantTell("there was no engagement to try it on", two_organizations.created)
    for attempt in attempts:
        expect.status_in(attempt, *permitted)


@for_each(("updateMemberRole", "removeMember"), "isolation")
def test_other_members_are_out_of_reach(member_of_one: MemberOfOne, operation: str) -> None:
    """A member of another organization gets 404 or 403, as if it did not exist."""
    _listed(member_of_one, member_of_one.before)

    for attempt in member_of_one.attempts[operation]:
        expect.status_in(attempt, *_REFUSED)


@requirement("isolation-lists")
def test_lists_hold_nothing_of_another_organization(two_organizations: TwoOrganizations, run: Run) -> None:
    """No list of an organization holds resources of the other."""
    two_organizations.ensure_two()

    _expect_separate_lists(two_organizations)
    try:
        found = run.scenarios.result(member_of_one)
    except (MissingMeans, Untested):
        return
    _expect_absent("a member of another organization", {"id": found.user_id}, found.listed)


@requirement("isolation-counts")
def test_counts_leave_other_organizations_out(two_organizations: TwoOrganizations, run: Run) -> None:
    """A creation in one organization raises no count of the other; a quick run tries that in one direction."""
    two_organizations.ensure_two()
    try:
        _expect_separate_lists(two_organizations)
    except NonConformity as leak:
        raise CantTell(f"{leak.message}, so that the list counts it too", *leak.exchanges) from None
    run.scenarios.finish_background()
    own, other = run.fixtures.main, run.fixtures.other_organization()

    _expect_not_counted(run, counted=other, maker=own)
    if run.effort is not Effort.QUICK:
        _expect_not_counted(run, counted=own, maker=other)


@pytest.mark.stage(Stage.WHOLE_RUN)
@requirement("isolation-untouched")
def test_renaming_leaves_another_organization_alone(two_organizations: TwoOrganizations, run: Run) -> None:
    """An organization never gets a name that another organization's key has set."""
    two_organizations.ensure_two()
    (_, own), (_, other) = two_organizations.own, two_organizations.other
    given = {key: _names_given(run, key) for key in (MAIN_KEY, OTHER_KEY)}
    if not any(update.accepted for named in given.values() for update in named.values()):
        raise Inapplicable("nothing was renamed")

    later = _expect_not_taken(run, OTHER_KEY, other, given[MAIN_KEY])
    later += _expect_not_taken(run, MAIN_KEY, own, given[OTHER_KEY])
    if not later:
        raise Inapplicable("no organization was read after another one was renamed")


def _listed(tried: MemberOfOne, pages: Sequence[Exchange]) -> dict[str, Any]:
    """Return the member in the list of its own organization."""
    found = member_of(pages, tried.user_id)
    if found is None:
        raise CantTell("the member is not in the list of its own organization", *pages)
    return found


def _expect_not_taken(run: Run, key: str, first: Exchange, given: Mapping[str, Exchange]) -> list[Exchange]:
    """Expect that an organization never gets a name, other than its first, that another one's key has set.

    Returns:
        The reads of the organization after the first of those names was set.
    """
    shown = [
        exchange
        for exchange in run.wire.exchanges
        if exchange.operation_id in _SHOWING_NAME
        and (is_of_main(exchange) if key == MAIN_KEY else exchange.request.key_name == key)
    ]
    since = min((Interval.of(exchange).end for exchange in given.values()), default=inf)
    later = [exchange for exchange in shown if Interval.of(exchange).start >= since and exchange.accepted]
    evidence(*later)
    for exchange in later:
        for name in (resource.get("name") for resource in readable_resources(exchange)):
            taken = given.get(name) if isinstance(name, str) and name != _name(first) else None
            expect.holds(
                taken is None,
                "an organization has the name that another one's key has given to its own",
                first,
                *([] if taken is None else [taken]),
                exchange,
                expected=_name(first),
                actual=name,
                pointer="/data/name",
            )
    return later


def _name(organization: Exchange) -> str:
    return read.text(read.data(organization), "name", organization)


def _updates(run: Run, key: str) -> list[Exchange]:
    """Return the updates of the organization with a key."""
    updates = of_operation(run.wire.exchanges, "updateCurrentOrganization")
    return [update for update in updates if update.request.key_name == key]


def _names_given(run: Run, key: str) -> dict[str, Exchange]:
    """Return the names that updates with a key carried, each with its last update."""
    sent = ((update, update.sent_fields.get("name")) for update in _updates(run, key))
    return {name: update for update, name in sent if isinstance(name, str)}


def _expect_separate_lists(tried: TwoOrganizations) -> None:
    """Expect that no list of engagements holds what the other organization has just created."""
    own = read.data(tried.created)
    read.text(own, "id", tried.created)
    _expect_absent("an engagement of another organization", own, tried.other_list)
    if tried.made_by_other is not None:
        _expect_absent("an engagement of another organization", tried.made_by_other, tried.own_list)


def _expect_absent(what: str, resource: Mapping[str, Any], pages: Sequence[Exchange]) -> None:
    """Expect a resource in no list; a different resource with the same identifier does not count."""
    evidence(*pages)
    for page in pages:
        if any(
            item.get("id") == resource["id"] and is_alike(resource, item, ("createdAt",)) for item in read.items(page)
        ):
            message = f"{page.operation_id} gives {what}"
            raise NonConformity(message, page, expected="only the key's own organization", actual=what, pointer="/data")


def _expect_not_counted(run: Run, *, counted: Credential, maker: Credential) -> None:
    """Expect that no count of an organization rises when another organization creates engagements."""
    number = numbers(1)

    def judge(counts: CrossCount) -> None:
        for name, rise in zip(("engagementCount", "meta.total"), counts.rise, strict=True):
            expect.holds(
                rise != CREATED,
                f"{name} has risen by what another organization created",
                *counts.exchanges,
                expected="a count of the key's own organization",
                actual=f"{rise} more",
            )

    def count() -> CrossCount:
        return count_across(run, next(number), counted=counted, maker=maker)

    confirm.stable(run, count(), judge, count, same=lambda counts: counts.at_rest)


def _attempts(seen: TwoOrganizations) -> list[Described]:
    return [
        (f"{name}: {describe_response(exchange)}", exchange)
        for name, exchanges in seen.attempts.items()
        for exchange in exchanges
    ]


OBSERVATIONS: Final = (observing("other-organization-status", two_organizations, _attempts),)
