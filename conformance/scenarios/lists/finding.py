"""Search for engagements of the run in the list, among those of other users."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from conformance.interface.list_parameters import MAX_PER_PAGE
from conformance.oracle import read
from conformance.oracle.outcomes import CantTell, NonConformity, evidence
from conformance.running.options import Effort
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

_MOST_PAGES: Final = 20
_PAUSES: Final = (0.0, 0.4, 1.0)

NEWEST: Final = {"sort": "createdAt", "order": "desc"}
"""The order in which the engagements created last come first."""

_FEW: Final = 30
"""Engagements before a quick run beside which all that it creates fits on one page."""


def places_of_repeats(keys: Sequence[object]) -> Iterator[int]:
    """Yield the places of a list whose key equals the one before."""
    return (place for place, (before, key) in enumerate(pairwise(keys), start=1) if key == before)


@dataclass(frozen=True, slots=True)
class ListScan:
    """A read of the list without a filter.

    Attributes:
        ids: The identifiers that were seen.
        pages: The responses with them.
        complete: Whether every page was read.
        others: The identifiers that the run is not known to have created.
    """

    ids: frozenset[str]
    pages: tuple[Exchange, ...]
    complete: bool
    others: frozenset[str]


@dataclass(frozen=True, slots=True)
class Search:
    """The result of a search for engagements in the list.

    Attributes:
        wanted: Their identifiers.
        reads: The reads of the list; the last one found all, if any did.
        obstacle: The reason why the list could not be searched, if there is one.
    """

    wanted: frozenset[str]
    reads: tuple[ListScan, ...]
    obstacle: CantTell | None = None

    @property
    def ids(self) -> frozenset[str]:
        """The identifiers that the last read of the list saw."""
        return self.reads[-1].ids if self.reads else frozenset()


def latest(
    run: Run, *, status: str | None = None, sort: str | None = None, order: str | None = None, page: int | None = None
) -> Request:
    """Return the request for a page of the list of engagements with those created last.

    If everything fits on one page, any order will do, so that a run reads the list in many orders.

    Args:
        run: The run.
        status: The status to filter by.
        sort: The field to sort by if everything fits on one page.
        order: The direction of that.
        page: The page to request.
    """
    before = run.engagements_before
    few = run.effort is Effort.QUICK and before is not None and before <= _FEW
    ordered = {"sort": sort, "order": order} if few else NEWEST
    return requests.list_engagements(status=status, page=page, perPage=MAX_PER_PAGE, **ordered)


def search(run: Run, wanted: Collection[str], *, sort: str, order: str) -> Search:
    """Search the list for engagements that must be in it.

    The newest page comes first, since it holds engagements of the run. If any is missing, every page is read while the
    run writes nothing else, and again after pauses, because other users may move items between pages.

    Args:
        run: The run.
        wanted: Their ids.
        sort: As for ``latest``.
        order: As for ``latest``.
    """
    reads: list[ListScan] = []
    identifiers = frozenset(wanted)
    try:
        page = run.send(latest(run, sort=sort, order=order))
        reads.append(_look(run, [page], complete=False))
        for pause in _PAUSES:
            if reads[-1].ids >= identifiers:
                break
            run.sleep(pause)
            with run.wire.undisturbed():
                reads.append(_every_page(run))
    except CantTell as obstacle:
        return Search(identifiers, tuple(reads), obstacle)
    return Search(identifiers, tuple(reads))


def expect_listed(what: str, found: Search) -> None:
    """Expect every wanted engagement in the list.

    Raises:
        NonConformity: One was on no page, and no user changed the list between the last two reads.
        CantTell: One was not found, but there may be other reasons.
    """
    if found.obstacle is not None:
        raise found.obstacle
    last = found.reads[-1]
    evidence(*last.pages)
    missing = found.wanted - last.ids
    if not missing:
        return
    if not last.complete:
        raise CantTell("the list has too many pages to search", *last.pages[:1])
    if len(found.reads) > 1 and found.reads[-2].others != last.others:
        raise CantTell(f"{what} was not found in the list, but other users were changing it", *last.pages)
    expected = f"{len(found.wanted)} of {len(found.wanted)} on the pages of the list"
    raise NonConformity(
        f"{what} is not in the list", *last.pages, expected=expected, actual=f"{len(missing)} missing", pointer="/data"
    )


def ids_on(page: Exchange) -> frozenset[str]:
    """Return the identifiers on a page of a list."""
    return frozenset(identifier for item in read.items(page) if (identifier := read.id_of(item)) is not None)


def _every_page(run: Run) -> ListScan:
    """Read the whole list, up to the most pages that the run affords."""
    pages: list[Exchange] = []
    for number in range(1, _MOST_PAGES + 1):
        pages.append(run.send(requests.list_engagements(page=number, perPage=MAX_PER_PAGE)))
        if number >= read.number(pages[-1], "totalPages"):
            return _look(run, pages, complete=True)
    return _look(run, pages, complete=False)


def _look(run: Run, pages: Sequence[Exchange], *, complete: bool) -> ListScan:
    items = [item for page in pages for item in read.items(page) if read.id_of(item) is not None]
    others = frozenset(str(item["id"]) for item in items if not run.names.owns_engagement(item))
    return ListScan(frozenset(str(item["id"]) for item in items), tuple(pages), complete, others)
