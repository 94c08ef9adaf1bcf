"""Common words of the interface, responses and outputs, which redaction must leave in place."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from conformance.interface.openapi import openapi_path

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_KINDS: Final = (".yaml", ".json", ".html", ".css", ".js", ".py")
_FOLDERS: Final = (("catalogue", "data"), ("reports",), ("schemas",), ("verdicts",))
_OF_THE_WIRE: Final = b"gzip deflate br identity keep-alive close chunked en-US,en no-cache true false null HTTP/1.1"
_QUERY: Final = re.compile(r"(?:[?&]?(?:page|perPage|sort|order|status|role)=\w*)+")
_TEXTS: Final = ("scenarios", "samples.py")


@cache
def ordinary_words() -> bytes:
    """Return openapi.yaml, the catalogue and the sources of the outputs, as a single text."""
    parts = [_OF_THE_WIRE, openapi_path().read_bytes()]
    for folder in _FOLDERS:
        parts += _texts(files("conformance").joinpath(*folder))
    return b"\n".join(parts)


def is_always_sent(text: str) -> bool:
    """Whether requests of any run contain the text, in their queries or as a text sample."""
    texts = files("conformance").joinpath(*_TEXTS).read_text("utf-8")
    return _QUERY.fullmatch(text) is not None or text in texts


def _texts(folder: Traversable) -> list[bytes]:
    found: list[bytes] = []
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            found += _texts(entry)
        elif entry.name.endswith(_KINDS):
            found.append(entry.read_bytes())
    return found
