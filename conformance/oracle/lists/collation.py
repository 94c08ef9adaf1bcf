"""Names that every collation sorts in the same order."""

from __future__ import annotations

import re
from itertools import product
from typing import Final

SYLLABLES: Final = tuple(consonant + vowel for consonant, vowel in product("bdfkmpr", "aeiou"))
"""Syllables whose letters sort alike in every language and form no digraph in any."""

LABEL: Final = "walk"
"""The text before the syllables in a name that is compared."""

_NAME: Final = re.compile(rf".*-{LABEL}-((?:{'|'.join(SYLLABLES)})+)")


def name_key(name: str) -> str | None:
    """Return the sort key of a walk's name; None for other names, which may collate in any way."""
    found = _NAME.fullmatch(name)
    return None if found is None else found[1]


def syllables(number: int) -> str:
    """Return a number as two syllables."""
    return SYLLABLES[number // len(SYLLABLES) % len(SYLLABLES)] + SYLLABLES[number % len(SYLLABLES)]
