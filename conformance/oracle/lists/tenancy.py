"""Isolation of lists: none holds an engagement that only another organization's key has made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.oracle import read
from conformance.oracle.laws.responses import readable_resources
from conformance.oracle.outcomes import Inapplicable, NonConformity, evidence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.wire.exchange import Exchange


_Place = tuple[str, str]
"""An id and a createdAt: ids may be reused in each organization, so both identify an engagement."""


@dataclass(frozen=True, slots=True)
class _Leak:
    """A foreign engagement in a list: its creations by key, the list, and its index there."""

    made: dict[str, Exchange]
    listed: Exchange
    number: int


def expect_apart(exchanges: Iterable[Exchange], keys: tuple[str, str]) -> None:
    """Require that no list holds an engagement that only the other organization's key has made.

    Args:
        exchanges: The exchanges of the run.
        keys: The names of two credentials of different organizations; the first is the main key's.

    Raises:
        NonConformity: A list does.
        Inapplicable: No list was requested after the other key had made an engagement.
    """
    made: dict[_Place, dict[str, Exchange]] = {}
    leaks: list[_Leak] = []
    clean: list[Exchange] = []
    for exchange in exchanges:
        key = keys[0] if exchange.request.credential is None else exchange.request.credential.name
        if key not in keys or not exchange.accepted:
            continue
        if exchange.request.operation.id == "createEngagement":
            for place in _places(exchange).values():
                made.setdefault(place, {})[key] = exchange
        elif exchange.request.operation.id == "listEngagements" and any(key not in makers for makers in made.values()):
            found = [
                _Leak(made[place], exchange, number)
                for number, place in _places(exchange).items()
                if place in made and key not in made[place]
            ]
            leaks += found
            clean += [] if found else [exchange]
    evidence(*clean)
    if leaks:
        raise _fault(leaks)
    if not clean:
        raise Inapplicable("No list was requested after another organization's key had made an engagement")


def _places(exchange: Exchange) -> dict[int, _Place]:
    """Return the identity of each engagement in a response, by its index."""
    found: dict[int, _Place] = {}
    for number, resource in enumerate(readable_resources(exchange)):
        identifier, created = read.id_of(resource), resource.get("createdAt")
        if identifier is not None and isinstance(created, str):
            found[number] = identifier, created
    return found


def _fault(leaks: list[_Leak]) -> NonConformity:
    first = leaks[0]
    (maker, creation), *_ = first.made.items()
    lists = len({id(leak.listed) for leak in leaks})
    many = f" ({lists} times in this run)" if lists > 1 else ""
    return NonConformity(
        f"listEngagements returned an engagement that another organization's key has made{many}",
        creation,
        first.listed,
        expected="only engagements of the key's own organization",
        actual=f"an engagement that {maker} has made",
        pointer=f"/data/{first.number}",
    )
