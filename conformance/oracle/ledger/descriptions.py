"""Descriptions that a service accepted, which decide whether a rule of the service may refuse another."""

from __future__ import annotations

import string
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.wire.exchange import Exchange

_CLASSES: Final = {
    **dict.fromkeys(string.ascii_lowercase, "small letter"),
    **dict.fromkeys(string.ascii_uppercase, "capital"),
    **dict.fromkeys(string.digits, "digit"),
}


@dataclass(slots=True)
class Descriptions:
    """The accepted descriptions of a service; the interface does not state the lengths and characters that it permits.

    Attributes:
        lengths: The lengths of the accepted descriptions.
        words: Their numbers of words.
        kinds: Their characters; those of a class, such as digits, count as one.
        ends: The kinds of their first and of their last characters.
    """

    lengths: set[int] = field(default_factory=set)
    words: set[int] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)
    ends: tuple[set[str], set[str]] = field(default_factory=lambda: (set(), set()))

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
            self.words.add(len(description.split()))
            self.kinds |= {_kind(character) for character in description}
            for kinds, character in zip(self.ends, (description[0], description[-1]), strict=True):
                kinds.add(_kind(character))

    def may_refuse(self, exchange: Exchange) -> bool:
        """Whether a creation or an edit may have been refused for its description.

        That is not so if accepted descriptions have its characters, begin and end as it does, and some are as short and
        others as long, in characters and in words.
        """
        description = _description(exchange)
        if not description or not exchange.refused_as_invalid:
            return False
        return not self.lengths or not (
            min(self.lengths) <= len(description) <= max(self.lengths)
            and min(self.words) <= len(description.split()) <= max(self.words)
            and {_kind(character) for character in description} <= self.kinds
            and _kind(description[0]) in self.ends[0]
            and _kind(description[-1]) in self.ends[1]
        )


def _description(exchange: Exchange) -> str | None:
    description = (exchange.sent_object or {}).get("description")
    return description if isinstance(description, str) else None


def _kind(character: str) -> str:
    return _CLASSES.get(character, character)
