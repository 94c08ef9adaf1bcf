"""Journeys through sorted lists of engagements: everything at once, and two neighbouring pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.checks.bounded_finding import located
from conformance.checks.filtered_lists import engagements_by_status, readable, requirement_for_status, until_seen
from conformance.checks.seeded_engagements import SeededEngagements, stock
from conformance.oracle import read
from conformance.oracle.listing import neighbours, unasked_neighbours
from conformance.oracle.outcomes import CheckOutcome
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Collection

    from conformance.checks.stable import Look
    from conformance.running.run import Run


@dataclass(frozen=True, slots=True)
class SortedLists:
    """The list sorted by one field.

    Attributes:
        default: Without an order: as many pages of 100 as it took to see the stock, or those that it was found on.
        ascending: Two neighbouring pages of an ascending list, where the stock is; those by change have the size
            that they have unasked, if that can be.
        descending: The second of two such pages of a descending list, or the one that there is.
        stock: What must be in them.
        skipped: How many items stand before those of ``default``.
    """

    default: Look
    ascending: Look
    descending: Look
    stock: SeededEngagements
    skipped: int = 0


def by_created_at(run: Run) -> SortedLists:
    """Engagements are listed in the order of their creation."""
    return _sorted_by(run, "createdAt")


def by_updated_at(run: Run) -> SortedLists:
    """Engagements are listed in the order of their last change."""
    return _sorted_by(run, "updatedAt")


def by_name(run: Run) -> SortedLists:
    """Engagements are listed in the order of their names."""
    return _sorted_by(run, "name")


def active_by_name(run: Run) -> Look:
    """Two neighbouring pages of active engagements in the order of their names."""
    everything = run.scenarios.result(by_name)
    active = [item for item in readable(everything.default) if item.get("status") == "active"]
    hidden = _total(requirement_for_status(run.scenarios.result(engagements_by_status).look, "active").responses) - len(
        active
    )
    if everything.skipped:
        found = located(run, everything.stock.pieces, hidden + len(active), status="active")
        active, hidden = readable(found.look), hidden + len(active) - found.skipped - len(readable(found.look))
    return _two_pages(run, active, everything.stock.active, max(0, hidden), status="active", sort="name", order="asc")


def archived_by_change(run: Run) -> Look:
    """Two pages of archived engagements, those changed last first; if there are few, they hold all.

    Nothing is asked for past the end of what was seen, since that may be refused.
    """
    everything = run.scenarios.result(by_updated_at)
    archived = [item for item in readable(everything.default) if item.get("status") == "archived"]
    half = max(1, min(50, len(archived) // 2))
    query = {"status": "archived", "sort": "updatedAt", "order": "desc", "perPage": half}
    pages = (1, 2) if len(archived) > half else (1,)
    return tuple(run.send_all([requests.list_engagements(**query, page=page) for page in pages]))


def _sorted_by(run: Run, field: str) -> SortedLists:
    kept = run.scenarios.result(stock)
    owned = {piece.identifier for piece in kept.pieces}
    default, skipped = until_seen(run, owned, sort=field), 0
    total = _total(default)
    if field == "name" and total > len(readable(default)) and not _block(readable(default), owned)[1]:
        found = located(run, kept.pieces, total)
        default, skipped = found.look or default, found.skipped
    items = readable(default)
    hidden = max(0, total - skipped - len(items))
    ascending = _two_pages(run, items, owned, hidden, sized=field != "updatedAt", sort=field, order="asc")
    position, count, seen = _block(items, owned)
    page, size = neighbours(skipped + position, count, seen)
    last = _pages(page, size, skipped + hidden + len(items))[-1]
    descending = run.send(requests.list_engagements(sort=field, order="desc", page=last, perPage=size))
    return SortedLists(default, ascending, (descending,), kept, skipped)


def _two_pages(
    run: Run,
    descending: list[dict[str, Any]],
    owned: Collection[str],
    hidden: int = 0,
    *,
    sized: bool = False,
    **query: str,
) -> Look:
    """Neighbouring pages of the ascending list, the stock on both, as far as the descending one shows it.

    Args:
        run: The run.
        descending: What was seen of the descending list, from its beginning.
        owned: The ids of the stock.
        hidden: How many items come behind that.
        sized: Whether to ask for a size of pages also where that which they have unasked does.
        query: What to ask for.
    """
    position, count, seen = _block(list(reversed(descending)), owned)
    if not sized and (page := unasked_neighbours(hidden + position, count)) is not None:
        return tuple(run.send_all([requests.list_engagements(**query, page=number) for number in (page, page + 1)]))
    page, size = neighbours(hidden + position, count, hidden + seen)
    pages = _pages(page, size, hidden + seen)
    return tuple(run.send_all([requests.list_engagements(**query, page=number, perPage=size) for number in pages]))


def _pages(page: int, size: int, total: int) -> tuple[int, ...]:
    """A page and the one behind it, if there is one: what lies past the end may be refused."""
    return (page, page + 1) if page * size < total else (page,)


def _total(look: Look) -> int:
    """The total that the first answer tells; 0 where it cannot be read."""
    try:
        return read.number(look[0], "total")
    except CheckOutcome:
        return 0


def _block(items: list[dict[str, Any]], owned: Collection[str]) -> tuple[int, int, int]:
    """Where the stock begins in a list, how far it reaches, and how long the list is."""
    places = [place for place, item in enumerate(items) if read.id_of(item) in owned]
    return (places[0], places[-1] - places[0] + 1, len(items)) if places else (0, 0, len(items))
