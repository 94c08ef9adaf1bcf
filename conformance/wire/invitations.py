"""Removal of what accepts an invitation, such as a link or a token, from the record of a response."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from conformance.json_text import Parsed, read_json

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMED: Final = frozenset({"id", "email", "role", "status", "expiresAt", "createdAt"})
"""The members of an invitation that the interface names."""

_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_LINKS: Final = frozenset({"location", "content-location", "link", "refresh"})
_LABEL: Final = "<withheld: it may accept the invitation>"

_Headers = tuple[tuple[str, str], ...]


def without_acceptance(headers: _Headers, body: bytes) -> tuple[_Headers, bytes]:
    """Return a response to an invitation without links and without texts that the interface does not name."""
    headers = tuple((name, _LABEL if name.lower() in _LINKS else value) for name, value in headers)
    reading = read_json(body)
    data: Any = reading.value.get("data") if isinstance(reading, Parsed) and isinstance(reading.value, dict) else None
    if not isinstance(data, dict):
        return headers, body
    kept = {text for name in _NAMED for text in _texts(data.get(name))} | set(_names(data))
    hidden = {text for name, value in data.items() if name not in _NAMED for text in _texts(value)} - kept
    label = json.dumps(_LABEL).encode()
    return headers, _STRING.sub(lambda string: label if json.loads(string[0]) in hidden else string[0], body)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def _names(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _names(inner)
