"""Journeys through lists with filters, and reads of what they hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from conformance.checks.stock import Stock, stock
from conformance.oracle import read
from conformance.oracle.judgement import Judgement
from conformance.oracle.laws import ROLES
from conformance.oracle.listing import Listing
from conformance.wire import call

if TYPE_CHECKING:
    from collections.abc import Collection

    from conformance.checks.looks import Look
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

PER_PAGE: Final = 100
_READ: Final = 4
_MOST_PAGES: Final = 12


@dataclass(frozen=True, slots=True)
class FilteredLists:
    """Engagements of each status, and all of them.

    Attributes:
        look: Pages of the list of active ones, of archived ones, and of all, as many as it took to see the stock.
        stock: What must be in them.
    """

    look: Look
    stock: Stock


def engagements_by_status(run: Run) -> FilteredLists:
    """Engagements are listed by status, 100 a page."""
    kept = run.journeys.result(stock)
    lists = (
        ({"status": "active", "sort": "createdAt", "order": "desc"}, kept.active),
        ({"status": "archived", "sort": "updatedAt"}, kept.archived),  # descending unasked, for the laws of every list
        ({"sort": "createdAt", "order": "desc"}, (*kept.active, *kept.archived)),
    )
    pages = [until_seen(run, wanted, **query) for query, wanted in lists]
    return FilteredLists(tuple(page for look in pages for page in look), kept)


def of_status(look: Look, status: str | None) -> Listing:
    """The pages of one of the lists: that of a status, or None for that of all."""
    return Listing(tuple(page for page in look if dict(page.call.query).get("status") == status))


def until_seen(run: Run, owned: Collection[str], **query: str) -> Look:
    """Pages of 100, until all that is wanted was seen or there are no more, a dozen at most."""
    pages: list[Exchange] = []
    missing = set(owned)
    for page in range(1, _MOST_PAGES + 1):
        pages.append(run.send(call.list_engagements(**query, page=page, perPage=PER_PAGE)))
        items = readable((pages[-1],))
        missing -= {str(item.get("id")) for item in items}
        if not missing or len(items) < PER_PAGE:
            break
    return tuple(pages)


def readable(look: Look) -> list[dict[str, Any]]:
    """The items of answers, as far as they can be read: a journey judges nothing."""
    found: list[dict[str, Any]] = []
    for answer in look:
        try:
            found += read.items(answer)
        except Judgement:
            break
    return found


def members_by_role(run: Run) -> Look:
    """All members are listed, and those of each role."""
    calls = [call.list_members(perPage=PER_PAGE), *(call.list_members(role=role, perPage=PER_PAGE) for role in ROLES)]
    return tuple(run.send_all(calls))


def neighbours_of_role(run: Run) -> Look:
    """Two neighbouring pages of one member each of a role; nothing where no role has two members.

    The later page is, if that can be, one that a list without the filter would fill with somebody of another role.
    """
    everybody, *answers = (readable((answer,)) for answer in run.journeys.result(members_by_role))
    places = [
        (place < len(everybody) and everybody[place].get("role") == role, role, place)
        for role, members in zip(ROLES, answers, strict=True)
        for place in range(1, len(members))
    ]
    if not places:
        return ()
    _, role, place = min(places)
    calls = [call.list_members(role=role, perPage=1, page=page) for page in (place, place + 1)]
    return tuple(run.send_all(calls))


def stock_read(run: Run) -> list[Exchange]:
    """Some of the stock are read one by one: those that were edited, one that was archived, or others instead."""
    kept = run.journeys.result(stock)
    edited = [piece for piece in kept.pieces if piece.changed and not piece.archived]
    archived = [piece for piece in kept.pieces if piece.archived]
    untouched = [piece for piece in kept.pieces if not piece.changed]
    chosen = [*edited[: _READ - 1], *archived[:1], *untouched][:_READ]
    return [run.send(call.get_engagement(piece.identifier)) for piece in chosen]
