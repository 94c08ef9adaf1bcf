"""The role of a member is changed, and looked for in the list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.checks.every_operation import spare_owner
from conformance.checks.member_list import MemberList, member_to_change, roster, roster_with
from conformance.oracle.effects import accepted, refused
from conformance.oracle.outcomes import CantTell
from conformance.running.options import Effort
from conformance.wire import requests

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.targets.fixtures import Member
    from conformance.wire.exchange import Exchange

OTHER_ROLE: Final = {"admin": "member", "member": "admin"}


@dataclass(frozen=True, slots=True)
class Change:
    """One role change, and the members after it."""

    role: str
    response: Exchange
    after: MemberList


@dataclass(frozen=True, slots=True)
class RoleChanges:
    """What was done to a member's role.

    Attributes:
        member: The member.
        role: The role that it had, and has again.
        before: The members before.
        changes: To the other role, and back.
        of_new_role: The members of the other role after the first change.
        of_old_role: The members of the role that it had, then.
        same: The role set that it had again already.
        invited: An invitation of its own address; None where the list shows none.
        to_owner: The attempts to make it an owner, in either role.
        stands: The role that it was given before the last of those.
        after: The members after all this.
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
    stands: str
    after: MemberList


def role_changes(run: Run) -> RoleChanges:
    """A member becomes an admin and a member again, or the other way round; it is to become an owner, and invited."""
    member = member_to_change(run, "admin")
    before = roster_with(run, member.user_id)
    role = changeable_role(before, member)
    first = change_role(run, member, OTHER_ROLE[role])
    of_new_role, of_old_role = roster(run, OTHER_ROLE[role]), roster(run, role)
    changes = (first, change_role(run, member, role))
    same = _set(run, member, role)
    invited = _invite(run, before.members[member.user_id].get("email"))
    to_owner, stands = _to_owner(run, member, role)
    after = roster(run)
    _give_back(run, member, role)
    return RoleChanges(member, role, before, changes, of_new_role, of_old_role, same, invited, to_owner, stands, after)


def _to_owner(run: Run, member: Member, role: str) -> tuple[tuple[Exchange, ...], str]:
    """Try to make a member an owner, and once more in its other role where that was refused; and its role by then."""
    first = _set(run, member, "owner")
    if not refused(first):  # a faulty service may have done it: no more of that
        return (first,), role
    other = _set(run, member, OTHER_ROLE[role])
    return (first, _set(run, member, "owner")), OTHER_ROLE[role] if accepted(other) else role


def changeable_role(members: MemberList, member: Member) -> str:
    """The role of a member that may be touched.

    Raises:
        Untested: It is an owner, whom nothing is tried on.
        CantTell: The list does not show it.
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
    """Give a member its role again, with a field that no service knows; without it where that is refused.

    A run that is not quick asks for it in capitals before.
    """
    if run.effort is not Effort.QUICK:
        _set(run, member, role.upper())
    response = run.send(requests.update_member_role(member.user_id, {"role": role, "unheardOf": "x"}))
    if refused(response):
        _set(run, member, role)


def change_role(run: Run, member: Member, role: str) -> Change:
    """A member is given a role, and the members are looked at."""
    return Change(role, _set(run, member, role), roster(run))


def _invite(run: Run, email: object) -> Exchange | None:
    if not isinstance(email, str) or "@" not in email:
        return None
    return run.send(requests.invite_member({"email": email, "role": "member"}))
