"""Section 4: invitations, the owner's role, and users who are not members."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.every_operation import unknown_like
from conformance.checks.markers import observes, requirement, scenario
from conformance.checks.member_list import MemberCount, MemberList, count_members_so_far, read_members_so_far
from conformance.oracle import expect, read
from conformance.oracle.effects import accepted, is_main, sent_object
from conformance.oracle.observe import describe_response
from conformance.oracle.outcomes import CantTell, evidence
from conformance.oracle.rendering import render
from conformance.oracle.steady import steadily_between
from conformance.verdicts.stages import Stage
from conformance.wire import requests
from conformance.wire.exchange import REFUSALS

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_TAGGED: Final = "Mixed-Case+a-tag-that-makes-it-longer"
"""Beside the run's prefix, nearly the greatest length of the part before the @."""
_CLAIMS: Final = {
    "status": "accepted",
    "createdAt": "2001-02-03T04:05:06.789Z",
    "expiresAt": "2099-08-07T06:05:04.321Z",
}


@dataclass(frozen=True, slots=True)
class Invited:
    """An invitation."""

    email: str
    role: str
    response: Exchange


@dataclass(frozen=True, slots=True)
class Inviting:
    """Invitations, and the members before and after them.

    Attributes:
        before: The members before.
        proper: An invitation for each role.
        after: The members after these two.
        capitals: An invitation of an address with capitals, and with a long tag if that is accepted.
        twice: A second invitation of an address.
    """

    before: MemberCount
    proper: tuple[Invited, ...]
    after: MemberCount
    capitals: Invited
    twice: Invited

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """Return the invitations, and the reads before and after them."""
        return (*self.before.exchanges, *(invited.response for invited in self.proper), *self.after.exchanges)


def inviting(run: Run) -> Inviting:
    """Invite unknown addresses in both roles, with values that the service sets, with capitals, and a second time."""
    before = count_members_so_far(run)
    proper = _proper(run)
    after = count_members_so_far(run)
    _invite(run, run.address("claiming"), "member", **_CLAIMS)  # the values of the service itself, which it must ignore
    capitals = _invite(run, run.address(_TAGGED), "member")
    if not capitals.response.succeeded:  # a service may have stricter rules for addresses
        capitals = _invite(run, run.address("Mixed-Case"), "member")
    return Inviting(before, proper, after, capitals, _invite(run, proper[0].email, proper[0].role))


def _proper(run: Run) -> tuple[Invited, ...]:
    return tuple(_invite(run, run.address("in.vited"), role) for role in ("member", "admin"))


inviting_scenario = scenario(inviting, alone=True)


def _invite(run: Run, email: str, role: str, **claims: str) -> Invited:
    return Invited(email, role, run.send(requests.invite_member({"email": email, "role": role, **claims})))


@dataclass(frozen=True, slots=True)
class OwnerChange:
    """Attempts to change an owner's role, and the owners before and after them."""

    user_id: str
    before: MemberList
    attempts: tuple[Exchange, ...]
    after: MemberList

    def ensure_no_other(self) -> None:
        """Ensure that no other member became an owner, as by a transfer that allows this owner's role to change.

        Raises:
            CantTell: Another member did.
        """
        if self.after.owners - self.before.owners:
            at = (*self.before.pages, *self.attempts, *self.after.pages)
            raise CantTell("another member has become an owner meanwhile", *at)


def changing_owner(run: Run) -> OwnerChange:
    """Try to change an owner to admin, then to member."""
    before = _with_owner(run)
    user_id = min(before.owners)
    attempts: list[Exchange] = []
    for role in ("admin", "member"):
        attempts.append(run.send(requests.update_member_role(user_id, {"role": role})))
        if attempts[-1].status not in REFUSALS:  # a faulty service may have done it, so the suite stops
            break
    after = read_members_so_far(run)
    if after.role(user_id) in {"admin", "member"}:
        run.send(requests.update_member_role(user_id, {"role": "owner"}))
    return OwnerChange(user_id, before, tuple(attempts), after)


changing_owner_scenario = scenario(changing_owner, alone=True)


def _with_owner(run: Run) -> MemberList:
    """Return members with an owner among them: those of the filter, or the whole list if the filter finds none."""
    reads = []
    for role in ("owner", None):
        reads.append(read_members_so_far(run, role))
        if reads[-1].owners:
            return reads[-1]
    raise CantTell("the list of members shows no owner", *(page for scan in reads for page in scan.pages))


@dataclass(frozen=True, slots=True)
class Strangers:
    """Requests about users who are not members."""

    changes: tuple[Exchange, ...]
    removals: tuple[Exchange, ...]


def strangers(run: Run) -> Strangers:
    """Try to change the role of an unknown user, and to remove an unknown user."""
    known = read_members_so_far(run)
    alike = unknown_like(min(known.ids, default=None), run.random("strangers"))
    unknown = [user_id for user_id in (run.name("nobody"), alike) if user_id not in known.ids]
    responses = run.send_all(
        [requests.update_member_role(user_id, {"role": "member"}) for user_id in unknown]
        + [requests.remove_member(user_id) for user_id in unknown]
    )
    return Strangers(tuple(responses[: len(unknown)]), tuple(responses[len(unknown) :]))


strangers_scenario = scenario(strangers)


# --- invitations


