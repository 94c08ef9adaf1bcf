"""Other users who change the organization during a run."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from conformance.json_text import text_or_none
from conformance.oracle import read
from conformance.oracle.effects import Interval
from conformance.oracle.exchanges import of_operation
from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.targets.names import normalized
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_PAUSES: Final = (0.5, 1.0, 2.0, 2.0, 2.0)
"""Seconds between reads of settings that another user may be changing."""
_READING_SETTINGS: Final = "who else changes settings"
"""The check's name for these reads, which a run sends once."""
_SET_ELSEWHERE: Final = ("slug", "plan", "settings")
"""Fields of the organization that no request of the interface changes, but its users may elsewhere."""
_MIN_STRANGE_NAMES: Final = 2
"""Number of names that the run did not set which show other users at work; a faulty service may invent one."""


@contextmanager
def cant_tell_if_others_interfere(run: Run) -> Iterator[None]:
    """Turn a fault inside a ``with`` into CantTell if others rename the organization or change it elsewhere.

    Raises:
        NonConformity: There is a fault, and no sign of other users.
        CantTell: There is a fault, and other users change the organization.
    """
    try:
        yield
    except NonConformity as fault:
        if seen := _strange_names(run) or _moved_settings(run):
            raise CantTell(f"other users change the organization meanwhile, and {fault.message}", *seen) from fault
        raise


def _strange_names(run: Run) -> tuple[Exchange, ...]:
    """Return reads that show names that the run did not set; none if there are fewer than two of these names.

    Reads after a renaming to an odd name, or after a refused one, do not count: the service may have garbled that name,
    or set it all the same.
    """
    reads, prefix = _reads(run), normalized(run.names.prefix)
    before = {normalized(name) for exchange in reads[:1] if (name := _name(exchange)) is not None}
    renamings = [
        (Interval.of(exchange).start, normalized(name))
        for exchange in _updates(run)
        if not exchange.refused and isinstance(name := exchange.sent_fields.get("name"), str)
    ]
    refused = [Interval.of(update) for update in _updates(run) if update.refused]
    strange: dict[str, Exchange] = {}
    for previous, exchange in pairwise(reads):
        between = Interval(Interval.of(previous).start, Interval.of(exchange).end)
        if _name(previous) == _name(exchange) or any(map(between.overlaps, refused)):
            continue
        earlier = [given for given in renamings if given[0] < Interval.of(exchange).end]
        _, last_given = max(earlier, default=(0.0, prefix))
        name = _name(exchange)
        if name is None or not (prefix in last_given or last_given in before):
            continue
        if prefix not in normalized(name) and normalized(name) not in before:
            strange[name] = exchange
    return tuple(strange.values()) if len(strange) >= _MIN_STRANGE_NAMES else ()


def _moved_settings(run: Run) -> tuple[Exchange, ...]:
    """Return two reads between which a field changed without a request of the run that could change it."""
    if (found := _change(run)) or any(exchange.check == _READING_SETTINGS for exchange in run.wire.exchanges):
        return found
    for pause in _PAUSES:
        run.sleep(pause)
        with run.wire.checking(_READING_SETTINGS):
            run.send(requests.get_organization())
        if found := _change(run):
            break
    return found


def _change(run: Run) -> tuple[Exchange, ...]:
    updates = [Interval.of(update) for update in _updates(run)]
    for before, after in pairwise(_reads(run)):
        between = Interval(Interval.of(before).start, Interval.of(after).end)
        if _set_elsewhere(before) != _set_elsewhere(after) and not any(map(between.overlaps, updates)):
            return before, after
    return ()


def _updates(run: Run) -> list[Exchange]:
    return of_operation(run.wire.exchanges, "updateCurrentOrganization")


def _reads(run: Run) -> list[Exchange]:
    """Return the successful reads of the main key's organization, in the order of their responses."""
    reads = [
        exchange
        for exchange in of_operation(run.wire.exchanges, "getCurrentOrganization")
        if exchange.request.credential is None and exchange.accepted and any(_set_elsewhere(exchange))
    ]
    return sorted(reads, key=lambda exchange: Interval.of(exchange).end)


def _set_elsewhere(exchange: Exchange) -> list[object]:
    """Return those fields in a response; none if it shows no organization."""
    shown = read.or_none(read.data, exchange)
    return [] if shown is None else [shown.get(name) for name in _SET_ELSEWHERE]


def _name(exchange: Exchange) -> str | None:
    return text_or_none(read.data(exchange).get("name"))
