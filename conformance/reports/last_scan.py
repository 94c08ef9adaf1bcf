"""Last scan of outputs for secrets before they are written."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from conformance.reports.text import json_bytes
from conformance.wire.redaction import WITHHELD

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from conformance.wire.redaction import Redactor

_QUOTING: Final = frozenset({".json", ".jsonl", ".jsonld", ".har", ".sarif", ".prom"})
"""Outputs whose texts are strings of JSON, or labels of OpenMetrics, which are quoted in the same way."""
_STRING: Final = re.compile(rb'("(?:[^"\\]++|\\.)*+")(\s*:)?', re.DOTALL)
"""A JSON string, and the colon after the name of a member."""
_WITHHELD_FILES: Final = {
    ".md": "{}\n",
    ".html": '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Withheld</title><p>{}</p></html>\n',
    ".svg": '<svg xmlns="http://www.w3.org/2000/svg" role="img"><title>{}</title></svg>\n',
    ".xml": '<testsuites><testsuite name="conformance" tests="1" errors="1"><testcase name="withheld">'
    '<error message="{}"/></testcase></testsuite></testsuites>\n',
}
"""Replacements of whole markup outputs: an edit in one place could break their markup."""


class LastScan:
    """Search for secrets in outputs while they are written.

    In JSON and metrics, only strings are searched: a number, or the name of a member, cannot be a secret. The remaining
    JSON, HTML, XML and metrics are well-formed.

    Attributes:
        found: The names of the redacted secrets, by output.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self.found: dict[str, set[str]] = {}

    def through(self, output: str, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the pieces of an output without secrets; no JSON string may span two pieces."""
        for piece in pieces:
            kind = PurePath(output).suffix
            names = self._redactor.find(piece.replace(b"\\", b"") if kind == ".md" else piece)
            clean = self._without(kind, piece, names) if names else piece
            if clean != piece:
                self.found.setdefault(output, set()).update(names)
            yield clean

    def _without(self, kind: str, piece: bytes, names: Sequence[str]) -> bytes:
        if kind in _QUOTING:
            return _STRING.sub(lambda text: text[0] if text[2] else self._text(text[1]), piece)
        if kind in _WITHHELD_FILES:
            listed = ", ".join(f"<{name}>" for name in names)
            return _WITHHELD_FILES[kind].format(escape(f"This output would have shown {listed}.")).encode()
        return self._redacted(piece)

    def _text(self, text: bytes) -> bytes:
        """Return a JSON string, with its quotation marks, without secrets."""
        if not self._redactor.find(text):
            return text
        value = json.loads(text).encode("utf-8", "surrogatepass")
        return json_bytes(self._redacted(value).decode("utf-8", "surrogatepass"))

    def _redacted(self, data: bytes) -> bytes:
        clean = self._redactor.bytes(data)
        return WITHHELD if self._redactor.find(clean) else clean
