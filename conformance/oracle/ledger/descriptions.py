"""Descriptions that a service accepted, which decide whether a rule of the service may refuse another."""

from __future__ import annotations

import string
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.wire.exchange import Exchange

_CLASSES: Final = {
    **dict.fromkeys(string.ascii_letters, "letter"),
    **dict.fromkeys(string.digits, "digit"),
}


@dataclass(slots=True)
class Descriptions:
    """The accepted descriptions of a service; the interface does not state the lengths and characters that it permits.

    Attributes:
        lengths: The lengths of the accepted descriptions.
        kinds: Their characters; those of a class, such as letters, count as one.
    """

    lengths: set[int] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, exchanges: Iterable[Exchange]) -> Descriptions:
        """Return the descriptions that exchanges show to be accepted."""
        found = cls()
        for exchange in exchanges:
            found.note(exchange)
        return found

    def note(self, exchange: Exchange) -> None:
        """Record an accepted creation or edit with a description."""
        description = _description(exchange)
        if description and exchange.accepted:
            self.lengths.add(len(description))
            self.kinds |= _kinds(description)

    def may_refuse(self, exchange: Exchange) -> bool:
        """Whether a creation or an edit may have been refused for its description.

        That is not so if accepted descriptions have its characters, and some are as short and others as long.
        """
        description = _description(exchange)
        if not description or not exchange.refused_as_invalid:
            return False
        within = bool(self.lengths) and min(self.lengths) <= len(description) <= max(self.lengths)
        return not (within and _kinds(description) <= self.kinds)


def _description(exchange: Exchange) -> str | None:
    description = (exchange.sent_object or {}).get("description")
    return description if isinstance(description, str) else None


def _kinds(text: str) -> set[str]:
    return {_CLASSES.get(character, character) for character in text}
