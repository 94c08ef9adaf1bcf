"""Journeys through the pages of lists without a filter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.checks.stock import Stock, stock
from conformance.oracle import read
from conformance.oracle.judgement import Judgement
from conformance.wire import call

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.checks.looks import Look
    from conformance.running.run import Run
    from conformance.wire.call import Call
    from conformance.wire.exchange import Exchange

PER_PAGE: Final = 100
_PARTS: Final = 3
_SLACK: Final = 2
_MOST_PAGES: Final = 12


@dataclass(frozen=True, slots=True)
class PagedLists:
    """One list in one answer and in several.

    Attributes:
        look: The answer with 100 a page, then the pages from the first one on.
        single: A page of one item, and the list without any parameter.
        stock: Engagements that must be there; none for members.
    """

    look: Look
    single: Look
    stock: Stock


def paged_engagements(run: Run) -> PagedLists:
    """All engagements are listed in one answer and page by page."""
    return _paged(run, call.list_engagements, run.journeys.result(stock))


def paged_members(run: Run) -> PagedLists:
    """All members are listed in one answer and page by page."""
    return _paged(run, call.list_members, Stock(()))


def _paged(run: Run, listing: Callable[..., Call], kept: Stock) -> PagedLists:
    single = run.send_all([listing(page=2, perPage=1), listing()])
    first = run.send(listing(perPage=PER_PAGE))
    total = _told(first)
    size = max(1, min(PER_PAGE, -(-(total + _SLACK) // _PARTS)))
    pages = range(1, min(_MOST_PAGES, -(-total // size)) + 1)
    rest = run.send_all([listing(page=page, perPage=size) for page in pages])
    return PagedLists((first, *rest), tuple(single), kept)


def _told(answer: Exchange) -> int:
    """The total that an answer tells, at least what it shows; 0 where it cannot be read."""
    try:
        return max(read.number(answer, "total"), len(read.items(answer)))
    except Judgement:
        return 0
