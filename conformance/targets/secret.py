"""Secrets, which no output may show."""

from __future__ import annotations

import re
from typing import Final, NoReturn, final

_WORD: Final = re.compile(r"[A-Za-z0-9_~+/=.\-]{12,}")
_LETTER_AND_DIGIT: Final = re.compile(r"(?=.*[A-Za-z])(?=.*[0-9])")
_PATH: Final = re.compile(r"~?/[A-Za-z][a-z]{2,}(?:[/.](?:[^/.]{,11}|[^/.0-9]+))+")
"""An absolute path, in which no folder is like a key. No key begins like one, unless by a rare accident."""
_TIME: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}")


@final
class Secret:
    """A text that only ``reveal`` returns.

    Printing, formatting and pickling never reveal the value; comparing and hashing work as for the text.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the text itself; only for the wire and the redactor."""
        return self._value

    def __repr__(self) -> str:
        return "<secret>"

    def __eq__(self, other: object) -> bool:
        return self._value == other._value if isinstance(other, Secret) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._value)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not written anywhere")


def without_likely_keys(text: str) -> str:
    """Return the text without long words of letters and digits, except times and paths: they may be unknown keys."""
    return _WORD.sub(_shown, text)


def _shown(word: re.Match[str]) -> str:
    is_known = _TIME.match(word[0]) or _PATH.fullmatch(word[0])
    return "<withheld>" if _LETTER_AND_DIGIT.match(word[0]) and not is_known else word[0]
