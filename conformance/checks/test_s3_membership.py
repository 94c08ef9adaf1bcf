"""Section 3, membership: changes of a member's role."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from conformance.checks.markers import requirement
from conformance.checks.observations import observing
from conformance.oracle import expect, read
from conformance.oracle.outcomes import CantTell, Inapplicable
from conformance.oracle.rendering import render
from conformance.scenarios.members.role_changes import RoleChanges, role_changes

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange

_MASK: Final = re.compile("[*\\u2022\\u2026\\u25cf]")
"""Characters that mask hidden text."""


@requirement("member-email-is-address")
def test_member_is_listed_with_its_own_address(role_changes: RoleChanges) -> None:
    """A member that was made for the run is listed with its own address: unmasked, and not another member's."""
    email, before = role_changes.member.email, role_changes.before
    if email is None:
        raise Inapplicable("the target file does not state the addresses of its members")
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
        read.success(change)
    return seen.same


def _invited(seen: RoleChanges) -> Exchange:
    if seen.invited is None:
        raise Inapplicable("the list shows no address of the member")
    return seen.invited


OBSERVATIONS: Final = (
    observing("same-role-again", role_changes, _same_role),
    observing("invite-member-again", role_changes, _invited),
)
