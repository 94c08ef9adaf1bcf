"""Lenient JSON reader for undoing, which accepts byte order marks, NaN and truncated bodies."""

from __future__ import annotations

import json
import re
import zlib
from typing import Any, Final

_MAX_READ: Final = 2**17
"""The most bytes of a broken body that are read; ids are near the beginning."""

_DEEPEST: Final = 4
"""The deepest level that is read: body, data, items of a list, and empty values within them."""

_PART: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[\]{}:,]|[^\s\[\]{}:,"]++', re.DOTALL)


def read_leniently(body: bytes) -> object:
    """Read as much as possible of a body that is no valid JSON, in linear time and without errors.

    Returns:
        A value of the types of ``json``, without deeper levels and the truncated rest. None if nothing can be read.
    """
    start = _unpacked(body)[:_MAX_READ]
    builder = _Builder()
    for match in _PART.finditer(start.decode(json.detect_encoding(start), "replace").removeprefix("\ufeff")):
        builder.take(match[0])
    return builder.made


def _unpacked(body: bytes) -> bytes:
    """Return the body, decompressed if it is gzip data without a Content-Encoding."""
    try:
        return zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(body, _MAX_READ) if body[:2] == b"\x1f\x8b" else body
    except zlib.error:
        return b""


class _Builder:
    """Builds a value from the tokens of a text, in any order."""

    def __init__(self) -> None:
        self.made: object = None
        self._open: list[dict[str, Any] | list[Any]] = []
        self._names: list[str | None] = []
        self._beyond = 0

    def take(self, part: str) -> None:
        """Take the next token of the text."""
        if part in "[{":
            self._begin([] if part == "[" else {})
        elif part in "]}":
            self._end()
        elif self._beyond == 0 and part not in ":,":
            self._put(_value_of(part), is_text=part[0] == '"')

    def _begin(self, value: dict[str, Any] | list[Any]) -> None:
        if self._beyond or len(self._open) == _DEEPEST:
            self._beyond += 1
            return
        if self._open:
            self._put(value, is_text=False)
        elif self.made is None:
            self.made = value
        self._open.append(value)
        self._names.append(None)

    def _end(self) -> None:
        if self._beyond:
            self._beyond -= 1
        elif self._open:
            self._open.pop()
            self._names.pop()

    def _put(self, value: object, *, is_text: bool) -> None:
        """Add a value to the open list or object; in an object, texts and values alternate."""
        if not self._open:
            return
        holder = self._open[-1]
        if isinstance(holder, list):
            holder.append(value)
        elif (name := self._names[-1]) is not None:
            holder[name], self._names[-1] = value, None
        elif is_text and isinstance(value, str):
            self._names[-1] = value


def _value_of(part: str) -> object:
    try:
        return json.loads(part)
    except ValueError:
        return None
