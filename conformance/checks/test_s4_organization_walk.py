"""Section 4: random sequences of operations on the organization and on a member's role."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from conformance.checks.interference import excused_by_meddling
from conformance.checks.markers import requirement, scenario
from conformance.checks.organization_walk import (
    Look,
    RoleLook,
    organization_walk,
    organization_walk_again,
    role_walk,
    walked,
    walked_roles,
)
from conformance.checks.stable import expect_twice
from conformance.checks.test_s4_organization import standing
from conformance.oracle import expect, read
from conformance.oracle.outcomes import CantTell

if TYPE_CHECKING:
    from conformance.running.run import Run

_KEPT: Final = ("name", "email", "joinedAt")

organization_walk_scenario = scenario(organization_walk, alone=True)
role_walk_scenario = scenario(role_walk, alone=True)


@requirement("update-organization-takes-effect")
def test_last_name_stands(run: Run, organization_walk: list[Look]) -> None:
    """After any sequence of renamings, a read of the organization shows the name that was set last."""
    with excused_by_meddling(run):
        expect_twice(organization_walk, _judge_names, partial(run.scenarios.result, organization_walk_again))


def _judge_names(looks: list[Look]) -> None:
    for look in walked(looks):
        if look.name is not None:
            name = read.text(read.data(look.exchange), "name", look.exchange)
            expect.equal("name", name, look.name, *look.because, look.exchange, pointer="/data/name")


@requirement("update-organization-keeps-the-rest")
def test_rest_stands(run: Run, organization_walk: list[Look]) -> None:
    """After any sequence of renamings, the other fields of the organization are unchanged."""
    first = walked(organization_walk)[0].exchange
    for look in organization_walk[1:]:
        before, now = standing(first), standing(look.exchange)

        with excused_by_meddling(run):
            expect.unchanged("the organization", before, now, before, *look.because, look.exchange)


@requirement("role-changes-both-ways")
def test_last_role_stands(role_walk: list[RoleLook]) -> None:
    """After any sequence of role changes, the list shows the role that was set last."""
    looks = walked_roles(role_walk)
    if not looks:
        raise CantTell("no role change succeeded", *(look.response for look in role_walk))

    for look in looks:
        role = look.after.role(look.user_id)
        expect.equal("the member's role in the list", role, look.role, look.response, *look.after.pages)


@requirement("update-role-keeps-the-rest")
def test_rest_of_member_stands(role_walk: list[RoleLook]) -> None:
    """After any sequence of role changes, the member's other fields are unchanged."""
    looks = walked_roles(role_walk)
    if not looks:
        raise CantTell("no role change succeeded", *(look.response for look in role_walk))

    for look in looks:
        before, after = (listed.members.get(look.user_id) for listed in (look.before, look.after))
        if before is None or after is None:
            raise CantTell("the list does not show the member", *look.after.pages)
        expect.unchanged("the member", before, after, _KEPT, look.response, *look.before.pages, *look.after.pages)
