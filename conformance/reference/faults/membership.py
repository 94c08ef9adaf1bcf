"""Faults of members: their removal, and what is left of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.reference.faults import Fault, fault, looking_up
from conformance.reference.faults.making import instead, shown
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from conformance.reference.queries import MemberQuery
    from conformance.reference.records import Key, Member, Organization
    from conformance.reference.request_context import Reply, RequestContext


RESPONSES = (
    shown(
        "removal-answers-false",
        "The answer to a removal says that nobody was removed.",
        "view_removed",
        instead(("removed",), lambda _: False),
        "remove-member-answers-true",
    ),
    shown(
        "removal-answers-other-id",
        "The answer to a removal carries another userId.",
        "view_removed",
        instead(("userId",), lambda text: f"{text}0"),
        "remove-member-answers-true",
    ),
)


class _Remembering(Service):
    """A service that still knows who was removed, for what a fault makes of it."""

    removed: tuple[Member, ...] = ()

    def remove_member(self, context: RequestContext) -> Reply:
        """Remember the member."""
        reply = super().remove_member(context)
        self.removed += (context.member,)
        return reply

    def was_removed(self, user_id: str | None) -> Member | None:
        """Give a removed member."""
        return next((one for one in self.removed if one.user_id == user_id), None)


@fault("removed-member-listed", "removed-member-unlisted", "removed-member-uncounted")
class RemovedMemberListed(_Remembering):
    """A removed member is still listed."""

    def find_members(self, query: MemberQuery) -> Any:  # noqa: ANN401 - a page
        """List former ones, too."""
        everybody = super().find_members(replace(query, offset=0, limit=looking_up.EVERYTHING))
        former = tuple(one for one in self.removed if query.role in {None, one.role})
        whole = tuple(one for one in (*everybody.items, *former) if one.organization_id == query.organization_id)
        return replace(everybody, items=whole[query.offset : query.offset + query.limit], total=len(whole))


@fault("only-admins-removable", "scope-allows-remove-member", "remove-member-succeeds")
class OnlyAdminsRemovable(Service):
    """Members whose role is member cannot be removed."""

    def remove_member(self, context: RequestContext) -> Reply:
        """Look at the role."""
        if context.member.role == "member":
            raise Refusal(403, "Make an admin of it first.")
        return super().remove_member(context)


@fault("removed-member-counted", "removed-member-uncounted", "member-count-agrees")
class RemovedMemberCounted(_Remembering):
    """A removed member is still counted."""

    def count_members(self, organization: Organization) -> int:
        """Count former ones, too."""
        former = [one for one in self.removed if one.organization_id == organization.id]
        return super().count_members(organization) + len(former)


def _finding(identifier: str, title: str, operation: str, requirement: str) -> Fault:
    """An operation that finds removed members."""

    def find_member(self: _Remembering, context: RequestContext) -> Member:
        former = self.was_removed(context.resource_id) if context.operation.id == operation else None
        return former or Service.find_member(self, context)

    service = type("Finding", (_Remembering,), {"__doc__": title, "find_member": find_member})
    return Fault(identifier, title, (requirement,), service)


FINDING = (
    _finding(
        "removed-member-removable",
        "A removed member can be removed again.",
        "removeMember",
        "removed-member-not-removable",
    ),
    _finding(
        "removed-member-changeable",
        "The role of a removed member can be changed.",
        "updateMemberRole",
        "removed-member-role-unchangeable",
    ),
)


@fault("removal-takes-others", "removal-spares-other-members")
class RemovalTakesOthers(Service):
    """A removal takes another member of the same role with it."""

    def remove_member(self, context: RequestContext) -> Reply:
        """Remove two."""
        reply = super().remove_member(context)
        for other in looking_up.other_people(self, context)[-1:]:
            self.store.remove_member(context.organization_id, other.user_id)
        return reply


@fault("removal-revokes-others", "removal-spares-other-members")
class RemovalRevokesOthers(_Remembering):
    """After a removal the keys of the other members are refused, too."""

    def find_key(self, token: str) -> Key | None:
        """Refuse every key of a member."""
        key = super().find_key(token)
        return replace(key, revoked=True) if key and key.user_id and self.removed else key


@fault("removal-does-nothing", "removed-member-unlisted", "removed-member-uncounted", "removed-member-not-removable")
class RemovalDoesNothing(Service):
    """A removal answers as if it had been done."""

    def remove_member(self, context: RequestContext) -> Reply:
        """Do nothing."""
        return self.resource(context, self.view_removed(context.member))
