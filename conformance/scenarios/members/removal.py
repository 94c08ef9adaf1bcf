"""Scenario of the removal of a member."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.oracle import read
from conformance.oracle.exchanges import of_operation
from conformance.oracle.outcomes import CantTell
from conformance.running.scenarios import scenario
from conformance.scenarios.keys_in_turn import send_with
from conformance.scenarios.lists.finding import latest
from conformance.scenarios.members.member_list import (
    MemberCount,
    address_of,
    another_member,
    count_members,
    read_members,
    read_members_with,
)
from conformance.scenarios.members.revoked_key import (
    AllowedOperation,
    RepeatedUse,
    use_after_removal,
    use_before_removal,
)
from conformance.scenarios.members.role_changes import RoleChanges, changeable_role, role_changes
from conformance.scenarios.renaming import harmless_name
from conformance.wire import requests
from conformance.wire.exchange import NotSent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.running.run import Run
    from conformance.targets.fixtures import Member
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request


@dataclass(frozen=True, slots=True)
class Removal:
    """The removal of a member, with reads before and after it.

    Attributes:
        member: The member.
        before: The members before the removal.
        response: The removal.
        attempts: Operations that the member's key was allowed, sent again right after the removal.
        newest: The newest engagements before the removal and after the attempts; empty without attempts.
        after: The members after.
        bystander_reads: Reads with the bystander's key, before and after; empty without a bystander.
    """

    member: Member
    before: MemberCount
    response: Exchange
    attempts: tuple[RepeatedUse, ...]
    newest: tuple[Exchange, ...]
    after: MemberCount
    bystander_reads: tuple[tuple[Exchange, Exchange], ...]


@scenario(alone=True)
def removal(run: Run) -> Removal:
    """Remove a member that uses its key, and use the key for every operation at once."""
    changed, other = run.scenarios.result(role_changes), another_member(run)
    member, bystander = changed.member, changed.bystander
    known = read_members_with(run, *(target.user_id for target in (bystander, other) if target is not None))
    if known.role(member.user_id) == "owner":
        raise CantTell("the member has become an owner, and the suite never removes an owner", *known.pages)
    others = [(target.user_id, changeable_role(known, target)) for target in (bystander, other) if target is not None]
    name = _name_to_restore(run) if _may_rename(run, member) else None
    try:
        return _remove(run, changed, others, name)
    finally:
        if name is not None:
            with run.wire.undoing(), suppress(NotSent):
                run.send(requests.get_organization())  # another user's name stays
                run.send(requests.update_organization({"name": name}))


def _remove(run: Run, changed: RoleChanges, others: Sequence[tuple[str, str]], name: str | None) -> Removal:
    """Remove the member after it has used its key, for other members and for another name of the organization, too."""
    member, bystander = changed.member, changed.bystander
    reads_before = _reads(run, bystander)
    allowed: tuple[AllowedOperation, ...] = ()
    if member.credential is not None:
        allowed = use_before_removal(run, member.credential, others, renames=name is not None)
    before = count_members(run)
    newest = [latest(run, sort="createdAt", order="asc")] if allowed else []
    engagements_before = run.send_all(newest)
    read_members(run, changed.role)  # right before and after, as a service may keep a list
    remover = None if bystander is None else bystander.credential
    response = send_with(run, remover, requests.remove_member(member.user_id))
    own = [read_again for operation in allowed if (read_again := _read_of_creation(operation)) is not None]
    run.send_all(own)  # for the ledger: what the member created stays
    attempts = use_after_removal(run, allowed)
    engagements_after = run.send_all(newest)
    after = count_members(run)
    read_members(run, changed.role)
    run.send(requests.update_member_role(member.user_id, {"role": "member"}))
    run.send(requests.remove_member(member.user_id))
    address = address_of(member, before.listed.members.get(member.user_id, {}))
    if address is not None:  # for the ledger: an invitation does not make the user a member again
        run.send(requests.invite_member({"email": address, "role": "member"}))
    bystander_reads = tuple(zip(reads_before, _reads(run, bystander), strict=True))
    newest_engagements = (*engagements_before, *engagements_after)
    return Removal(member, before, response, attempts, newest_engagements, after, bystander_reads)


def _may_rename(run: Run, member: Member) -> bool:
    """Whether a member's key belongs to this organization for certain: it has read it, or was made for the run."""
    key = member.credential
    reads = of_operation(run.wire.exchanges, "getCurrentOrganization")
    has_read = any(sent.accepted and sent.request.credential == key for sent in reads)
    return key is not None and (member.is_new or has_read)


def _name_to_restore(run: Run) -> str | None:
    """Return the name of the organization, if the main key has set it before, so that it can be restored."""
    name = harmless_name(run.send(requests.get_organization()))
    updates = of_operation(run.wire.exchanges, "updateCurrentOrganization")
    was_set = any(sent.accepted and sent.by_main_key and sent.sent_object == {"name": name} for sent in updates)
    return name if was_set else None


def _read_of_creation(operation: AllowedOperation) -> Request | None:
    """Return a read with the main key of what the member's key created; None if the operation created nothing."""
    if operation.before.operation_id != "createEngagement":
        return None
    made = read.identifier_or_none(operation.before)
    return None if made is None else requests.get_engagement(made)


def _reads(run: Run, member: Member | None) -> list[Exchange]:
    """Read what a remaining member may read, of the organization and of engagements."""
    if member is None or member.credential is None:
        return []
    reads = (requests.get_organization(), requests.list_engagements())
    return run.send_all([request.with_key(member.credential) for request in reads])
