"""Evidence as bounded HTML: text with hidden characters shown, and bodies laid out for reading."""

from __future__ import annotations

import unicodedata
from difflib import SequenceMatcher
from typing import Final

from markupsafe import Markup, escape

from conformance.json_text import Malformed, Parsed, TooDeep, read_json
from conformance.reports.layout import laid_out, place_of, tokens_of
from conformance.reports.text import UNSEEN, code_point

_TEXT_LIMIT: Final = 4_000
_BODY_LIMIT: Final = 8_000

_LONG_STRING: Final = 2_000
_MORE_CHARACTERS: Final = "{:,} more characters"
_MARK_BEGINS: Final = Markup("<mark>")
_MARK_ENDS: Final = Markup("</mark>")
_NAME: Final = Markup('<span class="key">')
_TEXT: Final = Markup('<span class="str">')
_LITERAL: Final = Markup('<span class="lit">')
_SPAN_ENDS: Final = Markup("</span>")
_COMPARED: Final = 400
"""Most characters of a text that is compared."""
_ALIKE: Final = 0.6
"""Least similarity of two texts, 0 to 1, at which the differing parts are marked."""


def seen(text: str, limit: int = _TEXT_LIMIT) -> Markup:
    """Return text of unknown origin as HTML: escaped, isolated in direction, hidden characters shown by number."""
    shown = _shown(text[:limit])
    return Markup("<bdi>{}</bdi>{}").format(shown, _cut(_MORE_CHARACTERS, len(text) - limit))


def differing(text: str, other: str, limit: int = _TEXT_LIMIT) -> Markup:
    """Return text like ``seen``; if it is similar to another text, mark the differences."""
    if text == other or len(text) > _COMPARED or len(other) > _COMPARED:
        return seen(text, limit)
    matcher = SequenceMatcher(None, other, text, autojunk=False)
    if matcher.ratio() < _ALIKE:
        return seen(text, limit)
    parts = [
        _shown(text[start:end]) if kind == "equal" else Markup("<mark>{}</mark>").format(_shown(text[start:end]))
        for kind, _, _, start, end in matcher.get_opcodes()
        if end > start
    ]
    return Markup("<bdi>{}</bdi>").format(Markup("").join(parts))


def _shown(text: str) -> Markup:
    if UNSEEN.search(text) is None:  # nearly always
        return escape(text)
    parts: list[Markup] = []
    end = 0
    for match in UNSEEN.finditer(text):
        parts += [escape(text[end : match.start()]), _mark(match[0])]
        end = match.end()
    return Markup("").join([*parts, escape(text[end:])])


def _mark(character: str) -> Markup:
    name = unicodedata.name(character, "control character")
    return Markup('<span class="unseen" title="{}">{}</span>').format(name.lower(), code_point(character))


def _cut(note: str, count: int) -> Markup:
    """Return a note on the number of characters or bytes that are left out; nothing if there are none."""
    return Markup("") if count <= 0 else Markup('<span class="cut"> … {}</span>').format(note.format(count))


def body(octets: bytes, pointer: str | None = None, limit: int = _BODY_LIMIT) -> Markup:
    """Return a body as HTML: JSON indented with unchanged tokens, other bodies as text with a note.

    Args:
        octets: The body.
        pointer: The JSON pointer of the place to mark, or None.
        limit: Most characters of JSON or text.
    """
    reading = read_json(octets) if len(octets) <= 64 * limit else None
    if isinstance(reading, Parsed):
        return _json(octets.decode("utf-8"), pointer, limit)
    return Markup("{}{}").format(_note(reading), seen(octets[: 4 * limit].decode("utf-8", "replace"), limit)) + (
        _cut("and {:,} more bytes", len(octets) - 4 * limit)
    )


def _note(reading: Malformed | TooDeep | None) -> Markup:
    if reading is None:
        return Markup("")
    why = (
        f"not JSON: {reading.reason}"
        if isinstance(reading, Malformed)
        else "JSON, nested too deep or too large to lay out"
    )
    return Markup('<span class="note">{}</span>\n').format(_shown(why[:_TEXT_LIMIT]))


def _json(text: str, pointer: str | None, limit: int) -> Markup:
    tokens = tokens_of(text)
    first, last = (pointer and place_of(tokens, pointer)) or (-1, -1)
    parts: list[Markup] = []
    length = 0
    for index, (before, lexeme, after) in enumerate(laid_out(tokens)):
        is_name = tokens[index + 1 : index + 2] == [":"]
        parts += [escape(before), *[_MARK_BEGINS][index != first :], *_token(lexeme, is_name=is_name)]
        parts += [*[_MARK_ENDS][index != last :], escape(after)]
        length += len(before) + len(lexeme) + len(after)
        if length > limit and index < len(tokens) - 1:
            parts += [_MARK_ENDS] if first <= index < last else []
            parts.append(Markup('\n<span class="cut">… the rest is in exchanges.har</span>'))
            break
    return Markup("<bdi>{}</bdi>").format(Markup("").join(parts))


def _token(lexeme: str, *, is_name: bool) -> tuple[Markup, ...]:
    if lexeme in "{}[],:":
        return (escape(lexeme),)
    begins = _LITERAL if not lexeme.startswith('"') else _NAME if is_name else _TEXT
    return begins, _shown(lexeme[:_LONG_STRING]), _cut(_MORE_CHARACTERS, len(lexeme) - _LONG_STRING), _SPAN_ENDS
