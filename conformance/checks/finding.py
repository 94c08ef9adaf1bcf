"""Finding engagements of the run in the list, among those of others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.oracle import read
from conformance.oracle.outcomes import CantTell, NonConformity, evidence
from conformance.running.options import Effort
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

PER_PAGE: Final = 100
"""The largest page that a list gives."""

_MOST_PAGES: Final = 20
_PAUSES: Final = (0.0, 0.4, 1.0)

NEWEST: Final = {"sort": "createdAt", "order": "desc"}
"""The order in which what was created last comes first."""

_FEW: Final = 30
"""Engagements before a quick run beside which all that it makes fits on one page."""


@dataclass(frozen=True, slots=True)
class ListScan:
    """One look through the list without a filter.

    Attributes:
        ids: The identifiers that were seen.
        pages: The answers that they were seen in.
        complete: Whether every page was seen.
        others: Those of the identifiers that do not show that the run has made them.
    """

    ids: frozenset[str]
    pages: tuple[Exchange, ...]
    complete: bool
    others: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Search:
    """What came of looking for engagements in the list.

    Attributes:
        wanted: Their identifiers.
        looks: The looks, the last one having found all if any has.
        obstacle: Why the list could not be looked through, if it could not.
    """

    wanted: frozenset[str]
    looks: tuple[ListScan, ...]
    obstacle: CantTell | None = None

    @property
    def ids(self) -> frozenset[str]:
        """The identifiers that the last look saw."""
        return self.looks[-1].ids if self.looks else frozenset()


def latest(
    run: Run, *, status: str | None = None, sort: str | None = None, order: str | None = None, page: int | None = None
) -> Request:
    """A page of the list of engagements that shows what was created last.

    Where everything fits on one page it is asked for in any order, so that a run sees the list in many of them.

    Args:
        run: The run.
        status: The status to ask for.
        sort: What to sort by where everything fits on one page.
        order: In which direction, then.
        page: The page to ask for.
    """
    before = run.engagements_before
    few = run.effort is Effort.QUICK and before is not None and before <= _FEW
    ordered = {"sort": sort, "order": order} if few else NEWEST
    return requests.list_engagements(status=status, page=page, perPage=PER_PAGE, **ordered)


def search(run: Run, wanted: Collection[str], *, sort: str, order: str) -> Search:
    """Look for engagements that must be in the list.

    The newest page comes first, where engagements of the run are. What is not there is looked for on every page, while
    nothing else of the run writes, and again after pauses, because others may move it from page to page meanwhile.

    Args:
        run: The run.
        wanted: Their ids.
        sort: As ``latest`` takes it.
        order: The same.
    """
    looks: list[ListScan] = []
    sought = frozenset(wanted)
    try:
        page = run.send(latest(run, sort=sort, order=order))
        looks.append(_look(run, [page], complete=False))
        for pause in _PAUSES:
            if looks[-1].ids >= sought:
                break
            run.sleep(pause)
            with run.wire.undisturbed():
                looks.append(_every_page(run))
    except CantTell as obstacle:
        return Search(sought, tuple(looks), obstacle)
    return Search(sought, tuple(looks))


def expect_listed(what: str, found: Search) -> None:
    """All that was looked for is in the list.

    Raises:
        NonConformity: Something was on none of the pages, and nobody moved anything between the last two looks.
        CantTell: Something was not found, but that may have other reasons.
    """
    if found.obstacle is not None:
        raise found.obstacle
    last = found.looks[-1]
    evidence(*last.pages)
    missing = found.wanted - last.ids
    if not missing:
        return
    if not last.complete:
        raise CantTell("the list has too many pages to look through", *last.pages[:1])
    if len(found.looks) > 1 and found.looks[-2].others != last.others:
        raise CantTell(f"{what} was not found in the list, but others were changing it", *last.pages)
    expected = f"{len(found.wanted)} of {len(found.wanted)} on the pages of the list"
    raise NonConformity(
        f"{what} is not in the list", *last.pages, expected=expected, actual=f"{len(missing)} missing", pointer="/data"
    )


def ids_on(page: Exchange) -> frozenset[str]:
    """The identifiers on one page of a list."""
    return frozenset(identifier for item in read.items(page) if (identifier := read.id_of(item)) is not None)


def _every_page(run: Run) -> ListScan:
    """The whole list, as far as that can be afforded."""
    pages: list[Exchange] = []
    for number in range(1, _MOST_PAGES + 1):
        pages.append(run.send(requests.list_engagements(page=number, perPage=PER_PAGE)))
        if number >= read.number(pages[-1], "totalPages"):
            return _look(run, pages, complete=True)
    return _look(run, pages, complete=False)


def _look(run: Run, pages: Sequence[Exchange], *, complete: bool) -> ListScan:
    items = [item for page in pages for item in read.items(page) if read.id_of(item) is not None]
    others = frozenset(str(item["id"]) for item in items if not run.names.made(item))
    return ListScan(frozenset(str(item["id"]) for item in items), tuple(pages), complete, others)
