"""Faults of the items of the two lists: filters, totals, and pages that are filtered."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.reference.queries import EngagementQuery
from conformance.reference.records import Page

from .changes import set_fields
from .conditions import asks
from .mutations import Method, Mutation, before, fault, flat, override
from .operations import LIST, LIST_MEMBERS
from .pages import cut, from_item_before, page, page_of_members, past_item, query, query_of_members, whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.records import Engagement, Organization
    from conformance.reference.service import Service

    from .situations import Situation

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

PAGES = (
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
              each for each in whole(find, replace(asked, role=None)) if each.role in {"admin", "owner"}))), _BY_ROLE),
    fault("role-filtered-after-paging", "The list of members is cut into pages before it is filtered.",
          _filters_after_paging("role", page_of_members), _BY_ROLE),
    fault("role-filter-ends-at-20", "The list of members ends at the 20th member if it is filtered.",
          page_of_members(lambda find, asked: cut(asked, whole(find, asked)[:_DEFAULT_SIZE])
                          if asked.role else find(asked)), _BY_ROLE),
    fault("owner-unlisted", "The list of members omits owners unless it is filtered by owner.",
          page_of_members(lambda find, asked: cut(asked, tuple(
              each for each in whole(find, asked) if each.role != "owner" or asked.role == "owner"))),
          "member-count-agrees", _BY_ROLE),
)  # fmt: skip
