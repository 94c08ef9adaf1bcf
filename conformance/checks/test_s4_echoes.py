"""Section 4: the response to every change of the run repeats the request, with any key."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.markers import requirement
from conformance.oracle.laws import echoes as echo_laws
from conformance.oracle.outcomes import NonConformity
from conformance.scenarios.whole_run_laws import expect_law
from conformance.verdicts.stages import Stage

if TYPE_CHECKING:
    from conformance.oracle.laws.responses import Law
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

# Each is named after its requirement.
_OF_ENGAGEMENTS_AND_NAMES: Final = {
    "update-organization-answers-new-name": ("updateCurrentOrganization", echo_laws.renaming_repeats_name),
    "create-engagement-answers-what-was-sent": ("createEngagement", echo_laws.creation_repeats_texts),
    "new-engagement-active": ("createEngagement", echo_laws.creation_is_active),
    "archive-engagement-answers-id": ("archiveEngagement", echo_laws.archiving_names_its_engagement),
    "archive-sets-status": ("archiveEngagement", echo_laws.archiving_tells_archived),
}
_OF_INVITATIONS: Final = {
    "invite-answers-what-was-sent": echo_laws.invitation_repeats,
    "invitation-begins-pending": echo_laws.invitation_is_pending,
    "invitation-expires-in-seven-days": echo_laws.invitation_expires_in_seven_days,
}


@pytest.mark.stage(Stage.LAWS)
@pytest.mark.parametrize(
    ("operation", "law"),
    [pytest.param(*given, id=name, marks=requirement(name)) for name, given in _OF_ENGAGEMENTS_AND_NAMES.items()],
)
def test_every_response_repeats_what_was_asked_for(run: Run, operation: str, law: Law) -> None:
    """Every success of an operation repeats the requested values that the interface binds it to."""
    _expect_repeated(run, operation, law)


@pytest.mark.stage(Stage.LAWS)
@pytest.mark.usefixtures("inviting")
@pytest.mark.parametrize(
    "law", [pytest.param(law, id=name, marks=requirement(name)) for name, law in _OF_INVITATIONS.items()]
)
def test_every_invitation_repeats_what_was_asked_for(run: Run, law: Law) -> None:
    """Every invitation has the address and the role that were sent, is pending, and expires in seven days."""
    _expect_repeated(run, "inviteMember", law)


@pytest.mark.stage(Stage.LAWS)
@pytest.mark.usefixtures("role_changes")
@requirement("update-role-answers-what-was-sent")
def test_every_role_change_repeats_what_was_asked_for(run: Run) -> None:
    """Every response to a role change carries the member's id and the new role."""
    _expect_repeated(run, "updateMemberRole", echo_laws.role_change_repeats)


@pytest.mark.stage(Stage.LAWS)
@pytest.mark.usefixtures("removal")
@requirement("remove-member-answers-true")
def test_every_removal_states_who_was_removed(run: Run) -> None:
    """Every response to a removal states that the requested member was removed."""
    _expect_repeated(run, "removeMember", echo_laws.removal_tells_who_was_removed)


def _expect_repeated(run: Run, operation: str, law: Law) -> None:
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
