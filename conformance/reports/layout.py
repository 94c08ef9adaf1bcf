"""Layout of JSON texts for reading: line breaks and indentation between unchanged tokens."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_TOKEN: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}\[\],:]|[^\s{}\[\],:"]++')
_CLOSING: Final = {"{": "}", "[": "]"}


def tokens_of(text: str) -> list[str]:
    """Return the tokens of a valid JSON text."""
    return [match[0] for match in _TOKEN.finditer(text)]


def laid_out(tokens: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the white space before each token, the token, and the white space after it."""
    depth = 0
    for index, lexeme in enumerate(tokens):
        following = tokens[index + 1] if index + 1 < len(tokens) else ""
        if lexeme in _CLOSING:
            depth += 1
            yield "", lexeme, "" if following == _CLOSING[lexeme] else _break(depth)
        elif lexeme in "}]":
            depth -= 1
            opened = index > 0 and tokens[index - 1] in _CLOSING
            yield "" if opened else _break(depth), lexeme, ""
        else:
            yield "", lexeme, {",": _break(depth), ":": " "}.get(lexeme, "")


def _break(depth: int) -> str:
    return "\n" + "  " * depth


def place_of(tokens: Sequence[str], pointer: str) -> tuple[int, int] | None:
    """Return the first and the last token of the value at a JSON pointer; None if there is no value.

    If an object repeats a name, its last value counts, as for most readers.
    """
    aim = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    found = None
    path: list[str | int] = []
    for index, lexeme in enumerate(tokens):
        if lexeme == "," and isinstance(path[-1], int):
            path[-1] += 1
        elif lexeme in "}]":
            path.pop()
        elif index + 1 < len(tokens) and tokens[index + 1] == ":" and lexeme[0] == '"':
            path[-1] = json.loads(lexeme)
        elif lexeme not in ",:":
            if list(map(str, path)) == aim:
                found = index
            if lexeme in _CLOSING:
                path.append(0 if lexeme == "[" else "")
    return None if found is None else (found, _end(tokens, found))


def _end(tokens: Sequence[str], start: int) -> int:
    depth = 0
    for index in range(start, len(tokens)):
        depth += (tokens[index] in _CLOSING) - (tokens[index] in "}]")
        if depth == 0:
            return index
    return len(tokens) - 1
