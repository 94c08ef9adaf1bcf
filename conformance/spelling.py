"""Suggestions for misspelt words."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def nearest(word: str, known: Iterable[str], most: int = 3) -> str:
    """Return the known words that resemble a word, joined by "or"; an empty text if none does."""
    return " or ".join(get_close_matches(word, list(known), most))
