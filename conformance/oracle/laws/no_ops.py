"""No-op changes: requests for the state the resource already has; the interface leaves their success open."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from conformance.oracle.effects import Interval
from conformance.oracle.laws.responses import readable_resources

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.wire.exchange import Exchange

_READS: Final = frozenset({"getEngagement", "listEngagements"})


def no_op_changes(exchanges: Sequence[Exchange], *operations: str) -> frozenset[int]:
    """Return the numbers of successes whose response the interface leaves entirely open.

    These are archivings of an archived engagement, invitations of a member or of an invited address, and changes to a
    role that the member may already have had. Which of overlapping ones came second is unknown, so all count.

    Args:
        exchanges: All of a run, in their order.
        operations: The operations whose successes are returned; none for all.
    """
    again = {number for operation in operations or _AGAIN for number in _AGAIN[operation](exchanges)}
    changes = defaultdict(list)
    for exchange in exchanges:
        if exchange.accepted and exchange.request.operation.changes:
            changes[_subject(exchange)].append(exchange)
    return frozenset(
        change.number
        for same in changes.values()
        for second in same
        if second.number in again
        for change in same
        if change is second or Interval.of(change).overlaps(Interval.of(second))
    )


def _archivings(exchanges: Sequence[Exchange]) -> set[int]:
    """Return the numbers of successful archivings of an engagement that was archived before.

    The effect of unarchiving is open: only a read or a list with status active proves that the engagement is active.
    """
    archived: dict[str, Interval] = {}
    again: set[int] = set()
    for exchange in exchanges:
        identifier = exchange.request.identifier
        if exchange.operation_id in _READS:
            for shown in readable_resources(exchange):
                last = archived.get(str(shown.get("id")))
                if last is not None and shown.get("status") == "active" and last.before(Interval.of(exchange)):
                    del archived[str(shown.get("id"))]
        elif exchange.operation_id == "archiveEngagement" and identifier is not None and not exchange.refused:
            if exchange.accepted and identifier in archived:
                again.add(exchange.number)
            archived[identifier] = Interval.of(exchange)
    return again


def _invitations(exchanges: Sequence[Exchange]) -> set[int]:
    """Return the numbers of accepted invitations of an address that is a member's or was invited before.

    A removed member no longer counts as a member, unless a later list shows it.
    """
    holders: defaultdict[str, set[str | None]] = defaultdict(set)  # None for an invitation
    again: set[int] = set()
    for exchange in exchanges:
        if exchange.operation_id == "listMembers":
            for member in readable_resources(exchange):
                if isinstance(email := member.get("email"), str):
                    holders[email.casefold()].add(str(member.get("id")))
        elif exchange.operation_id == "removeMember" and exchange.accepted:
            for held in holders.values():
                held.discard(str(exchange.request.identifier))
        elif exchange.operation_id == "inviteMember" and not exchange.refused:
            email = exchange.sent_fields.get("email")
            if not isinstance(email, str) or holders[email.casefold()]:
                again.add(exchange.number)
            if isinstance(email, str):
                holders[email.casefold()].add(None)
    return again


def _role_changes(exchanges: Sequence[Exchange]) -> set[int]:
    """Return the numbers of successful changes to a role that the member had, or may have had, before."""
    roles: defaultdict[str | None, set[str]] = defaultdict(set)
    again: set[int] = set()
    for exchange in exchanges:
        if exchange.operation_id == "listMembers":
            for member in readable_resources(exchange):
                identifier, role = member.get("id"), member.get("role")
                if isinstance(identifier, str):
                    roles[identifier] = {role} if isinstance(role, str) else set()
        elif exchange.operation_id == "updateMemberRole" and not exchange.refused:
            user, role = exchange.request.identifier, exchange.sent_fields.get("role")
            given = {role} if isinstance(role, str) else set()
            if not exchange.accepted:
                roles[user] |= given  # it got no response
                continue
            if given & roles[user]:
                again.add(exchange.number)
            roles[user] = given
    return again


def _subject(change: Exchange) -> tuple[str, str | None, str]:
    """Return what a change is about: its operation, and its resource or the invited address."""
    address = str(change.sent_fields.get("email")).casefold()
    return change.operation_id, change.request.identifier, address


_AGAIN: Final = {"archiveEngagement": _archivings, "inviteMember": _invitations, "updateMemberRole": _role_changes}
