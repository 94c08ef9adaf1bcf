"""Scenario of the removal of a member."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.oracle import read
from conformance.oracle.outcomes import CantTell
from conformance.running.scenarios import scenario
from conformance.scenarios.lists.finding import latest
from conformance.scenarios.members.member_list import (
    MemberCount,
    MemberList,
    another_member,
    bystanders,
    count_members,
    read_members,
    read_members_with,
)
from conformance.scenarios.members.revoked_key import Allowed, Trial, afterwards, beforehand
from conformance.scenarios.members.role_changes import changeable_role, role_changes
from conformance.wire import requests

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.targets.fixtures import Member
    from conformance.wire.exchange import Exchange


@dataclass(frozen=True, slots=True)
class Removal:
    """The removal of a member, with reads before and after it.

    Attributes:
        member: The member.
        before: The members before the removal.
        response: The removal.
        attempts: Operations that the member's key was allowed, sent again right after the removal.
        newest: The newest engagements before the removal and after the attempts; empty without attempts.
        after: The members after.
        filtered: The members of each role after.
        again: The removal sent again, after the change.
        change: A role change of the removed member.
        bystander_reads: Reads with the bystander's key, before and after; empty without a bystander.
    """

    member: Member
    before: MemberCount
    response: Exchange
    attempts: tuple[Trial, ...]
    newest: tuple[Exchange, ...]
    after: MemberCount
    filtered: tuple[MemberList, ...]
    again: Exchange
    change: Exchange
    bystander_reads: tuple[tuple[Exchange, Exchange], ...]


@scenario(alone=True)
def removal(run: Run) -> Removal:
    """Remove a member that uses its key, and use the key for every operation at once."""
    member = run.scenarios.result(role_changes).member
    bystander, leaver = another_member(run, with_key=True), another_member(run)
    known = read_members_with(run, *(target.user_id for target in (bystander, leaver) if target is not None))
    if known.role(member.user_id) == "owner":
        raise CantTell("the member has become an owner, and the suite never removes an owner", *known.pages)
    touched = [(target.user_id, changeable_role(known, target)) for target in (bystander, leaver) if target is not None]
    reads_before = _reads(run, bystander)
    allowed: tuple[Allowed, ...] = ()
    if member.credential is not None:
        allowed = beforehand(run, member.credential, touched)
    before = count_members(run)
    newest = [latest(run, sort="createdAt", order="asc")] if allowed else []
    engagements_before = run.send_all(newest)
    response = run.send(requests.remove_member(member.user_id))
    attempts = afterwards(run, allowed)
    engagements_after = run.send_all(newest)
    after = count_members(run)
    filtered = tuple(read_members(run, role) for role in ("admin", "member"))
    change = run.send(requests.update_member_role(member.user_id, {"role": "member"}))
    return Removal(
        member,
        before,
        response,
        attempts,
        (*engagements_before, *engagements_after),
        after,
        filtered,
        run.send(requests.remove_member(member.user_id)),
        change,
        tuple(zip(reads_before, _reads(run, bystander), strict=True)),
    )


@dataclass(frozen=True, slots=True)
class RemovalSeen:
    """A removal, and the members around it, which show whether it affects others.

    Attributes:
        user_id: The removed member.
        before: The members before.
        response: The removal.
        after: The members after.
        began: The members when this attempt began.
        made: The members who were made for this attempt.
        aimed: The members whose role requests with the removed member's key tried to change.
    """

    user_id: str
    before: MemberList
    response: Exchange
    after: MemberList
    began: frozenset[str]
    made: frozenset[str] = frozenset()
    aimed: frozenset[str | None] = frozenset()

    @property
    def changed(self) -> frozenset[str]:
        """The others whose role changed."""
        both = self.before.ids & self.after.ids - self.aimed - {self.user_id}
        return frozenset(user_id for user_id in both if self.before.role(user_id) != self.after.role(user_id))

    @property
    def gone(self) -> frozenset[str]:
        """The others who are no longer members."""
        return self.before.ids - self.after.ids - {self.user_id}

    def still(self, later: RemovalSeen) -> bool:
        """Whether members and roles were the same after this attempt and when a later one began."""
        ended, began = self.after, later.before
        same = all(ended.role(user_id) == began.role(user_id) for user_id in ended.ids & began.ids)
        return same and ended.ids - later.made == later.began - later.made


def first_seen(removal: Removal) -> RemovalSeen:
    """Return the first attempt, from the scenario."""
    before, member = removal.before.listed, removal.member.user_id
    changes = (
        attempt.after for attempt in removal.attempts if attempt.after.request.operation.id == "updateMemberRole"
    )
    aimed = frozenset(change.request.identifier for change in changes)
    return RemovalSeen(member, before, removal.response, removal.after.listed, before.ids, aimed=aimed)


def removed_anew(run: Run, first: RemovalSeen) -> RemovalSeen:
    """Remove another member, in front of members made to show the effect.

    Raises:
        CantTell: No other member can be removed, so that others may have left by themselves.
    """
    member, made = another_member(run), bystanders(run)
    before = read_members(run) if member is None else read_members_with(run, member.user_id)
    if member is None:
        raise CantTell(
            "other members are gone or have another role, and no member is left for a second removal",
            *first.before.pages,
            first.response,
            *first.after.pages,
        )
    changeable_role(before, member)
    response = read.success(run.send(requests.remove_member(member.user_id)))
    return RemovalSeen(member.user_id, before, response, read_members(run), before.ids, made | {member.user_id})


def _reads(run: Run, member: Member | None) -> list[Exchange]:
    """Read what a remaining member may read, of the organization and of engagements."""
    if member is None or member.credential is None:
        return []
    reads = (requests.get_organization(), requests.list_engagements())
    return run.send_all([exchange.with_key(member.credential) for exchange in reads])
