"""Removing a member: gone at once, with all access, and nobody else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.checks.finding import PER_PAGE
from conformance.checks.markers import observes, requirement, scenario
from conformance.checks.member_list import MemberCount, headcount
from conformance.checks.removal import Removal, RemovalSeen, first_seen, removal, removed_anew
from conformance.oracle import expect, read
from conformance.oracle.bulk import Sent, every_status, none_created
from conformance.oracle.effects import sent_object
from conformance.oracle.observe import describe_response
from conformance.oracle.outcomes import CantTell, Inapplicable, Untested
from conformance.oracle.rendering import one_of
from conformance.oracle.steady import steadily, steadily_between
from conformance.wire.exchange import SUCCESSES

if TYPE_CHECKING:
    from conformance.operations import Family
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_BY: Final = "the removed member's key"

removal_scenario = scenario(removal, alone=True)


# --- the removal itself


@requirement("remove-member-succeeds")
def test_removal_succeeds(removal: Removal) -> None:
    """Removing a member gives 200."""
    if removal.member.user_id not in removal.before.roster.ids:
        raise CantTell("the member was gone before it was removed", *removal.before.exchanges)

    expect.success(removal.response)


@requirement("remove-member-answers-true")
def test_response_says_removed(removal: Removal) -> None:
    """The answer to a removal says that the member asked for was removed."""
    told = read.data(removal.response)
    if not isinstance(told.get("removed"), bool):
        raise CantTell("removed is no boolean", removal.response)

    expect.equal("removed", told["removed"], True, removal.response, pointer="/data/removed")
    user_id = read.text(told, "userId", removal.response)
    expect.equal("userId", user_id, removal.member.user_id, removal.response, pointer="/data/userId")


@requirement("removed-member-unlisted")
def test_removed_member_is_in_no_list(removal: Removal) -> None:
    """A removed member is in no list of members, whatever the filter."""
    read.success(removal.response)
    for look in (removal.after.roster, *removal.filtered):
        expect.holds(
            removal.member.user_id not in look.ids,
            "a removed member is still in the list",
            removal.response,
            *look.pages,
            expected="a list without the member",
            actual="the member",
            pointer="/data",
        )


@requirement("removed-member-uncounted")
def test_removed_member_is_not_counted(run: Run, removal: Removal) -> None:
    """A removed member is no longer counted, by the organization or by the list."""
    read.success(removal.response)
    looks = iter([removal.after])

    steadily(
        lambda: next(looks, None) or headcount(run),
        lambda seen: _judge_counts(removal, seen),
        at_rest=lambda seen: (seen.count, seen.roster.ids),
        sleep=run.sleep,
    )


def _judge_counts(removal: Removal, seen: MemberCount) -> None:
    """One less than before, but for those whom the list shows to have come or gone meanwhile.

    Others may come between the organization and its list: the count is right, too, where it is what the list counts.
    """
    before, own = removal.before, {removal.member.user_id}
    moved = len(seen.roster.ids - before.roster.ids - own) - len(before.roster.ids - seen.roster.ids - own)
    exchanges = (*before.exchanges, removal.response, *seen.exchanges)
    total = before.roster.total - 1 + moved
    for name, now, right in (
        ("memberCount", seen.count, {before.count - 1 + moved, seen.roster.total}),
        ("total", seen.roster.total, {total}),
    ):
        message = f"{name} is not one less after a removal"
        expect.holds(now in right, message, *exchanges, expected=one_of(*sorted(right)), actual=str(now))


@requirement("removed-member-not-removable")
def test_removed_member_cannot_be_removed(removal: Removal) -> None:
    """Removing a removed member once more finds nobody."""
    read.success(removal.response)

    expect.status_in(removal.again, 404)


@requirement("removed-member-role-unchangeable")
def test_removed_member_cannot_be_changed(removal: Removal) -> None:
    """Changing the role of a removed member finds nobody."""
    read.success(removal.response)

    expect.status_in(removal.change, 404)


# --- the key of the removed member, and the other members


@requirement("removed-member-loses-organization")
def test_key_loses_organization(removal: Removal) -> None:
    """A removed member's key is refused by every operation on the organization, from the first request on."""
    _judge_refused(removal, "organizations")


