"""Text of unknown origin, made fit to be written: JSON that every reader takes, characters that hide made visible."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, Final, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

_PLANE_ENDS: Final = "".join(chr(plane * 0x10000 + low) for plane in range(17) for low in (0xFFFE, 0xFFFF))

UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufdd0-\ufdef\ufeff"
    f"\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f{_PLANE_ENDS}]",
)
"""Characters that show nothing, reorder their neighbours, drive a terminal, or cannot be encoded."""

COMMAND: Final = re.compile(r"^(?P<blank>[^\S\n]*)(?P<first>[:#])(?=:|#\w*\[)", re.MULTILINE)
"""How a line begins that a pipeline obeys where it shows it; the second group is to be written otherwise."""

_MOST_LEVELS: Final = 200
"""Twice as deep as an answer that is judged may be."""
_TOO_DEEP: Final = "it is nested too deeply"
_SURROGATES: Final = re.compile("[\ud800-\udfff]")


def code_point(character: str) -> str:
    """The usual name of a character's number, such as ``U+202E``."""
    return f"U+{ord(character):04X}"


def visible(text: str) -> str:
    """The text with every character of ``UNSEEN`` written as its number, such as ``⟨U+202E⟩``.

    The result holds nothing that XML forbids, that a terminal obeys, or that UTF-8 cannot encode.
    """
    return UNSEEN.sub(lambda match: f"⟨{code_point(match[0])}⟩", text)


def one_line(text: str) -> str:
    """The visible text on one line, runs of white space merged."""
    return visible(" ".join(text.split()))


def bounded(text: str, limit: int) -> str:
    """At most ``limit`` characters of the text, with a note of how many were left out."""
    left_out = len(text) - limit
    return text if left_out <= 0 else f"{text[:limit]}… ({left_out:,} more characters)"


def json_bytes(value: object, *, indent: int | None = None) -> bytes:
    r"""A value as JSON text in UTF-8; total over all strings and numbers.

    Lone surrogates, which strict readers refuse, become visible text (``\ud800``); numbers that JSON does not have
    become strings.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    except ValueError:
        text = json.dumps(_finite(value), ensure_ascii=False, allow_nan=False, indent=indent)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _SURROGATES.sub(lambda match: f"\\\\u{ord(match[0]):04x}", text).encode()


def load_json(data: bytes) -> Any:  # noqa: ANN401 - any JSON value
    """The value of a JSON text that the suite wrote, or that somebody says it did.

    Raises:
        ValueError: It is none, has a number that is not finite, is nested too deeply or takes too much memory.
    """
    try:
        value = json.loads(data, parse_constant=_refused, parse_float=_float)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except MemoryError:
        raise ValueError("it takes more memory than there is") from None
    if _is_deep(value):
        raise ValueError(_TOO_DEEP)
    return value


def _is_deep(value: object) -> bool:
    """Whether a value is nested deeper than everything that works on it level by level can go."""
    level = [value]
    for _ in range(_MOST_LEVELS):
        level = [
            member
            for one in level
            if isinstance(one, dict | list)
            for member in (one.values() if isinstance(one, dict) else one)
        ]
    return bool(level)


def with_texts(value: object, change: Callable[[str], str]) -> object:
    """A JSON value with every text of it changed, names of members included."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(name): with_texts(member, change) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [with_texts(member, change) for member in value]
    return value


def _refused(number: str) -> NoReturn:
    raise ValueError(f"the number {number[:20]} is not finite")


def _float(number: str) -> float:
    value = float(number)
    return value if math.isfinite(value) else _refused(number)


def _finite(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {name: _finite(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(member) for member in value]
    return value
