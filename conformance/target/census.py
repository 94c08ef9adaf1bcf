"""An organization before and after a run, for the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.target.asking import PAGES, Asking, data_of, own_engagements
from conformance.wire.call import get_organization

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.target.names import RunNames
    from conformance.wire.call import Call
    from conformance.wire.exchange import Exchange

Census = dict[str, str | int | None]
"""The members ``id``, ``name``, ``memberCount``, ``engagementCount`` and ``ownEngagements``; None for the untold."""


def take_census(send: Callable[[Call], Exchange], names: RunNames) -> Census:
    """Count what an organization holds; two requests, and one more for each further page of engagements.

    Args:
        send: Sends a call with the main key.
        names: The names of the run, whose engagements are counted as its own.

    Returns:
        See ``Census``. Whatever the service answers, nothing is raised.
    """
    asking = Asking(send)
    answer = asking.one(get_organization())
    census = _of_data({} if isinstance(answer, str) else data_of(answer))
    found = own_engagements(asking, names, pages=PAGES)
    census["ownEngagements"] = None if isinstance(found, str) else len(found.ids)
    return census


def organization_census(exchange: Exchange) -> Census:
    """What a read of the organization tells: the members of ``Census`` but ``ownEngagements``."""
    return _of_data({} if exchange.received is None else data_of(exchange.received))


def _of_data(data: Mapping[str, object]) -> Census:
    census: Census = {name: _of_type(data.get(name), str) for name in ("id", "name")}
    return census | {name: _of_type(data.get(name), int) for name in ("memberCount", "engagementCount")}


def _of_type(value: object, kind: type[str | int]) -> str | int | None:
    return value if isinstance(value, kind) and not isinstance(value, bool) else None
