"""Others who administer the organization while a run is under way."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from conformance.oracle import read
from conformance.oracle.effects import Interval, accepted, refused, sent_object
from conformance.oracle.outcomes import CantTell, CheckOutcome, NonConformity
from conformance.targets.names import normalized
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_PAUSES: Final = (0.5, 1.0, 2.0, 2.0, 2.0)
"""Seconds between looks at settings that somebody else may be changing."""
_LOOKING: Final = "who else changes settings"
"""What such looks belong to; they are had once a run."""
_STRANGERS: Final = 2
"""How many names that nobody of the run gave show that somebody else does; a faulty service may have one of its own."""


@contextmanager
def excused_by_meddling(run: Run) -> Iterator[None]:
    """Let what is wrong inside a ``with`` be undecided where others rename the organization or change its settings.

    Raises:
        NonConformity: Something is wrong, and nobody else seems to be doing anything.
        CantTell: Somebody does.
    """
    try:
        yield
    except NonConformity as fault:
        if seen := _strange_names(run) or _moved_settings(run):
            raise CantTell(f"others change the organization meanwhile, and {fault.message}", *seen) from fault
        raise


def _strange_names(run: Run) -> tuple[Exchange, ...]:
    """Reads that show names which nobody of the run gave; none where there are fewer than two such names.

    What reads after a renaming to an odd name tells nothing: a service may have garbled that.
    """
    reads, prefix = _reads(run), normalized(run.names.prefix)
    before = {normalized(name) for one in reads[:1] if (name := _name(one)) is not None}
    renamings = [
        (Interval.of(one).start, normalized(name))
        for one in run.wire.exchanges
        if one.request.operation.id == "updateCurrentOrganization" and not refused(one)
        if isinstance(name := (sent_object(one) or {}).get("name"), str)
    ]
    strange: dict[str, Exchange] = {}
    for one in reads:
        standing = max((given for given in renamings if given[0] < Interval.of(one).end), default=(0.0, prefix))[1]
        name = _name(one)
        if name is None or not (prefix in standing or standing in before):
            continue
        if prefix not in normalized(name) and normalized(name) not in before:
            strange[name] = one
    return tuple(strange.values()) if len(strange) >= _STRANGERS else ()


def _moved_settings(run: Run) -> tuple[Exchange, ...]:
    """Two reads between which settings changed, and no request of the run could have changed them."""
    if (found := _change(run)) or _has_looked(run):
        return found
    for pause in _PAUSES:
        run.sleep(pause)
        with run.wire.checking(_LOOKING):
            run.send(requests.get_organization())
        if found := _change(run):
            break
    return found


def _has_looked(run: Run) -> bool:
    return any(one.check == _LOOKING for one in run.wire.exchanges)


def _change(run: Run) -> tuple[Exchange, ...]:
    updates = [
        Interval.of(one) for one in run.wire.exchanges if one.request.operation.id == "updateCurrentOrganization"
    ]
    for before, after in pairwise(_reads(run)):
        between = Interval(Interval.of(before).start, Interval.of(after).end)
        if _settings(before) != _settings(after) and not any(between.meets(one) for one in updates):
            return before, after
    return ()


def _reads(run: Run) -> list[Exchange]:
    """The successful reads of the main key's organization, in the order of their answers."""
    reads = [
        one
        for one in run.wire.exchanges
        if one.request.operation.id == "getCurrentOrganization"
        and one.request.credential is None
        and accepted(one)
        and _settings(one)
    ]
    return sorted(reads, key=lambda one: Interval.of(one).end)


def _settings(exchange: Exchange) -> object:
    """The settings that an answer shows; None where it shows none."""
    try:
        return read.data(exchange).get("settings")
    except CheckOutcome:
        return None


def _name(exchange: Exchange) -> str | None:
    name = read.data(exchange).get("name")
    return name if isinstance(name, str) else None
