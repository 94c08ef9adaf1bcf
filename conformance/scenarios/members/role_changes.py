"""Scenario of changes of a member's role."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.oracle.outcomes import CantTell
from conformance.running.options import Effort
from conformance.running.scenarios import scenario
from conformance.scenarios.access.every_operation import OTHER_ROLE, spare_owner
from conformance.scenarios.members.member_list import MemberList, member_to_change, read_members, read_members_with
from conformance.wire import requests

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.targets.fixtures import Member
    from conformance.wire.exchange import Exchange


@dataclass(frozen=True, slots=True)
class Change:
    """A role change, and the members after it."""

    role: str
    response: Exchange
    after: MemberList


@dataclass(frozen=True, slots=True)
class RoleChanges:
    """Changes of a member's role.

    Attributes:
        member: The member.
        role: The role that it had, and gets back.
        before: The members before.
        changes: To the other role, and back.
        of_new_role: The members of the other role after the first change.
        of_old_role: The members of the old role at that time.
        same: A change to the role that it has already.
        invited: An invitation of its own address; None if the list shows no address.
        to_owner: The attempts to make it an owner, in either role.
        last_role: The role that was set before the last of those.
        after: The members at the end.
    """

    member: Member
    role: str
    before: MemberList
    changes: tuple[Change, ...]
    of_new_role: MemberList
    of_old_role: MemberList
    same: Exchange
    invited: Exchange | None
    to_owner: tuple[Exchange, ...]
    last_role: str
    after: MemberList


@scenario(alone=True)
def role_changes(run: Run) -> RoleChanges:
    """Change a member's role and back, try to make it an owner, and invite its address."""
    member = member_to_change(run, "admin")
    before = read_members_with(run, member.user_id)
    role = changeable_role(before, member)
    first = change_role(run, member, OTHER_ROLE[role])
    of_new_role, of_old_role = read_members(run, OTHER_ROLE[role]), read_members(run, role)
    changes = (first, change_role(run, member, role))
    same = _set(run, member, role)
    invited = _invite(run, before.members[member.user_id].get("email"))
    to_owner, last_role = _to_owner(run, member, role)
    after = read_members(run)
    _give_back(run, member, role)
    return RoleChanges(
        member, role, before, changes, of_new_role, of_old_role, same, invited, to_owner, last_role, after
    )


def _to_owner(run: Run, member: Member, role: str) -> tuple[tuple[Exchange, ...], str]:
    """Try to make a member an owner, and again in its other role if that was refused; return its role, too."""
    first = _set(run, member, "owner")
    if not first.refused:  # a faulty service may have done it, so the suite stops
        return (first,), role
    other = _set(run, member, OTHER_ROLE[role])
    return (first, _set(run, member, "owner")), OTHER_ROLE[role] if other.accepted else role


def changeable_role(members: MemberList, member: Member) -> str:
    """Return the role of a member that may be changed.

    Raises:
        Untested: It is an owner, whose role the suite never changes.
        CantTell: The list does not show the member.
    """
    role = members.role(member.user_id)
    spare_owner(role)
    if role not in OTHER_ROLE:
        raise CantTell(
            "the list of members does not show the member that may be changed, with its role", *members.pages
        )
    return role


def _set(run: Run, member: Member, role: str) -> Exchange:
    return run.send(requests.update_member_role(member.user_id, {"role": role}))


def _give_back(run: Run, member: Member, role: str) -> None:
    """Restore a member's role, with an unknown field beside it; without that field if it is refused.

    A run that is not quick sends the role in capitals first.
    """
    if run.effort is not Effort.QUICK:
        _set(run, member, role.upper())
    response = run.send(requests.update_member_role(member.user_id, {"role": role, "unheardOf": "x"}))
    if response.refused:
        _set(run, member, role)


def change_role(run: Run, member: Member, role: str) -> Change:
    """Set a member's role, and read the members."""
    return Change(role, _set(run, member, role), read_members(run))


def _invite(run: Run, email: object) -> Exchange | None:
    if not isinstance(email, str) or "@" not in email:
        return None
    return run.send(requests.invite_member({"email": email, "role": "member"}))
