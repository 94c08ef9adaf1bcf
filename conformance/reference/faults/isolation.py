"""Faults of isolation: what one organization can see or do of another one's."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.reference.faults import Fault, fault
from conformance.reference.faults.looking_up import EVERYTHING
from conformance.reference.faults.making import made
from conformance.reference.records import Page
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from conformance.reference.queries import EngagementQuery
    from conformance.reference.records import Engagement, Member, Organization
    from conformance.reference.request_context import Reply, RequestContext


_ENGAGEMENTS = {
    "getEngagement": "isolation-get-engagement",
    "updateEngagement": "isolation-update-engagement",
    "deleteEngagement": "isolation-delete-engagement",
    "archiveEngagement": "isolation-archive-engagement",
    "unarchiveEngagement": "isolation-unarchive-engagement",
}


def _leaking(operation: str) -> Fault:
    """An operation that finds engagements of every organization."""

    def find_engagement(self: Service, context: RequestContext) -> Engagement:
        found = self.store.engagement(context.resource_id) if context.operation.id == operation else None
        return found or Service.find_engagement(self, context)

    title = f"The operation {operation} works on engagements of other organizations."
    breaks = (_ENGAGEMENTS[operation], *(() if operation == "getEngagement" else ("isolation-untouched",)))
    return made(f"leak-{operation}".lower(), title, *breaks, find_engagement=find_engagement)


LEAKS = tuple(_leaking(operation) for operation in _ENGAGEMENTS)


def _elsewhere(service: Service, context: RequestContext) -> Member | None:
    """Find a member of any other organization."""
    others = [one for one in service.store.organization_ids() if one != context.organization_id]
    found = [service.store.member(one, context.resource_id) for one in others]
    return next((member for member in found if member), None)


@fault("leak-updatememberrole", "isolation-update-role")
class LeakUpdateMemberRole(Service):
    """The roles of other organizations' members can be changed."""

    def update_member_role(self, context: RequestContext) -> Reply:
        """Change it where the member is."""
        if context.member.organization_id == context.organization_id:
            return super().update_member_role(context)
        self.check_role_changeable(context.member)
        self.store.change_role(context.member.organization_id, context.resource_id, context.values["role"], self.now())
        return self.resource(context, self.view_role(replace(context.member, role=context.values["role"])))

    def find_member(self, context: RequestContext) -> Member:
        """Look everywhere."""
        found = _elsewhere(self, context) if context.operation.id == "updateMemberRole" else None
        here = self.store.member(context.organization_id, context.resource_id)
        return found if found and not here else super().find_member(context)


@fault("leak-removemember", "isolation-remove-member")
class LeakRemoveMember(Service):
    """Members of other organizations can be removed."""

    def remove_member(self, context: RequestContext) -> Reply:
        """Remove the member where it is."""
        self.check_removable(context.member)
        self.store.remove_member(context.member.organization_id, context.resource_id)
        return self.resource(context, self.view_removed(context.member))

    def find_member(self, context: RequestContext) -> Member:
        """Look everywhere."""
        found = _elsewhere(self, context) if context.operation.id == "removeMember" else None
        here = self.store.member(context.organization_id, context.resource_id)
        return found if found and not here else super().find_member(context)


def _of_all(service: Service, query: Any, find: Any) -> Page[Any]:  # noqa: ANN401 - of either list
    """Find in every organization what is asked for in one."""
    items: list[Any] = []
    for one in service.store.organization_ids():
        items += find(service, replace(query, organization_id=one, offset=0, limit=EVERYTHING)).items
    return Page(tuple(items[query.offset : query.offset + query.limit]), len(items))


LISTS = (
    made(
        "leak-listengagements",
        "The list of engagements holds those of all organizations.",
        "isolation-lists",
        "isolation-counts",
        "engagement-count-agrees",
        find_engagements=lambda self, query: _of_all(self, query, Service.find_engagements),
    ),
    made(
        "leak-listmembers",
        "The list of members holds those of all organizations.",
        "isolation-lists",
        "member-count-agrees",
        find_members=lambda self, query: _of_all(self, query, Service.find_members),
    ),
    made(
        "leak-listengagements-by-status",
        "The list of engagements holds those of all organizations where it is filtered.",
        "isolation-lists",
        "list-engagements-filter-counts",
        find_engagements=lambda self, query: (
            _of_all(self, query, Service.find_engagements) if query.status else Service.find_engagements(self, query)
        ),
    ),
)


