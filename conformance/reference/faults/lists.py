"""Faults of the two lists: filters, pages, meta."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.reference.faults import fault
from conformance.reference.service import Service

if TYPE_CHECKING:
    from conformance.reference.queries import EngagementQuery, MemberQuery
    from conformance.reference.records import Engagement, Page
    from conformance.reference.request_context import RequestContext


@fault("status-filter-ignored", "list-engagements-status-filter", "list-engagements-filter-counts")
class StatusFilterIgnored(Service):
    """The list of engagements ignores its status filter."""

    def engagement_query(self, context: RequestContext) -> EngagementQuery:
        """Forget the filter."""
        return replace(super().engagement_query(context), status=None)


@fault("role-filter-ignored", "list-members-role-filter")
class RoleFilterIgnored(Service):
    """The list of members ignores its role filter."""

    def member_query(self, context: RequestContext) -> MemberQuery:
        """Forget the filter."""
        return replace(super().member_query(context), role=None)


@fault("total-pages-too-many", "list-engagements-total-pages", "list-members-total-pages")
class TotalPagesTooMany(Service):
    """A list whose last page is full counts one page too many."""

    def total_pages(self, total: int, per_page: int) -> int:
        """Round the wrong way."""
        return total // per_page + 1


@fault("second-page-repeats", "list-engagements-pages-partition")
class SecondPageRepeats(Service):
    """A page of engagements begins with the last item of the page before."""

    def find_engagements(self, query: EngagementQuery) -> Page[Engagement]:
        """Start one too early."""
        return super().find_engagements(replace(query, offset=max(query.offset - 1, 0)))
