"""Faults of text that single signs show, and orders that single combinations of parameters get wrong."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.reference.faults.list_making import asking
from conformance.reference.faults.text_making import spoiling

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.faults.list_making import Asked

_FILTERED = "sort-with-filter"


def _lost(signs: str) -> Callable[[str], str]:
    return lambda text: re.sub(f"[{signs}]", "", text)


def _half_width(text: str) -> str:
    return "".join(chr(ord(sign) - 0xFEE0) if "\uff01" <= sign <= "\uff5e" else sign for sign in text)


_WAYS: dict[str, tuple[str, Callable[[str], str]]] = {
    "underscores-blank": ("has blanks for its underscores", lambda text: text.replace("_", " ")),
    "asterisks-lost": ("loses its asterisks", _lost("*")),
    "tilde-lost": ("loses its tildes", _lost("~")),
    "pipe-slashed": ("has slashes for its bars", lambda text: text.replace("|", "/")),
    "caret-lost": ("loses its carets", _lost("\\^")),
    "brackets-lost": ("loses its square brackets", _lost("\\[\\]")),
    "at-spelt": ("has (at) for its at signs", lambda text: text.replace("@", "(at)")),
    "comma-cut": ("ends at a comma", lambda text: text.partition(",")[0].rstrip()),
    "dots-joined": ("has an ellipsis for three dots", lambda text: text.replace("...", "\u2026")),
    "copyright-joined": ("has a copyright sign for (c)", lambda text: text.replace("(c)", "\u00a9")),
    "dashes-plain": ("has hyphens for its dashes", lambda text: re.sub("[\u2013\u2014]", "-", text)),
    "sharp-s-spelt": ("has ss for its sharp s", lambda text: text.replace("\u00df", "ss")),
    "half-width": ("has plain letters for full-width ones", _half_width),
    "ligature-spelt": ("has its ligatures taken apart", lambda text: text.replace("\ufb01", "fi")),
    "dotted-i-plain": ("has I for a dotted capital I", lambda text: text.replace("\u0130", "I")),
    "skin-lost": ("loses the tones of its emoji", _lost("\U0001f3fb-\U0001f3ff")),
    "keycap-lost": ("loses its key caps", _lost("\u20e3")),
    "thai-lost": ("loses its Thai", _lost("\u0e00-\u0e7f")),
    "cyrillic-unknown": ("has question marks for Cyrillic", lambda text: re.sub("[\u0400-\u04ff]", "?", text)),
    "sigma-alike": ("has one sigma for both", lambda text: text.replace("\u03c2", "\u03c3")),
    "addresses-lost": ("loses its web addresses", lambda text: re.sub(r"https?://\S+", "", text)),
    "javascript-lost": ("loses the word javascript:", lambda text: text.replace("javascript:", "")),
    "scripts-lost": ("loses its scripts", lambda text: re.sub(r"<script>.*?</script>", "", text)),
    "templates-lost": ("loses what stands in double braces", lambda text: re.sub(r"\{\{.*?\}\}", "", text)),
    "cut-4096": ("is cut after 4,096 characters", lambda text: text[:4096]),
    "cut-10000": ("is cut after 10,000 characters", lambda text: text[:10_000]),
}

_OF_CREATIONS = (
    *(("create", "name", way) for way in list(_WAYS)[:20]),
    *(("create", "description", way) for way in list(_WAYS)[20:]),
)
_OF_EDITS = (
    ("edit", "name", "underscores-blank"),
    ("edit", "name", "pipe-slashed"),
    ("edit", "description", "scripts-lost"),
    ("edit", "description", "ligature-spelt"),
    ("rename", "name", "underscores-blank"),
    ("rename", "name", "sharp-s-spelt"),
    ("rename", "name", "dots-joined"),
)

SPOILT = (
    *(spoiling(where, field, way, *_WAYS[way]) for where, field, way in (*_OF_CREATIONS, *_OF_EDITS)),
    spoiling("edit", "description", "zero-lost", "is empty where it is 0", lambda text: "" if text == "0" else text,
             "update-engagement-takes-effect"),
)  # fmt: skip


def _turned(label: str, says: str, when: Callable[[Asked], bool], *breaks: str) -> Fault:
    """A list that is the other way round for one combination of parameters."""
    return asking(
        f"turned-{label}",
        f"is the other way round where {says}",
        lambda asked, query: replace(query, descending=not query.descending) if when(asked) else query,
        *breaks,
    )


TURNED = (
    _turned("active-by-name-descending", "active ones are sorted by name, descending", lambda asked: (
        (asked["status"], asked["sort"], asked["order"]) == ("active", "name", "desc")), _FILTERED),
    _turned("active-by-name-by-default", "active ones are sorted by name, in no given order", lambda asked: (
        (asked["status"], asked["sort"], asked["order"]) == ("active", "name", None)), _FILTERED),
    _turned("active-by-change", "active ones are sorted by change, descending", lambda asked: (
        (asked["status"], asked["sort"], asked["order"]) == ("active", "updatedAt", "desc")), "sort-by-updated-at"),
    _turned("active-by-creation", "active ones are sorted by creation, ascending", lambda asked: (
        (asked["status"], asked["sort"], asked["order"]) == ("active", "createdAt", "asc")), "sort-by-created-at"),
    _turned("by-name-of-100", "it is sorted by name with 100 a page, ascending", lambda asked: (
        (asked["perPage"], asked["sort"], asked["order"]) == (100, "name", "asc")), "sort-by-name"),
    _turned("by-change-of-100", "it is sorted by change with 100 a page, ascending", lambda asked: (
        (asked["perPage"], asked["sort"], asked["order"]) == (100, "updatedAt", "asc")), "sort-by-updated-at"),
)  # fmt: skip
