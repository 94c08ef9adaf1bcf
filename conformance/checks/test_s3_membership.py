"""Section 3, membership: changes of a member's role."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance import confirm
from conformance.checks.markers import requirement
from conformance.checks.observations import observing
from conformance.oracle import expect, read
from conformance.oracle.outcomes import CantTell, Inapplicable, NonConformity
from conformance.oracle.rendering import render
from conformance.scenarios.access.every_operation import OTHER_ROLE
from conformance.scenarios.members.member_list import MemberList, bystanders, read_members
from conformance.scenarios.members.role_changes import Change, RoleChanges, change_role, role_changes

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

KEPT: Final = ("name", "email", "joinedAt")
"""Fields that a role change leaves unchanged; lastSeenAt moves whenever the member is active."""

_MASK: Final = re.compile("[*\\u2022\\u2026\\u25cf]")
"""Characters that mask hidden text."""


# --- checks


@requirement("update-role-succeeds")
def test_role_change_succeeds(role_changes: RoleChanges) -> None:
    """Changing the role of a member gives 200."""
    for change in role_changes.changes:
        expect.success(change.response)


@requirement("role-changes-both-ways")
def test_list_shows_new_role(role_changes: RoleChanges) -> None:
    """A member becomes an admin and an admin a member, and the list shows it, with the filter too."""
    for change in role_changes.changes:
        read.success(change.response)
        role = change.after.role(role_changes.member.user_id)

        expect.equal("the member's role in the list", role, change.role, change.response, *change.after.pages)
    _judge_filters(role_changes)


def _judge_filters(role_changes: RoleChanges) -> None:
    """Expect the changed member under its new role, and under the old role only if others are wrong there too."""
    user_id, first = role_changes.member.user_id, role_changes.changes[0]
    new, old, others = role_changes.of_new_role, role_changes.of_old_role, first.after.ids - {user_id}
    if missing := [other for other in others - new.ids if first.after.role(other) == first.role]:
        raise CantTell(f"the filter by role omits {len(missing)} others too", *new.pages)
    misplaced = {other for other in old.ids if old.role(other) != role_changes.role}
    stale = user_id in old.ids and misplaced <= {user_id}
    for right, role, pages in ((user_id in new.ids, "new", new.pages), (not stale, "old", old.pages)):
        expect.holds(
            right,
            f"the list of the member's {role} role has not followed the change",
            first.response,
            *pages,
            expected=f"{'with' if role == 'new' else 'without'} the member",
            actual=f"{'without' if role == 'new' else 'with'} the member",
            pointer="/data",
        )


@requirement("update-role-keeps-the-rest")
def test_role_change_keeps_the_rest(run: Run, role_changes: RoleChanges) -> None:
    """A role change leaves the member's other fields and the other members unchanged."""
    user_id, before = role_changes.member.user_id, role_changes.before
    for change in role_changes.changes:
        read.success(change.response)
        own = change.after.members.get(user_id)
        if own is None:
            raise CantTell("the member is not in the list after the change", *change.after.pages)
        at = (*before.pages, change.response, *change.after.pages)
        expect.unchanged("the member", before.members[user_id], own, KEPT, *at)

    first = _ThereAndBack(user_id, before, role_changes.changes)
    confirm.stable_between(
        run,
        first,
        lambda seen: _judge_others(seen if seen.could_show(first) else first),
        lambda: _there_and_back(run, role_changes),
        still=_ThereAndBack.still,
    )


@dataclass(frozen=True, slots=True)
class _ThereAndBack:
    """A change of a member to the other role and back.

    Attributes:
        user_id: The member.
        before: The members before.
        changes: Both changes, each with the members after it.
        made: Members who were made to show the effect on others.
    """

    user_id: str
    before: MemberList
    changes: tuple[Change, ...]
    made: frozenset[str] = frozenset()

    def could_show(self, first: _ThereAndBack) -> bool:
        """Whether there are still others who could be affected, with an owner if there was one at first."""
        return bool(self.before.ids - {self.user_id}) and (bool(self.before.owners) or not first.before.owners)

    def still(self, later: _ThereAndBack) -> bool:
        """Whether the others were the same, in the same roles, after this attempt and before a later one."""
        but = {self.user_id, *later.made}
        ended, began = (
            {user_id: role for user_id, role in members.roles.items() if user_id not in but}
            for members in (self.changes[-1].after, later.before)
        )
        return ended == began


def _there_and_back(run: Run, role_changes: RoleChanges) -> _ThereAndBack:
    """Repeat both changes, so that earlier changes by others do not matter."""
    member, made, before = role_changes.member, bystanders(run), read_members(run)
    changes = tuple(change_role(run, member, role) for role in (OTHER_ROLE[role_changes.role], role_changes.role))
    for change in changes:
        read.success(change.response)
    return _ThereAndBack(member.user_id, before, changes, made)


def _judge_others(attempt: _ThereAndBack) -> None:
    others = {user_id: was for user_id, was in attempt.before.members.items() if user_id != attempt.user_id}
    for change in attempt.changes:
        at = (*attempt.before.pages, change.response, *change.after.pages)
        for user_id, was in others.items():
            now = change.after.members.get(user_id)
            expect.exists("another member", now, *at)
            expect.unchanged("another member", was, now or {}, ("role", *KEPT), *at)


@requirement("no-owner-through-role-change")
def test_nobody_becomes_owner(role_changes: RoleChanges) -> None:
    """A role change to owner is refused, and leaves the member's role unchanged."""
    for attempt in role_changes.to_owner:
        expect.refused(attempt)

    user_id = role_changes.member.user_id
    role = role_changes.after.role(user_id)
    if role != "owner" and any(change.after.role(user_id) != change.role for change in role_changes.changes):
        raise CantTell("the list does not show other role changes either", *role_changes.after.pages)
    if role != role_changes.last_role:
        raise NonConformity(
            "a member has another role after a change to owner that was refused",
            role_changes.to_owner[-1],
            *role_changes.after.pages,
            expected=render(role_changes.last_role),
            actual=render(role),
        )


@requirement("member-email-is-address")
def test_member_is_listed_with_its_own_address(role_changes: RoleChanges) -> None:
    """A member that was made for the run is listed with its own address: unmasked, and not another member's."""
    email, before = role_changes.member.email, role_changes.before
    if email is None:
        raise Inapplicable("The target file does not state the addresses of its members")
    address = before.members[role_changes.member.user_id].get("email")
    if not isinstance(address, str):
        raise CantTell("the member is listed without an address", *before.pages)

    alike = [member for member in before.members.values() if str(member.get("email")).casefold() == address.casefold()]
    faults = [*(["masked"] if _MASK.search(address) else []), *(["another member's"] if len(alike) > 1 else [])]
    expect.holds(
        address.casefold() == email.casefold() or not faults,  # a service may normalize the address
        "a member is not listed with its own address",
        *before.pages,
        expected=render(email),
        actual=" ".join([render(address), *faults]),
        pointer="/data",
    )


def _same_role(seen: RoleChanges) -> Exchange:
    for change in seen.changes:
        read.success(change.response)
    return seen.same


def _invited(seen: RoleChanges) -> Exchange:
    if seen.invited is None:
        raise Inapplicable("the list shows no address of the member")
    return seen.invited


OBSERVATIONS: Final = (
    observing("same-role-again", role_changes, _same_role),
    observing("invite-member-again", role_changes, _invited),
)
