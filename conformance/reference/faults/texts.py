"""Faults of text: what careless services make of names and descriptions."""

from __future__ import annotations

import html
import re
import unicodedata
from typing import TYPE_CHECKING

from conformance.reference.faults.text_making import spoiling

if TYPE_CHECKING:
    from collections.abc import Callable


def _reversed_hebrew(text: str) -> str:
    """Turn words of right-to-left scripts round."""
    return re.sub(r"[\u0590-\u06ff]+", lambda found: found.group()[::-1], text)


def _halves(text: str) -> str:
    """Keep each half of a surrogate pair as a question mark."""
    return "".join("??" if ord(sign) > 0xFFFF else sign for sign in text)  # noqa: PLR2004 - the end of the first plane


_WAYS: dict[str, tuple[str, Callable[[str], str]]] = {
    "cut-64": ("is cut after 64 characters", lambda text: text[:64]),
    "cut-255": ("is cut after 255 characters", lambda text: text[:255]),
    "cut-1000": ("is cut after 1,000 characters", lambda text: text[:1000]),
    "astral-lost": ("loses characters beyond the first plane", lambda text: re.sub(r"[^\u0000-\uffff]", "", text)),
    "astral-marks": ("has question marks for characters beyond the first plane", _halves),
    "html-escaped": ("has its markup escaped", lambda text: html.escape(text, quote=False)),
    "html-unescaped": ("has its character references resolved", html.unescape),
    "tags-stripped": ("loses its tags", lambda text: re.sub(r"<[^>]*>", "", text)),
    "quotes-doubled": ("has its single quotes doubled", lambda text: text.replace("'", "''")),
    "quotes-curled": ("has curly quotes for straight ones", lambda text: text.replace('"', "\u201d")),
    "backslash-stripped": ("loses its backslashes", lambda text: text.replace("\\", "")),
    "backslash-read": ("has its escapes read", lambda text: text.replace("\\n", "\n").replace("\\t", "\t")),
    "decomposed": ("is in normal form D", lambda text: unicodedata.normalize("NFD", text)),
    "compatible": ("is in normal form KC", lambda text: unicodedata.normalize("NFKC", text)),
    "right-to-left-reversed": ("has its Hebrew and Arabic the wrong way round", _reversed_hebrew),
    "newline-added": ("ends with a line break", lambda text: f"{text}\n"),
    "lower-case": ("is in small letters", str.lower),
    "percent-read": ("has its percent-encoding read", lambda text: text.replace("%20", " ")),
    "plus-read": ("has blanks for plus signs", lambda text: text.replace("+", " ")),
    "ascii-only": ("loses what is not ASCII", lambda text: text.encode("ascii", "ignore").decode()),
    "mojibake": ("is UTF-8 read as Latin-1", lambda text: text.encode().decode("latin-1")),
    "semicolon-cut": ("ends at a semicolon", lambda text: text.partition(";")[0]),
    "null-as-word": ("loses the word null", lambda text: text.replace("null", "")),
}

_FAULTS = (
    ("create", "name", "cut-64"),
    ("edit", "name", "cut-64"),
    ("rename", "name", "cut-64"),
    ("create", "name", "cut-255"),
    ("create", "description", "cut-1000"),
    ("edit", "description", "cut-1000"),
    ("create", "name", "astral-lost"),
    ("edit", "description", "astral-lost"),
    ("rename", "name", "astral-lost"),
    ("create", "description", "astral-marks"),
    ("create", "name", "html-escaped"),
    ("edit", "name", "html-escaped"),
    ("rename", "name", "html-escaped"),
    ("create", "description", "html-unescaped"),
    ("edit", "description", "tags-stripped"),
    ("create", "name", "quotes-doubled"),
    ("rename", "name", "quotes-doubled"),
    ("edit", "name", "quotes-curled"),
    ("create", "description", "backslash-stripped"),
    ("edit", "name", "backslash-read"),
    ("create", "name", "decomposed"),
    ("edit", "description", "compatible"),
    ("create", "name", "right-to-left-reversed"),
    ("create", "description", "newline-added"),
    ("edit", "name", "newline-added"),
    ("create", "description", "lower-case"),
    ("edit", "description", "lower-case"),
    ("rename", "name", "lower-case"),
    ("create", "name", "percent-read"),
    ("edit", "description", "plus-read"),
    ("create", "name", "ascii-only"),
    ("rename", "name", "mojibake"),
    ("edit", "name", "semicolon-cut"),
    ("create", "description", "null-as-word"),
)


SPOILT = tuple(spoiling(where, field, way, *_WAYS[way]) for where, field, way in _FAULTS)
