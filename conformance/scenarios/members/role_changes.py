"""Scenario of changes of a member's role."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.oracle.outcomes import CantTell
from conformance.running.options import Effort
from conformance.running.scenarios import scenario
from conformance.scenarios.access.every_operation import OTHER_ROLE, ensure_not_owner
from conformance.scenarios.keys_in_turn import RetryNewKeys, with_scoped_key
from conformance.scenarios.members.member_list import (
    MemberList,
    address_of,
    another_member,
    member_to_change,
    read_members,
    read_members_with,
)
from conformance.wire import requests

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.targets.fixtures import Member
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Credential, Request


_CLAIMS: Final = {
    "name": "Renamed with the role",
    "joinedAt": "2001-02-03T04:05:06.789Z",
    "lastSeenAt": "2001-02-03T04:05:06.789Z",
}
"""Values of a member that only the service sets."""


@dataclass(frozen=True, slots=True)
class RoleChanges:
    """Changes of a member's role.

    Attributes:
        member: The member.
        bystander: Another member, whose role is changed at the same time as the last change of the first; None if there
            is none.
        role: The role that it had, and gets back.
        before: The members before.
        changes: To the other role, and back.
        same: A change to the role that it has already.
        invited: An invitation of its own address; None if the list shows no address.
    """

    member: Member
    bystander: Member | None
    role: str
    before: MemberList
    changes: tuple[Exchange, ...]
    same: Exchange
    invited: Exchange | None


@scenario(alone=True)
def role_changes(run: Run) -> RoleChanges:
    """Change a member's role and back, try to make it an owner, and change two members at once."""
    member = member_to_change(run)
    bystander = another_member(run, with_key=True)
    before = read_members_with(run, *(each.user_id for each in (member, bystander) if each is not None))
    role = changeable_role(before, member)
    listed = with_scoped_key(run, "organizations:read", requests.list_members(role=role))
    if bystander is not None and bystander.credential is not None:
        listed.append(requests.list_members().with_key(bystander.credential))
    RetryNewKeys(run).send_all([*listed, requests.list_members(role=OTHER_ROLE[role])])
    first = _change_role(run, member, OTHER_ROLE[role])
    invited = _invite(run, member, before, role)  # not its role at this time
    invitation = requests.invite_member({"email": run.address("meanwhile"), "role": "admin"})
    run.send(invitation)  # for the ledger: it changes no member's role
    run.send_all([requests.list_members(role=OTHER_ROLE[role]), *(listed or [requests.list_members(role=role)])])
    changes = (first, _change_role(run, member, role))
    same = _set(run, member, role)
    _try_owner(run, member, role)
    read_members(run)
    run.send(requests.list_members(role="owner"))
    _restore_role(run, member, role, *_other_change(before, bystander))
    return RoleChanges(member, bystander, role, before, changes, same, invited)


def key_of_bystander(run: Run) -> Credential | None:
    """Return the key of the other member, who stays in the organization; None if the run has not changed its role."""
    changed = run.scenarios.result_if_any(role_changes)
    return None if changed is None or changed.bystander is None else changed.bystander.credential


def _try_owner(run: Run, member: Member, role: str) -> None:
    """Try to make a member an owner, and again in its other role if that was refused."""
    if _set(run, member, "owner").refused:  # otherwise a faulty service may have done it, so the suite stops
        read_members(run)  # for the ledger: before the next change hides what the refused one did
        _set(run, member, OTHER_ROLE[role])
        _set(run, member, "owner")


def _other_change(members: MemberList, bystander: Member | None) -> list[Request]:
    """Return the change of another member to its other role; none if there is no such member."""
    role = OTHER_ROLE.get(str(members.role(bystander.user_id))) if bystander is not None else None
    return [] if bystander is None or role is None else [requests.update_member_role(bystander.user_id, {"role": role})]


def changeable_role(members: MemberList, member: Member) -> str:
    """Return the role of a member that may be changed.

    Raises:
        Untested: It is an owner, whose role the suite never changes.
        CantTell: The list does not show the member.
    """
    role = members.role(member.user_id)
    ensure_not_owner(role)
    if role not in OTHER_ROLE:
        raise CantTell(
            "the list of members does not show the member that may be changed, with its role", *members.pages
        )
    return role


def _set(run: Run, member: Member, role: str) -> Exchange:
    return run.send(requests.update_member_role(member.user_id, {"role": role}))


def _restore_role(run: Run, member: Member, role: str, *beside: Request) -> None:
    """Restore a member's role, with fields beside it that it cannot change; without them if it is refused.

    A run that is not quick sends the role in capitals first. Requests about other members are sent at the same time.
    """
    if run.effort is not Effort.QUICK:
        _set(run, member, role.upper())
    claims = _CLAIMS if member.is_new else {}
    back = requests.update_member_role(member.user_id, {"role": role, "unheardOf": "x", **claims})
    if run.send_all([back, *beside])[0].refused:
        _set(run, member, role)


def _change_role(run: Run, member: Member, role: str) -> Exchange:
    """Set a member's role, and read the members."""
    response = _set(run, member, role)
    read_members(run)
    return response


def _invite(run: Run, member: Member, members: MemberList, role: str) -> Exchange | None:
    """Invite a member that was created for the run, if the list shows its address, and not another person's."""
    address = address_of(member, members.members[member.user_id])
    return None if address is None else run.send(requests.invite_member({"email": address, "role": role}))
