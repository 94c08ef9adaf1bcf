"""Changes that ask for what is so already: what a service answers to those is open, as long as it is a success."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from conformance.oracle import read
from conformance.oracle.effects import accepted, refused, sent_object
from conformance.oracle.laws import readable_resources

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.wire.exchange import Exchange

_SHOW_STATUS: Final = frozenset({"getEngagement", "listEngagements", "unarchiveEngagement"})


def repetitions(exchanges: Iterable[Exchange]) -> frozenset[int]:
    """The numbers of successes to which the interface leaves every answer open.

    These are archivings of what was archived, invitations of someone who was a member or invited before, and changes to
    the role that a member may have had already.

    Args:
        exchanges: All of a run, in their order.
    """
    exchanges = list(exchanges)
    return archivings_again(exchanges) | invitations_again(exchanges) | role_changes_again(exchanges)


def archivings_again(exchanges: Iterable[Exchange]) -> frozenset[int]:
    """The numbers of successful archivings of what had been archived before, and was not seen active since.

    An unarchiving may have no effect: only where its answer says that the engagement is active, or a read does, the
    next archiving is no repetition.
    """
    archived: set[str | None] = set()
    again: set[int] = set()
    for exchange in exchanges:
        call = exchange.call
        if call.operation.id in _SHOW_STATUS:
            archived -= {read.id_of(one) for one in readable_resources(exchange) if one.get("status") == "active"}
        elif call.operation.id == "archiveEngagement" and accepted(exchange):
            if call.identifier in archived:
                again.add(exchange.number)
            archived.add(call.identifier)
    return frozenset(again)


def invitations_again(exchanges: Iterable[Exchange]) -> frozenset[int]:
    """The numbers of invitations that were not refused, of an address that was a member's or was invited before."""
    known: set[str] = set()
    again: set[int] = set()
    for exchange in exchanges:
        if exchange.call.operation.id == "listMembers":
            emails = [member.get("email") for member in readable_resources(exchange)]
            known.update(email.casefold() for email in emails if isinstance(email, str))
        elif exchange.call.operation.id == "inviteMember" and not refused(exchange):
            email = (sent_object(exchange) or {}).get("email")
            if not isinstance(email, str) or email.casefold() in known:
                again.add(exchange.number)
            else:
                known.add(email.casefold())
    return frozenset(again)


def role_changes_again(exchanges: Iterable[Exchange]) -> frozenset[int]:
    """The numbers of successful changes to a role that the member had, or may have had, before."""
    roles: defaultdict[str | None, set[str]] = defaultdict(set)
    again: set[int] = set()
    for exchange in exchanges:
        if exchange.call.operation.id == "listMembers":
            for member in readable_resources(exchange):
                identifier, role = member.get("id"), member.get("role")
                if isinstance(identifier, str):
                    roles[identifier] = {role} if isinstance(role, str) else set()
        elif exchange.call.operation.id == "updateMemberRole" and not refused(exchange):
            user, role = exchange.call.identifier, (sent_object(exchange) or {}).get("role")
            given = {role} if isinstance(role, str) else set()
            if not accepted(exchange):
                roles[user] |= given  # it had no answer
                continue
            if given & roles[user]:
                again.add(exchange.number)
            roles[user] = given
    return frozenset(again)