@requirement("removed-member-loses-engagements")
def test_key_loses_engagements(removal: Removal) -> None:
    """A removed member's key is refused by every operation on engagements, from the first request on."""
    _judge_refused(removal, "engagements")

    telling = [one for one in removal.attempts if one.shows]
    refused = [one.after for one in telling if one.after.request.operation.family == "engagements"]
    _judge_undone(removal.response, refused, *removal.newest)


def _judge_undone(removed: Exchange, refused: list[Exchange], before: Exchange, after: Exchange) -> None:
    """Nothing refused was done, nor by the removal: the engagements are as before, times aside, and none is new."""
    if not (before.succeeded and after.succeeded):  # as where the main key may not list them
        return
    creations = [one for one in refused if one.request.operation.id == "createEngagement"]
    names = [str((sent_object(one) or {}).get("name", "")) for one in creations]
    none_created([Sent(_BY, one, label=name) for one, name in zip(creations, names, strict=True)], [after])
    were = {read.id_of(item): item for item in read.items(before)}
    are = {read.id_of(item): item for item in read.items(after)}
    for attempt in refused:
        was, now = (items.get(attempt.request.identifier) for items in (were, are))
        if was is not None and (now is not None or len(are) < PER_PAGE):
            exchanges, gone = (before, removed, attempt, after), "an engagement is gone"
            expect.holds(now is not None, gone, *exchanges, expected="the engagement", actual="none")
            expect.unchanged("an engagement", was, now or {}, ("name", "description", "status"), *exchanges)


def _judge_refused(removal: Removal, family: Family) -> None:
    if removal.member.credential is None:
        raise Untested("the member has no key of its own; name one under members, or let create_member answer with one")
    read.success(removal.response)
    attempts = [attempt for attempt in removal.attempts if attempt.before.request.operation.family == family]
    if not attempts:
        raise Inapplicable("the member's key was allowed none of these operations before the removal")

    sent = [Sent(_BY, attempt.after) for attempt in attempts]
    every_status(sent, lambda status: status in {401, 403}, "401 or 403")


@requirement("removal-spares-other-members")
def test_others_stay_members(run: Run, removal: Removal) -> None:
    """Removing one member leaves the others members and their access as it was."""
    removals = [attempt.after for attempt in removal.attempts if attempt.after.request.operation.id == "removeMember"]
    if any(exchange.succeeded for exchange in removals):
        raise CantTell("another member was removed with the removed member's key", *removals)
    first = first_seen(removal)
    looks = iter([first])

    steadily_between(
        lambda: next(looks, None) or removed_anew(run, first), _judge_others, still=RemovalSeen.still, sleep=run.sleep
    )
    for before, after in removal.bystander_reads:
        if before.succeeded:  # with which status is for another requirement to judge
            expect.status(after, lambda status: status in SUCCESSES, "a success, as before the removal")


def _judge_others(seen: RemovalSeen) -> None:
    expect.holds(
        not seen.gone,
        "other members are gone after one was removed",
        *seen.before.pages,
        seen.response,
        *seen.after.pages,
        expected="all others in the list",
        actual=f"{len(seen.gone)} missing",
        pointer="/data",
    )
    expect.holds(
        not seen.changed,
        "other members have another role after one was removed",
        *seen.before.pages,
        seen.response,
        *seen.after.pages,
        expected="all others in their roles",
        actual="somebody in another role",
        pointer="/data",
    )


# --- observations


@observes("removed-member-status")
def test_observe_refusal_of_removed_key(run: Run, removal: Removal) -> None:
    """With which status a removed member's key is refused."""
    for attempt in removal.attempts:
        run.observe("removed-member-status", describe_response(attempt.after), attempt.after)
