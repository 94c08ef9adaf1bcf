"""Scenarios of sorted lists of engagements: the whole list, and two neighbouring pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.oracle import read
from conformance.oracle.lists.listing import neighbours, unasked_neighbours
from conformance.oracle.outcomes import CheckOutcome
from conformance.running.scenarios import scenario
from conformance.scenarios.lists.bounded_finding import located
from conformance.scenarios.lists.filtered import engagements_by_status, listing_with_status, readable, until_seen
from conformance.scenarios.lists.seeded_engagements import SeededEngagements, seeded_engagements
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Collection

    from conformance.confirm.lists import Snapshot
    from conformance.running.run import Run


@dataclass(frozen=True, slots=True)
class SortedLists:
    """The list sorted by a field.

    Attributes:
        default: Without an order: pages of 100 until the seeded engagements were seen, or the pages that hold them.
        ascending: Two neighbouring pages of the ascending list with seeded engagements; those by change have the
            default size if possible.
        descending: The second of two such pages of the descending list, or the only one.
        seeded: The seeded engagements, which must be in them.
        skipped: Number of items before those of ``default``.
    """

    default: Snapshot
    ascending: Snapshot
    descending: Snapshot
    seeded: SeededEngagements
    skipped: int = 0


@scenario(alone=True)
def by_created_at(run: Run) -> SortedLists:
    """List engagements in the order of their creation."""
    return _sorted_by(run, "createdAt")


@scenario(alone=True)
def by_updated_at(run: Run) -> SortedLists:
    """List engagements in the order of their last change."""
    return _sorted_by(run, "updatedAt")


@scenario(alone=True)
def by_name(run: Run) -> SortedLists:
    """List engagements in the order of their names."""
    return _sorted_by(run, "name")


@scenario(alone=True)
def active_by_name(run: Run) -> Snapshot:
    """List two neighbouring pages of active engagements in the order of their names."""
    everything = run.scenarios.result(by_name)
    active = [item for item in readable(everything.default) if item.get("status") == "active"]
    hidden = _total(
        listing_with_status(run.scenarios.result(engagements_by_status).snapshot, "active").responses
    ) - len(active)
    if everything.skipped:
        found = located(run, everything.seeded.pieces, hidden + len(active), status="active")
        active, hidden = readable(found.snapshot), hidden + len(active) - found.skipped - len(readable(found.snapshot))
    return _two_pages(run, active, everything.seeded.active, max(0, hidden), status="active", sort="name", order="asc")


@scenario(alone=True)
def archived_by_change(run: Run) -> Snapshot:
    """List two pages of archived engagements, those changed last first; if there are few, all of them.

    Pages past the end of the list are not requested, since they may be refused.
    """
    everything = run.scenarios.result(by_updated_at)
    archived = [item for item in readable(everything.default) if item.get("status") == "archived"]
    half = max(1, min(50, len(archived) // 2))
    query = {"status": "archived", "sort": "updatedAt", "order": "desc", "perPage": half}
    pages = (1, 2) if len(archived) > half else (1,)
    return tuple(run.send_all([requests.list_engagements(**query, page=page) for page in pages]))


def _sorted_by(run: Run, field: str) -> SortedLists:
    seeded = run.scenarios.result(seeded_engagements)
    owned = {piece.identifier for piece in seeded.pieces}
    default, skipped = until_seen(run, owned, sort=field), 0
    total = _total(default)
    if field == "name" and total > len(readable(default)) and not _block(readable(default), owned)[1]:
        found = located(run, seeded.pieces, total)
        default, skipped = found.snapshot or default, found.skipped
    items = readable(default)
    hidden = max(0, total - skipped - len(items))
    ascending = _two_pages(run, items, owned, hidden, sized=field != "updatedAt", sort=field, order="asc")
    position, count, seen = _block(items, owned)
    page, size = neighbours(skipped + position, count, seen)
    last = _pages(page, size, skipped + hidden + len(items))[-1]
    descending = run.send(requests.list_engagements(sort=field, order="desc", page=last, perPage=size))
    return SortedLists(default, ascending, (descending,), seeded, skipped)


def _two_pages(
    run: Run,
    descending: list[dict[str, Any]],
    owned: Collection[str],
    hidden: int = 0,
    *,
    sized: bool = False,
    **query: str,
) -> Snapshot:
    """List neighbouring pages of the ascending list that hold seeded engagements, located by the descending list.

    Args:
        run: The run.
        descending: The beginning of the descending list.
        owned: The ids of the seeded engagements.
        hidden: Number of items after that beginning.
        sized: Whether to set a page size even if the default size would do.
        query: Further query parameters.
    """
    position, count, seen = _block(list(reversed(descending)), owned)
    if not sized and (page := unasked_neighbours(hidden + position, count)) is not None:
        return tuple(run.send_all([requests.list_engagements(**query, page=number) for number in (page, page + 1)]))
    page, size = neighbours(hidden + position, count, hidden + seen)
    pages = _pages(page, size, hidden + seen)
    return tuple(run.send_all([requests.list_engagements(**query, page=number, perPage=size) for number in pages]))


def _pages(page: int, size: int, total: int) -> tuple[int, ...]:
    """Return a page and the next, if it exists: pages past the end may be refused."""
    return (page, page + 1) if page * size < total else (page,)


def _total(snapshot: Snapshot) -> int:
    """Return the total in the first response; 0 if it cannot be read."""
    try:
        return read.number(snapshot[0], "total")
    except CheckOutcome:
        return 0


def _block(items: list[dict[str, Any]], owned: Collection[str]) -> tuple[int, int, int]:
    """Return where the seeded engagements begin and end in a list, and the list's length."""
    places = [place for place, item in enumerate(items) if read.id_of(item) in owned]
    return (places[0], places[-1] - places[0] + 1, len(items)) if places else (0, 0, len(items))
