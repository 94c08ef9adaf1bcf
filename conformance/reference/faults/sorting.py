"""Faults of the order of the engagement list."""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from .changes import set_fields
from .conditions import all_of, asks, sends
from .mutations import Method, Mutation, fault, flat
from .pages import page, query, reordered, whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.queries import EngagementQuery
    from conformance.reference.records import Engagement, Page

    from .situations import Condition, Situation

_SORTS = {"createdAt": "sort-by-created-at", "updatedAt": "sort-by-updated-at", "name": "sort-by-name"}
_ALL = tuple(_SORTS.values())
_BY_CREATION, _BY_CHANGE, _BY_NAME = _ALL
_FILTERED, _BY_DEFAULT, _TOTAL = "sort-with-filter", "sort-descending-by-default", "list-engagements-total"


def _reversed(when: Condition) -> Mutation:
    return query(lambda asked: replace(asked, descending=not asked.descending), when)


def _on_later_page(sort: str) -> Condition:
    return lambda at: at.values["sort"] == sort and at.values["page"] > 1


def _sorted_by(sort: str, find: Method) -> Mutation:
    """Show another page if the list is sorted by a field."""
    return page(lambda honest, asked: find(honest, asked) if asked.sort == sort else honest(asked))


def _compares(sort: str, key: Callable[[Engagement], Any]) -> Mutation:
    """Compare something else if the list is sorted by a field."""
    return _sorted_by(sort, reordered(lambda items, asked: sorted(items, key=key, reverse=asked.descending)))


def _order_first(at: Situation) -> bool:
    names = [name for name, _ in at.query.multi_items() if name in {"order", "sort"}]
    return names[:1] == ["order"] and "sort" in names


def _page_by_page(find: Method, asked: EngagementQuery) -> Page[Engagement]:
    """Cut pages in the order of creation and sort each by itself."""
    unsorted: Page[Engagement] = find(replace(asked, sort="createdAt", descending=False))
    return replace(unsorted, items=tuple(item for item in whole(find, asked) if item in unsorted.items))


def _first_twenty(find: Method, asked: EngagementQuery) -> Page[Engagement]:
    """Sort the first 20 only."""
    otherwise = asked.sort == "createdAt" and not asked.descending
    unsorted = whole(find, replace(asked, sort="createdAt", descending=otherwise))
    rearranged = reordered(lambda items, _: (*items[:20], *(item for item in unsorted if item in items[20:])))
    return rearranged(find, asked)


def _by_beginning(find: Method, asked: EngagementQuery) -> Page[Engagement]:
    """Compare only the first ten characters of names, and show equal ones in the order of creation."""
    rearranged = reordered(lambda items, _: sorted(items, key=lambda item: item.name[:10], reverse=asked.descending))
    return rearranged(find, replace(asked, sort="createdAt"))


def _counting_active(find: Method, asked: EngagementQuery) -> Page[Engagement]:
    found: Page[Engagement] = find(asked)
    if asked.sort == "createdAt" or asked.status is not None:
        return found
    return replace(found, total=find(replace(asked, status="active")).total)


PARAMETERS = flat(
    (fault(f"sort-{key.lower()}-by-{other.lower()}",
           f"The list of engagements is sorted by {other} instead of {key}.",
           query(set_fields(sort=other), asks(sort=key)), _SORTS[key])
     for key in _SORTS for other in _SORTS if other != key),
    (fault(f"sort-{key.lower()}-{order}-reversed", f"The list of engagements by {key} {order} is in reverse order.",
           _reversed(asks(sort=key, order=order)), _SORTS[key])
     for key in _SORTS for order in ("asc", "desc")),
    (fault(f"sort-{key.lower()}-lost-on-second-page",
           f"The list of engagements by {key} is in reverse order from the second page on.",
           _reversed(_on_later_page(key)), _SORTS[key], "list-engagements-pages-partition")
     for key in _SORTS),
    (fault(f"turned-{label}", f"The list of engagements is in reverse order if {words}.",
           _reversed(asks(**values)), broken)
     for label, words, values, broken in (
        ("active-by-name-descending", "it is filtered by active and sorted by name, descending",
         {"status": "active", "sort": "name", "order": "desc"}, _FILTERED),
        ("active-by-name-by-default", "it is filtered by active and sorted by name, without an order",
         {"status": "active", "sort": "name", "order": None}, _FILTERED),
        ("active-by-change", "it is filtered by active and sorted by updatedAt, descending",
         {"status": "active", "sort": "updatedAt", "order": "desc"}, _BY_CHANGE),
        ("active-by-creation", "it is filtered by active and sorted by createdAt, ascending",
         {"status": "active", "sort": "createdAt", "order": "asc"}, _BY_CREATION),
        ("by-name-of-100", "it is sorted by name, ascending, with a perPage of 100",
         {"perPage": 100, "sort": "name", "order": "asc"}, _BY_NAME),
        ("by-change-of-100", "it is sorted by updatedAt, ascending, with a perPage of 100",
         {"perPage": 100, "sort": "updatedAt", "order": "asc"}, _BY_CHANGE))),
    fault("sort-ignored", "The list of engagements ignores sort.",
          query(set_fields(sort="createdAt")), _BY_CHANGE, _BY_NAME, _FILTERED),
    fault("order-ignored", "The list of engagements ignores order.",
          query(set_fields(descending=True)), *_ALL, _FILTERED),
    fault("order-always-ascending", "The list of engagements is always in ascending order.",
          query(set_fields(descending=False)), *_ALL, _BY_DEFAULT, _FILTERED),
    (fault(identifier, f"The list of engagements {words}.", query(set_fields(descending=False), when), *breaks)
     for identifier, words, when, *breaks in (
        ("sort-ascending-by-default", "is ascending if no order is requested",
         lambda at: at.values["sort"] and not at.values["order"], _BY_DEFAULT),
        ("sort-name-ascending-by-default", "by name is ascending if no order is requested",
         asks(sort="name", order=None), _BY_DEFAULT),
        ("sort-created-ascending-by-default", "by createdAt is ascending if no order is requested",
         asks(sort="createdAt", order=None), _BY_DEFAULT),
        ("sort-updated-ascending-by-default", "by updatedAt is ascending if no order is requested",
         asks(sort="updatedAt", order=None), _BY_DEFAULT),
        ("filtered-ascending-by-default", "with a filter is ascending if no order is requested",
         lambda at: at.values["sort"] and at.values["status"] and not at.values["order"], _BY_DEFAULT, _FILTERED),
        ("order-desc-forgotten-with-filter", "with a filter is ascending although desc is requested",
         lambda at: at.values["sort"] and at.values["status"] and at.values["order"] == "desc",
         _FILTERED, _BY_CREATION, _BY_CHANGE),
        ("order-desc-forgotten-on-page-two", "is ascending from page 2 on although desc is requested",
         lambda at: at.values["sort"] and at.values["page"] > 1 and at.values["order"] == "desc",
         _BY_CHANGE, _BY_CREATION, _BY_NAME))),
)  # fmt: skip

