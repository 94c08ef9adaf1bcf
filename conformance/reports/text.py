"""Safe output of text of unknown origin: strict JSON, and visible forms of hidden characters."""

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
"""Characters that are invisible, reorder their neighbours, control a terminal, or cannot be encoded."""

COMMAND: Final = re.compile(r"^(?P<blank>[^\S\n]*)(?P<first>[:#])(?=:|#\w*\[)", re.MULTILINE)
"""The beginning of a line that a pipeline would execute when it shows it; the second group must be escaped."""

_MOST_LEVELS: Final = 200
"""Twice the deepest nesting of a response that is judged."""
_TOO_DEEP: Final = "it is nested too deeply"
_SURROGATES: Final = re.compile("[\ud800-\udfff]")


def code_point(character: str) -> str:
    """Return the usual name of a character's number, such as ``U+202E``."""
    return f"U+{ord(character):04X}"


def visible(text: str) -> str:
    """Return the text with every character of ``UNSEEN`` written as its number, such as ``⟨U+202E⟩``.

    The result contains nothing that XML forbids, that controls a terminal, or that UTF-8 cannot encode.
    """
    return UNSEEN.sub(lambda match: f"⟨{code_point(match[0])}⟩", text)


def one_line(text: str) -> str:
    """Return the visible text on one line, with white space collapsed."""
    return visible(" ".join(text.split()))


def bounded(text: str, limit: int) -> str:
    """Return at most ``limit`` characters of the text, with the number of omitted characters."""
    left_out = len(text) - limit
    return text if left_out <= 0 else f"{text[:limit]}… ({left_out:,} more characters)"


def as_reference(command: re.Match[str]) -> str:
    """Return the beginning of a command in HTML or XML, with its first character as a reference."""
    return f"{command['blank']}&#{ord(command['first'])};"


def excerpt(text: str, limit: int = 10_000) -> str:
    """Return the visible text, bounded."""
    return visible(bounded(text, limit))


def one_line_excerpt(text: str, limit: int) -> str:
    """Return the visible text on one line, bounded."""
    return bounded(one_line(text[: 2 * limit]), limit)


def json_document(value: object) -> bytes:
    """Return the content of a JSON file that people read, too: indented, with a final line break."""
    return json_bytes(value, indent=1) + b"\n"


def json_bytes(value: object, *, indent: int | None = None) -> bytes:
    r"""Return a value as JSON text in UTF-8, for all strings and numbers.

    Lone surrogates, which strict readers refuse, become visible text (``\ud800``). Numbers that JSON does not have
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


def encodable(text: str) -> str:
    """Return the text as a reader of ``json_bytes`` gets it: lone surrogates have become visible."""
    return _SURROGATES.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def load_json(data: bytes) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value of a JSON text that the suite wrote, or that claims to be from the suite.

    Raises:
        ValueError: It is not JSON, has a number that is not finite, is nested too deeply or needs too much memory.
    """
    try:
        value = json.loads(data, parse_constant=_refused, parse_float=_float)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except MemoryError:
        raise ValueError("it needs more memory than is available") from None
    if _is_deep(value):
        raise ValueError(_TOO_DEEP)
    return value


def _is_deep(value: object) -> bool:
    """Whether a value is nested too deep for recursive functions."""
    level = [value]
    for _ in range(_MOST_LEVELS):
        level = [
            member
            for container in level
            if isinstance(container, dict | list)
            for member in (container.values() if isinstance(container, dict) else container)
        ]
    return bool(level)


def with_texts(value: object, change: Callable[[str], str]) -> object:
    """Return a JSON value with all its strings changed, names of members included."""
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
