"""Faults of text that a service improves as word processors and messengers do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from conformance.reference.faults.text_making import spoiling

if TYPE_CHECKING:
    from collections.abc import Callable


def _for(written: str, drawn: str) -> Callable[[str], str]:
    return lambda text: text.replace(written, drawn)


_WAYS: dict[str, tuple[str, Callable[[str], str]]] = {
    "face-drawn": ("has a face for a colon and a bracket", _for(":)", "\U0001f642")),
    "shortcode-drawn": ("has a face for its name between colons", _for(":smile:", "\U0001f604")),
    "fraction-joined": ("has one sign for a fraction", _for("1/2", "\u00bd")),
    "times-drawn": ("has a sign for an x between digits", lambda text: re.sub(r"(?<=\d)x(?=\d)", "\u00d7", text)),
    "trademark-joined": ("has a trade mark sign for (tm)", _for("(tm)", "\u2122")),
    "registered-joined": ("has a sign for (r)", _for("(r)", "\u00ae")),
    "arrow-drawn": ("has an arrow for a hyphen and a bracket", _for("->", "\u2192")),
    "long-dash": ("has a long dash for two hyphens between words", _for(" -- ", " \u2014 ")),
    "flags-spelt": (
        "has letters for its flags",
        lambda text: re.sub(
            "[\U0001f1e6-\U0001f1ff]", lambda found: chr(ord(found.group()) - 0x1F1E6 + ord("A")), text
        ),
    ),
}

_OF_CREATIONS = ("face-drawn", "fraction-joined", "trademark-joined", "arrow-drawn", "flags-spelt")
_OF_EDITS = ("shortcode-drawn", "times-drawn", "registered-joined", "long-dash", "flags-spelt")

SPOILT = (
    *(spoiling("create", "description", way, *_WAYS[way]) for way in _OF_CREATIONS),
    *(spoiling("edit", "description", way, *_WAYS[way]) for way in _OF_EDITS),
)
