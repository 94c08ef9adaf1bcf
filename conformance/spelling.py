"""Suggestions for misspelt words."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def suggestion(word: str, known: Iterable[str], otherwise: str = ".", most: int = 3) -> str:
    """Return the end of a sentence that suggests the known words like a word; ``otherwise`` if there are none."""
    near = " or ".join(get_close_matches(word, list(known), most))
    return f"; did you mean {near}?" if near else otherwise
