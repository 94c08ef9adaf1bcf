"""Evidence as HTML: text with what hides in it shown, bodies laid out for reading, all of it bounded."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from markupsafe import Markup, escape

from conformance.oracle.json_text import Malformed, Parsed, TooDeep, read_json
from conformance.reports.text import UNSEEN, code_point

if TYPE_CHECKING:
    from collections.abc import Iterator

TEXT_LIMIT: Final = 4_000
BODY_LIMIT: Final = 8_000

_TOKEN: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}\[\],:]|[^\s{}\[\],:"]++')
_CLOSING: Final = {"{": "}", "[": "]"}
_LONG_STRING: Final = 2_000


def seen(text: str, limit: int = TEXT_LIMIT) -> Markup:
    """Text of unknown origin as HTML: escaped, isolated in its direction, hidden characters shown by number."""
    shown = _shown(text[:limit])
    return Markup("<bdi>{}</bdi>{}").format(shown, _left_out(len(text) - limit))


def _shown(text: str) -> Markup:
    parts: list[Markup] = []
    end = 0
    for match in UNSEEN.finditer(text):
        parts += [escape(text[end : match.start()]), _mark(match[0])]
        end = match.end()
    return Markup("").join([*parts, escape(text[end:])])


def _mark(character: str) -> Markup:
    name = unicodedata.name(character, "control character")
    return Markup('<span class="unseen" title="{}">{}</span>').format(name.lower(), code_point(character))


def _left_out(count: int) -> Markup:
    return Markup("") if count <= 0 else Markup('<span class="cut"> … {} more characters</span>').format(f"{count:,}")


def body(octets: bytes, limit: int = BODY_LIMIT) -> Markup:
    """A body as HTML: JSON indented with every token as it was received, anything else as text with a note."""
    reading = read_json(octets) if len(octets) <= 64 * limit else None
    if isinstance(reading, Parsed):
        return _json(octets.decode("utf-8"), limit)
    return Markup("{}{}").format(_note(reading), seen(octets[: 4 * limit].decode("utf-8", "replace"), limit)) + (
        _rest(len(octets) - 4 * limit)
    )


def _rest(count: int) -> Markup:
    return Markup("") if count <= 0 else Markup('<span class="cut"> … and {} more bytes</span>').format(f"{count:,}")


def _note(reading: Malformed | TooDeep | None) -> Markup:
    if reading is None:
        return Markup("")
    why = (
        f"not JSON: {reading.reason}"
        if isinstance(reading, Malformed)
        else "JSON, nested too deep or too large to lay out"
    )
    return Markup('<span class="note">{}</span>\n').format(_shown(why[:TEXT_LIMIT]))


def _json(text: str, limit: int) -> Markup:
    parts: list[Markup] = []
    length = 0
    for piece, markup in _laid_out(text):
        parts.append(markup)
        length += len(piece)
        if length > limit:
            parts.append(Markup('\n<span class="cut">… the rest is in exchanges.har</span>'))
            break
    return Markup("<bdi>{}</bdi>").format(Markup("").join(parts))


def _laid_out(text: str) -> Iterator[tuple[str, Markup]]:
    """The tokens of a valid JSON text with line breaks and indentation; none of them is changed."""
    depth = 0
    tokens = [match[0] for match in _TOKEN.finditer(text)]
    for index, lexeme in enumerate(tokens):
        following = tokens[index + 1] if index + 1 < len(tokens) else ""
        if lexeme in _CLOSING:
            depth += 1
            yield _line(lexeme, "" if following == _CLOSING[lexeme] else _break(depth))
        elif lexeme in "}]":
            depth -= 1
            opened = index > 0 and tokens[index - 1] in _CLOSING
            yield _line("" if opened else _break(depth), lexeme)
        elif lexeme == ",":
            yield _line(lexeme, _break(depth))
        elif lexeme == ":":
            yield _line(lexeme, " ")
        else:
            yield lexeme, _token(lexeme, is_name=following == ":")


def _break(depth: int) -> str:
    return "\n" + "  " * depth


def _line(before: str, after: str) -> tuple[str, Markup]:
    return before + after, escape(before + after)


def _token(lexeme: str, *, is_name: bool) -> Markup:
    if not lexeme.startswith('"'):
        return Markup('<span class="lit">{}</span>').format(_shown(lexeme[:_LONG_STRING]))
    shown = Markup("{}{}").format(_shown(lexeme[:_LONG_STRING]), _left_out(len(lexeme) - _LONG_STRING))
    return (
        Markup('<span class="key">{}</span>').format(shown)
        if is_name
        else Markup('<span class="str">{}</span>').format(shown)
    )
