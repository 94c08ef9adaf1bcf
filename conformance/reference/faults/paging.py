"""Faults of the pages of both lists: parameters, items and meta."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any
from zlib import crc32

from .changes import (
    content,
    data,
    from_item_before,
    page,
    page_of_members,
    past_item,
    query,
    query_of_members,
    reordered,
    reply,
    set_fields,
)
from .conditions import always, asks
from .mutations import Method, Mutation, before, fault, flat, instead, override, refuse_valid

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.records import Page
    from conformance.reference.request_context import Reply
    from conformance.reference.views import View

    from .situations import Condition, Situation

_LISTS = {"engagements": "listEngagements", "members": "listMembers"}
_SHOW: dict[str, Callable[[Method], Mutation]] = {"engagements": page, "members": page_of_members}
_LENGTH, _PARTITION = "list-engagements-page-length", "list-engagements-pages-partition"
_TOTAL_PAGES, _PAST_THE_END = "list-engagements-total-pages", "list-past-the-end"
_SERVED, _HONOURED = "list-engagements-succeeds", "list-engagements-paging-honoured"
_MEMBERS_SERVED, _MEMBERS_HONOURED = "list-members-succeeds", "list-members-paging-honoured"
_MEMBERS_PARTITION, _MEMBERS_TOTAL = "list-members-pages-partition", "list-members-total"
_SECOND, _TENTH, _DEFAULT, _HALF = 2, 10, 20, 50


def _pages(total: int, size: int) -> int:
    return -(-total // size)


def _meta(items: str, change: Callable[[View, int], View]) -> Mutation:
    """Replace members of meta; ``change`` gets meta and the number of items of the page."""
    return content(_LISTS[items], lambda shown: {
        **shown, "meta": {**shown["meta"], **change(shown["meta"], len(shown["data"]))}})  # fmt: skip


def _repeats(name: str) -> Mutation:
    """Show a parameter in meta as it was sent."""

    def repeat(at: Situation) -> Reply:
        at.reply_so_far.content["meta"][name] = at.query[name]
        return at.reply_so_far

    return reply("*", repeat, lambda at: "meta" in at.reply_so_far.content and name in at.query)


def _takes(items: str, when: Condition, **values: int) -> Mutation:
    """Process other values of page and perPage than those of the request."""
    return before(_LISTS[items], lambda at: at.values.update(values), when)


def _last_lost(find: Method, asked: Any) -> Page[Any]:  # noqa: ANN401 - a query
    found: Page[Any] = find(asked)
    return replace(found, items=found.items[: found.total - 1 - asked.offset]) if asked.offset else found


def _empty_if_single(find: Method, asked: Any) -> Page[Any]:  # noqa: ANN401 - a query
    found: Page[Any] = find(asked)
    return found if found.total != asked.limit else replace(found, items=())


def _sevenths_lost(find: Method, asked: Any) -> Page[Any]:  # noqa: ANN401 - a query
    found: Page[Any] = find(asked)
    ends = {asked.offset + 1, asked.offset + asked.limit}
    kept = (item for rank, item in enumerate(found.items, asked.offset + 1) if rank % 7 or rank not in ends)
    return replace(found, items=tuple(kept))


def _mixed() -> Callable[[Method, Any], Page[Any]]:
    """Put the list in another order for each response of the process."""
    responses = count()

    def order(items: tuple[Any, ...], _: object) -> list[Any]:
        response = next(responses)
        return sorted(items, key=lambda item: crc32(f"{response} {item}".encode()))

    return reordered(order)


_MIXED = _mixed()


def _mixed_engagements(at: Situation) -> Reply:
    found = _MIXED(at.service.find_engagements, at.service.engagement_query(at.context))
    return at.service.listed(at.context, map(at.service.view_item, found.items), found.total)


PARAMETERS = tuple(
    fault(f"list-{items}-{label}", f"The list of {items} {says}.", _takes(items, when, **values),
          f"list-{items}-{broken}")
    for items in _LISTS for label, says, when, values, broken in (
        ("perpage-ignored", "ignores perPage", lambda at: at.values["perPage"] < _DEFAULT, {"perPage": _DEFAULT},
         "paging-honoured"),
        ("perpage-capped", "has at most 50 items per page", lambda at: at.values["perPage"] > _HALF, {"perPage": _HALF},
         "paging-honoured"),
        ("page-ignored", "ignores page", always, {"page": 1}, "paging-honoured"),
        ("default-10", "has 10 items per page by default", lambda at: "perPage" not in at.query, {"perPage": 10},
         "defaults"),
        ("default-25", "has 25 items per page by default", lambda at: "perPage" not in at.query, {"perPage": 25},
         "defaults"),
        ("default-page-2", "gives page 2 by default", lambda at: "page" not in at.query, {"page": 2}, "defaults"))
)  # fmt: skip

UNSERVED = tuple(
    fault(identifier, f"The list of {items} refuses {words}.", refuse_valid(_LISTS[items], 400, when), *breaks)
    for items, identifier, words, when, *breaks in (
        ("engagements", "engagements-filtered-and-sorted-refused", "a filter together with a sort",
         lambda at: at.values["sort"] and at.values["status"], _SERVED, "sort-with-filter"),
        ("engagements", "engagements-ascending-refused", "ascending order", asks(order="asc"), _SERVED),
        ("engagements", "engagements-by-change-refused", "sorting by updatedAt", asks(sort="updatedAt"), _SERVED),
        ("engagements", "engagements-second-sorted-page-refused", "the second page of a sorted list",
         lambda at: at.values["sort"] and at.values["page"] == _SECOND, _HONOURED, _SERVED),
        ("engagements", "engagements-second-filtered-page-refused", "the second page of a filtered list",
         lambda at: at.values["status"] and at.values["page"] == _SECOND, _HONOURED, _SERVED),
        ("engagements", "engagements-order-without-sort-refused", "an order without a sort",
         lambda at: at.values["order"] and not at.values["sort"], _SERVED),
        ("engagements", "engagements-archived-refused", "the filter archived", asks(status="archived"), _SERVED),
        ("engagements", "per-page-100-refused", "a perPage of 100", asks(perPage=100), _SERVED, _HONOURED),
        ("engagements", "per-page-50-at-most", "a perPage above 50", lambda at: at.values["perPage"] > _HALF,
         _SERVED, _HONOURED),
        ("engagements", "per-page-one-refused", "a perPage of 1", asks(perPage=1), _SERVED, _HONOURED),
        ("engagements", "page-two-refused", "the second page", asks(page=2), _HONOURED, _SERVED),
        ("members", "members-admins-refused", "the filter admin", asks(role="admin"), _MEMBERS_SERVED),
        ("members", "members-second-filtered-page-refused", "the second page of a filtered list",
         lambda at: at.values["role"] and at.values["page"] == _SECOND, _MEMBERS_HONOURED, _MEMBERS_SERVED),
        ("members", "members-per-page-100-refused", "a perPage of 100", asks(perPage=100), _MEMBERS_SERVED,
         _MEMBERS_HONOURED),
        ("members", "members-page-two-refused", "the second page", asks(page=2), _MEMBERS_HONOURED, _MEMBERS_SERVED))
)  # fmt: skip

META = flat(
    (fault(f"list-{items}-{label}", f"The meta of the {items} {says}.", _meta(items, change), f"list-{items}-{broken}")
     for items in _LISTS for label, says, change, broken in (
        ("total-of-page", "gives the number of items on the page as total",
         lambda _, length: {"total": length, "totalPages": 1},
         "total"),
        ("total-pages-floor", "rounds totalPages down",
         lambda meta, _: {"totalPages": meta["total"] // meta["perPage"]}, "total-pages"),
        ("total-pages-is-total", "gives total as totalPages", lambda meta, _: {"totalPages": meta["total"]},
         "total-pages"),
        ("total-pages-one", "always has 1 as totalPages", lambda *_: {"totalPages": 1}, "total-pages"),
        ("page-from-zero", "counts pages from 0", lambda meta, _: {"page": meta["page"] - 1}, "paging-honoured"),
        ("page-always-one", "always has 1 as page", lambda *_: {"page": 1}, "paging-honoured"),
        ("perpage-always-default", "always has 20 as perPage",
         lambda meta, _: {"perPage": 20, "totalPages": _pages(meta["total"], 20)}, "paging-honoured"))),
    fault("list-engagements-total-grows", "The meta of the engagements has a total one higher from the second page on.",
          _meta("engagements", lambda meta, _: {"total": meta["total"] + (meta["page"] > 1)}),
          "list-engagements-total"),
    fault("list-members-total-too-high", "The meta of the members has a total one too high.",
          _meta("members", lambda meta, _: {
              "total": meta["total"] + 1, "totalPages": _pages(meta["total"] + 1, meta["perPage"])}), _MEMBERS_TOTAL,
          "list-members-role-filter"),
    fault("members-past-the-end-count-none", "A page of members past the end has 0 as total.",
          _meta("members", lambda _, length: {} if length else {"total": 0, "totalPages": 0}), _MEMBERS_TOTAL),
    fault("list-engagements-perpage-of-items",
          "The meta of the engagements gives the number of items on the page as perPage.",
          _meta("engagements", lambda meta, length: {"perPage": length or meta["perPage"],
              "totalPages": _pages(meta["total"], length or meta["perPage"])}), _HONOURED),
    fault("list-engagements-total-pages-remaining",
          "The meta of the engagements gives the number of remaining pages as totalPages.",
          _meta("engagements", lambda meta, _: {
              "totalPages": _pages(meta["total"], meta["perPage"]) - meta["page"] + 1}), _TOTAL_PAGES),
    (fault(identifier, f"The totalPages of lists {says}.",
           override(total_pages=pages, check_page_exists=lambda *_: None),
           _TOTAL_PAGES, "list-members-total-pages")
     for identifier, says, pages in (
        ("pages-of-20", "counts pages of 20, whatever perPage says", lambda _, total, __: _pages(total, 20)),
        ("pages-rounded", "is rounded to the nearest number", lambda _, total, size: round(total / size)),
        ("pages-at-least-two", "is at least 2",
         lambda _, total, size: max(2, _pages(total, size))))),
    (fault(f"meta-repeats-{name}".lower(), f"The meta of a list has {name} as a string if it was sent.",
           _repeats(name), "list-meta-fields") for name in ("page", "perPage")),
)  # fmt: skip


def _first_twice(find: Method, asked: Any) -> Any:  # noqa: ANN401 - pages of any items
    found = find(asked)
    return replace(found, items=found.items[:1] * 2 + found.items[2:]) if len(found.items) > 1 else found


def _is_above_last_as_text(at: Situation) -> bool:
    meta = at.reply_so_far.content["meta"]
    return meta["page"] > 1 and str(meta["page"]) > str(meta["totalPages"])


_FILTERS = {"engagements": "list-engagements-status-filter", "members": "list-members-role-filter"}

ITEMS = flat(
    (fault(f"list-{items}-{label}", f"The list of {items} {says}.", _SHOW[items](find),
           *(f"list-{items}-{broken}" for broken in breaks), _FILTERS[items])
     for items in _LISTS for label, says, find, *breaks in (
        ("item-lost-between-pages", "skips an item between two pages", lambda find, asked: find(past_item(asked)),
         "pages-partition", "total", "page-length"),
        ("last-lost", "omits its last item if it has more than one page", _last_lost, "pages-partition", "total"),
        ("first-page-only", "gives the first page for every page", lambda find, asked: find(replace(asked, offset=0)),
         "pages-partition", "total"),
        ("single-page-empty", "is empty if its items fill exactly one page",
         _empty_if_single, "page-length", "total"),
        ("first-for-second", "repeats its first item in place of the second", _first_twice, "pages-partition"),
        ("one-more", "gives one item more than perPage",
         lambda find, asked: find(replace(asked, limit=asked.limit + 1)), "page-length"),
        ("one-less", "gives one item less than perPage",
         lambda find, asked: find(replace(asked, limit=max(asked.limit - 1, 1))), "page-length"))),
    fault("list-engagements-every-seventh-lost",
          "The list of engagements omits every 7th item that is the first or last of its page.",
          page(_sevenths_lost), _LENGTH, _PARTITION, "list-engagements-total"),
    fault("list-members-second-page-repeats",
          "Each page of members begins with the last item of the previous page.",
          query_of_members(from_item_before), _MEMBERS_PARTITION, _MEMBERS_TOTAL, _PAST_THE_END),
    fault("list-members-shuffled", "Every second page of members is in reverse order.",
          page_of_members(reordered(lambda items, asked: items[::-1] if asked.offset // asked.limit % 2 else items)),
          _MEMBERS_PARTITION),
    fault("list-members-random-order", "The list of members is in another order in each response.",
          page_of_members(_mixed()), _MEMBERS_PARTITION),
    fault("list-engagements-random-order",
          "The list of engagements is in another order in each response if no sort is requested.",
          instead("listEngagements", _mixed_engagements, asks(sort=None)), _PARTITION),
    fault("per-page-one-gives-two", "The list of engagements gives two items for a perPage of 1.",
          query(set_fields(limit=2), asks(perPage=1)), _LENGTH),
    fault("sorted-pages-overlap",
          "Each page of engagements sorted by name begins with the last item of the previous page.",
          query(from_item_before, asks(sort="name")), _PARTITION, "sort-by-name", "sort-with-filter", _PAST_THE_END),
    fault("sorted-pages-skip",
          "The list of engagements by createdAt skips an item between two pages.",
          query(past_item, asks(sort="createdAt")), _LENGTH, _PARTITION, "sort-by-created-at"),
    fault("role-total-of-all-on-later-pages",
          "With a role, pages of members after the first have the total of all members.",
          page_of_members(lambda find, asked: replace(find(asked), total=find(
              replace(asked, role=None) if asked.offset else asked).total)), "list-members-role-filter"),
    fault("offset-of-20", "The list of engagements begins page 2 after item 20, whatever perPage says.",
          query(lambda asked: replace(asked, offset=asked.offset // asked.limit * 20)), _PARTITION, _LENGTH),
    fault("pages-compared-as-texts",
          "A page of engagements is empty if its number as a text is above that of the last page, as 2 is above 10.",
          data("listEngagements", lambda *_: [], _is_above_last_as_text), _LENGTH, _PARTITION),
    fault("eleventh-page-refused", "The list of engagements refuses every page after the tenth.",
          refuse_valid("listEngagements", 400, lambda at: at.values["page"] > _TENTH), _HONOURED, _SERVED),
    fault("page-two-as-three", "The list of engagements gives page 3 for page 2.",
          query(lambda asked: replace(asked, offset=asked.offset + asked.limit), asks(page=2)), _PARTITION, _LENGTH),
)  # fmt: skip
