"""Journeys through the pages of lists without a filter."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from conformance.checks.seeded_engagements import created_at, identifier_made, stock
from conformance.oracle import read
from conformance.oracle.list_laws import DEFAULT_PER_PAGE
from conformance.oracle.listing import Listing
from conformance.oracle.outcomes import CheckOutcome
from conformance.oracle.paging import MOST_PAGES
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from conformance.checks.stable import Look
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

PER_PAGE: Final = 100
_PARTS: Final = 3
_SLACK: Final = 2
_FEW: Final = (2, 3)
_MOVES: Final = frozenset({"deleteEngagement", "archiveEngagement"})


@dataclass(frozen=True, slots=True)
class PagedLists:
    """One list in one answer and in several.

    Attributes:
        look: The answer with 100 a page, then the pages from the first one on.
        single: A page of one item; of members one of seven as well, of engagements the list without any parameter.
        unasked: The answer with 100 a page, then pages of the size that they have unasked; of engagements only, and
            where there are two or three of them.
        active: Ids of engagements that the run has made and left as they were; none for members.
        archived: Ids of engagements that it has made and tried to archive.
        names: Names by which the order of the list can be told.
    """

    look: Look
    single: Look
    unasked: Look = ()
    active: frozenset[str] = frozenset()
    archived: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()

    def known(self, look: Look) -> frozenset[str]:
        """Ids that must be in a look; the archived ones only where it shows any, since that is judged elsewhere."""
        shows = {read.id_of(item.value) for response in look for item in Listing((response,)).items}
        return self.active | (self.archived if self.archived & shows else frozenset())


def paged_engagements(run: Run) -> PagedLists:
    """All engagements are listed in one answer and page by page."""
    names = run.scenarios.result(stock).names
    deleted = {one.request.identifier for one in run.wire.exchanges if one.request.operation.id == "deleteEngagement"}
    created = named_in(run, "createEngagement") - deleted  # tried with whatever key
    archived = created & named_in(run, "archiveEngagement")
    lists = _paged(run, requests.list_engagements, requests.list_engagements())
    unasked = _with_pages(run, lists.look[0], lists.single[-1])
    return replace(lists, unasked=unasked, active=created - archived, archived=archived, names=names)


def paged_members(run: Run) -> PagedLists:
    """All members are listed in one answer and page by page."""
    return _paged(run, requests.list_members, requests.list_members(perPage=7))


def _paged(run: Run, listing: Callable[..., Request], *beside: Request) -> PagedLists:
    # One after the other, like the pages: so many requests of one kind show whether they count against the limit.
    single = [run.send(one) for one in (listing(page=2, perPage=1), *beside)]
    return PagedLists(page_by_page(run, listing), tuple(single))


def pages_unasked(run: Run) -> Look:
    """Engagements in one answer of 100, and then in pages that are asked for by their number alone."""
    return _with_pages(
        run, run.send(requests.list_engagements(perPage=PER_PAGE)), run.send(requests.list_engagements())
    )


def _with_pages(run: Run, whole: Exchange, first: Exchange) -> Look:
    """The same where the first page is there; nothing where there are not two or three."""
    count = -(-_told(whole) // DEFAULT_PER_PAGE)
    if count not in _FEW:
        return ()
    return (whole, first, *[run.send(requests.list_engagements(page=page)) for page in range(2, count + 1)])


def page_by_page(run: Run, listing: Callable[..., Request]) -> Look:
    """A list in one answer of 100, and then in pages, as many as there are now; of an empty list there is one."""
    first = run.send(listing(perPage=PER_PAGE))
    total = _told(first)
    size = max(1, min(PER_PAGE, -(-(total + _SLACK) // _PARTS)))
    pages = range(1, max(1, min(MOST_PAGES, -(-total // size))) + 1)
    return (first, *[run.send(listing(page=page, perPage=size)) for page in pages])


def _told(response: Exchange) -> int:
    """The total that an answer tells, at least what it shows; 0 where it cannot be read."""
    try:
        return max(read.number(response, "total"), len(read.items(response)))
    except CheckOutcome:
        return 0


def creation_times(run: Run) -> dict[str, datetime]:
    """The times of creation by id of all engagements that the run has made and left active, as their answers tell."""
    moved = {
        one.request.identifier for one in run.wire.exchanges if one.request.operation.id in _MOVES
    }  # with whatever key
    left = named_in(run, "createEngagement") - moved
    creations = _sent(run, "createEngagement")
    times = {made: created_at(one) for one in creations if (made := identifier_made(one)) in left}
    return {identifier: at for identifier, at in times.items() if identifier is not None and at is not None}


def _sent(run: Run, operation: str) -> list[Exchange]:
    """The exchanges of an operation with the main key, records beside the interface left out."""
    return [
        exchange
        for exchange in run.wire.exchanges
        if exchange.request.operation.id == operation
        and exchange.request.is_proper
        and exchange.request.credential is None
    ]


def named_in(run: Run, operation: str) -> frozenset[str]:
    """The ids that calls with the main key were about; for creations, those that successes gave."""
    batch = _sent(run, operation)
    if operation != "createEngagement":
        return frozenset(exchange.request.identifier for exchange in batch if exchange.request.identifier is not None)
    return frozenset(made for exchange in batch if (made := identifier_made(exchange)) is not None)
