"""Journeys through lists with filters, and reads of what they hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.checks.stock import Stock, stock
from conformance.oracle.laws import ROLES
from conformance.wire import call

if TYPE_CHECKING:
    from conformance.checks.looks import Look
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

PER_PAGE: Final = 100
_READ: Final = 5


@dataclass(frozen=True, slots=True)
class FilteredLists:
    """Engagements of each status, and all of them.

    Attributes:
        look: Active ones, the newest first; archived ones, those changed last first; and all, the newest first.
        stock: What must be in them.
    """

    look: Look
    stock: Stock


def engagements_by_status(run: Run) -> FilteredLists:
    """Engagements are listed by status, 100 a page."""
    kept = run.journeys.result(stock)
    calls = (
        call.list_engagements(status="active", sort="createdAt", order="desc", perPage=PER_PAGE),
        call.list_engagements(status="archived", sort="updatedAt", order="desc", perPage=PER_PAGE),
        call.list_engagements(sort="createdAt", order="desc", perPage=PER_PAGE),
    )
    return FilteredLists(tuple(run.send_all(calls)), kept)


def members_by_role(run: Run) -> Look:
    """All members are listed, and those of each role."""
    calls = [call.list_members(perPage=PER_PAGE), *(call.list_members(role=role, perPage=PER_PAGE) for role in ROLES)]
    return tuple(run.send_all(calls))


def stock_read(run: Run) -> list[Exchange]:
    """Some of the stock are read one by one: changed ones, and others."""
    kept = run.journeys.result(stock)
    pieces = sorted(kept.pieces, key=lambda piece: (not piece.changed, piece.archived))[: _READ - 1]
    archived = [piece for piece in kept.pieces if piece.archived][:1]
    untouched = [piece for piece in kept.pieces if not piece.changed][:1]
    chosen = dict.fromkeys((*pieces[: _READ - 2], *archived, *untouched))
    return [run.send(call.get_engagement(piece.identifier)) for piece in chosen]
