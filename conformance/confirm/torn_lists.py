"""Lists read during a write, which may be inconsistent: services count first and read afterwards."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Final

from conformance.oracle import read
from conformance.oracle.effects import Interval
from conformance.oracle.laws.responses import readable_resources
from conformance.oracle.ledger.lists import page_of

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_MOVING: Final = ("name", "status", "updatedAt")


def written_meanwhile(run: Run, listed: Exchange) -> bool:
    """Whether the run was writing to the resources of a list while it was read."""
    interval, family = Interval.of(listed), listed.request.operation.family
    return any(
        exchange.request.may_change
        and exchange.request.operation.family == family
        and exchange.was_sent
        and _interval(exchange).overlaps(interval)
        for exchange in run.wire.exchanges
    )


def others_moved(run: Run, first: Exchange, other: Exchange) -> bool:
    """Whether two responses to the same request show that others changed the list of engagements in between."""
    earlier, later = _of_others(run, first), _of_others(run, other)
    pages = page_of(first), page_of(other)
    if all(page is not None and page.is_whole for page in pages) and earlier.keys() != later.keys():
        return True
    return any(earlier[name] != later[name] for name in earlier.keys() & later.keys())


def others_shifted(run: Run, first: Exchange, other: Exchange) -> bool:
    """Whether two responses to the same request show different items of others, which may have shifted the run's."""
    return _of_others(run, first).keys() != _of_others(run, other).keys()


def _of_others(run: Run, listed: Exchange) -> dict[str, list[object]]:
    """Return the items of a list that the run has not created, by identifier."""
    return {
        name: [item.get(field) for field in _MOVING]
        for item in readable_resources(listed)
        if (name := read.id_of(item)) is not None and not run.names.owns_engagement(item)
    }


def record_torn(run: Run, *lists: Exchange) -> None:
    """Note that lists were wrong while the run was writing, and right with no write in flight."""
    if lists:
        run.observe("lists-under-writes", "not always: requested again with no write in flight, it was right", lists[0])


def _interval(write: Exchange) -> Interval:
    """Return the time in which a write is carried out; without an end if no response shows that it was."""
    interval = Interval.of(write)
    return interval if write.accepted or write.refused else Interval(interval.start, inf)
