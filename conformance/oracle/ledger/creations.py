"""Creations of a run by the names that they sent, to explain listed engagements that no response showed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from conformance.oracle import read
from conformance.oracle.laws.responses import readable_resources
from conformance.oracle.ledger.attribution import requirement_for_refused_key
from conformance.wire.requests import OTHER_KEY

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange

_MARK: Final = "cf-"
"""The beginning of the names of every run."""


@dataclass(slots=True)
class Creations:
    """All creations of a run, with any key.

    Attributes:
        by_name: The creations by the name that they sent.
        made: The ids in their responses, and the creations.
    """

    by_name: dict[str, list[Exchange]] = field(default_factory=dict)
    made: dict[str, Exchange] = field(default_factory=dict)

    def add(self, exchange: Exchange) -> None:
        """Add a creation."""
        name = exchange.sent_fields.get("name")
        if isinstance(name, str):
            self.by_name.setdefault(name, []).append(exchange)
        for resource in readable_resources(exchange) if exchange.accepted else ():
            if (identifier := read.id_of(resource)) is not None:
                self.made[identifier] = exchange

    def unexplained(self, item: dict[str, object]) -> tuple[str, tuple[Exchange, ...]] | None:
        """Return why the main key's organization must not have a listed engagement: a requirement, and the creations.

        Its name and description show that the run sent it. Returns None if a creation, or one whose response is
        unknown, explains it.
        """
        name, identifier = item.get("name"), item.get("id")
        named = self.by_name.get(name, []) if isinstance(name, str) else []
        sent = [creation for creation in named if _is_shown(creation, item)]
        creation = self.made.get(identifier) if isinstance(identifier, str) else None
        if not sent or (creation is not None and creation.request.key_name != OTHER_KEY):
            return None
        if creation is not None:
            return ("isolation-lists", (creation,)) if creation in sent else None
        known = {exchange.number for exchange in self.made.values()}
        if not all(exchange.refused or exchange.number in known for exchange in sent):
            return None
        refused = [exchange for exchange in sent if exchange.refused]
        if not refused or any(_describes(exchange, item) for exchange in sent if not exchange.refused):
            return "create-engagement-counted", tuple(sent)
        return requirement_for_refused_key(refused[-1]) or "create-engagement-refused-creates-nothing", tuple(sent)


def _is_shown(creation: Exchange, item: dict[str, object]) -> bool:
    """Whether an item is certainly what a creation sent: other users' engagements may have a name without a mark."""
    sent = creation.sent_fields
    is_marked = str(sent.get("name")).strip().startswith(_MARK)
    return is_marked or (bool(sent.get("description")) and item.get("description") == sent["description"])


def _describes(creation: Exchange, item: dict[str, object]) -> bool:
    """Whether an item has the description that a creation sent."""
    return (item.get("description") or None) == (creation.sent_fields.get("description") or None)
