"""Faults of single signs and words in the text of names and descriptions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from conformance.reference.faults.mutations import edit, fault, flat, result

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults.mutations import Mutation

_REQUESTS: Final = {
    "create": ("check_creation", "a new engagement", "create-engagement-keeps-text"),
    "edit": ("check_edit", "an edited engagement", "update-engagement-keeps-text"),
    "rename": ("check_organization_update", "the organization", "update-organization-keeps-text"),
}
"""The method that checks a request, the resource, and the requirement on its text."""


def _stores(request: str, field: str, change: Callable[[str], str]) -> Mutation:
    """Store other text than was sent; text that is absent or empty is left alone."""
    return result(_REQUESTS[request][0], edit(**{field: lambda text: change(text) if text else text}))


def _removed(pattern: str) -> Callable[[str], str]:
    return lambda text: re.sub(pattern, "", text)


def _replaced(sign: str, other: str) -> Callable[[str], str]:
    return lambda text: text.replace(sign, other)


def _half_width(text: str) -> str:
    return "".join(chr(ord(sign) - 0xFEE0) if "\uff01" <= sign <= "\uff5e" else sign for sign in text)


TEXT = flat(
    (fault(f"text-{place}-{label}", f"The {field} of {_REQUESTS[request][1]} {words}.",
           _stores(request, field, change), _REQUESTS[request][2])
     for label, words, change, places in (
        ("underscores-blank", "has blanks for its underscores", _replaced("_", " "),
         "create-name edit-name rename-name"),
        ("asterisks-lost", "loses its asterisks", _removed(r"\*"), "create-name"),
        ("tilde-lost", "loses its tildes", _removed("~"), "create-name"),
        ("pipe-slashed", "has slashes for its bars", _replaced("|", "/"), "create-name edit-name"),
        ("caret-lost", "loses its carets", _removed(r"\^"), "create-name"),
        ("brackets-lost", "loses its square brackets", _removed(r"[\[\]]"), "create-name"),
        ("at-spelt", "has (at) for its at signs", _replaced("@", "(at)"), "create-name"),
        ("comma-cut", "ends at a comma", lambda text: text.partition(",")[0].rstrip(), "create-name"),
        ("dots-joined", "has an ellipsis for three dots", _replaced("...", "\u2026"), "create-name rename-name"),
        ("copyright-joined", "has a copyright sign for (c)", _replaced("(c)", "\u00a9"), "create-name"),
        ("dashes-plain", "has hyphens for its dashes", lambda text: re.sub("[\u2013\u2014]", "-", text), "create-name"),
        ("sharp-s-spelt", "has ss for its sharp s", _replaced("\u00df", "ss"), "create-name rename-name"),
        ("half-width", "has plain letters for full-width ones", _half_width, "create-name"),
        ("ligature-spelt", "has its ligatures taken apart", _replaced("\ufb01", "fi"), "create-name edit-description"),
        ("dotted-i-plain", "has I for a dotted capital I", _replaced("\u0130", "I"), "create-name"),
        ("skin-lost", "loses the tones of its emoji", _removed(r"[\U0001f3fb-\U0001f3ff]"), "create-name"),
        ("keycap-lost", "loses its key caps", _removed(r"[\u20e3]"), "create-name"),
        ("thai-lost", "loses its Thai", _removed(r"[\u0e00-\u0e7f]"), "create-name"),
        ("cyrillic-unknown", "has question marks for Cyrillic", lambda text: re.sub("[\u0400-\u04ff]", "?", text),
         "create-name"),
        ("sigma-alike", "has one sigma for both", _replaced("\u03c2", "\u03c3"), "create-name"),
        ("addresses-lost", "loses its web addresses", _removed(r"https?://\S+"), "create-description"),
        ("javascript-lost", "loses the word javascript:", _replaced("javascript:", ""), "create-description"),
        ("scripts-lost", "loses its scripts", _removed(r"<script>.*?</script>"), "create-description edit-description"),
        ("templates-lost", "loses what stands in double braces", _removed(r"\{\{.*?\}\}"), "create-description"),
        ("cut-4096", "is cut after 4,096 characters", lambda text: text[:4096], "create-description"),
        ("cut-10000", "is cut after 10,000 characters", lambda text: text[:10_000], "create-description"))
     for place in places.split() for request, _, field in (place.partition("-"),)),
    fault("text-edit-description-zero-lost", "The description of an edited engagement is empty where it is 0.",
          _stores("edit", "description", lambda text: "" if text == "0" else text),
          "update-engagement-takes-effect", "update-engagement-keeps-text"),
)  # fmt: skip
