"""Summary of an organization before and after a run, for the report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self

from conformance.json_text import integer_or_none, text_or_none
from conformance.targets.queries import Listed, QueryClient, latest_items, own_among
from conformance.targets.responses import data_of, identifier_of, is_gone
from conformance.wire.requests import get_engagement, get_organization

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.targets.names import RunNames
    from conformance.wire.exchange import Response

_MOST_READ: Final = 50
"""The most engagements that are read individually."""

Census = dict[str, str | int | None]
"""The members ``id``, ``name``, ``memberCount``, ``engagementCount`` and ``ownEngagements``; None if unknown."""


@dataclass(frozen=True, slots=True)
class OtherEngagements:
    """The engagements of an organization before the run; only the latest of a large organization.

    Attributes:
        names: Their names by id.
    """

    names: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, listed: Listed | str) -> Self:
        """Return the engagements of a list that was read before the run created any."""
        items = () if isinstance(listed, str) else listed.items
        return cls({found: str(item.get("name")) for item in items if (found := identifier_of(item)) is not None})

    def missing(self, queries: QueryClient, listed: Listed | str) -> list[str]:
        """Return the engagements that are gone, each as its id and name.

        Args:
            queries: Reads the engagements that are not in the list.
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
            if is_gone(response)
        ]


def take_census(queries: QueryClient, names: RunNames, listed: Listed | None = None) -> tuple[Census, Listed | str]:
    """Summarize an organization with two requests, and one more for each further page of engagements.

    Args:
        queries: Sends requests with the main key.
        names: The names of the run, by which its engagements are counted.
        listed: The engagements, if they were just listed.

    Returns:
        The census and the engagements. No response raises an exception.
    """
    census = organization_census(queries.send(get_organization()))
    found = latest_items(queries) if listed is None else listed
    census["ownEngagements"] = None if isinstance(found, str) else len(own_among(found, names).ids)
    return census, found


def organization_census(response: Response | str | None) -> Census:
    """Return the census by the response to a read of the organization, without ``ownEngagements``."""
    data = data_of(response)
    census: Census = {name: text_or_none(data.get(name)) for name in ("id", "name")}
    return census | {name: integer_or_none(data.get(name)) for name in ("memberCount", "engagementCount")}
