"""Faults of the items of the two lists, and of the order of the engagement list."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from conformance.reference.queries import EngagementQuery
from conformance.reference.records import Page

from .changes import (
    cut,
    from_item_before,
    page,
    page_of_members,
    past_item,
    query,
    query_of_members,
    reordered,
    set_fields,
    whole,
)
from .conditions import all_of, asks, sends
from .mutations import Method, Mutation, before, fault, flat, override, wrap
from .operations import LIST, LIST_MEMBERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.records import Engagement, Organization
    from conformance.reference.service import Service

    from .situations import Condition, Situation


_BY_STATUS, _BY_ROLE, _WITH_FILTER = "list-engagements-status-filter", "list-members-role-filter", "sort-with-filter"
_BY_NAME, _CREATED, _UPDATED = "sort-by-name", "sort-by-created-at", "sort-by-updated-at"
_COUNTS, _TOTAL, _LENGTH = "list-engagements-filter-counts", "list-engagements-total", "list-engagements-page-length"
_PARTITION, _DEFAULTS = "list-engagements-pages-partition", "list-engagements-defaults"
_PAST_THE_END = "list-past-the-end"
_COMPLETE, _AGREES = "list-engagements-complete", "engagement-count-agrees"
_FILTER = (_BY_STATUS, _COUNTS)
_FILTER_AND_SORT = (*_FILTER, _WITH_FILTER)
_DEFAULT_SIZE = 20
_OTHER_STATUS = {"active": "archived", "archived": "active"}


def _filtered(at: Situation) -> bool:
    return at.values["status"] is not None


def _counts(count: Callable[[Any, Any, Page[Any]], int], of: Callable[..., Mutation] = page) -> Mutation:
    """Return another total; ``count`` gets the honest method, the query and the honest page."""

    def find(honest: Method, asked: object) -> Page[Any]:
        shown = honest(asked)
        return replace(shown, total=count(honest, asked, shown))

    return of(find)


def _filters_after_paging(field: str, of: Callable[..., Mutation]) -> Mutation:
    """Cut a page out of all items and filter it then; the total is right."""

    def find(honest: Method, asked: Any) -> Page[Any]:  # noqa: ANN401 - a query of either list
        wanted, shown = getattr(asked, field), honest(replace(asked, **{field: None})).items
        kept = tuple(item for item in shown if wanted in {None, getattr(item, field)})
        return Page(kept, honest(asked).total)

    return of(find)


def _count_active(service: Service, organization: Organization) -> int:
    return service.store.engagements(EngagementQuery(organization.id, 0, 1, status="active")).total


def _archived_if_any(find: Method, asked: EngagementQuery) -> Page[Engagement]:
    shown: Page[Engagement] = find(replace(asked, status=asked.status or "archived"))
    return shown if shown.total else cut(asked, whole(find, asked))


def _size_with(operation: str, parameter: str, size: int) -> Mutation:
    """Return pages of another size if a parameter is sent and ``perPage`` is not."""
    return before(operation, lambda at: at.values.update(perPage=size),
                  lambda at: parameter in at.query and "perPage" not in at.query)  # fmt: skip


FILTERS = flat(
    *(fault(name, f"The list of engagements {says}.", query(set_fields(status=None), when), *breaks)
      for name, says, when, breaks in (
        ("status-filter-ignored", "ignores its status filter", _filtered, _FILTER),
        ("status-filter-ignored-on-second-page", "ignores its status filter from the second page on",
         lambda at: at.values["page"] > 1, _FILTER),
        ("status-filter-active-only", "ignores the filter archived",
         asks(status="archived"), _FILTER),
        ("status-filter-archived-only", "ignores the filter active",
         asks(status="active"), _FILTER),
        ("archived-among-active", "also shows archived engagements if it is filtered by active", asks(status="active"),
         _FILTER),
        ("filter-forgotten-with-order", "ignores its status filter if an order is requested",
         lambda at: at.values["order"], _FILTER_AND_SORT),
        ("filter-forgotten-sorted-by-update", "ignores its status filter if it is sorted by updatedAt",
         asks(sort="updatedAt"), _FILTER_AND_SORT),
        ("filter-forgotten-sorted-by-creation", "ignores its status filter if it is sorted by createdAt",
         asks(sort="createdAt"), _FILTER_AND_SORT),
        ("filter-forgotten-without-sort", "ignores its status filter if no sort is requested", asks(sort=None),
         _FILTER),
        ("filter-forgotten-on-small-pages", "ignores its status filter if perPage is below 20",
         lambda at: at.values["perPage"] < _DEFAULT_SIZE, _FILTER_AND_SORT),
        ("status-ignored-without-size", "ignores its status filter if perPage is not sent",
         asks(perPage=_DEFAULT_SIZE), (_BY_STATUS, _WITH_FILTER)))),
    fault("sort-kills-status-filter", "The list of engagements ignores its status filter if it is sorted by name.",
          query(lambda asked: replace(asked, status=None) if asked.sort == "name" else asked), _WITH_FILTER, *_FILTER),
    fault("status-filter-inverted",
          "The list of engagements shows archived engagements for active, and active ones for archived.",
          query(lambda asked: replace(asked, status=_OTHER_STATUS[asked.status]), _filtered), *_FILTER),
    fault("status-archived-finds-none", "The list of engagements is empty if it is filtered by archived.",
          page(lambda find, asked: Page((), 0) if asked.status == "archived" else find(asked)), *_FILTER),
    fault("status-archived-needs-active-ones",
          "The list of engagements is empty if it is filtered by archived and none is active.",
          page(lambda find, asked: Page((), 0) if asked.status == "archived" and not find(
              replace(asked, status="active", offset=0)).total else find(asked)), _COUNTS),
    fault("status-filter-after-paging",
          "The list of engagements is cut into pages before it is filtered.",
          _filters_after_paging("status", page), _BY_STATUS, _LENGTH),
    fault("archived-unlisted",
          "Archived engagements are listed only with the filter archived, and not counted by the organization.",
          query(set_fields(status="active"), asks(status=None)) | override(count_engagements=_count_active),
          "archived-listed", _COMPLETE),
    fault("archived-uncounted", "engagementCount includes only active engagements.",
          override(count_engagements=_count_active), _AGREES),
    fault("active-after-archived-only",
          "The list of engagements without a filter shows only archived ones, if there are any.",
          page(_archived_if_any), _COMPLETE, "create-engagement-listed"),
)  # fmt: skip

FILTERED_ORDER = (
    fault("filter-reverses-order", "The list of engagements is in reverse order if it is filtered.",
          query(lambda asked: replace(asked, descending=not asked.descending), _filtered),
          _WITH_FILTER, _CREATED, _UPDATED),
    fault("status-filter-kills-sort", "The list of engagements ignores its order if it is filtered.",
          query(set_fields(sort="createdAt", descending=True), _filtered), _WITH_FILTER),
    *(fault(f"filter-{status}-forgets-order",
            f"The list of engagements is in order of creation if it is filtered by {status}.",
            query(set_fields(sort="createdAt"), asks(status=status)), *breaks) for status, breaks in (
        ("archived", (_WITH_FILTER, _UPDATED)),
        ("active", (_WITH_FILTER,)))),
    fault("filter-archived-forgets-ascending",
          "The list of engagements by createdAt is always descending if it is filtered by archived.",
          query(set_fields(descending=True), asks(status="archived", sort="createdAt")), _WITH_FILTER, _CREATED),
    fault("sort-ignored-without-size", "The list of engagements ignores its order if perPage is not sent.",
          query(set_fields(sort="createdAt"), asks(perPage=_DEFAULT_SIZE)), _WITH_FILTER, _UPDATED, _BY_NAME,
          "sort-descending-by-default"),
)  # fmt: skip


def _count_record(service: Service, honest: Method, engagement_id: str, kind: str) -> object:
    service.memory.setdefault("records", Counter())[engagement_id] += 1
    return honest(engagement_id, kind)


def _once_per_record(service: Service, honest: Method, asked: EngagementQuery) -> Page[Engagement]:
    records = service.memory.get("records", {})
    items = [copy for item in whole(honest, asked) for copy in [item] * max(records.get(item.id, 0), 1)]
    return cut(asked, tuple(items))


PAGES = (
    fault("listed-once-per-record",
          "An engagement with several subordinate records is listed and counted in the total once for each.",
          wrap("add_subordinate", _count_record) | wrap("find_engagements", _once_per_record),
          "list-engagements-pages-partition", "list-engagements-total", "engagement-count-agrees"),
    fault("second-page-repeats", "Each page of engagements begins with the last item of the previous page.",
          query(from_item_before), _PARTITION, _PAST_THE_END),
    fault("archived-pages-overlap", "Each page of engagements begins with the last item of the previous page"
          " if they are filtered by archived.", query(from_item_before, asks(status="archived")), _BY_STATUS),
    fault("archived-pages-skip",
          "The list of engagements skips an item between two pages if it is filtered by archived.",
          query(past_item, asks(status="archived")), _BY_STATUS),
    fault("filtered-pages-skip", "The list of engagements skips an item between two pages if it is filtered.",
          query(past_item, _filtered), _BY_STATUS, _WITH_FILTER),
    fault("filter-forgets-page", "The list of engagements gives the first page for every page if it is filtered.",
          query(set_fields(offset=0), _filtered), _BY_STATUS, _WITH_FILTER),
    fault("offset-of-20-by-name",
          "The list of engagements by name begins page 2 after item 20, whatever perPage says.",
          query(lambda asked: replace(asked, offset=asked.offset // asked.limit * 20), asks(sort="name")),
          _PARTITION, _LENGTH, _BY_NAME, _WITH_FILTER),
    fault("page-alone-ignored", "Page 2 of engagements repeats page 1 if perPage is not sent.",
          query(set_fields(offset=0), lambda at: "perPage" not in at.query and at.query.get("page") == "2"),
          _PARTITION, _UPDATED, _WITH_FILTER),
    fault("ten-a-page-by-status", "The list of engagements has 10 items per page by default if it is filtered.",
          _size_with(LIST, "status", 10), _DEFAULTS),
    fault("fifty-a-page-in-order", "The list of engagements has 50 items per page by default if it is sorted.",
          _size_with(LIST, "sort", 50), _DEFAULTS),
    fault("ten-a-page-by-role", "The list of members has 10 items per page by default if it is filtered.",
          _size_with(LIST_MEMBERS, "role", 10), "list-members-defaults"),
)  # fmt: skip

TOTALS = (
    fault("total-pages-too-many", "totalPages is one too high if the last page is full.",
          override(total_pages=lambda _, total, per_page: total // per_page + 1),
          "list-engagements-total-pages", "list-members-total-pages"),
    fault("total-so-far", "total counts only the engagements up to the end of the page.",
          _counts(lambda _, asked, shown: min(shown.total, asked.offset + len(shown.items))), _TOTAL, _LENGTH),
    fault("total-capped-at-20", "The total of engagements is never above 20.",
          _counts(lambda _, __, shown: min(shown.total, 20)), _TOTAL, _AGREES, _PAST_THE_END),
    fault("archived-not-in-total",
          "The total of engagements omits archived ones if no status is requested.",
          _counts(lambda find, asked, _: find(replace(asked, status=asked.status or "active")).total),
          _TOTAL, _AGREES, _PAST_THE_END),
    fault("filtered-total-too-high", "The total of engagements is one too high if the list is filtered.",
          _counts(lambda _, asked, shown: shown.total + (1 if asked.status else 0)), _COUNTS, _BY_STATUS),
    fault("status-filter-counts-one-less",
          "The total of engagements is one too low if the list is filtered and another page follows.",
          _counts(lambda _, asked, shown:
                  shown.total - (1 if asked.status and shown.total > asked.offset + asked.limit else 0)),
          _COUNTS, _BY_STATUS),
    fault("status-filter-counts-all", "The total of engagements ignores the filter.",
          _counts(lambda find, asked, _: find(replace(asked, status=None)).total), _COUNTS, _LENGTH, _BY_STATUS),
    fault("filter-without-hits-counts-all", "The total of engagements counts all of them if none matches the filter.",
          _counts(lambda find, asked, shown: shown.total or find(replace(asked, status=None)).total), _COUNTS),
    fault("role-filter-counts-all", "The total of members ignores the filter.",
          _counts(lambda find, asked, _: find(replace(asked, role=None)).total, page_of_members),
          _BY_ROLE, "list-members-page-length"),
)  # fmt: skip

MEMBERS = (
    fault("role-filter-ignored", "The list of members ignores its role filter.",
          query_of_members(set_fields(role=None)), _BY_ROLE),
    fault("role-filter-ignored-on-second-page", "The list of members ignores its role filter from the second page on.",
          query_of_members(set_fields(role=None), lambda at: at.values["page"] > 1), _BY_ROLE),
    fault("role-filter-member-finds-none", "The list of members is empty if it is filtered by member.",
          page_of_members(lambda find, asked: Page((), 0) if asked.role == "member" else find(asked)), _BY_ROLE),
    fault("role-filter-admin-includes-owner", "The list of members also shows owners if it is filtered by admin.",
          page_of_members(lambda find, asked: find(asked) if asked.role != "admin" else cut(asked, tuple(
              member for member in whole(find, replace(asked, role=None))
              if member.role in {"admin", "owner"}))), _BY_ROLE),
    fault("role-filtered-after-paging", "The list of members is cut into pages before it is filtered.",
          _filters_after_paging("role", page_of_members), _BY_ROLE),
    fault("role-filter-ends-at-20", "The list of members ends at the 20th member if it is filtered.",
          page_of_members(lambda find, asked: cut(asked, whole(find, asked)[:_DEFAULT_SIZE])
                          if asked.role else find(asked)), _BY_ROLE),
    fault("owner-unlisted", "The list of members omits owners unless it is filtered by owner.",
          page_of_members(lambda find, asked: cut(asked, tuple(
              member for member in whole(find, asked) if member.role != "owner" or asked.role == "owner"))),
          "member-count-agrees", _BY_ROLE),
)  # fmt: skip


_SORTS = {"createdAt": _CREATED, "updatedAt": _UPDATED, "name": _BY_NAME}
_ALL = tuple(_SORTS.values())
_BY_DEFAULT = "sort-descending-by-default"


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


def _take_last_order(at: Situation) -> None:
    orders = at.remembered("orders", {})
    if at.values["order"]:
        orders[at.context.key.digest] = at.values["order"]
    elif at.values["sort"]:
        at.values["order"] = orders.get(at.context.key.digest)


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
         {"status": "active", "sort": "name", "order": "desc"}, _WITH_FILTER),
        ("active-by-name-by-default", "it is filtered by active and sorted by name, without an order",
         {"status": "active", "sort": "name", "order": None}, _WITH_FILTER),
        ("active-by-change", "it is filtered by active and sorted by updatedAt, descending",
         {"status": "active", "sort": "updatedAt", "order": "desc"}, _UPDATED),
        ("active-by-creation", "it is filtered by active and sorted by createdAt, ascending",
         {"status": "active", "sort": "createdAt", "order": "asc"}, _CREATED),
        ("by-name-of-100", "it is sorted by name, ascending, with a perPage of 100",
         {"perPage": 100, "sort": "name", "order": "asc"}, _BY_NAME),
        ("by-change-of-100", "it is sorted by updatedAt, ascending, with a perPage of 100",
         {"perPage": 100, "sort": "updatedAt", "order": "asc"}, _UPDATED))),
    fault("sort-ignored", "The list of engagements ignores sort.",
          query(set_fields(sort="createdAt")), _UPDATED, _BY_NAME, _WITH_FILTER),
    fault("order-ignored", "The list of engagements ignores order.",
          query(set_fields(descending=True)), *_ALL, _WITH_FILTER),
    fault("order-always-ascending", "The list of engagements is always in ascending order.",
          query(set_fields(descending=False)), *_ALL, _BY_DEFAULT, _WITH_FILTER),
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
         lambda at: at.values["sort"] and at.values["status"] and not at.values["order"], _BY_DEFAULT, _WITH_FILTER),
        ("order-desc-forgotten-with-filter", "with a filter is ascending although desc is requested",
         lambda at: at.values["sort"] and at.values["status"] and at.values["order"] == "desc",
         _WITH_FILTER, _CREATED, _UPDATED),
        ("order-desc-forgotten-on-page-two", "is ascending from page 2 on although desc is requested",
         lambda at: at.values["sort"] and at.values["page"] > 1 and at.values["order"] == "desc",
         _UPDATED, _CREATED, _BY_NAME))),
    fault("order-remembered-per-key",
          "A sorted list of engagements without an order has the order that the same key requested last.",
          before(LIST, _take_last_order), _BY_DEFAULT),
)  # fmt: skip

COMPARISONS = tuple(
    fault(identifier, f"The list of engagements by {sort} {words}.", _compares(sort, key), *breaks)
    for identifier, sort, words, key, *breaks in (
        ("sort-created-by-second", "createdAt", "compares only whole seconds",
         lambda item: (item.created_at // 1000, -item.created_at % 1000), _CREATED, _BY_DEFAULT),
        ("sort-created-by-id", "createdAt", "compares identifiers", attrgetter("id"), _CREATED, _BY_DEFAULT),
        ("sort-name-by-end", "name", "compares names from their end", lambda item: item.name[::-1],
         _BY_NAME, _WITH_FILTER),
        ("sort-name-by-id", "name", "compares identifiers", attrgetter("id"), _BY_NAME, _WITH_FILTER),
        ("sort-name-by-description", "name", "compares descriptions",
         lambda item: (item.description or "", item.id), _BY_NAME, _WITH_FILTER),
        ("sort-name-by-length", "name", "puts short names first",
         lambda item: (len(item.name), item.name), _BY_NAME, _WITH_FILTER),
        ("sort-updated-ignores-archive", "updatedAt", "compares createdAt for archived engagements",
         lambda item: item.created_at if item.status == "archived" else item.updated_at, _UPDATED, _WITH_FILTER),
        ("sort-created-by-archive", "createdAt", "compares updatedAt for archived engagements",
         lambda item: item.updated_at if item.status == "archived" else item.created_at, _CREATED, _WITH_FILTER),
        ("sort-updated-archived-only", "updatedAt", "compares createdAt for active engagements",
         lambda item: item.updated_at if item.status == "archived" else item.created_at, _UPDATED),
        ("sort-updated-as-text-of-day", "updatedAt", "compares only whole minutes",
         lambda item: (item.updated_at // 60_000, -item.created_at), _UPDATED))
)  # fmt: skip

ARRANGEMENTS = (
    fault("sort-page-by-page", "The list of engagements is sorted only within each page.",
          page(_page_by_page), _UPDATED, _BY_NAME, _CREATED, _WITH_FILTER),
    fault("sort-name-page-by-page", "The list of engagements by name is sorted only within each page.",
          _sorted_by("name", _page_by_page), _BY_NAME, _WITH_FILTER),
    fault("sort-first-twenty-only", "The list of engagements is sorted only up to the 20th item.",
          page(_first_twenty), *_ALL, _WITH_FILTER),
    fault("sort-name-by-beginning", "The list of engagements by name compares only the first ten characters.",
          _sorted_by("name", _by_beginning), _BY_NAME, _WITH_FILTER),
    fault("sort-name-ties-by-page",
          "The list of engagements by name reverses the order of equal names on every second page.",
          query(lambda asked: replace(asked, ties=("oldest", "newest")[asked.offset // asked.limit % 2]),
                asks(sort="name")), "list-engagements-pages-partition"),
    fault("sort-last-swapped", "The list of engagements has its last two items swapped.",
          page(reordered(lambda items, _: (*items[:-2], *items[-2:][::-1]))), *_ALL, _WITH_FILTER),
    fault("order-before-sort-ignored", "The parameter order is ignored if it precedes sort in the query.",
          query(set_fields(descending=True), all_of(sends("order", "sort"), _order_first)), *_ALL, "sort-with-filter"),
    fault("sort-archived-last", "The list of engagements has archived engagements at the end, whatever the order.",
          page(reordered(lambda items, _: sorted(items, key=lambda item: item.status == "archived"))), *_ALL),
    fault("sorted-total-of-active-only",
          "The total of engagements counts only active ones if the list is not sorted by createdAt.",
          page(_counting_active), _TOTAL, "list-past-the-end"),
)  # fmt: skip
