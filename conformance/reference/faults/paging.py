"""Faults of pages: what stands on them, and what meta says of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any
from zlib import crc32

from conformance.reference.faults import fault as declared
from conformance.reference.faults.looking_up import EVERYTHING
from conformance.reference.faults.making import made, replied
from conformance.reference.records import Page
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.request_context import Reply, RequestContext
    from conformance.reference.views import View

_LISTS = {"list-engagements": "listEngagements", "list-members": "listMembers"}
_FINDERS = {"list-engagements": "find_engagements", "list-members": "find_members"}
_NUMBERS = count()
_WORDS = {"list-engagements": "engagements", "list-members": "members"}


def _meta(which: str, label: str, says: str, change: Callable[[View, int], View], requirement: str) -> Fault:
    """A list whose meta is wrong; ``change`` is given meta and the number of items of the page."""

    def spoil(_: RequestContext, reply: Reply) -> Reply:
        content = reply.content
        return replace(reply, content={**content, "meta": change(content["meta"], len(content["data"]))})

    title = f"The meta of the {_WORDS[which]} {says}."
    return replied(f"{which}-{label}", title, _LISTS[which], spoil, f"{which}-{requirement}")


def _page(which: str, label: str, says: str, find: Callable[[Service, Any], Page[Any]], *breaks: str) -> Fault:
    """A list that holds something else than it should; ``find`` gives one page."""
    return made(f"{which}-{label}", f"The list of {_WORDS[which]} {says}.", *breaks, **{_FINDERS[which]: find})


def _found(service: Service, query: Any) -> Page[Any]:  # noqa: ANN401 - one of the two queries
    """Give the page that an honest service finds."""
    by_role = hasattr(query, "role")
    return Service.find_members(service, query) if by_role else Service.find_engagements(service, query)


# What meta says

TOTALS = tuple(
    fault
    for which in _LISTS
    for fault in (
        _meta(
            which,
            "total-of-page",
            "counts the items of the page as total",
            lambda meta, items: {**meta, "total": items, "totalPages": 1},
            "total",
        ),
        _meta(
            which,
            "total-pages-floor",
            "rounds totalPages down",
            lambda meta, _: {**meta, "totalPages": meta["total"] // meta["perPage"]},
            "total-pages",
        ),
        _meta(
            which,
            "total-pages-is-total",
            "gives total as totalPages",
            lambda meta, _: {**meta, "totalPages": meta["total"]},
            "total-pages",
        ),
        _meta(
            which, "total-pages-one", "always says one page", lambda meta, _: {**meta, "totalPages": 1}, "total-pages"
        ),
        _meta(
            which,
            "page-from-zero",
            "counts pages from 0",
            lambda meta, _: {**meta, "page": meta["page"] - 1},
            "paging-honoured",
        ),
        _meta(which, "page-always-one", "always says page 1", lambda meta, _: {**meta, "page": 1}, "paging-honoured"),
        _meta(
            which,
            "perpage-always-default",
            "always says 20 a page",
            lambda meta, _: {**meta, "perPage": 20, "totalPages": -(-meta["total"] // 20)},
            "paging-honoured",
        ),
    )
)

TOTAL_SHIFTS = (
    _meta(
        "list-engagements",
        "total-grows",
        "counts one more on the second page",
        lambda meta, _: {**meta, "total": meta["total"] + (meta["page"] > 1)},
        "total",
    ),
    _meta(
        "list-members",
        "total-too-high",
        "counts one too many",
        lambda meta, _: {**meta, "total": meta["total"] + 1, "totalPages": -(-(meta["total"] + 1) // meta["perPage"])},
        "total",
    ),
    _meta(
        "list-engagements",
        "perpage-of-items",
        "gives the items of the page as perPage",
        lambda meta, items: {
            **meta,
            "perPage": items or meta["perPage"],
            "totalPages": -(-meta["total"] // (items or meta["perPage"])),
        },
        "paging-honoured",
    ),
    _meta(
        "list-engagements",
        "total-pages-remaining",
        "counts the pages that are left as totalPages",
        lambda meta, _: {**meta, "totalPages": -(-meta["total"] // meta["perPage"]) - meta["page"] + 1},
        "total-pages",
    ),
)

# What stands on a page


def _shifted(service: Service, query: Any) -> Page[Any]:  # noqa: ANN401 - one of the two queries
    """Lose an item between two pages."""
    return _found(service, replace(query, offset=query.offset + (query.offset > 0)))


def _repeated(service: Service, query: Any) -> Page[Any]:  # noqa: ANN401 - one of the two queries
    """Begin with the last item of the page before."""
    return _found(service, replace(query, offset=max(query.offset - 1, 0)))


def _sevenths_lost(service: Service, query: Any) -> Page[Any]:  # noqa: ANN401 - one of the two queries
    """Lose every 7th item of the list where it is the first or the last of its page."""
    page = _found(service, query)
    ends = {query.offset + 1, query.offset + query.limit}
    kept = [item for rank, item in enumerate(page.items, query.offset + 1) if rank % 7 or rank not in ends]
    return replace(page, items=tuple(kept))


def _last_lost(service: Service, query: Any) -> Page[Any]:  # noqa: ANN401 - one of the two queries
    """Lose the last item of the list."""
    page = _found(service, query)
    return replace(page, items=page.items[: page.total - 1 - query.offset]) if query.offset else page


def _shuffled(service: Service, query: Any) -> Page[Any]:  # noqa: ANN401 - one of the two queries
    """Put the whole list in another order for every other page."""
    whole = _found(service, replace(query, offset=0, limit=EVERYTHING)).items
    if query.offset // query.limit % 2:
        whole = whole[::-1]
    return Page(whole[query.offset : query.offset + query.limit], len(whole))


def _anew(service: Service, query: Any) -> Page[Any]:  # noqa: ANN401 - one of the two queries
    """Put the whole list in another order for every answer."""
    whole, response = _found(service, replace(query, offset=0, limit=EVERYTHING)).items, next(_NUMBERS)
    mixed = sorted(whole, key=lambda item: crc32(f"{response} {item}".encode()))
    return Page(tuple(mixed[query.offset : query.offset + query.limit]), len(whole))


def _first_only(service: Service, query: Any) -> Page[Any]:  # noqa: ANN401 - one of the two queries
    """Give the first page whichever is asked for."""
    return _found(service, replace(query, offset=0))


def _one_more(service: Service, query: Any) -> Page[Any]:  # noqa: ANN401 - one of the two queries
    """Give one item more than a page has, which begins the next one, too."""
    return _found(service, replace(query, limit=query.limit + 1))


def _one_less(service: Service, query: Any) -> Page[Any]:  # noqa: ANN401 - one of the two queries
    """Give one item less than a page has."""
    return _found(service, replace(query, limit=max(query.limit - 1, 1)))


ITEMS = tuple(
    fault
    for which in _LISTS
    for fault in (
        _page(
            which,
            "item-lost-between-pages",
            "loses an item between two pages",
            _shifted,
            f"{which}-pages-partition",
            f"{which}-total",
            f"{which}-page-length",
        ),
        _page(
            which,
            "last-lost",
            "loses its last item where it has more than one page",
            _last_lost,
            f"{which}-pages-partition",
            f"{which}-total",
        ),
        _page(
            which,
            "first-page-only",
            "gives the first page for every page",
            _first_only,
            f"{which}-pages-partition",
            f"{which}-total",
        ),
        _page(which, "one-more", "gives one item more than perPage", _one_more, f"{which}-page-length"),
        _page(which, "one-less", "gives one item less than perPage", _one_less, f"{which}-page-length"),
    )
)

ENGAGEMENT_ITEMS = (
    _page(
        "list-engagements",
        "every-seventh-lost",
        "loses every 7th item that is the first or the last of its page",
        _sevenths_lost,
        "list-engagements-page-length",
        "list-engagements-pages-partition",
        "list-engagements-total",
    ),
    _page(
        "list-members",
        "second-page-repeats",
        "begins a page with the last item of the page before",
        _repeated,
        "list-members-pages-partition",
        "list-members-total",
    ),
    _page(
        "list-members",
        "shuffled",
        "is the other way round on every second page",
        _shuffled,
        "list-members-pages-partition",
    ),
    _page("list-members", "random-order", "is in another order in each answer", _anew, "list-members-pages-partition"),
)


@declared("list-engagements-random-order", "list-engagements-pages-partition")
class ListEngagementsRandomOrder(Service):
    """The list of engagements is in another order in each answer, where it is asked for none."""

    def list_engagements(self, context: RequestContext) -> Reply:
        """Mix it."""
        query = self.engagement_query(context)
        page = self.find_engagements(query) if context.values["sort"] else _anew(self, query)
        return self.listed(context, [self.view_item(engagement) for engagement in page.items], page.total)
