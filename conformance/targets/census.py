"""An organization before and after a run, for the report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self

from conformance.targets.queries import GONE, Listed, QueryClient, data_of, identifier_of, latest_items, own_among
from conformance.wire.requests import get_engagement, get_organization

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.targets.names import RunNames
    from conformance.wire.exchange import Exchange

_MOST_READ: Final = 50
"""Engagements that are looked for one by one."""

Census = dict[str, str | int | None]
"""The members ``id``, ``name``, ``memberCount``, ``engagementCount`` and ``ownEngagements``; None for the untold."""


@dataclass(frozen=True, slots=True)
class OtherEngagements:
    """The engagements that an organization held before the run, the latest ones of a large one.

    Attributes:
        names: Their names by id.
    """

    names: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, listed: Listed | str) -> Self:
        """The engagements of a list that was read before the run has made any."""
        items = () if isinstance(listed, str) else listed.items
        return cls({found: str(item.get("name")) for item in items if (found := identifier_of(item)) is not None})

    def missing(self, queries: QueryClient, listed: Listed | str) -> list[str]:
        """Those that are gone, each as its id and name.

        Args:
            queries: Asks whether what the list does not show is gone.
            listed: The list after the run.
        """
        if isinstance(listed, str):
            return []
        there = {identifier_of(item) for item in listed.items}
        unlisted = [identifier for identifier in self.names if identifier not in there][:_MOST_READ]
        responses = queries.send_all([get_engagement(identifier) for identifier in unlisted])
        return [
            f'{identifier} "{self.names[identifier]}"'
            for identifier, response in zip(unlisted, responses, strict=True)
            if not isinstance(response, str) and response.status in GONE
        ]


def take_census(queries: QueryClient, names: RunNames, listed: Listed | None = None) -> tuple[Census, Listed | str]:
    """Count what an organization holds; two requests, and one more for each further page of engagements.

    Args:
        queries: Sends requests with the main key.
        names: The names of the run, whose engagements are counted as its own.
        listed: The engagements, if they were listed just before.

    Returns:
        See ``Census``, and the engagements. Whatever the service answers, nothing is raised.
    """
    response = queries.send(get_organization())
    census = _of_data({} if isinstance(response, str) else data_of(response))
    found = latest_items(queries) if listed is None else listed
    census["ownEngagements"] = None if isinstance(found, str) else len(own_among(found, names).ids)
    return census, found


def organization_census(exchange: Exchange) -> Census:
    """What a read of the organization tells: the members of ``Census`` but ``ownEngagements``."""
    return _of_data({} if exchange.received is None else data_of(exchange.received))


def _of_data(data: Mapping[str, object]) -> Census:
    census: Census = {name: _of_type(data.get(name), str) for name in ("id", "name")}
    return census | {name: _of_type(data.get(name), int) for name in ("memberCount", "engagementCount")}


def _of_type(value: object, kind: type[str | int]) -> str | int | None:
    return value if isinstance(value, kind) and not isinstance(value, bool) else None