@requirement("invite-succeeds")
def test_invitation_succeeds(inviting: Inviting) -> None:
    """An invitation of an unknown address succeeds, as a member and as an admin."""
    for invited in inviting.proper:
        expect.success(invited.response)


@pytest.mark.stage(Stage.WEIGHING)
@requirement("invite-fields")
def test_invitations_have_identifiers_of_their_own(run: Run, inviting: Inviting) -> None:
    """No two invitations of the run have the same id, if their addresses are certain to be different persons'."""
    read.data(inviting.proper[0].response)
    first: dict[str, Exchange] = {}
    for exchange in run.wire.exchanges:
        if exchange.request.operation.id != "inviteMember" or not is_main(exchange) or not accepted(exchange):
            continue
        if _mailbox(exchange) is None:
            continue
        try:
            identifier = read.text(read.data(exchange), "id", exchange)
        except CantTell:
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
    email = (sent_object(exchange) or {}).get("email")
    if not isinstance(email, str):
        return None
    local, _, domain = email.casefold().partition("@")
    return f"{local.partition('+')[0].replace('.', '')}@{domain}"


@requirement("invite-adds-no-member")
def test_invitation_adds_no_member(run: Run, inviting: Inviting) -> None:
    """An invitation leaves the members and their count unchanged."""
    reads = iter([inviting])

    steadily_between(lambda: next(reads, None) or _invite_and_count(run), _judge_members, still=_still, sleep=run.sleep)


def _invite_and_count(run: Run) -> Inviting:
    """Send the invitations again, so that earlier changes by others do not matter."""
    before, proper = count_members_so_far(run), _proper(run)
    return Inviting(before, proper, count_members_so_far(run), proper[0], proper[0])


def _still(earlier: Inviting, later: Inviting) -> bool:
    """Whether the members were the same after an attempt and before the next."""
    ended, began = (
        (counted.count, counted.listed.total, counted.listed.roles) for counted in (earlier.after, later.before)
    )
    return ended == began


def _growth(attempt: Inviting) -> tuple[int, int]:
    """Return by how much the counts of the organization and the list grew with the invitations."""
    return attempt.after.count - attempt.before.count, attempt.after.listed.total - attempt.before.listed.total


def _changed(attempt: Inviting) -> list[str]:
    """Return the members whose role changed with the invitations."""
    before, after = attempt.before.listed, attempt.after.listed
    return sorted(user_id for user_id in before.ids & after.ids if before.role(user_id) != after.role(user_id))


def _judge_members(attempt: Inviting) -> None:
    for invited in attempt.proper:
        read.success(invited.response)
    for name, more in zip(("memberCount", "total"), _growth(attempt), strict=True):
        message = f"{name} has changed with an invitation"
        expect.holds(more == 0, message, *attempt.exchanges, expected="the same", actual="more" if more > 0 else "less")
    for counted in (attempt.before, attempt.after):
        counted.listed.ensure_whole()
    changed = _changed(attempt)
    expect.holds(
        not changed,
        "a member has another role after an invitation",
        *attempt.exchanges,
        expected="every member as before",
        actual=f"{len(changed)} in another role",
        pointer="/data",
    )
    listed = any(attempt.after.listed.has_address(invited.email) for invited in attempt.proper)
    expect.holds(
        not listed,
        "an invited address is in the list of members",
        *attempt.exchanges,
        expected="members only",
        actual="the address that was invited",
    )


# --- the owner, and strangers


@requirement("owner-role-change-refused")
def test_owner_cannot_be_changed(changing_owner: OwnerChange) -> None:
    """Changing the role of an owner is refused, to admin and to member."""
    if any(attempt.succeeded for attempt in changing_owner.attempts):
        changing_owner.ensure_no_other()

    for attempt in changing_owner.attempts:
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
def test_role_of_unknown_user(strangers: Strangers) -> None:
    """Changing the role of an unknown user is refused."""
    for response in strangers.changes:
        expect.status_in(response, 404, 400, 422)


@requirement("remove-unknown-member")
def test_removal_of_unknown_user(strangers: Strangers) -> None:
    """Removing an unknown user is refused."""
    for response in strangers.removals:
        expect.status_in(response, 404, 400, 422)


# --- observations


@observes("invite-status", "invitation-status-seen", "invite-twice", "invite-address-letter-case")
def test_observe_invitations(run: Run, inviting: Inviting) -> None:
    """Observe the status of an invitation, its status field, and the response to a second invitation."""
    first, capitals = inviting.proper[0].response, inviting.capitals
    run.observe("invite-status", describe_response(first), first)
    run.observe("invite-twice", describe_response(inviting.twice.response), first, inviting.twice.response)

    run.observe("invitation-status-seen", render(read.text(read.data(first), "status", first)), first)
    email = read.text(read.data(capitals.response), "email", capitals.response)
    lowered = "lowered" if email == capitals.email.lower() else "changed otherwise"
    run.observe("invite-address-letter-case", "kept" if email == capitals.email else lowered, capitals.response)


@observes("owner-role-error")
def test_observe_owner_role(run: Run, changing_owner: OwnerChange) -> None:
    """Observe the error that refuses the change of an owner's role."""
    for attempt in changing_owner.attempts:
        run.observe("owner-role-error", describe_response(attempt), attempt)
