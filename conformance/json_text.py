"""Strict reader of JSON texts (RFC 8259), which returns a value or a reason for any bytes."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import Final, NoReturn

_MAX_DEPTH: Final = 100
"""The deepest nesting that is judged; deeper texts are neither right nor wrong."""

MAX_PARTS: Final = 100_000
"""The most strings and brackets, and the most numbers, of a text that is judged, to limit memory."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A text that is JSON.

    Attributes:
        value: The value, of the types of ``json``.
        duplicates: Names that occur more than once in one object; the last value counts.
    """

    value: object
    duplicates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Malformed:
    """A text that is not JSON, with the reason as a clause ("it begins with a byte order mark")."""

    reason: str


@dataclass(frozen=True, slots=True)
class TooDeep:
    """A text nested beyond 100 levels or of more than ``MAX_PARTS`` parts, which no rule forbids.

    Attributes:
        reason: The exceeded limit, as a clause.
    """

    reason: str = f"it is nested beyond the {_MAX_DEPTH} levels that are judged"


_TOO_MANY: Final = TooDeep(f"it has more than the {MAX_PARTS} parts that are judged")

_STRING_OR_BRACKET: Final = re.compile(r'"(?:[^"\\]++|\\.?)*+(?:"|\Z)|[\[\]{}]', re.DOTALL)


def read_json(text: bytes) -> Parsed | Malformed | TooDeep:
    """Read a JSON text strictly; any bytes are accepted."""
    if text.startswith(b"\xef\xbb\xbf"):
        return Malformed("it begins with a byte order mark")
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError as error:
        return Malformed(f"it is not UTF-8 at byte {error.start}")
    if (excess := _excess(decoded)) is not None:
        return excess
    return _parse(decoded)


def _parse(text: str) -> Parsed | Malformed:
    duplicates: list[str] = []

    def build(pairs: list[tuple[str, object]]) -> dict[str, object]:
        built = dict(pairs)
        if len(built) < len(pairs):
            times = Counter(name for name, _ in pairs)
            duplicates.extend(name for name, count in times.items() if count > 1)
        return built

    try:
        value = json.loads(text, object_pairs_hook=build, parse_constant=_refuse_constant, parse_int=_integer)
    except ValueError as error:
        return Malformed(str(error))
    return Parsed(value, tuple(duplicates))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


def _integer(digits: str) -> int | float:
    """Convert integers beyond any 64-bit type to floats, which are exact enough and cheap."""
    return int(digits) if len(digits) <= 30 else float(digits)  # noqa: PLR2004


def _excess(text: str) -> TooDeep | None:
    """Return whether a text is too deep or has too many parts, in linear time."""
    if len(text) <= MAX_PARTS and text.count("[") + text.count("{") <= _MAX_DEPTH:
        return None
    depth = 0
    for parts, match in enumerate(_STRING_OR_BRACKET.finditer(text), 1):
        found = match[0]
        if parts > MAX_PARTS:
            return _TOO_MANY
        if found in "[{":
            depth += 1
            if depth > _MAX_DEPTH:
                return TooDeep()
        elif found in "]}":
            depth -= 1
    many = text.count(",") >= MAX_PARTS and _STRING_OR_BRACKET.sub("", text).count(",") >= MAX_PARTS
    return _TOO_MANY if many else None
