"""Section 3, removal: a member is gone at once, with all access, and no other member is affected."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from conformance import confirm
from conformance.checks.markers import requirement
from conformance.checks.observations import observing
from conformance.interface.list_parameters import MAX_PER_PAGE
from conformance.oracle import expect, read
from conformance.oracle.bulk import Sent, every_status, none_created
from conformance.oracle.exchanges import of_operation
from conformance.oracle.outcomes import CantTell, Inapplicable, Untested
from conformance.oracle.rendering import one_of
from conformance.scenarios.members.member_list import MemberCount, count_members
from conformance.scenarios.members.removal import Removal, removal
from conformance.wire.exchange import KEY_REFUSED, SUCCESSES

if TYPE_CHECKING:
    from conformance.interface.operations import Family
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_BY: Final = "the removed member's key"


# --- the removal itself


@requirement("removed-member-uncounted")
def test_removed_member_is_not_counted(run: Run, removal: Removal) -> None:
    """The organization and the list no longer count a removed member."""
    read.success(removal.response)

    confirm.stable(
        run,
        removal.after,
        lambda seen: _judge_counts(removal, seen),
        lambda: count_members(run),
        same=lambda seen: (seen.count, seen.listed.ids),
    )


def _judge_counts(removal: Removal, seen: MemberCount) -> None:
    """Expect a count one lower than before, corrected by the members who came or left in the meantime.

    Others may act between the organization and its list: a count that equals the list's is right, too.
    """
    before, own = removal.before, {removal.member.user_id}
    moved = len(seen.listed.ids - before.listed.ids - own) - len(before.listed.ids - seen.listed.ids - own)
    exchanges = (*before.exchanges, removal.response, *seen.exchanges)
    total = before.listed.total - 1 + moved
    for name, now, right in (
        ("memberCount", seen.count, {before.count - 1 + moved, seen.listed.total}),
        ("total", seen.listed.total, {total}),
    ):
        message = f"{name} is not one less after a removal"
        expect.holds(now in right, message, *exchanges, expected=one_of(*sorted(right)), actual=str(now))


# --- the key of the removed member, and the other members


@requirement("removed-member-loses-organization")
def test_key_loses_organization(removal: Removal) -> None:
    """Every operation on the organization refuses a removed member's key, from the first request on."""
    _judge_refused(removal, "organizations")


@requirement("removed-member-loses-engagements")
def test_key_loses_engagements(removal: Removal) -> None:
    """Every operation on engagements refuses a removed member's key, from the first request on."""
    _judge_refused(removal, "engagements")

    trials = [attempt for attempt in removal.attempts if attempt.is_conclusive]
    refused = [trial.after for trial in trials if trial.after.request.operation.family == "engagements"]
    _judge_undone(removal.response, refused, *removal.newest)


def _judge_undone(removed: Exchange, refused: list[Exchange], before: Exchange, after: Exchange) -> None:
    """Expect that refused requests and the removal left engagements unchanged, times aside, and made none."""
    if not (before.succeeded and after.succeeded):  # for example if the main key may not list them
        return
    creations = of_operation(refused, "createEngagement")
    names = [str(creation.sent_fields.get("name", "")) for creation in creations]
    none_created([Sent(_BY, creation, label=name) for creation, name in zip(creations, names, strict=True)], [after])
    were = {read.id_of(item): item for item in read.items(before)}
    are = {read.id_of(item): item for item in read.items(after)}
    for attempt in refused:
        was, now = (items.get(attempt.request.identifier) for items in (were, are))
        if was is not None and (now is not None or len(are) < MAX_PER_PAGE):
            exchanges = before, removed, attempt, after
            expect.exists("an engagement", now is not None, *exchanges)
            expect.unchanged("an engagement", was, now or {}, ("name", "description", "status"), *exchanges)


def _judge_refused(removal: Removal, family: Family) -> None:
    if removal.member.credential is None:
        raise Untested("the member has no key of its own; name a member with a key, or let create_member return one")
    read.success(removal.response)
    attempts = [attempt for attempt in removal.attempts if attempt.before.request.operation.family == family]
    if not attempts:
        raise Inapplicable("the member's key was allowed none of these operations before the removal")

    sent = [Sent(_BY, attempt.after) for attempt in attempts]
    every_status(sent, lambda status: status in KEY_REFUSED, "401 or 403")


@requirement("removal-spares-other-members")
def test_others_keep_access(removal: Removal) -> None:
    """Removing a member leaves the access of another member unchanged."""
    removals = of_operation((attempt.after for attempt in removal.attempts), "removeMember")
    if any(exchange.succeeded for exchange in removals):
        raise CantTell("another member was removed with the removed member's key", *removals)
    if not removal.bystander_reads:
        raise Untested("no other member has a key of its own; let create_member return one")
    permitted = [after for before, after in removal.bystander_reads if before.succeeded]
    if not permitted:
        raise CantTell("the other member's key was refused before the removal, too", *chain(*removal.bystander_reads))
    for after in permitted:
        expect.status(after, lambda status: status in SUCCESSES, "a success, as before the removal")


OBSERVATIONS: Final = (
    observing("removed-member-status", removal, lambda seen: [attempt.after for attempt in seen.attempts]),
)
