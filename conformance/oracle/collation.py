"""Names that every collation puts in one order."""

from __future__ import annotations

import re
from itertools import product
from typing import Final

SYLLABLES: Final = tuple(consonant + vowel for consonant, vowel in product("bdfkmpr", "aeiou"))
"""Of letters that follow each other alike in every language, and that no language takes for one letter together."""

LABEL: Final = "walk"
"""What stands before the syllables in a name that is compared."""

_NAME: Final = re.compile(rf".*-{LABEL}-((?:{'|'.join(SYLLABLES)})+)")


def name_key(name: str) -> str | None:
    """What names of a walk are compared by; None for other names, which may collate in any way."""
    found = _NAME.fullmatch(name)
    return None if found is None else found[1]


def syllables(number: int) -> str:
    """A number as two syllables."""
    return SYLLABLES[number // len(SYLLABLES) % len(SYLLABLES)] + SYLLABLES[number % len(SYLLABLES)]
