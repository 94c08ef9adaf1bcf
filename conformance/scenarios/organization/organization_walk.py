"""Random sequences of renaming, reading and inviting, and of role changes of a new member, which the ledger judges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.interface.list_parameters import ASSIGNABLE_ROLES
from conformance.oracle.outcomes import CantTell, Untested
from conformance.running.options import Effort
from conformance.running.scenarios import scenario
from conformance.scenarios.access.every_operation import OTHER_ROLE
from conformance.scenarios.keys_in_turn import scoped_key_or_none, send_with
from conformance.scenarios.members.member_list import read_members, read_members_with
from conformance.scenarios.members.role_changes import key_of_bystander
from conformance.scenarios.renaming import name_before, restored_name
from conformance.scenarios.tour import tour
from conformance.scenarios.untried import untried_refusals
from conformance.wire import requests

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_STEPS: Final = {Effort.QUICK: 3, Effort.STANDARD: 12, Effort.DEEP: 56}
_LATE: Final = 1.5
"""Seconds for which the organization has another name at least, as a renaming may come undone."""
_MOST_INVITATIONS: Final = 2
_SHARE_OF_CHANGES: Final = 0.7
"""The share of role changes to the other role; the rest set the role that the member has."""


@scenario(alone=True)
def organization_walk(run: Run) -> None:
    """Rename, read and invite to the organization in a random sequence, and restore its name.

    Under the first new name, the scenarios ``tour`` and ``untried_refusals`` run.
    """
    choices, invited = run.random("organization walk"), 0
    with restored_name(run, name_before(run, run.send(requests.get_organization()))):
        steps = choices.choices(("rename", "rename", "read", "read", "invite"), k=_STEPS[run.effort] - 2)
        for place, step in enumerate(("rename", "read", *steps)):
            if step == "rename":
                name, key = run.name("organization-walk"), key_of_bystander(run)
                if place > 0:
                    _rename_twice_at_once(run)
                elif send_with(run, key, requests.update_organization({"name": f"{name} {{}} é."})).refused_as_invalid:
                    send_with(run, key, requests.update_organization({"name": name}))
                send_with(run, key, requests.get_organization())
                if place == 0:
                    run.scenarios.wait_for(tour)
                    run.scenarios.wait_for(untried_refusals)
                    run.sleep(_LATE)
            elif step == "invite" and invited < _MOST_INVITATIONS:
                invited += 1
                invitation = {"email": run.address("walk"), "role": choices.choice(ASSIGNABLE_ROLES)}
                send_with(run, scoped_key_or_none(run, "organizations:write"), requests.invite_member(invitation))
            else:
                run.send(requests.get_organization())
        run.send(requests.get_organization())


def _rename_twice_at_once(run: Run) -> None:
    """Rename the organization twice at the same time, for the ledger: it must have one of the names then."""
    run.send_all([requests.update_organization({"name": run.name("organization-walk")}) for _ in range(2)])


@scenario(alone=True)
def role_walk(run: Run) -> tuple[Exchange, ...]:
    """Change a new member between two roles in a random sequence, and remove it, with its own key if that may.

    Returns:
        What the key was allowed, sent again after it has removed its own member; empty if it may not do that.
    """
    if run.profile.provisioner is None:
        raise Untested("the target file names too few members for this; a provisioner can make one")
    member, choices = run.fixtures.member("member"), run.random("role walk")
    members, change = read_members_with(run, member.user_id), None
    for _ in range(_STEPS[run.effort] // 3):
        role = members.role(member.user_id)
        if role not in OTHER_ROLE:
            raise CantTell("the list of members does not show the new one", *members.pages)
        new = OTHER_ROLE[role] if choices.random() < _SHARE_OF_CHANGES else role
        change = send_with(run, member.credential, requests.update_member_role(member.user_id, {"role": new}))
        members = read_members(run)
    if change is None or members.role(member.user_id) not in OTHER_ROLE:
        return ()
    gone = send_with(run, member.credential, requests.remove_member(member.user_id))
    read_members(run)  # for the ledger, before the key is used again
    by_member = all(sent.accepted and sent.request.credential == member.credential for sent in (change, gone))
    return (run.send(change.request),) if by_member and member.credential is not None else ()
