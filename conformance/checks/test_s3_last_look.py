"""Section 3, at the end: a removed member's key is still refused, and the other organization's counts agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.markers import requirement
from conformance.oracle import read
from conformance.oracle.bulk import Sent, every_status
from conformance.oracle.outcomes import Inapplicable
from conformance.scenarios.organization.counts import Reader, expect_agreement
from conformance.verdicts.stages import Stage
from conformance.wire.exchange import KEY_REFUSED

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.interface.operations import Family
    from conformance.running.run import Run
    from conformance.scenarios.last_look import LastLook
    from conformance.scenarios.organization.counts import Counts
    from conformance.wire.exchange import Exchange

pytestmark = pytest.mark.stage(Stage.WHOLE_RUN)


@requirement("removed-member-loses-organization")
def test_key_has_lost_the_organization_for_good(last_look: LastLook) -> None:
    """Every operation on the organization refuses a removed member's key at the end of the run, too."""
    _judge(last_look, "organizations")


@requirement("removed-member-loses-engagements")
def test_key_has_lost_engagements_for_good(last_look: LastLook) -> None:
    """Every operation on engagements refuses a removed member's key at the end of the run, too."""
    _judge(last_look, "engagements")


@requirement("engagement-count-agrees")
def test_engagement_count_of_the_other_organization_agrees(run: Run, last_look: LastLook) -> None:
    """The engagementCount of the other organization is the total of its engagements after changes with its key."""
    _expect_agreement_in_other(run, last_look, "engagementCount", lambda seen: seen.engagements)


@requirement("member-count-agrees")
def test_member_count_of_the_other_organization_agrees(run: Run, last_look: LastLook) -> None:
    """The memberCount of the other organization is the total of its members."""
    _expect_agreement_in_other(run, last_look, "memberCount", lambda seen: seen.members)


def _expect_agreement_in_other(run: Run, last_look: LastLook, name: str, listed: Callable[[Counts], Exchange]) -> None:
    if last_look.of_other is None:
        raise Inapplicable("no key of another organization was used")
    other = run.fixtures.other_organization()
    expect_agreement(run, last_look.of_other, name, listed, Reader(other, other))


def _judge(last_look: LastLook, family: Family) -> None:
    sent = [
        Sent("the removed member's key", exchange)
        for exchange in last_look.by_removed
        if exchange.request.operation.family == family
    ]
    if last_look.removal is None or not sent:
        raise Inapplicable("no member was removed whose key was allowed any of these operations before")
    read.success(last_look.removal.response)

    every_status(sent, lambda status: status in KEY_REFUSED, "401 or 403")
