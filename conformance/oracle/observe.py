"""Observations at open points: short texts that are comparable between targets.

Every function is total: for any exchange it returns a short text without identifiers and times.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any, Final

from conformance.oracle import read
from conformance.oracle.rendering import kind_of
from conformance.wire.exchange import NoResponse
from conformance.wire.statuses import ERRORS_FROM

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.wire.exchange import Exchange

_WORD: Final = re.compile(r"[A-Za-z0-9_.$-]{1,60}")
_MOST_MEMBERS: Final = 20
_STABLE_LENGTH: Final = 16
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_ULID: Final = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")


def describe_response(exchange: Exchange) -> str:
    """Describe a response: "201", "409 CONFLICT", or "no response (the connection was refused)"."""
    try:
        response = exchange.response
    except NoResponse as error:
        return f"no response ({exchange.error or error})"
    code = (read.error_or_none(exchange) or {}).get("code") if response.status >= ERRORS_FROM else None
    return f"{response.status} {_word(code)}" if isinstance(code, str) else str(response.status)


def members(exchange: Exchange) -> str:
    """List the members of the ``data`` of a response in alphabetical order."""
    data = exchange.value_at("/data")
    if not isinstance(data, dict):
        return "no object data"
    names = sorted(_word(name) for name in data)
    more = f" and {len(names) - _MOST_MEMBERS} more" if len(names) > _MOST_MEMBERS else ""
    return (", ".join(names[:_MOST_MEMBERS]) or "none") + more


def reads(holder: Mapping[str, Any], name: str) -> str:
    """Describe a member that may be empty: "absent", "null", "empty", "text", or its JSON type."""
    if name not in holder:
        return "absent"
    value = holder[name]
    if isinstance(value, str):
        return "text" if value else "empty"
    return kind_of(value)


def recorded_change(sent: str, got: object) -> str:
    """Describe what a service did to a text: kept it, or changed it in a known way."""
    if not isinstance(got, str):
        return kind_of(got)
    changes = {
        "kept as sent": sent,
        "trimmed": sent.strip(),
        "blanks merged": " ".join(sent.split()),
        "normalized to NFC": unicodedata.normalize("NFC", sent),
        "normalized to NFD": unicodedata.normalize("NFD", sent),
        "normalized to NFKC": unicodedata.normalize("NFKC", sent),
        "control and format characters left out": _without_controls(sent),
    }
    return next((words for words, text in changes.items() if text == got), "changed otherwise")


def shape(identifier: str) -> str:
    """Describe the form of an identifier."""
    if identifier.isascii() and identifier.isdigit():
        return "digits"
    if _UUID.fullmatch(identifier):
        return "a UUID"
    if _ULID.fullmatch(identifier):
        return "a ULID"
    unusual = sorted({character for character in identifier if not re.fullmatch("[A-Za-z0-9_-]", character)})[:10]
    shown = (sign if sign.isascii() and sign.isprintable() else f"U+{ord(sign):04X}" for sign in unusual)
    # Which of the usual characters occur is chance, and the length of short identifiers grows with time.
    length = f"{len(identifier)} " if len(identifier) >= _STABLE_LENGTH else ""
    return f"{length}letters, digits, - or _" + (f", and {' '.join(shown)}" if unusual else "")


def _word(text: str) -> str:
    """Return a code or a name of the target, if it is safe in a sentence."""
    return text if _WORD.fullmatch(text) else "(odd)"


def _without_controls(text: str) -> str:
    return "".join(character for character in text if unicodedata.category(character) not in {"Cc", "Cf"})
