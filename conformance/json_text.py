"""Strict reader of JSON texts (RFC 8259), which returns a value or a reason for any bytes; JSON pointers (RFC 6901)."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterable

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
        size: The bytes of memory that the objects and arrays take which no earlier text has; 0 if none are shared.
    """

    value: object
    duplicates: tuple[str, ...] = ()
    size: int = field(default=0, compare=False)


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


class SharedValues:
    """The objects and arrays of texts, each once: a run gets most engagements in hundreds of lists.

    Values that are shared must not be changed.

    Attributes:
        size: The bytes of memory that they take, with their keys in the table.
    """

    def __init__(self) -> None:
        self._objects: dict[tuple[object, ...], dict[str, object]] = {}
        self._arrays: dict[tuple[object, ...], list[object]] = {}
        self.size = 0

    def of_object(self, new: dict[str, object]) -> dict[str, object]:
        """Return the known object that equals a new one; if there is none, the new one, which is known then."""
        for name, value in new.items():
            if isinstance(value, list):
                new[name] = self.of_array(value)
        names, values = tuple(new), _keys_of(new.values())
        known = self._objects.setdefault((names, values), new)
        if known is new:
            self._count(new, names, values, *names, *values)
        return known

    def of_array(self, new: list[object]) -> list[object]:
        """Return the known array that equals a new one, whose objects are known; if there is none, the new one."""
        new[:] = [self.of_array(value) if isinstance(value, list) else value for value in new]
        values = _keys_of(new)
        known = self._arrays.setdefault(values, new)
        if known is new:
            self._count(new, values, *values)
        return known

    def _count(self, *stored: object) -> None:
        self.size += sum(map(sys.getsizeof, stored)) + _AN_ENTRY


_AN_ENTRY: Final = 150
"""Bytes of memory that an entry of a table takes beside its parts, estimated."""


def _keys_of(values: Iterable[object]) -> tuple[str | bytes | int, ...]:
    """Return a key for each value that only equal values have; objects and arrays, known already, have their ids."""
    return tuple(
        value if isinstance(value, str) else id(value) if isinstance(value, dict | list) else repr(value).encode()
        for value in values
    )


_TOO_MANY: Final = TooDeep(f"it has more than the {MAX_PARTS} parts that are judged")

_STRING_OR_BRACKET: Final = re.compile(r'"(?:[^"\\]++|\\.?)*+(?:"|\Z)|[\[\]{}]', re.DOTALL)


def read_json(text: bytes, shared: SharedValues | None = None) -> Parsed | Malformed | TooDeep:
    """Read a JSON text strictly.

    Args:
        text: Any bytes.
        shared: The values of earlier texts, which are used again; None if nothing is shared.
    """
    if text.startswith(b"\xef\xbb\xbf"):
        return Malformed("it begins with a byte order mark")
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError as error:
        return Malformed(f"it is not UTF-8 at byte {error.start}")
    if (excess := _excess(decoded)) is not None:
        return excess
    return _parse(decoded, shared)


ABSENT: Final = object()
"""The value at a JSON pointer that leads nowhere."""


def value_at(value: object, pointer: str) -> object:
    """Return the value at a JSON pointer, or ``ABSENT``."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list):
            value = value[int(name)] if name.isdecimal() and int(name) < len(value) else ABSENT
        else:
            value = value.get(name, ABSENT) if isinstance(value, dict) else ABSENT
    return value


def text_or_none(value: object) -> str | None:
    """Return a JSON value if it is a text; None for any other."""
    return value if isinstance(value, str) else None


def integer_or_none(value: object) -> int | None:
    """Return a JSON value if it is an integer; None for any other, also for true and false."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _parse(text: str, shared: SharedValues | None) -> Parsed | Malformed:
    duplicates: list[str] = []
    before = 0 if shared is None else shared.size

    def build(pairs: list[tuple[str, object]]) -> dict[str, object]:
        built = dict(pairs)
        if len(built) < len(pairs):
            times = Counter(name for name, _ in pairs)
            duplicates.extend(name for name, count in times.items() if count > 1)
        return built if shared is None else shared.of_object(built)

    try:
        value = json.loads(text, object_pairs_hook=build, parse_constant=_refuse_constant, parse_int=_integer)
    except ValueError as error:
        return Malformed(str(error))
    if shared is None:
        return Parsed(value, tuple(duplicates))
    value = shared.of_array(value) if isinstance(value, list) else value
    return Parsed(value, tuple(duplicates), shared.size - before)


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
