"""Faults of the order of engagements that show only with some parameters, or compare something else."""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from conformance.reference.faults.list_making import asking, cut, finding, whole
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.faults.list_making import Asked
    from conformance.reference.queries import EngagementQuery
    from conformance.reference.records import Engagement, Page

_WITH_FILTER = "sort-with-filter"
_CREATED, _UPDATED, _NAMED = "sort-by-created-at", "sort-by-updated-at", "sort-by-name"


# Order


def _keyed(identifier: str, says: str, sort: str, key: Callable[[Engagement], Any], *breaks: str) -> Fault:
    """A list that compares something else, where it is sorted by one field."""

    def find(service: Service, query: EngagementQuery) -> Page[Engagement]:
        if query.sort != sort:
            return Service.find_engagements(service, query)
        return cut(query, tuple(sorted(whole(service, query), key=key, reverse=query.descending)))

    return finding(identifier, says, find, *breaks)


def _ascending(identifier: str, says: str, when: Callable[[Asked], bool], *breaks: str) -> Fault:
    return asking(
        identifier,
        says,
        lambda asked, query: replace(query, descending=False) if asked["sort"] and when(asked) else query,
        *breaks,
    )


ORDERS = (
    _keyed("sort-created-by-second", "by createdAt compares whole seconds", "createdAt",
           lambda item: (item.created_at // 1000, -item.created_at % 1000), _CREATED, "sort-descending-by-default"),
    _keyed("sort-created-by-id", "by createdAt compares identifiers", "createdAt", attrgetter("id"), _CREATED),
    _keyed("sort-name-by-end", "by name compares names from their end", "name", lambda item: item.name[::-1], _NAMED,
           _WITH_FILTER),
    _keyed("sort-name-by-id", "by name compares identifiers", "name", attrgetter("id"), _NAMED, _WITH_FILTER),
    _keyed("sort-name-by-description", "by name compares descriptions", "name",
           lambda item: (item.description or "", item.id), _NAMED, _WITH_FILTER),
    _keyed("sort-updated-ignores-archive", "by updatedAt compares the time of creation of archived ones", "updatedAt",
           lambda item: item.created_at if item.status == "archived" else item.updated_at, _UPDATED, _WITH_FILTER),
    _keyed("sort-updated-archived-only", "by updatedAt compares the time of creation of active ones", "updatedAt",
           lambda item: item.updated_at if item.status == "archived" else item.created_at, _UPDATED),
    _keyed("sort-updated-as-text-of-day", "by updatedAt compares the time of day in minutes", "updatedAt",
           lambda item: (item.updated_at // 60_000, -item.created_at), _UPDATED),
    _ascending("sort-created-ascending-by-default", "by createdAt is ascending where no order is given",
               lambda asked: asked["sort"] == "createdAt" and not asked["order"], "sort-descending-by-default"),
    _ascending("sort-updated-ascending-by-default", "by updatedAt is ascending where no order is given",
               lambda asked: asked["sort"] == "updatedAt" and not asked["order"], "sort-descending-by-default"),
    _ascending("filtered-ascending-by-default", "with a filter is ascending where no order is given",
               lambda asked: bool(asked["status"]) and not asked["order"], "sort-descending-by-default", _WITH_FILTER),
    _ascending("order-desc-forgotten-with-filter", "with a filter is ascending although desc is asked for",
               lambda asked: bool(asked["status"]) and asked["order"] == "desc", _WITH_FILTER, _CREATED, _UPDATED),
    _ascending("order-desc-forgotten-on-page-two", "is ascending on page 2 although desc is asked for",
               lambda asked: asked["page"] > 1 and asked["order"] == "desc", _CREATED, _UPDATED, _NAMED),
)  # fmt: skip
