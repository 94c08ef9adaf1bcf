"""Section 4: what is certainly invalid is refused with 400 or 422, and changes nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from conformance.checks.aims import label, member_of, member_pages, newest_engagements, spare_member
from conformance.checks.marks import journey, observes, requirement
from conformance.oracle import batches, expect, invalid, read
from conformance.oracle.batches import Sent
from conformance.oracle.describe import answered
from conformance.oracle.invalid import Kind
from conformance.oracle.judgement import NonConformity, Undecided, judged
from conformance.oracle.steady import steadily
from conformance.running.options import Effort
from conformance.wire import call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.oracle.invalid import InvalidBody
    from conformance.oracle.read import JsonObject
    from conformance.running.run import Run
    from conformance.wire.call import Call
    from conformance.wire.exchange import Exchange

_TICK: Final = 1.1
"""Seconds that a clock of whole seconds needs to move, so that a refused write which touches updatedAt shows."""

_ORGANIZATION: Final = ("id", "name", "slug", "plan", "createdAt", "settings")


@dataclass(frozen=True, slots=True)
class Refusals:
    """Certainly invalid requests for one resource, with a read of it before and after."""

    before: Exchange
    sent: tuple[Sent, ...]
    after: Exchange


@dataclass(frozen=True, slots=True)
class Creations:
    """Certainly invalid creations, with the newest engagements before and after."""

    before: tuple[Exchange, ...]
    sent: tuple[Sent, ...]
    after: tuple[Exchange, ...]


@dataclass(frozen=True, slots=True)
class RoleChanges:
    """Certainly invalid role changes of one member, with the list of members before and after."""

    user_id: str
    before: tuple[Exchange, ...]
    sent: tuple[Sent, ...]
    after: tuple[Exchange, ...]


# --- journeys


def invalid_creations(run: Run) -> Creations:
    """Engagements are created with every certainly invalid body."""
    before = newest_engagements(run)
    tried = [(one, label(run, "invalid")) for one in _bodies(run, "createEngagement")]
    exchanges = run.send_all([_with(call.create_engagement({}), one, name) for one, name in tried])
    sent = tuple(Sent(one.what, exchange, name) for (one, name), exchange in zip(tried, exchanges, strict=True))
    return Creations(tuple(before), sent, tuple(newest_engagements(run)))


def invalid_updates(run: Run) -> Refusals:
    """An engagement is updated with every certainly invalid body, one after the other."""
    body = {"name": run.name("valid"), "description": "It stays as it is."}
    created = run.send(call.create_engagement(body))
    engagement_id = read.text(read.data(created), "id", created)
    run.sleep(_TICK)
    before = run.send(call.get_engagement(engagement_id))
    sent = _one_by_one(run, call.update_engagement(engagement_id, {}))
    return Refusals(before, sent, run.send(call.get_engagement(engagement_id)))


def invalid_organization_updates(run: Run) -> Refusals:
    """The organization is updated with every certainly invalid body."""
    before = run.send(call.get_organization())
    sent = _one_by_one(run, call.update_organization({}))
    return Refusals(before, sent, run.send(call.get_organization()))


def invalid_invitations(run: Run) -> tuple[Sent, ...]:
    """Somebody is invited with every certainly invalid body."""
    calls = [
        (one, _with(call.invite_member({}), one, run.name("invalid"), domain=run.profile.invitation_domain))
        for one in _bodies(run, "inviteMember")
    ]
    exchanges = run.send_all([invitation for _, invitation in calls])
    return tuple(Sent(one.what, exchange) for (one, _), exchange in zip(calls, exchanges, strict=True))


def invalid_role_changes(run: Run) -> RoleChanges:
    """A member's role is changed with every certainly invalid body."""
    user_id = run.journeys.result(spare_member).user_id
    before = member_pages(run)
    role = "member" if (member_of(before, user_id) or {}).get("role") == "admin" else "admin"
    sent = _one_by_one(run, call.update_member_role(user_id, {}), role=role)
    return RoleChanges(user_id, tuple(before), sent, tuple(member_pages(run)))


def invalid_queries(run: Run) -> dict[str, tuple[Sent, ...]]:
    """Both lists are asked for with every certainly invalid parameter."""
    lists = {"listMembers": call.list_members(), "listEngagements": call.list_engagements()}
    asked = [(name, one) for name in lists for one in invalid.queries(name, thorough=_thorough(run))]
    exchanges = run.send_all([replace(lists[name], query=one.query) for name, one in asked])
    answers = list(zip(asked, exchanges, strict=True))
    return {
        name: tuple(Sent(one.what, exchange) for (which, one), exchange in answers if which == name) for name in lists
    }


creations_journey = journey(invalid_creations)
updates_journey = journey(invalid_updates)
organization_updates_journey = journey(invalid_organization_updates, alone=True)
invitations_journey = journey(invalid_invitations)
role_changes_journey = journey(invalid_role_changes)
queries_journey = journey(invalid_queries)


# --- engagements


@requirement("create-engagement-refuses-invalid")
def test_invalid_creations_are_refused(invalid_creations: Creations) -> None:
    """Creating an engagement with a certainly invalid body gives 400 or 422."""
    batches.every_invalid_refused(invalid_creations.sent)


