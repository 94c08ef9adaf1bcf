"""Random sequences of renaming, reading and inviting, and of role changes of a new member."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.oracle.outcomes import CantTell, Inapplicable, Untested
from conformance.running.options import Effort
from conformance.running.scenarios import scenario
from conformance.scenarios.access.every_operation import OTHER_ROLE
from conformance.scenarios.members.member_list import MemberList, read_members, read_members_with
from conformance.scenarios.renaming import given_back, name_before
from conformance.wire import requests

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_STEPS: Final = {Effort.QUICK: 0, Effort.STANDARD: 12, Effort.DEEP: 60}
_MOST_INVITATIONS: Final = 2


@dataclass(frozen=True, slots=True)
class NameRead:
    """A read of the organization, and the name that it must show.

    Attributes:
        exchange: The read.
        name: The expected name; None if it is not known.
        because: The renaming that set the name, and the first read.
    """

    exchange: Exchange
    name: str | None
    because: tuple[Exchange, ...]


@dataclass(frozen=True, slots=True)
class RoleRead:
    """The members after a role change.

    Attributes:
        response: The response to the change.
        role: The role that was set.
        user_id: The member's identifier.
        before: The members before.
        after: The members after.
    """

    response: Exchange
    role: str
    user_id: str
    before: MemberList
    after: MemberList


@scenario(alone=True)
def organization_walk(run: Run) -> list[NameRead]:
    """Rename, read and invite to the organization in a random sequence, and restore its name."""
    if not _STEPS[run.effort]:
        return []
    first = run.send(requests.get_organization())
    name = name_before(run, first)
    with given_back(run, name):
        return _organization_steps(run, first, name)


def organization_walk_again(run: Run) -> list[NameRead]:
    """Repeat the sequence with other names, in case another user renamed the organization during the first one."""
    return organization_walk(run)


@scenario(alone=True)
def role_walk(run: Run) -> list[RoleRead]:
    """Change a new member between two roles in a random sequence."""
    if not _STEPS[run.effort]:
        return []
    if run.profile.provisioner is None:
        raise Untested("the target file names too few members for this; a provisioner can make one")
    member, choices = run.fixtures.member("member"), run.random("role walk")
    before, reads = read_members_with(run, member.user_id), []
    for _ in range(_STEPS[run.effort] // 3):
        role = before.role(member.user_id)
        if role not in OTHER_ROLE:
            raise CantTell("the list of members does not show the new one", *before.pages)
        new = OTHER_ROLE[role] if choices.random() < 0.7 else role  # noqa: PLR2004 - a share
        response = run.send(requests.update_member_role(member.user_id, {"role": new}))
        after = read_members(run)
        reads.append(RoleRead(response, new, member.user_id, before, after))
        before = after
    return reads


def _organization_steps(run: Run, first: Exchange, name: str) -> list[NameRead]:
    choices, reads = run.random("organization walk"), [NameRead(first, name, (first,))]
    because: tuple[Exchange, ...] = (first,)
    invited = 0
    now: str | None = name
    for _ in range(_STEPS[run.effort]):
        step = choices.choice(("rename", "rename", "read", "read", "invite"))
        if step == "rename":
            new = run.name("organization-walk")
            response = run.send(requests.update_organization({"name": new}))
            if not response.refused:
                now, because = (new if response.accepted else None), (first, response)
        elif step == "invite" and invited < _MOST_INVITATIONS:
            invited += 1
            run.send(
                requests.invite_member({"email": run.address("walk"), "role": choices.choice(("admin", "member"))})
            )
        else:
            reads.append(NameRead(run.send(requests.get_organization()), now, because))
    reads.append(NameRead(run.send(requests.get_organization()), now, because))
    return reads


def walked(reads: list[NameRead]) -> list[NameRead]:
    """Return the reads of the sequence.

    Raises:
        Inapplicable: This effort sends no sequence.
    """
    if not reads:
        raise Inapplicable("Sequences on the organization are sent at standard and deep effort only")
    return reads


def walked_roles(reads: list[RoleRead]) -> list[RoleRead]:
    """Return the accepted role changes of the sequence.

    Raises:
        Inapplicable: This effort sends no sequence.
    """
    if not reads:
        raise Inapplicable("Sequences of role changes are sent at standard and deep effort only")
    return [role_read for role_read in reads if role_read.response.accepted]
