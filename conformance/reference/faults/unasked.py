"""Faults that show only where something is not asked for, or where something is refused."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.reference.faults import fault
from conformance.reference.faults.list_making import asking
from conformance.reference.faults.making import made, overwrite
from conformance.reference.records import Page
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from conformance.reference.faults import Fault
    from conformance.reference.queries import MemberQuery
    from conformance.reference.records import Engagement, Key, Member
    from conformance.reference.request_context import Reply, RequestContext
    from conformance.reference.views import View

_UNASKED = 20
_DEFAULTS, _PARTITION = "list-engagements-defaults", "list-engagements-pages-partition"
_BY_STATUS, _BY_ROLE = "list-engagements-status-filter", "list-members-role-filter"
_BY_NAME, _BY_CHANGE, _WITH_FILTER = "sort-by-name", "sort-by-updated-at", "sort-with-filter"
_CONFLICT = 409
_SORTS = frozenset({"name", "createdAt", "updatedAt"})


def _sized(identifier: str, says: str, check: str, parameter: str, size: int, *breaks: str) -> Fault:
    """A list with another size of pages where a parameter is given and ``perPage`` is not."""
    honest = getattr(Service, check)

    def checked(self: Service, context: RequestContext) -> dict[str, Any]:
        values: dict[str, Any] = honest(self, context)
        given = context.request.query_params
        return values | {"perPage": size} if parameter in given and "perPage" not in given else values

    return made(identifier, says, *breaks, **{check: checked})


SIZES = (
    _sized("ten-a-page-by-status", "With a status, 10 engagements are on a page unasked.", "check_engagement_list",
           "status", 10, _DEFAULTS),
    _sized("fifty-a-page-in-order", "With a sort, 50 engagements are on a page unasked.", "check_engagement_list",
           "sort", 50, _DEFAULTS),
    _sized("ten-a-page-by-role", "With a role, 10 members are on a page unasked.", "check_member_list",
           "role", 10, "list-members-defaults"),
    asking("status-ignored-without-size", "ignores the status where no size is asked for",
           lambda _, query: replace(query, status=None) if query.limit == _UNASKED else query,
           _BY_STATUS, _WITH_FILTER),
    asking("sort-ignored-without-size", "ignores the order where no size is asked for",
           lambda _, query: replace(query, sort="createdAt") if query.limit == _UNASKED else query,
           _BY_CHANGE, _BY_NAME, _WITH_FILTER),
    asking("offset-of-20-by-name", "begins page 2 after 20 where it is sorted by name, whatever perPage says",
           lambda asked, query: replace(query, offset=(asked["page"] - 1) * 20) if asked["sort"] == "name" else query,
           _PARTITION, _BY_NAME, _WITH_FILTER),
)  # fmt: skip


@fault("role-filtered-after-paging", _BY_ROLE)
class RoleFilteredAfterPaging(Service):
    """The list of members is cut into pages before it is filtered."""

    def find_members(self, query: MemberQuery) -> Page[Member]:
        """Filter a page of everybody."""
        page = super().find_members(replace(query, role=None))
        shown = tuple(member for member in page.items if query.role in {None, member.role})
        return Page(shown, super().find_members(query).total)


@fault("update-resets-plan", "update-organization-keeps-the-rest")
class UpdateResetsPlan(Service):
    """Any update of the organization puts it on the free plan."""

    def update_organization(self, context: RequestContext) -> Reply:
        """Change the plan besides."""
        overwrite(self, "organizations", context.organization_id, plan="free")
        return super().update_organization(context)


@fault("sort-checked-before-key", "authentication-before-validation")
class SortCheckedBeforeKey(Service):
    """A sort that there is not is refused before the key is looked at."""

    def authenticate(self, context: RequestContext) -> Key:
        """Look at the parameter first."""
        if context.request.query_params.get("sort", "name") not in _SORTS:
            raise Refusal(422, "There is no such order.")
        return super().authenticate(context)


@fault("undescribed-deleted-false", "delete-engagement-answers-true")
class UndescribedDeletedFalse(Service):
    """The deletion of an engagement without a description says that it was not deleted."""

    def view_deleted(self, engagement: Engagement) -> View:
        """Say so."""
        return super().view_deleted(engagement) | {"deleted": bool(engagement.description)}


@fault("page-alone-ignored", _PARTITION, _BY_CHANGE, _WITH_FILTER)
class PageAloneIgnored(Service):
    """Page 2 of engagements is page 1 where no size is asked for."""

    def offset(self, context: RequestContext) -> int:
        """Begin at the first item."""
        given = context.request.query_params
        alone = "perPage" not in given and given.get("page") == "2" and context.operation.id == "listEngagements"
        return 0 if alone else super().offset(context)


@fault("archived-again-refused-touches", "archived-again-stays-archived")
class ArchivedAgainRefusedTouches(Service):
    """Archiving once more is refused and moves updatedAt."""

    def archives_again(self) -> bool:
        """Refuse it."""
        raise Refusal(409, "The engagement is archived already.")

    def refused(self, context: RequestContext, refusal: Refusal) -> Reply:
        """Move the time, although nothing was done."""
        if refusal.status == _CONFLICT and context.operation.id == "archiveEngagement":
            self.store.edit_engagement(context.resource_id, {}, self.now())
        return super().refused(context, refusal)


@fault("edit-of-empty-name-untitles", "update-engagement-refused-changes-nothing")
class EditOfEmptyNameUntitles(Service):
    """An edit with an empty name is refused and calls the engagement Untitled."""

    def refused(self, context: RequestContext, refusal: Refusal) -> Reply:
        """Call it so, although nothing was done."""
        if re.search(rb'"name":\s*""', context.content):
            self.store.edit_engagement(context.resource_id, {"name": "Untitled"}, self.now())
        return super().refused(context, refusal)