@requirement("create-engagement-refused-creates-nothing")
def test_refused_creations_create_nothing(invalid_creations: Creations, run: Run) -> None:
    """After refused creations there is no engagement that could be from them."""
    batches.none_created(invalid_creations.sent, invalid_creations.after)

    looks = iter([invalid_creations])
    steadily(
        lambda: next(looks, None) or invalid_creations_again(run),
        partial(_no_nameless, run),
        at_rest=lambda look: {item.get("id") for item in _new(look) if not _is_ours(run, item)},
        sleep=run.sleep,
    )


@requirement("update-engagement-refuses-invalid")
def test_invalid_updates_are_refused(invalid_updates: Refusals) -> None:
    """Updating an engagement with a certainly invalid body gives 400 or 422."""
    batches.every_invalid_refused(invalid_updates.sent)


@requirement("update-engagement-refused-changes-nothing")
def test_refused_updates_change_nothing(invalid_updates: Refusals) -> None:
    """After refused updates the engagement is as before, updatedAt included."""
    batches.engagement_untouched(invalid_updates.before, invalid_updates.after, invalid_updates.sent)


@requirement("list-engagements-refuses-invalid")
def test_invalid_engagement_queries_are_refused(invalid_queries: dict[str, tuple[Sent, ...]]) -> None:
    """Listing engagements with a certainly invalid parameter gives 400 or 422."""
    batches.every_invalid_refused(_where_listing_is_allowed(invalid_queries["listEngagements"]))


# --- the organization


@requirement("update-organization-refuses-invalid")
def test_invalid_organization_updates_are_refused(invalid_organization_updates: Refusals) -> None:
    """Updating the organization with a certainly invalid body gives 400 or 422."""
    batches.every_invalid_refused(invalid_organization_updates.sent)


@requirement("update-organization-refused-changes-nothing")
def test_refused_organization_updates_change_nothing(invalid_organization_updates: Refusals) -> None:
    """After refused updates the organization is as before."""
    tried = invalid_organization_updates
    before, after = read.data(tried.before), read.data(tried.after)
    exchanges = (tried.before, *[one.exchange for one in tried.sent], tried.after)

    fields = [name for name in (*_ORGANIZATION, "updatedAt") if name in before]
    judge = partial(expect.unchanged, "the organization", before, after, fields, *exchanges)
    batches.only_if_refused(tried.sent, judge)


# --- members


@requirement("invite-refuses-invalid")
def test_invalid_invitations_are_refused(invalid_invitations: tuple[Sent, ...]) -> None:
    """Inviting with a certainly invalid body gives 400 or 422."""
    batches.every_invalid_refused(invalid_invitations)


@requirement("update-role-refuses-invalid")
def test_invalid_role_changes_are_refused(invalid_role_changes: RoleChanges) -> None:
    """Changing a role with a certainly invalid body gives 400 or 422."""
    tried = invalid_role_changes
    if member_of([*tried.after], tried.user_id) is None:
        raise Undecided("the member whose role was to be changed is not in the list", *tried.after)

    batches.every_invalid_refused(tried.sent)


@requirement("update-role-refused-changes-nothing")
def test_refused_role_changes_change_nothing(invalid_role_changes: RoleChanges) -> None:
    """After refused role changes the member is as before."""
    tried = invalid_role_changes
    before, after = (member_of([*pages], tried.user_id) for pages in (tried.before, tried.after))
    if before is None or after is None:
        raise Undecided("the member whose role was to be changed is not in the list", *tried.before, *tried.after)

    fields = [name for name in before if name != "lastSeenAt"]
    exchanges = (*tried.before, *[one.exchange for one in tried.sent], *tried.after)
    batches.only_if_refused(tried.sent, partial(expect.unchanged, "the member", before, after, fields, *exchanges))


@requirement("list-members-refuses-invalid")
def test_invalid_member_queries_are_refused(invalid_queries: dict[str, tuple[Sent, ...]]) -> None:
    """Listing members with a certainly invalid parameter gives 400 or 422."""
    batches.every_invalid_refused(invalid_queries["listMembers"])


# --- 400 or 422


@observes("validation-status-malformed", "validation-status-missing", "validation-status-type")
def test_statuses_of_invalid_bodies(invalid_creations: Creations, run: Run) -> None:
    """Which of 400 and 422 is given for what is wrong with a body."""
    points = {
        Kind.MALFORMED: "validation-status-malformed",
        Kind.MISSING: "validation-status-missing",
        Kind.TYPE: "validation-status-type",
    }
    for one, sent in zip(_bodies(run, "createEngagement"), invalid_creations.sent, strict=True):
        if one.kind in points:
            run.observe(points[one.kind], answered(sent.exchange), sent.exchange)


@observes("validation-status-query")
def test_statuses_of_invalid_parameters(invalid_queries: dict[str, tuple[Sent, ...]], run: Run) -> None:
    """Which of 400 and 422 is given for a nonsense parameter."""
    for sent in (one for list_of in invalid_queries.values() for one in list_of):
        run.observe("validation-status-query", f"{sent.told}: {answered(sent.exchange)}", sent.exchange)
