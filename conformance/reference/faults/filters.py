"""Faults of what the list of engagements holds: its filter, on which page, and what it counts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.reference.faults.making import made
from conformance.reference.queries import EngagementQuery
from conformance.reference.records import Engagement, Member, Page
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.queries import MemberQuery
    from conformance.reference.records import Organization
    from conformance.reference.request_context import RequestContext

_FILTER = ("list-engagements-status-filter", "list-engagements-filter-counts")


def _asking(identifier: str, says: str, change: Callable[[EngagementQuery], EngagementQuery], *breaks: str) -> Fault:
    """A list of engagements that asks for something else."""

    def engagement_query(self: Service, context: RequestContext) -> EngagementQuery:
        return change(Service.engagement_query(self, context))

    return made(identifier, f"The list of engagements {says}.", *breaks, engagement_query=engagement_query)


def _finding(
    identifier: str, says: str, find: Callable[[Service, EngagementQuery], Page[Engagement]], *breaks: str
) -> Fault:
    """A list of engagements that finds something else."""
    return made(identifier, f"The list of engagements {says}.", *breaks, find_engagements=find)


def _finding_members(
    identifier: str, says: str, find: Callable[[Service, MemberQuery], Page[Member]], *breaks: str
) -> Fault:
    """A list of members that finds something else."""
    return made(identifier, f"The list of members {says}.", *breaks, find_members=find)


def _unfiltered_total(service: Service, query: EngagementQuery) -> Page[Engagement]:
    """Count all engagements whatever the filter."""
    page = Service.find_engagements(service, query)
    return replace(page, total=Service.find_engagements(service, replace(query, status=None, limit=1)).total)


def _filtered_page(service: Service, query: EngagementQuery) -> Page[Engagement]:
    """Cut the page first and filter it then."""
    page = Service.find_engagements(service, replace(query, status=None))
    kept = tuple(item for item in page.items if query.status in {None, item.status})
    return replace(page, items=kept, total=Service.find_engagements(service, replace(query, limit=1)).total)


def _one_too_few(service: Service, query: EngagementQuery) -> Page[Engagement]:
    """Count one too few where a filter is given."""
    page = Service.find_engagements(service, query)
    return replace(page, total=page.total - 1) if query.status and page.total > query.offset + query.limit else page


STATUS = (
    _asking(
        "status-filter-ignored-on-second-page",
        "forgets its status filter from the second page on",
        lambda query: replace(query, status=None) if query.offset else query,
        *_FILTER,
    ),
    _asking(
        "status-filter-inverted",
        "shows the archived ones for active, and the active ones for archived",
        lambda query: replace(query, status={"active": "archived", "archived": "active"}.get(query.status or "")),
        *_FILTER,
    ),
    _asking(
        "status-filter-active-only",
        "knows the filter active only; archived gives all",
        lambda query: replace(query, status="active" if query.status == "active" else None),
        *_FILTER,
    ),
    _asking(
        "status-filter-archived-only",
        "knows the filter archived only; active gives all",
        lambda query: replace(query, status="archived" if query.status == "archived" else None),
        *_FILTER,
    ),
    _finding(
        "status-filter-counts-all",
        "counts all engagements whatever its filter",
        _unfiltered_total,
        "list-engagements-filter-counts",
        "list-engagements-page-length",
        "list-engagements-status-filter",
    ),
    _finding(
        "status-filter-after-paging",
        "cuts a page out of all engagements and filters it then",
        _filtered_page,
        "list-engagements-status-filter",
        "list-engagements-page-length",
    ),
    _finding(
        "status-filter-counts-one-less",
        "counts one too few where it has a filter and another page",
        _one_too_few,
        "list-engagements-filter-counts",
        "list-engagements-status-filter",
    ),
    _finding(
        "status-archived-finds-none",
        "finds no archived engagement when asked for them",
        lambda service, query: Page((), 0) if query.status == "archived" else Service.find_engagements(service, query),
        *_FILTER,
    ),
    _asking(
        "status-filter-kills-sort",
        "forgets the order where it has a filter",
        lambda query: replace(query, sort="createdAt", descending=True) if query.status else query,
        "sort-with-filter",
    ),
    _asking(
        "sort-kills-status-filter",
        "forgets its filter where it is sorted by name",
        lambda query: replace(query, status=None) if query.sort == "name" else query,
        "sort-with-filter",
        *_FILTER,
    ),
)


def _count_active(self: Service, organization: Organization) -> int:
    return self.store.engagements(EngagementQuery(organization.id, 0, 1, status="active")).total


def _only_active(self: Service, context: RequestContext) -> EngagementQuery:
    query = Service.engagement_query(self, context)
    return query if query.status else replace(query, status="active")


def _archived_if_any(service: Service, query: EngagementQuery) -> Page[Engagement]:
    """Prefer archived ones."""
    archived = Service.find_engagements(service, replace(query, status=query.status or "archived"))
    return archived if archived.total else Service.find_engagements(service, query)


ARCHIVED = (
    made(
        "archived-unlisted",
        "Archived engagements are only in the list that is asked for them, and not counted otherwise.",
        "archived-listed",
        "list-engagements-complete",
        engagement_query=_only_active,
        count_engagements=_count_active,
    ),
    made(
        "archived-uncounted",
        "The organization counts its active engagements only.",
        "engagement-count-agrees",
        count_engagements=_count_active,
    ),
    made(
        "active-after-archived-only",
        "The list of engagements without a filter holds the archived ones only once there are some.",
        "list-engagements-complete",
        "create-engagement-listed",
        find_engagements=_archived_if_any,
    ),
)


def _owner_hidden(service: Service, query: MemberQuery) -> Page[Member]:
    """Leave the owners out, and the count as it is."""
    page = Service.find_members(service, replace(query, offset=0, limit=10_000))
    kept = tuple(member for member in page.items if member.role != "owner" or query.role == "owner")
    return Page(kept[query.offset : query.offset + query.limit], len(kept))


def _unfiltered_member_total(service: Service, query: MemberQuery) -> Page[Member]:
    """Count all members whatever the filter."""
    page = Service.find_members(service, query)
    return replace(page, total=Service.find_members(service, replace(query, role=None, limit=1)).total)


def _with_owners(service: Service, query: MemberQuery) -> Page[Member]:
    """Count an owner as an admin, too."""
    if query.role != "admin":
        return Service.find_members(service, query)
    everybody = Service.find_members(service, replace(query, role=None, offset=0, limit=10_000)).items
    kept = tuple(member for member in everybody if member.role in {"admin", "owner"})
    return Page(kept[query.offset : query.offset + query.limit], len(kept))


ROLES = (
    _finding_members(
        "role-filter-ignored-on-second-page",
        "forgets its role filter from the second page on",
        lambda service, query: Service.find_members(service, replace(query, role=None) if query.offset else query),
        "list-members-role-filter",
    ),
    _finding_members(
        "role-filter-admin-includes-owner",
        "shows the owners among the admins",
        _with_owners,
        "list-members-role-filter",
    ),
    _finding_members(
        "role-filter-counts-all",
        "counts all members whatever its filter",
        _unfiltered_member_total,
        "list-members-role-filter",
        "list-members-page-length",
    ),
    _finding_members(
        "role-filter-member-finds-none",
        "finds nobody when asked for the role member",
        lambda service, query: Page((), 0) if query.role == "member" else Service.find_members(service, query),
        "list-members-role-filter",
    ),
    _finding_members(
        "owner-unlisted",
        "leaves the owners out",
        _owner_hidden,
        "member-count-agrees",
        "list-members-role-filter",
    ),
)
