"""Names and descriptions that a service accepted, which decide whether a rule of the service may refuse another."""

from __future__ import annotations

import string
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, Self

from conformance.json_text import text_or_none

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.wire.exchange import Exchange

_CLASSES: Final = {
    **dict.fromkeys(string.ascii_lowercase, "small letter"),
    **dict.fromkeys(string.ascii_uppercase, "capital"),
    **dict.fromkeys(string.digits, "digit"),
}
_OPERATIONS: Final = frozenset({"createEngagement", "updateEngagement"})
_DEFAULTS: Final = frozenset({"none", "null", "undefined", "n/a"})
"""Texts that a service may give to an engagement by itself, in lower case."""
_LONG_ENOUGH: Final = 4
"""The fewest characters of a text that no service has chosen by itself."""


@dataclass(slots=True)
class AcceptedTexts:
    """The accepted texts of a field; the interface does not state the lengths and characters that it permits.

    Attributes:
        of_field: The field of an engagement.
        lengths: The lengths of the accepted texts.
        words: Their numbers of words.
        kinds: Their characters; those of a class, such as digits, count as one.
        ends: The kinds of their first and of their last characters.
        distinctive: Those that a service does not choose by itself.
    """

    of_field: Literal["name", "description"]
    lengths: set[int] = field(default_factory=set)
    words: set[int] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)
    ends: tuple[set[str], set[str]] = field(default_factory=lambda: (set(), set()))
    distinctive: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, name: Literal["name", "description"], exchanges: Iterable[Exchange]) -> Self:
        """Return the texts of a field that exchanges show to be accepted."""
        found = cls(name)
        for exchange in exchanges:
            found.record(exchange)
        return found

    def record(self, exchange: Exchange) -> None:
        """Record an accepted creation or edit with a text."""
        text = self._sent(exchange)
        if text and exchange.accepted:
            self.lengths.add(len(text))
            self.words.add(len(text.split()))
            self.kinds |= _kinds(text)
            if len(text) >= _LONG_ENOUGH and text.casefold() not in _DEFAULTS:
                self.distinctive.add(text)
            for kinds, character in zip(self.ends, (text[0], text[-1]), strict=True):
                kinds.add(_kind(character))

    def may_refuse(self, exchange: Exchange) -> bool:
        """Whether a creation or an edit may have been refused for its text.

        That is not so if accepted texts have its characters, begin and end as it does, and some are as short and others
        as long, in characters and in words.
        """
        text = self._sent(exchange)
        if not text or not exchange.refused_as_invalid:
            return False
        return not self.lengths or not (
            min(self.lengths) <= len(text) <= max(self.lengths)
            and min(self.words) <= len(text.split()) <= max(self.words)
            and _kinds(text) <= self.kinds
            and _kind(text[0]) in self.ends[0]
            and _kind(text[-1]) in self.ends[1]
        )

    def _sent(self, exchange: Exchange) -> str | None:
        return text_or_none(exchange.sent_fields.get(self.of_field)) if exchange.operation_id in _OPERATIONS else None


def _kinds(text: str) -> set[str]:
    return {_kind(character) for character in {*text}}


def _kind(character: str) -> str:
    return _CLASSES.get(character, character)
