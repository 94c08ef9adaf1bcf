"""A list read page by page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.interface.list_parameters import MAX_PER_PAGE, page_count
from conformance.oracle import read
from conformance.oracle.lists.paging import MOST_PAGES
from conformance.oracle.outcomes import CheckOutcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.oracle.lists.listing import Snapshot
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

_PARTS: Final = 3
_SLACK: Final = 2


def page_by_page(run: Run, listing: Callable[..., Request]) -> Snapshot:
    """List as a page of 100, and then as pages, as many as there are now; an empty list has one page."""
    first = run.send(listing(perPage=MAX_PER_PAGE))
    total = total_of(first)
    size = max(1, min(MAX_PER_PAGE, -(-(total + _SLACK) // _PARTS)))
    pages = range(1, max(1, min(MOST_PAGES, page_count(total, size))) + 1)
    return (first, *[run.send(listing(page=page, perPage=size)) for page in pages])


def total_of(response: Exchange) -> int:
    """Return the total in a response, at least the number of its items; 0 if it cannot be read."""
    try:
        return max(read.number(response, "total"), len(read.items(response)))
    except CheckOutcome:
        return 0
