"""Faults of the list of engagements that show only where parameters meet, or at one size of a page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.reference.faults.list_making import asking, finding
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.queries import EngagementQuery
    from conformance.reference.records import Engagement, Page

_FILTER = ("list-engagements-status-filter", "list-engagements-filter-counts")
_LENGTH = "list-engagements-page-length"
_TOTAL = "list-engagements-total"
_WITH_FILTER = "sort-with-filter"
_CREATED, _UPDATED = "sort-by-created-at", "sort-by-updated-at"


# The filter


FILTERS = (
    asking(
        "filter-forgets-page",
        "gives the first page for every page where it has a filter",
        lambda asked, query: replace(query, offset=0) if asked["status"] else query,
        _WITH_FILTER,
        "list-engagements-status-filter",
    ),
    asking(
        "filter-forgotten-with-order",
        "forgets its filter where it is given an order",
        lambda asked, query: replace(query, status=None) if asked["order"] else query,
        *_FILTER,
        _WITH_FILTER,
    ),
    asking(
        "filter-forgotten-sorted-by-update",
        "forgets its filter where it is sorted by updatedAt",
        lambda asked, query: replace(query, status=None) if asked["sort"] == "updatedAt" else query,
        *_FILTER,
        _WITH_FILTER,
    ),
    asking(
        "filter-forgotten-sorted-by-creation",
        "forgets its filter where it is sorted by createdAt",
        lambda asked, query: replace(query, status=None) if asked["sort"] == "createdAt" else query,
        *_FILTER,
        _WITH_FILTER,
    ),
    asking(
        "filter-forgotten-without-sort",
        "forgets its filter where it is not sorted",
        lambda asked, query: query if asked["sort"] else replace(query, status=None),
        *_FILTER,
    ),
    asking(
        "filter-forgotten-on-small-pages",
        "forgets its filter on pages of less than 20",
        lambda asked, query: replace(query, status=None) if asked["perPage"] < 20 else query,  # noqa: PLR2004
        *_FILTER,
        _WITH_FILTER,
    ),
    asking(
        "filter-reverses-order",
        "is the other way round where it has a filter",
        lambda asked, query: replace(query, descending=not query.descending) if asked["status"] else query,
        _WITH_FILTER,
        _CREATED,
        _UPDATED,
    ),
    asking(
        "filter-archived-forgets-order",
        "is in the order of creation where archived ones are asked for",
        lambda asked, query: replace(query, sort="createdAt") if asked["status"] == "archived" else query,
        _WITH_FILTER,
        _UPDATED,
    ),
    asking(
        "filtered-pages-skip",
        "leaves one out between two pages where it has a filter",
        lambda asked, query: replace(query, offset=query.offset + 1) if asked["status"] and query.offset else query,
        "list-engagements-status-filter",
        _WITH_FILTER,
    ),
    asking(
        "archived-pages-skip",
        "leaves one out between two pages where archived ones are asked for",
        lambda asked, query: (
            replace(query, offset=query.offset + 1) if asked["status"] == "archived" and query.offset else query
        ),
        "list-engagements-status-filter",
    ),
    asking(
        "archived-pages-overlap",
        "begins a page with the last item of the page before where archived ones are asked for",
        lambda asked, query: (
            replace(query, offset=max(query.offset - 1, 0)) if asked["status"] == "archived" else query
        ),
        "list-engagements-status-filter",
    ),
    asking(
        "filter-active-forgets-order",
        "is in the order of creation where active ones are asked for",
        lambda asked, query: replace(query, sort="createdAt") if asked["status"] == "active" else query,
        _WITH_FILTER,
    ),
)


def _total_grown(service: Service, query: EngagementQuery) -> Page[Engagement]:
    """Count what was shown up to the end of the page."""
    page = Service.find_engagements(service, query)
    return replace(page, total=min(page.total, query.offset + len(page.items)))


def _total_capped(service: Service, query: EngagementQuery) -> Page[Engagement]:
    """Count no further than the first page reaches."""
    page = Service.find_engagements(service, query)
    return replace(page, total=min(page.total, 20))


def _filtered_total(change: Callable[[int], int]) -> Callable[[Service, EngagementQuery], Page[Engagement]]:
    """Count something else where there is a filter."""

    def find(service: Service, query: EngagementQuery) -> Page[Engagement]:
        page = Service.find_engagements(service, query)
        return replace(page, total=change(page.total)) if query.status else page

    return find


def _archived_not_counted(service: Service, query: EngagementQuery) -> Page[Engagement]:
    """Count active ones where no status is asked for, and list all."""
    page = Service.find_engagements(service, query)
    active = Service.find_engagements(service, replace(query, status="active", offset=0, limit=1)).total
    return page if query.status else replace(page, total=active)


def _archived_among_active(service: Service, query: EngagementQuery) -> Page[Engagement]:
    """Show everything where active ones are asked for."""
    return Service.find_engagements(service, replace(query, status=None) if query.status == "active" else query)


TOTALS = (
    finding("total-so-far", "counts in total what was shown up to the end of the page", _total_grown, _TOTAL, _LENGTH),
    finding(
        "total-capped-at-20",
        "counts 20 in total at most",
        _total_capped,
        _TOTAL,
        "engagement-count-agrees",
    ),
    finding(
        "filtered-total-too-high",
        "counts one too many where it has a filter",
        _filtered_total(lambda total: total + 1),
        "list-engagements-filter-counts",
        "list-engagements-status-filter",
    ),
    finding(
        "archived-not-in-total",
        "leaves archived ones out of total, where no status is asked for",
        _archived_not_counted,
        _TOTAL,
        "engagement-count-agrees",
    ),
    finding(
        "archived-among-active",
        "shows archived ones among the active ones",
        _archived_among_active,
        *_FILTER,
    ),
)
