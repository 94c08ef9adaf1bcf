"""Section 4: the response to every change of the run repeats the request, with any key."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.markers import requirement
from conformance.checks.whole_run_laws import expect_law
from conformance.oracle import echo_laws
from conformance.oracle.outcomes import NonConformity
from conformance.verdicts.stages import Stage

if TYPE_CHECKING:
    from conformance.oracle.laws import Law
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_LAWS: Final = {
    "update-organization-answers-new-name": ("updateCurrentOrganization", echo_laws.renaming_repeats_name),
    "invite-answers-what-was-sent": ("inviteMember", echo_laws.invitation_repeats),
    "invitation-begins-pending": ("inviteMember", echo_laws.invitation_is_pending),
    "invitation-expires-in-seven-days": ("inviteMember", echo_laws.invitation_expires_in_seven_days),
    "update-role-answers-what-was-sent": ("updateMemberRole", echo_laws.role_change_repeats),
    "remove-member-answers-true": ("removeMember", echo_laws.removal_tells_who_was_removed),
    "create-engagement-answers-what-was-sent": ("createEngagement", echo_laws.creation_repeats_texts),
    "new-engagement-active": ("createEngagement", echo_laws.creation_is_active),
    "archive-engagement-answers-id": ("archiveEngagement", echo_laws.archiving_names_its_engagement),
    "archive-sets-status": ("archiveEngagement", echo_laws.archiving_tells_archived),
}


@pytest.mark.stage(Stage.LAWS)
@pytest.mark.parametrize(
    ("operation", "law"),
    [pytest.param(*given, id=name, marks=requirement(name)) for name, given in _LAWS.items()],
)
def test_every_response_repeats_what_was_asked_for(run: Run, operation: str, law: Law) -> None:
    """Every success of an operation repeats the requested values that the interface binds it to."""

    @cache
    def free() -> frozenset[int]:
        return echo_laws.open_responses(run.wire.exchanges)

    def bound(exchange: Exchange) -> bool:
        try:
            return law(exchange)
        except NonConformity:
            if exchange.number in free():
                return False
            raise

    expect_law(run, bound, operation)
