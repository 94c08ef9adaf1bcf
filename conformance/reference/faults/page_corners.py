"""Faults of the pages of lists that show only at some sizes, or only with some order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.reference.faults.list_making import asking
from conformance.reference.faults.making import made
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.faults.list_making import Asked
    from conformance.reference.request_context import Reply, RequestContext

_MOST = 100
_HALF = 50
_SECOND = 2

_HONOURED = "list-engagements-paging-honoured"
_SERVED = "list-engagements-succeeds"
_MEMBERS_SERVED = "list-members-succeeds"
_MEMBERS_HONOURED = "list-members-paging-honoured"
_LENGTH = "list-engagements-page-length"
_PAGES = "list-engagements-total-pages"
_PARTITION = "list-engagements-pages-partition"
_WITH_FILTER = "sort-with-filter"
_CREATED, _NAMED = "sort-by-created-at", "sort-by-name"


# Pages


def _pages(identifier: str, says: str, count: Callable[[int, int], int], *breaks: str) -> Fault:
    """Both lists count their pages in another way."""
    return made(
        identifier,
        f"A list {says}.",
        *breaks,
        total_pages=lambda _, total, per_page: count(total, per_page),
        check_page_exists=lambda _, __: None,
    )


def _refusing(which: str, identifier: str, says: str, is_refused: Callable[[Asked], object], *breaks: str) -> Fault:
    """A list that refuses what it must serve.

    Args:
        which: ``engagements`` or ``members``.
        identifier: How the fault is named on the command line.
        says: What the list refuses, in words.
        is_refused: Says of the parameters as they were read whether they are.
        breaks: The ids of the requirements that it breaks.
    """
    operation = {"engagements": "listEngagements", "members": "listMembers"}[which]

    def check(self: Service, context: RequestContext) -> None:
        Service.check(self, context)
        if context.operation.id == operation and is_refused(context.values):
            raise Refusal(400, "This cannot be asked for.")

    return made(identifier, f"The list of {which} refuses {says}.", *breaks, check=check)


UNSERVED = (
    _refusing("engagements", "engagements-filtered-and-sorted-refused", "a filter with an order",
              lambda asked: asked["sort"] and asked["status"], _SERVED, _WITH_FILTER),
    _refusing("engagements", "engagements-ascending-refused", "an ascending order",
              lambda asked: asked["order"] == "asc", _SERVED),
    _refusing("engagements", "engagements-by-change-refused", "an order by change",
              lambda asked: asked["sort"] == "updatedAt", _SERVED),
    _refusing("engagements", "engagements-second-sorted-page-refused", "a second page in an order",
              lambda asked: asked["sort"] and asked["page"] == _SECOND, _HONOURED, _SERVED),
    _refusing("engagements", "engagements-second-filtered-page-refused", "a second page with a filter",
              lambda asked: asked["status"] and asked["page"] == _SECOND, _HONOURED, _SERVED),
    _refusing("engagements", "engagements-order-without-sort-refused", "an order without a key",
              lambda asked: asked["order"] and not asked["sort"], _SERVED),
    _refusing("engagements", "engagements-archived-refused", "the filter archived",
              lambda asked: asked["status"] == "archived", _SERVED),
    _refusing("engagements", "per-page-100-refused", "a page of 100",
              lambda asked: asked["perPage"] >= _MOST, _SERVED, _HONOURED),
    _refusing("engagements", "per-page-50-at-most", "a page of more than 50",
              lambda asked: asked["perPage"] > _HALF, _SERVED, _HONOURED),
    _refusing("engagements", "per-page-one-refused", "a page of one",
              lambda asked: asked["perPage"] == 1, _SERVED, _HONOURED),
    _refusing("engagements", "page-two-refused", "its second page",
              lambda asked: asked["page"] == _SECOND, _HONOURED, _SERVED),
    _refusing("members", "members-admins-refused", "the filter admin",
              lambda asked: asked["role"] == "admin", _MEMBERS_SERVED),
    _refusing("members", "members-second-filtered-page-refused", "a second page with a filter",
              lambda asked: asked["role"] and asked["page"] == _SECOND, _MEMBERS_HONOURED, _MEMBERS_SERVED),
    _refusing("members", "members-per-page-100-refused", "a page of 100",
              lambda asked: asked["perPage"] >= _MOST, _MEMBERS_SERVED, _MEMBERS_HONOURED),
    _refusing("members", "members-page-two-refused", "its second page",
              lambda asked: asked["page"] == _SECOND, _MEMBERS_HONOURED, _MEMBERS_SERVED),
)  # fmt: skip


def _meta_text(name: str) -> Fault:
    """Meta repeats a parameter as it was sent: as text."""

    def act(self: Service, context: RequestContext) -> Reply:
        reply = Service.act(self, context)
        sent = context.request.query_params.get(name)
        if "meta" in reply.content and sent is not None:
            reply.content["meta"][name] = sent
        return reply

    return made(
        f"meta-repeats-{name}".lower(), f"The meta of a list repeats {name} as text, where it was sent.",
        "list-meta-fields", act=act,
    )  # fmt: skip


SIZES = (
    _pages("pages-of-20", "counts its pages as if each had 20", lambda total, _: -(-total // 20), _PAGES,
           "list-members-total-pages"),
    _pages("pages-rounded", "rounds the number of its pages to the nearest", lambda total, size: round(total / size),
           _PAGES, "list-members-total-pages"),
    _pages("pages-at-least-two", "says that there are two pages at least",
           lambda total, size: max(2, -(-total // size)), _PAGES, "list-members-total-pages"),
    _meta_text("page"),
    _meta_text("perPage"),
    asking(
        "per-page-one-gives-two",
        "gives two where one a page is asked for",
        lambda asked, query: replace(query, limit=2) if asked["perPage"] == 1 else query,
        _LENGTH,
    ),
    asking(
        "sorted-pages-overlap",
        "begins a page with the last item of the page before where it is sorted by name",
        lambda asked, query: replace(query, offset=max(query.offset - 1, 0)) if asked["sort"] == "name" else query,
        _PARTITION,
        _NAMED,
        _WITH_FILTER,
    ),
    asking(
        "sorted-pages-skip",
        "leaves one out between two pages where it is sorted by createdAt",
        lambda asked, query: (
            replace(query, offset=query.offset + 1) if asked["sort"] == "createdAt" and query.offset else query
        ),
        _PARTITION,
        _CREATED,
        _LENGTH,
    ),
    asking(
        "offset-of-20",
        "begins page 2 after 20, whatever perPage says",
        lambda asked, query: replace(query, offset=(asked["page"] - 1) * 20),
        _PARTITION,
        _LENGTH,
    ),
    asking(
        "page-two-as-three",
        "gives page 3 for page 2",
        lambda asked, query: replace(query, offset=query.offset + query.limit) if asked["page"] == _SECOND else query,
        _PARTITION,
        _LENGTH,
    ),
)  # fmt: skip
