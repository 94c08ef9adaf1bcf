"""Invitations, and attempts to change an owner."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from conformance.interface.list_parameters import ASSIGNABLE_ROLES
from conformance.oracle.outcomes import CantTell
from conformance.running.scenarios import scenario
from conformance.scenarios.access.every_operation import unknown_like, untouchable_member
from conformance.scenarios.keys_in_turn import scoped_key_or_none, send_with
from conformance.scenarios.members.member_list import MemberList, read_members_so_far
from conformance.scenarios.members.role_changes import key_of_bystander, role_changes
from conformance.wire import requests
from conformance.wire.exchange import REFUSALS

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Credential

_TAGGED: Final = "O'Initial-Case+a-tag-that-makes-it-longer"
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
    """Invitations.

    Attributes:
        proper: An invitation for each role.
        capitals: An invitation of an address with capitals, and with a long tag if that is accepted.
        twice: A second invitation of an address.
    """

    proper: tuple[Invited, ...]
    capitals: Invited
    twice: Invited


@scenario(alone=True)
def inviting(run: Run) -> Inviting:
    """Invite addresses of every form in both roles, with values that the service sets, and again."""
    # At once, and each with an id of its own; a service may take an underscore for a wildcard.
    address = run.address("in.vited")
    sent = [(address, "member"), (address.replace("in.vited", "in_vited"), "admin")]
    responses = run.send_all([requests.invite_member({"email": email, "role": role}) for email, role in sent])
    proper = tuple(Invited(*asked, response) for asked, response in zip(sent, responses, strict=True))
    below = run.address("below", f"mail.{run.profile.invitation_domain}")
    # With values of the service itself, which it must ignore; at once, which must not be too much for it.
    run.send_all([requests.invite_member({"email": below, "role": "member", **_CLAIMS})] * 2)
    capitals = _invite(run, run.address(_TAGGED), "admin", scoped_key_or_none(run, "organizations:write"))
    if not capitals.response.succeeded:  # a service may have stricter rules for addresses
        capitals = _invite(run, run.address("Initial-Case"), "admin")
    _invite(run, capitals.email.lower(), capitals.role, key_of_bystander(run))
    return Inviting(proper, capitals, _invite(run, proper[0].email, proper[0].role))


def _invite(run: Run, email: str, role: str, key: Credential | None = None) -> Invited:
    return Invited(email, role, send_with(run, key, requests.invite_member({"email": email, "role": role})))


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


@scenario(alone=True)
def changing_owner(run: Run) -> OwnerChange:
    """Try to change an owner to admin, then to member, and with the key of a member who is admin to admin again."""
    before = _with_owner(run)
    user_id = min(before.owners)
    attempts: list[Exchange] = []
    tried: list[tuple[str, Credential | None]] = [("admin", None), ("member", None)]
    changed = run.scenarios.result_if_any(role_changes)
    other = None if changed is None else changed.bystander
    if other is not None and other.credential is not None:
        run.send(requests.update_member_role(other.user_id, {"role": "admin"}))
        tried.append(("admin", other.credential))
    for role, key in tried:
        attempts.append(run.send(replace(requests.update_member_role(user_id, {"role": role}), credential=key)))
        if attempts[-1].status not in REFUSALS:  # a faulty service may have done it, so the suite stops
            break
    try:
        after = read_members_so_far(run)  # before another change hides what a refused one did
    finally:
        if other is not None:  # what a plain member's key does may show other faults
            run.send(requests.update_member_role(other.user_id, {"role": "member"}))
    if after.role(user_id) in ASSIGNABLE_ROLES:
        run.send(requests.update_member_role(user_id, {"role": "owner"}))
    return OwnerChange(user_id, before, tuple(attempts), after)


def _with_owner(run: Run) -> MemberList:
    """Return members with an owner among them: those of the filter, or the whole list if the filter finds none."""
    reads = []
    for role in ("owner", None):
        reads.append(read_members_so_far(run, role))
        if reads[-1].owners:
            return reads[-1]
    raise CantTell("the list of members shows no owner", *(page for scan in reads for page in scan.pages))


@dataclass(frozen=True, slots=True)
class UnknownUsers:
    """Requests about users who are not members."""

    changes: tuple[Exchange, ...]
    removals: tuple[Exchange, ...]


@scenario
def unknown_users(run: Run) -> UnknownUsers:
    """Try to change the role of an unknown user, and to remove an unknown user."""
    known = read_members_so_far(run)
    run.scenarios.wait_for(untouchable_member)
    own = run.scenarios.result_if_any(untouchable_member)
    # An id like a real member's could reach that member, if the service compares only the beginning of ids.
    alike = unknown_like(None if own is None else own.user_id, run.random("strangers"))
    unknown = [user_id for user_id in (run.name("unknown"), alike) if user_id not in known.ids]
    responses = run.send_all(
        [requests.update_member_role(user_id, {"role": "member"}) for user_id in unknown]
        + [requests.remove_member(user_id) for user_id in unknown]
    )
    run.send_all(  # no reason for a server error
        [requests.update_member_role(user_id, {"role": "no-such-role"}) for user_id in unknown[:1]]
    )
    return UnknownUsers(tuple(responses[: len(unknown)]), tuple(responses[len(unknown) :]))
