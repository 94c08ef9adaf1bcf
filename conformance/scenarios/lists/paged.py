"""Scenarios of the pages of lists without a filter."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from conformance.confirm.pages import page_by_page, total_of
from conformance.interface.list_parameters import MAX_PER_PAGE, page_count
from conformance.oracle import read
from conformance.oracle.exchanges import of_operation
from conformance.oracle.lists.listing import Listing
from conformance.running.scenarios import scenario
from conformance.scenarios.lists.seeded_engagements import seeded_engagements
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.oracle.lists.listing import Snapshot
    from conformance.running.run import Run
    from conformance.wire.requests import Request

_FEW: Final = (2, 3)
_DEEP: Final = 12
"""A page of one engagement; there are more than 20."""


@dataclass(frozen=True, slots=True)
class PagedLists:
    """A list as a single page and as several pages.

    Attributes:
        snapshot: The page of 100, then the pages from the first on.
        of_default_size: The page of 100, then pages of the default size; for engagements only, and if there are two or
            three.
        full: The page of 100, then a page of as many items as there are; for members only, and at most 100.
        active: Ids of engagements that the run created and left unchanged; none for members.
        archived: Ids of engagements that the run created and tried to archive.
        names: Names that show the order of the list.
    """

    snapshot: Snapshot
    of_default_size: Snapshot = ()
    full: Snapshot = ()
    active: frozenset[str] = frozenset()
    archived: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()

    def known(self, snapshot: Snapshot) -> frozenset[str]:
        """Return the ids that a snapshot must show; archived ones only if it shows any: other checks judge that."""
        shows = {read.id_of(item.value) for response in snapshot for item in Listing((response,)).items}
        return self.active | (self.archived if self.archived & shows else frozenset())


@scenario(alone=True)
def paged_engagements(run: Run) -> PagedLists:
    """List all engagements as one page of 100 and page by page."""
    names = run.scenarios.result(seeded_engagements).names
    deleted = {exchange.request.identifier for exchange in of_operation(run.wire.exchanges, "deleteEngagement")}
    created = named_in(run, "createEngagement") - deleted  # tried with any key
    archived = created & named_in(run, "archiveEngagement")
    lists = _paged(run, requests.list_engagements, _DEEP)
    return replace(
        lists, of_default_size=pages_of_default_size(run), active=created - archived, archived=archived, names=names
    )


@scenario(alone=True)
def paged_members(run: Run) -> PagedLists:
    """List all members as one page of 100 and page by page."""
    lists = _paged(run, requests.list_members, 2)
    total = total_of(lists.snapshot[0])
    if not 0 < total <= MAX_PER_PAGE:
        return lists
    return replace(lists, full=(lists.snapshot[0], run.send(requests.list_members(page=1, perPage=total))))


def _paged(run: Run, listing: Callable[..., Request], page: int) -> PagedLists:
    # In sequence, like the pages: many requests of a kind show whether they count against the limit.
    run.send(listing(page=page, perPage=1))
    return PagedLists(page_by_page(run, listing))


def pages_of_default_size(run: Run) -> Snapshot:
    """List engagements as a page of 100, and then as pages requested by their number alone, if there are two or three.

    The second page comes after the page of 100: it must not begin at its end.
    """
    first, whole = (run.send(requests.list_engagements(perPage=size)) for size in (None, MAX_PER_PAGE))
    count = page_count(total_of(whole))
    if count not in _FEW:
        return ()
    return (whole, first, *[run.send(requests.list_engagements(page=page)) for page in range(2, count + 1)])


def named_in(run: Run, operation: str) -> frozenset[str]:
    """Return the ids that requests with the main key were about; for creations, the ids in successes."""
    batch = [sent for sent in of_operation(run.wire.exchanges, operation) if sent.by_main_key]
    if operation != "createEngagement":
        return frozenset(exchange.request.identifier for exchange in batch if exchange.request.identifier is not None)
    return frozenset(read.identifiers(exchange for exchange in batch if exchange.accepted))