def _all_engagements(self: Service, _: Organization) -> int:
    return sum(self.store.count_engagements(one) for one in self.store.organization_ids())


COUNTS = (
    made(
        "leak-engagementcount",
        "The organization counts the engagements of all organizations.",
        "isolation-counts",
        "engagement-count-agrees",
        count_engagements=_all_engagements,
    ),
)


@fault("leak-counts-and-totals", "isolation-counts", "engagement-count-agrees")
class LeakCountsAndTotals(Service):
    """The organization and the list count the engagements of all organizations."""

    def count_engagements(self, organization: Organization) -> int:
        """Count everybody's."""
        return _all_engagements(self, organization)

    def find_engagements(self, query: EngagementQuery) -> Page[Engagement]:
        """Count everybody's, too."""
        page = super().find_engagements(query)
        others = [one for one in self.store.organization_ids() if one != query.organization_id]
        strangers = [replace(query, organization_id=one, limit=1, offset=0) for one in others]
        return replace(page, total=page.total + sum(Service.find_engagements(self, one).total for one in strangers))


@fault("leak-organization", "isolation-own-organization", "isolation-lists")
class LeakOrganization(Service):
    """Every key reads the organization that was there first."""

    def get_organization(self, context: RequestContext) -> Reply:
        """Show the first one."""
        first = self.store.organization(self.store.organization_ids()[0])
        return self.resource(context, self.view_organization(first))


@fault("leak-organization-update", "isolation-own-organization")
class LeakOrganizationUpdate(Service):
    """Every key updates the organization that was there first."""

    def update_organization(self, context: RequestContext) -> Reply:
        """Update the first one."""
        context.key = replace(context.key, organization_id=self.store.organization_ids()[0])
        return super().update_organization(context)


def _applied(operation: str) -> Fault:
    """An operation that another organization is refused, and that is done."""

    async def perform(self: Service, context: RequestContext) -> Reply:
        try:
            return await Service.perform(self, context)
        except Refusal:
            stranger = self.store.engagement(context.resource_id) if context.operation.id == operation else None
            if stranger and stranger.organization_id != context.organization_id:
                context.engagement = stranger
                context.key = replace(context.key, organization_id=stranger.organization_id)
                with suppress(Refusal):
                    self._actions[operation](context)
            raise

    title = f"The operation {operation} on another organization's engagement is refused, and done."
    return made(f"leak-applied-{operation}".lower(), title, "isolation-untouched", perform=perform)


APPLIED = tuple(_applied(operation) for operation in _ENGAGEMENTS if operation != "getEngagement")


@fault("leak-applied-updatememberrole", "isolation-untouched")
class LeakAppliedRole(Service):
    """The role of another organization's member is refused, and changed."""

    async def perform(self, context: RequestContext) -> Reply:
        """Change it in whatever organization the member is."""
        try:
            return await super().perform(context)
        except Refusal as refusal:
            if context.operation.id == "updateMemberRole" and refusal.status in {403, 404}:
                for organization in set(self.store.organization_ids()) - {context.organization_id}:
                    if self.store.member(organization, context.resource_id) is not None:
                        self.store.change_role(organization, context.resource_id, context.values["role"], self.now())
            raise


def _responded(status: int) -> Fault:
    """A service that tells other organizations' engagements with another status."""

    def foreign(_: Service, kind: str) -> Refusal:
        return Refusal(status, f"The {kind} is another organization's.")

    title = f"Another organization's resource is refused with {status}."
    return made(f"foreign-{status}", title, *list(_ENGAGEMENTS.values())[:4], foreign=foreign)


STATUSES = (_responded(401), _responded(409))
