"""Section 4: invitations, the owner's role, and users who are not members."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pytest

from conformance import confirm
from conformance.checks.markers import requirement
from conformance.checks.observations import observing
from conformance.oracle import expect, read
from conformance.oracle.exchanges import of_operation
from conformance.oracle.laws.no_ops import no_op_changes
from conformance.oracle.observe import describe_response
from conformance.oracle.outcomes import CantTell, Inapplicable, evidence
from conformance.oracle.rendering import render
from conformance.scenarios.basics import expect_missing
from conformance.scenarios.members.invitations import Inviting, OwnerChange, UnknownUsers, changing_owner, inviting
from conformance.scenarios.organization.counts_of_run import counts_in_doubt
from conformance.verdicts.stages import Stage
from conformance.wire import requests

if TYPE_CHECKING:
    from conformance.checks.observations import Described
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange


# --- invitations


@requirement("invite-succeeds")
def test_invitation_succeeds(inviting: Inviting) -> None:
    """An invitation of an unknown address succeeds, as a member and as an admin."""
    for invited in inviting.proper:
        expect.success(invited.response)


@pytest.mark.stage(Stage.WHOLE_RUN)
@requirement("invite-fields")
def test_invitations_have_identifiers_of_their_own(run: Run, inviting: Inviting) -> None:
    """No two invitations of the run have the same id, if their addresses are certain to be different persons'."""
    read.data(inviting.proper[0].response)
    first: dict[str, Exchange] = {}
    left_open = no_op_changes(run.wire.exchanges, "inviteMember")
    for exchange in of_operation(run.wire.exchanges, "inviteMember"):
        if not exchange.by_main_key or not exchange.accepted:
            continue
        identifier = read.identifier_or_none(exchange)
        if _mailbox(exchange) is None or exchange.number in left_open or identifier is None:
            continue
        other = first.setdefault(identifier, exchange)
        evidence(exchange)
        expect.holds(
            _mailbox(other) == _mailbox(exchange),
            "invitations of two addresses have the same id",
            other,
            exchange,
            expected="a separate identifier for each",
            actual=identifier,
            pointer="/data/id",
        )


def _mailbox(exchange: Exchange) -> str | None:
    """Return the mailbox of an invited address: a service may ignore letter case, dots, and tags after a plus."""
    email = exchange.sent_fields.get("email")
    if not isinstance(email, str):
        return None
    local, _, domain = email.casefold().partition("@")
    return f"{local.partition('+')[0].replace('.', '')}@{domain}"


@pytest.mark.stage(Stage.WHOLE_RUN)
@requirement("invite-adds-no-member")
@pytest.mark.usefixtures("inviting", "ledger_of_run")
def test_invitation_is_not_counted(run: Run) -> None:
    """If a memberCount is not the number of members, invitations are not the reason."""
    _, doubtful = counts_in_doubt(run, "memberCount")
    if not doubtful:
        raise Inapplicable("memberCount is the number of members")
    confirm.stable_between(run, _counted(run), _expect_no_growth, lambda: _counted(run), still=_is_at_rest)


@dataclass(frozen=True, slots=True)
class _Counted:
    """The members and engagements before an invitation, after it, and again after as long a time."""

    invitation: Exchange
    before: tuple[int, int]
    after: tuple[int, int]
    later: tuple[int, int]


def _counted(run: Run) -> _Counted:
    asked = requests.get_organization()
    invitation = requests.invite_member({"email": run.address("uncounted"), "role": "admin"})
    before, invited, after = run.send_in_turn([asked, invitation, asked])
    run.sleep(invited.seconds)
    return _Counted(read.success(invited), *map(_counts, (before, after, run.send(asked))))


def _counts(organization: Exchange) -> tuple[int, int]:
    members, engagements = (
        read.integer(read.data(organization), name, organization) for name in ("memberCount", "engagementCount")
    )
    return members, engagements


def _expect_no_growth(seen: _Counted) -> None:
    expect.equal("the growth of memberCount with an invitation", seen.after[0] - seen.before[0], 0, seen.invitation)


def _is_at_rest(was: _Counted, now: _Counted) -> bool:
    """Whether no engagement came or went, and no member but with the invitations."""
    engagements = {counts[1] for seen in (was, now) for counts in (seen.before, seen.after, seen.later)}
    return len(engagements) == 1 and was.after == was.later == now.before and now.after == now.later


# --- the owner, and unknown users


@requirement("owner-role-change-refused")
def test_owner_cannot_be_changed(changing_owner: OwnerChange) -> None:
    """Changing the role of an owner is refused, to admin and to member."""
    if any(attempt.succeeded for attempt in changing_owner.attempts):
        changing_owner.ensure_no_other()

    for attempt in changing_owner.attempts:
        if attempt.by_main_key or not attempt.refused:  # a member's key may lack the permission
            expect.refused(attempt)


@requirement("owner-stays-owner")
def test_owner_stays_owner(changing_owner: OwnerChange) -> None:
    """An owner is still an owner after the attempts to change the role."""
    after = changing_owner.after
    role = after.role(changing_owner.user_id)
    if role is None:
        after.ensure_whole()
        raise CantTell("the owner is no longer in the list", *changing_owner.attempts, *after.pages)
    if role != "owner":
        changing_owner.ensure_no_other()

    expect.equal("the owner's role", role, "owner", *changing_owner.attempts, *after.pages)


@requirement("update-role-unknown-member")
def test_role_of_unknown_user(unknown_users: UnknownUsers) -> None:
    """Changing the role of an unknown user is refused."""
    for response in unknown_users.changes:
        expect_missing(response)


@requirement("remove-unknown-member")
def test_removal_of_unknown_user(unknown_users: UnknownUsers) -> None:
    """Removing an unknown user is refused."""
    for response in unknown_users.removals:
        expect_missing(response)


def _twice(seen: Inviting) -> Described:
    return describe_response(seen.twice.response), seen.proper[0].response, seen.twice.response


def _status(seen: Inviting) -> Described:
    first = seen.proper[0].response
    return render(read.text(read.data(first), "status", first)), first


def _letter_case(seen: Inviting) -> Described:
    sent, response = seen.capitals.email, seen.capitals.response
    email = read.text(read.data(response), "email", response)
    lowered = "lowered" if email == sent.lower() else "changed otherwise"
    return "kept" if email == sent else lowered, response


OBSERVATIONS: Final = (
    observing("invite-status", inviting, lambda seen: seen.proper[0].response),
    observing("invite-twice", inviting, _twice),
    observing("invitation-status-seen", inviting, _status),
    observing("invite-address-letter-case", inviting, _letter_case),
    observing("owner-role-error", changing_owner, lambda seen: list(seen.attempts)),
)
