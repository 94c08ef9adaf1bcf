"""Faults of text that only some signs, some lengths, or a text as a whole show."""

from __future__ import annotations

import html
import re
import unicodedata
from typing import TYPE_CHECKING, Any

from conformance.reference.faults.making import shown
from conformance.reference.faults.text_making import spoiling

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault


def _without_marks(text: str) -> str:
    """Take the marks off letters."""
    plain = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(sign for sign in plain if unicodedata.category(sign) != "Mn"))


def _as_word(word: str) -> Callable[[str], str | None]:
    """Take a text that is a word of JSON for nothing."""
    return lambda text: None if text == word else text


def _as_number(text: str) -> str:
    """Take a text of digits for a number."""
    return str(int(text)) if text.isascii() and text.isdigit() else text


_WAYS: dict[str, tuple[str, Callable[[str], str | None]]] = {
    "cut-32": ("is cut after 32 characters", lambda text: text[:32]),
    "cut-100": ("is cut after 100 characters", lambda text: text[:100]),
    "cut-128": ("is cut after 128 characters", lambda text: text[:128]),
    "cut-200": ("is cut after 200 characters", lambda text: text[:200]),
    "cut-500": ("is cut after 500 characters", lambda text: text[:500]),
    "cut-2000": ("is cut after 2,000 characters", lambda text: text[:2000]),
    "cut-bytes": ("is cut after 255 bytes", lambda text: text.encode()[:255].decode(errors="ignore")),
    "upper-case": ("is in capitals", str.upper),
    "title-case": ("has capitals at the beginning of words", str.title),
    "capitalized": ("begins with a capital", lambda text: text[:1].upper() + text[1:]),
    "slashes-escaped": ("has a backslash before each slash", lambda text: text.replace("/", "\\/")),
    "slashes-lost": ("loses its slashes", lambda text: text.replace("/", "")),
    "backslash-doubled": ("has its backslashes doubled", lambda text: text.replace("\\", "\\\\")),
    "double-quotes-lost": ("loses its double quotes", lambda text: text.replace('"', "")),
    "double-quotes-escaped": ("has a backslash before double quotes", lambda text: text.replace('"', '\\"')),
    "single-quotes-escaped": ("has a backslash before single quotes", lambda text: text.replace("'", "\\'")),
    "quotes-as-references": ("has references for its quotes", lambda text: text.replace("'", "&#39;")),
    "quotes-straightened": (
        "has straight quotes for curly ones",
        lambda text: text.translate({0x201C: '"', 0x201D: '"', 0x2018: "'", 0x2019: "'"}),
    ),
    "backticks-lost": ("loses its backticks", lambda text: text.replace("`", "")),
    "question-cut": ("ends at a question mark", lambda text: text.partition("?")[0].rstrip()),
    "hash-cut": ("ends at a number sign", lambda text: text.partition("#")[0].rstrip()),
    "comment-cut": ("ends at two hyphens", lambda text: text.partition("--")[0]),
    "percent-doubled": ("has its percent signs doubled", lambda text: text.replace("%", "%%")),
    "percent-s-filled": ("has %s filled in", lambda text: text.replace("%s", "")),
    "braces-filled": ("has {0} filled in", lambda text: text.replace("{0}", "")),
    "dollar-filled": ("has $1 filled in", lambda text: text.replace("$1", "")),
    "ampersand-lost": ("loses its ampersands", lambda text: text.replace("&", "")),
    "angles-lost": ("loses its angle brackets", lambda text: re.sub(r"[<>]", "", text)),
    "escaped-twice": ("has its markup escaped twice", lambda text: html.escape(html.escape(text))),
    "latin-only": (
        "has question marks for what is not in Latin-1",
        lambda text: text.encode("latin-1", "replace").decode("latin-1"),
    ),
    "marks-lost": ("loses accents", _without_marks),
    "cjk-lost": ("loses Chinese, Japanese and Korean", lambda text: re.sub(r"[\u3040-\u9fff\uac00-\ud7af]", "", text)),
    "emoji-lost": ("loses its emoji", lambda text: re.sub(r"[\U0001f300-\U0001faff]", "", text)),
    "zeros-lost": ("loses the zeros before numbers", lambda text: re.sub(r"\b0+(?=[0-9])", "", text)),
    "dashes-joined": ("has a dash for two hyphens", lambda text: text.replace("--", "\u2013")),
    "unicode-escapes-read": ("has its Unicode escapes read", lambda text: text.replace("\\u0041", "A")),
    "euro-spelled": ("has EUR for the euro sign", lambda text: text.replace("\u20ac", "EUR")),
    "last-lost": ("loses its last character", lambda text: text[:-1] if len(text) > 1 else text),
    "null-word": ("is nothing where it is the word null", _as_word("null")),
    "zero-word": ("is nothing where it is the digit 0", _as_word("0")),
    "false-word": ("is nothing where it is the word false", _as_word("false")),
    "number-read": ("is read as a number where it is digits", _as_number),
    "true-word": ("is nothing where it is the word true", _as_word("true")),
    "date-read": (
        "is read as a moment where it is a date",
        lambda text: f"{text}T00:00:00.000Z" if re.fullmatch(r"\d{4}-\d\d-\d\d", text) else text,
    ),
}

_WORDS = frozenset({"null-word", "zero-word", "false-word", "number-read", "true-word", "date-read"})
_SHOWN_BY_PLAIN_TEXT = {
    "create": _WORDS | {"capitalized"},
    "edit": _WORDS,
    "rename": frozenset({"title-case", "capitalized"}),
}
_PLAIN = {
    "create": ("create-engagement-answers-what-was-sent", "create-engagement-lasts"),
    "edit": ("update-engagement-takes-effect",),
    "rename": ("update-organization-answers-new-name", "update-organization-takes-effect"),
}
"""What is broken by what plain words show, and not only odd or long text."""

