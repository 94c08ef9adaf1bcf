"""Section 4: random sequences of operations on the organization and on a member's role."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from conformance import confirm
from conformance.checks.markers import requirement
from conformance.oracle import expect
from conformance.oracle.outcomes import CantTell
from conformance.scenarios.organization.name_changes import standing
from conformance.scenarios.walks.organization_walk import (
    NameRead,
    RoleRead,
    organization_walk_again,
    walked,
    walked_roles,
)

if TYPE_CHECKING:
    from conformance.running.run import Run

_KEPT: Final = ("name", "email", "joinedAt")


@requirement("update-organization-takes-effect")
def test_last_name_stands(run: Run, organization_walk: list[NameRead]) -> None:
    """After any sequence of renamings, a read of the organization shows the name that was set last."""
    with confirm.cant_tell_if_others_interfere(run):
        confirm.again(organization_walk, _judge_names, partial(run.scenarios.result, organization_walk_again))


def _judge_names(reads: list[NameRead]) -> None:
    for name_read in walked(reads):
        if name_read.name is not None:
            expect.field("name", name_read.name, *name_read.because, name_read.exchange)


@requirement("update-organization-keeps-the-rest")
def test_rest_stands(run: Run, organization_walk: list[NameRead]) -> None:
    """After any sequence of renamings, the other fields of the organization are unchanged."""
    first = walked(organization_walk)[0].exchange
    for name_read in organization_walk[1:]:
        before, now = standing(first), standing(name_read.exchange)

        with confirm.cant_tell_if_others_interfere(run):
            expect.unchanged("the organization", before, now, before, *name_read.because, name_read.exchange)


@requirement("role-changes-both-ways")
def test_last_role_stands(role_walk: list[RoleRead]) -> None:
    """After any sequence of role changes, the list shows the role that was set last."""
    reads = walked_roles(role_walk)
    if not reads:
        raise CantTell("no role change succeeded", *(role_read.response for role_read in role_walk))

    for role_read in reads:
        role = role_read.after.role(role_read.user_id)
        expect.equal("the member's role in the list", role, role_read.role, role_read.response, *role_read.after.pages)


@requirement("update-role-keeps-the-rest")
def test_rest_of_member_stands(role_walk: list[RoleRead]) -> None:
    """After any sequence of role changes, the member's other fields are unchanged."""
    reads = walked_roles(role_walk)
    if not reads:
        raise CantTell("no role change succeeded", *(role_read.response for role_read in role_walk))

    for role_read in reads:
        before, after = (listed.members.get(role_read.user_id) for listed in (role_read.before, role_read.after))
        if before is None or after is None:
            raise CantTell("the list does not show the member", *role_read.after.pages)
        expect.unchanged(
            "the member", before, after, _KEPT, role_read.response, *role_read.before.pages, *role_read.after.pages
        )
