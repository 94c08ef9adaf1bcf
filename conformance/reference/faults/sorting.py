"""Faults of the order of engagements: each key and each direction, on some pages or on all."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.reference.faults.making import made
from conformance.reference.records import Engagement, Page
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.queries import EngagementQuery, Sort
    from conformance.reference.request_context import RequestContext

_SORTS: dict[Sort, str] = {
    "createdAt": "sort-by-created-at",
    "updatedAt": "sort-by-updated-at",
    "name": "sort-by-name",
}
_ALL = tuple(_SORTS.values())
_EVERYTHING = 10_000
_FIRST_SCREEN = 20


def _ordered(
    identifier: str,
    says: str,
    change: Callable[[Sort | None, str | None, EngagementQuery], EngagementQuery],
    *breaks: str,
) -> Fault:
    """A list in another order; ``change`` is given what was asked for, and the honest query."""

    def engagement_query(self: Service, context: RequestContext) -> EngagementQuery:
        return change(context.values["sort"], context.values["order"], Service.engagement_query(self, context))

    return made(identifier, f"The list of engagements {says}.", *breaks, engagement_query=engagement_query)


def _paged(
    identifier: str, says: str, find: Callable[[Service, EngagementQuery], Page[Engagement]], *breaks: str
) -> Fault:
    return made(identifier, f"The list of engagements {says}.", *breaks, find_engagements=find)


def _instead(key: Sort, other: Sort) -> Fault:
    return _ordered(
        f"sort-{key.lower()}-by-{other.lower()}",
        f"is sorted by {other} when asked for {key}",
        lambda sort, _, query: replace(query, sort=other) if sort == key else query,
        _SORTS[key],
    )


def _backwards(key: Sort, order: str) -> Fault:
    def change(sort: Sort | None, asked: str | None, query: EngagementQuery) -> EngagementQuery:
        return replace(query, descending=not query.descending) if (sort, asked) == (key, order) else query

    return _ordered(
        f"sort-{key.lower()}-{order}-reversed", f"by {key} {order} is the other way round", change, _SORTS[key]
    )


OTHER_KEYS = (
    _instead("createdAt", "updatedAt"),
    _instead("createdAt", "name"),
    _instead("updatedAt", "createdAt"),
    _instead("updatedAt", "name"),
    _instead("name", "createdAt"),
    _instead("name", "updatedAt"),
)

BACKWARDS = tuple(_backwards(key, order) for key in _SORTS for order in ("asc", "desc"))

DEFAULTS = (
    _ordered(
        "sort-ascending-by-default",
        "is ascending where no order is given",
        lambda sort, order, query: replace(query, descending=False) if sort and order is None else query,
        "sort-descending-by-default",
    ),
    _ordered(
        "sort-name-ascending-by-default",
        "by name is ascending where no order is given",
        lambda sort, order, query: replace(query, descending=False) if sort == "name" and order is None else query,
        "sort-descending-by-default",
    ),
    _ordered(
        "sort-ignored",
        "ignores sort",
        lambda _, __, query: replace(query, sort="createdAt"),
        "sort-by-updated-at",
        "sort-by-name",
        "sort-with-filter",
    ),
    _ordered(
        "order-ignored",
        "ignores order",
        lambda _, __, query: replace(query, descending=True),
        *_ALL,
        "sort-with-filter",
    ),
    _ordered(
        "order-always-ascending",
        "is always ascending",
        lambda _, __, query: replace(query, descending=False),
        *_ALL,
        "sort-descending-by-default",
        "sort-with-filter",
    ),
)

SECOND_PAGES = tuple(
    _ordered(
        f"sort-{key.lower()}-lost-on-second-page",
        f"by {key} is in another order from the second page on",
        lambda sort, _, query, key=key: (  # type: ignore[misc]  # a default that binds
            replace(query, descending=not query.descending) if sort == key and query.offset else query
        ),
        requirement,
        "list-engagements-pages-partition",
    )
    for key, requirement in _SORTS.items()
)


def _whole(service: Service, query: EngagementQuery) -> tuple[Engagement, ...]:
    """Give the whole list in the right order."""
    return Service.find_engagements(service, replace(query, offset=0, limit=_EVERYTHING)).items


def _cut(query: EngagementQuery, items: tuple[Engagement, ...]) -> Page[Engagement]:
    """Give the page of a list that was put together by hand."""
    return Page(items[query.offset : query.offset + query.limit], len(items))


def _page_by_page(service: Service, query: EngagementQuery) -> Page[Engagement]:
    """Cut pages in the order of creation and sort each by itself."""
    plain = _cut(query, _whole(service, replace(query, sort="createdAt", descending=False)))
    kept = {item.id for item in plain.items}
    return replace(plain, items=tuple(item for item in _whole(service, query) if item.id in kept))


def _first_twenty(service: Service, query: EngagementQuery) -> Page[Engagement]:
    """Sort the first 20 only."""
    items = _whole(service, query)
    rest = {item.id for item in items[_FIRST_SCREEN:]}
    unsorted = _whole(
        service, replace(query, sort="createdAt", descending=query.sort == "createdAt" and not query.descending)
    )
    return _cut(query, items[:_FIRST_SCREEN] + tuple(item for item in unsorted if item.id in rest))


def _by_beginning(service: Service, query: EngagementQuery) -> Page[Engagement]:
    """Compare only the first ten characters of names."""
    if query.sort != "name":
        return Service.find_engagements(service, query)
    items = _whole(service, replace(query, sort="createdAt"))
    return _cut(query, tuple(sorted(items, key=lambda item: item.name[:10], reverse=query.descending)))


def _by_length(service: Service, query: EngagementQuery) -> Page[Engagement]:
    """Compare names by their length first."""
    if query.sort != "name":
        return Service.find_engagements(service, query)
    items = sorted(_whole(service, query), key=lambda item: (len(item.name), item.name), reverse=query.descending)
    return _cut(query, tuple(items))


def _last_swapped(service: Service, query: EngagementQuery) -> Page[Engagement]:
    """Let the last two items of the list change places."""
    items = _whole(service, query)
    return _cut(query, (*items[:-2], *items[-2:][::-1]))


def _archived_last(service: Service, query: EngagementQuery) -> Page[Engagement]:
    """Put archived engagements at the end, whatever the order."""
    return _cut(query, tuple(sorted(_whole(service, query), key=lambda item: item.status == "archived")))


def _counting_active(service: Service, query: EngagementQuery) -> Page[Engagement]:
    """Count what is active only in another order than that of creation, and give everything."""
    page = Service.find_engagements(service, query)
    if query.sort == "createdAt" or query.status is not None:
        return page
    return replace(page, total=Service.find_engagements(service, replace(query, status="active")).total)


HAND_MADE = (
    _paged(
        "sort-page-by-page",
        "is sorted within each page only",
        _page_by_page,
        "sort-by-updated-at",
        "sort-by-name",
        "sort-by-created-at",
        "sort-with-filter",
    ),
    _paged(
        "sort-name-page-by-page",
        "by name is sorted within each page only",
        lambda service, query: (
            _page_by_page(service, query) if query.sort == "name" else Service.find_engagements(service, query)
        ),
        "sort-by-name",
        "sort-with-filter",
    ),
    _paged("sort-first-twenty-only", "is sorted up to the 20th item only", _first_twenty, *_ALL, "sort-with-filter"),
    _paged(
        "sort-name-by-beginning",
        "by name compares the first ten characters",
        _by_beginning,
        "sort-by-name",
        "sort-with-filter",
    ),
    _paged("sort-name-by-length", "by name puts short names first", _by_length, "sort-by-name", "sort-with-filter"),
    _paged("sort-last-swapped", "has its last two items swapped", _last_swapped, *_ALL, "sort-with-filter"),
    _paged(
        "sorted-total-of-active-only",
        "by name or by change counts only the active ones of all that it holds",
        _counting_active,
        "list-engagements-total",
    ),
    _paged("sort-archived-last", "has archived engagements at its end, whatever the order", _archived_last, *_ALL),
)