_FAULTS = (
    ("create", "name", "cut-32"),
    ("create", "name", "cut-100"),
    ("create", "name", "cut-128"),
    ("create", "name", "cut-200"),
    ("create", "description", "cut-100"),
    ("create", "description", "cut-500"),
    ("create", "description", "cut-2000"),
    ("edit", "name", "cut-100"),
    ("edit", "name", "cut-128"),
    ("edit", "name", "cut-200"),
    ("edit", "description", "cut-200"),
    ("edit", "description", "cut-500"),
    ("edit", "description", "cut-2000"),
    ("rename", "name", "cut-32"),
    ("rename", "name", "cut-100"),
    ("rename", "name", "cut-128"),
    ("create", "name", "cut-bytes"),
    ("edit", "name", "cut-bytes"),
    ("create", "name", "upper-case"),
    ("edit", "name", "title-case"),
    ("rename", "name", "title-case"),
    ("create", "name", "capitalized"),
    ("create", "description", "capitalized"),
    ("edit", "description", "capitalized"),
    ("rename", "name", "capitalized"),
    ("create", "name", "slashes-escaped"),
    ("edit", "description", "slashes-lost"),
    ("create", "description", "backslash-doubled"),
    ("rename", "name", "backslash-doubled"),
    ("create", "name", "double-quotes-lost"),
    ("edit", "name", "double-quotes-escaped"),
    ("create", "description", "single-quotes-escaped"),
    ("rename", "name", "single-quotes-escaped"),
    ("edit", "description", "quotes-as-references"),
    ("create", "name", "quotes-straightened"),
    ("rename", "name", "quotes-straightened"),
    ("edit", "name", "backticks-lost"),
    ("create", "name", "question-cut"),
    ("edit", "name", "hash-cut"),
    ("create", "description", "comment-cut"),
    ("create", "name", "percent-doubled"),
    ("edit", "name", "percent-s-filled"),
    ("rename", "name", "percent-s-filled"),
    ("create", "description", "braces-filled"),
    ("edit", "description", "dollar-filled"),
    ("create", "name", "ampersand-lost"),
    ("rename", "name", "ampersand-lost"),
    ("edit", "name", "angles-lost"),
    ("create", "description", "escaped-twice"),
    ("create", "name", "latin-only"),
    ("rename", "name", "latin-only"),
    ("edit", "name", "marks-lost"),
    ("create", "description", "cjk-lost"),
    ("rename", "name", "cjk-lost"),
    ("edit", "name", "emoji-lost"),
    ("rename", "name", "emoji-lost"),
    ("create", "name", "zeros-lost"),
    ("edit", "description", "zeros-lost"),
    ("create", "description", "dashes-joined"),
    ("edit", "name", "unicode-escapes-read"),
    ("create", "description", "euro-spelled"),
    ("edit", "description", "euro-spelled"),
    ("create", "description", "last-lost"),
    ("edit", "name", "last-lost"),
    ("create", "description", "null-word"),
    ("edit", "description", "null-word"),
    ("create", "description", "zero-word"),
    ("edit", "description", "false-word"),
    ("create", "description", "number-read"),
    ("create", "description", "true-word"),
    ("create", "description", "date-read"),
    ("edit", "description", "number-read"),
)


def _spoiling(where: str, field: str, way: str) -> Fault:
    first = _PLAIN[where] if way in _SHOWN_BY_PLAIN_TEXT[where] else ()
    return spoiling(where, field, way, *_WAYS[way], *first)


SPOILT = tuple(_spoiling(*one) for one in _FAULTS)


def _showing(view: str, label: str, words: str, field: str, way: str, *breaks: str) -> Fault:
    """A service that keeps a text as it was sent, and shows another one in one place."""
    says, spoil = _WAYS[way]

    def change(content: dict[str, Any]) -> dict[str, Any]:
        return {**content, field: spoil(content[field])} if content.get(field) else content

    title = f"The {field} of {words} {says} where it is shown."
    return shown(f"shown-{label}-{field}-{way}", title, view, change, *breaks)


_AS_READ = "list-engagements-as-read"
_READ = ("create-engagement-keeps-text", "create-engagement-lasts", "update-engagement-keeps-text")

SHOWN = (
    _showing("view_item", "listed", "a listed engagement", "name", "cut-100", _AS_READ),
    _showing("view_item", "listed", "a listed engagement", "name", "emoji-lost", _AS_READ),
    _showing("view_item", "listed", "a listed engagement", "name", "single-quotes-escaped", _AS_READ),
    _showing("view_item", "listed", "a listed engagement", "description", "cut-100", _AS_READ),
    _showing("view_item", "listed", "a listed engagement", "description", "escaped-twice", _AS_READ),
    _showing("view_item", "listed", "a listed engagement", "description", "last-lost", _AS_READ),
    _showing("view_read", "read", "a read engagement", "name", "escaped-twice", *_READ),
    _showing("view_read", "read", "a read engagement", "description", "cut-2000", *_READ),
    _showing("view_renamed", "renamed", "the renamed organization", "name", "escaped-twice",
             "update-organization-answers-new-name"),
    _showing("view_organization", "organization", "the organization", "name", "cut-32",
             "update-organization-keeps-text", "update-organization-takes-effect"),
)  # fmt: skip
