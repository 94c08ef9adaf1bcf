"""Rendering of values of a response as text, bounded in length and total over all values."""

from __future__ import annotations

import json
from typing import Final

_LONGEST: Final = 200


def kind_of(value: object) -> str:
    """Return the JSON type of a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def render(value: object) -> str:
    """Return a JSON value as text in one line, truncated if it is long."""
    if isinstance(value, str) and len(value) > _LONGEST:
        return f"{json.dumps(value[:_LONGEST])}... ({len(value)} characters)"
    if isinstance(value, list | dict) and len(value) > _LONGEST:
        return f"{kind_of(value)} of {len(value)} members"
    text = json.dumps(value, ensure_ascii=True, default=repr)
    return text if len(text) <= 2 * _LONGEST else f"{text[: 2 * _LONGEST]}... ({len(text)} characters)"


def one_of(*choices: object) -> str:
    """Return permitted choices as words: "400 or 422"."""
    words = [str(choice) for choice in choices]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
