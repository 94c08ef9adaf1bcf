"""Search for the run's own engagements in a long list by name, without reading every page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.interface.list_parameters import MAX_PER_PAGE, page_count
from conformance.oracle import read
from conformance.scenarios.lists.filtered import readable
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Collection

    from conformance.oracle.lists.listing import Snapshot
    from conformance.running.run import Run
    from conformance.scenarios.lists.seeded_engagements import SeededEngagement
    from conformance.wire.exchange import Exchange


@dataclass(frozen=True, slots=True)
class SeededPages:
    """Neighbouring pages that hold the seeded engagements; none if they were not found.

    Attributes:
        snapshot: The pages.
        skipped: Number of items before them.
    """

    snapshot: Snapshot = ()
    skipped: int = 0


def find_seeded(run: Run, engagements: Collection[SeededEngagement], total: int, **query: str) -> SeededPages:
    """Halve the descending list until a page holds seeded engagements, and read the pages beside it.

    The collation of names is open, so the search may take the wrong half and find nothing.

    Args:
        run: The run.
        engagements: The seeded engagements.
        total: Number of items in the list.
        query: Further query parameters.
    """
    owned = {engagement.identifier for engagement in engagements}
    first_name = min((engagement.name.casefold() for engagement in engagements), default="")
    pages = page_count(total, MAX_PER_PAGE)
    first, last = 1, pages
    while first <= last:
        middle = (first + last) // 2
        page = _page(run, middle, query)
        items = readable((page,))
        if any(read.id_of(item) in owned for item in items):
            return _with_neighbours(run, page, middle, pages, query)
        if not items:
            break
        if first_name > str(items[0].get("name")).casefold():
            last = middle - 1
        else:
            first = middle + 1
    return SeededPages()


def _with_neighbours(run: Run, page: Exchange, number: int, pages: int, query: dict[str, str]) -> SeededPages:
    before = [_page(run, number - 1, query)] if number > 1 else []
    after = [_page(run, number + 1, query)] if number < pages else []
    return SeededPages((*before, page, *after), (number - 1 - len(before)) * MAX_PER_PAGE)


def _page(run: Run, number: int, query: dict[str, str]) -> Exchange:
    return run.send(requests.list_engagements(**query, sort="name", page=number, perPage=MAX_PER_PAGE))