COMPARISONS = tuple(
    fault(identifier, f"The list of engagements by {sort} {words}.", _compares(sort, key), *breaks)
    for identifier, sort, words, key, *breaks in (
        ("sort-created-by-second", "createdAt", "compares only whole seconds",
         lambda item: (item.created_at // 1000, -item.created_at % 1000), _BY_CREATION, _BY_DEFAULT),
        ("sort-created-by-id", "createdAt", "compares identifiers", attrgetter("id"), _BY_CREATION, _BY_DEFAULT),
        ("sort-name-by-end", "name", "compares names from their end", lambda item: item.name[::-1],
         _BY_NAME, _FILTERED),
        ("sort-name-by-id", "name", "compares identifiers", attrgetter("id"), _BY_NAME, _FILTERED),
        ("sort-name-by-description", "name", "compares descriptions",
         lambda item: (item.description or "", item.id), _BY_NAME, _FILTERED),
        ("sort-name-by-length", "name", "puts short names first",
         lambda item: (len(item.name), item.name), _BY_NAME, _FILTERED),
        ("sort-updated-ignores-archive", "updatedAt", "compares createdAt for archived engagements",
         lambda item: item.created_at if item.status == "archived" else item.updated_at, _BY_CHANGE, _FILTERED),
        ("sort-updated-archived-only", "updatedAt", "compares createdAt for active engagements",
         lambda item: item.updated_at if item.status == "archived" else item.created_at, _BY_CHANGE),
        ("sort-updated-as-text-of-day", "updatedAt", "compares only whole minutes",
         lambda item: (item.updated_at // 60_000, -item.created_at), _BY_CHANGE))
)  # fmt: skip

ARRANGEMENTS = (
    fault("sort-page-by-page", "The list of engagements is sorted only within each page.",
          page(_page_by_page), _BY_CHANGE, _BY_NAME, _BY_CREATION, _FILTERED),
    fault("sort-name-page-by-page", "The list of engagements by name is sorted only within each page.",
          _sorted_by("name", _page_by_page), _BY_NAME, _FILTERED),
    fault("sort-first-twenty-only", "The list of engagements is sorted only up to the 20th item.",
          page(_first_twenty), *_ALL, _FILTERED),
    fault("sort-name-by-beginning", "The list of engagements by name compares only the first ten characters.",
          _sorted_by("name", _by_beginning), _BY_NAME, _FILTERED),
    fault("sort-name-ties-by-page",
          "The list of engagements by name reverses the order of equal names on every second page.",
          query(lambda asked: replace(asked, ties=("oldest", "newest")[asked.offset // asked.limit % 2]),
                asks(sort="name")), "list-engagements-pages-partition"),
    fault("sort-last-swapped", "The list of engagements has its last two items swapped.",
          page(reordered(lambda items, _: (*items[:-2], *items[-2:][::-1]))), *_ALL, _FILTERED),
    fault("order-before-sort-ignored", "The parameter order is ignored if it precedes sort in the query.",
          query(set_fields(descending=True), all_of(sends("order", "sort"), _order_first)), *_ALL, "sort-with-filter"),
    fault("sort-archived-last", "The list of engagements has archived engagements at the end, whatever the order.",
          page(reordered(lambda items, _: sorted(items, key=lambda item: item.status == "archived"))), *_ALL),
    fault("sorted-total-of-active-only",
          "The total of engagements counts only active ones if the list is not sorted by createdAt.",
          page(_counting_active), _TOTAL, "list-past-the-end"),
)  # fmt: skip
