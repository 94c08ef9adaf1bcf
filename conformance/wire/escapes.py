"""Escapes of JSON, URLs and HTML, and line breaks, within texts of any kind."""

from __future__ import annotations

import binascii
import html
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_ESCAPE: Final = re.compile(
    rb"""( \\u00[0-9a-fA-F]{2} | \\u\{0{0,8}[0-9a-fA-F]{1,2}\} | \\x[0-9a-fA-F]{2} | \\["'/\\rn] | %[0-9a-fA-F]{2}
         | &\#0*[0-9]{1,3};? | &\#[xX]0*[0-9a-fA-F]{1,2};? | &(?:amp|lt|gt|quot|apos); )""",
    re.VERBOSE,
)
_ENTITIES: Final = {name: html.unescape(f"&{name};").encode() for name in ("amp", "lt", "gt", "quot", "apos")}
_CONTROLS: Final = {b"r": b"\r", b"n": b"\n"}
ROUNDS: Final = 3
"""Decodings of a text that may contain texts."""
_AT_ONCE: Final = 20_000
"""Escapes that are split at once."""
_MAY_ESCAPE: Final = (b"\\", b"%", b"&")


def without_escapes(data: bytes) -> Iterator[bytes]:
    """Yield the data unescaped, several times, and each time with its lines joined too."""
    yield from _joined(data)
    for _ in range(ROUNDS):
        before, data = data, _unescaped(data) if any(mark in data for mark in _MAY_ESCAPE) else data
        if data == before:
            break
        yield data
        yield from _joined(data)


def _joined(data: bytes) -> Iterator[bytes]:
    """Yield the data with its lines joined, and decoded from quoted-printable, if these differ."""
    if b"\n" in data:
        yield data.replace(b"\r\n", b"").replace(b"\n", b"")
    if b"=" in data and (read := binascii.a2b_qp(data)) != data:
        yield read


def _unescaped(data: bytes) -> bytes:
    """Return the data with each escape decoded; splitting is five times as fast as a function for each escape."""
    done: list[bytes] = []
    while len(pieces := _ESCAPE.split(data, _AT_ONCE)) > 1:
        data = pieces.pop()
        pieces[1::2] = map(_meaning, pieces[1::2])
        done.append(b"".join(pieces))
    return b"".join([*done, data])


def any_spelling(byte: int) -> bytes:
    """Return a pattern for one byte, plain or escaped; each quoting doubles backslashes, 8 at most."""
    high, low = (f"[{digit}{digit.upper()}]" for digit in f"{byte:02x}")
    digits = (high + low).encode()
    short = digits if byte > 0x0F else low.encode()  # noqa: PLR2004 - one digit or two
    spellings = [
        rb"\\{1,8}(?:u00|x)" + digits,
        rb"\\{1,8}u\{0{0,8}" + short + rb"\}",
        rb"%(?:25)*" + digits,
        rb"&#0*" + str(byte).encode() + b";?",
        rb"&#[xX]0*" + short + b";?",
        b"=" + digits,
    ]
    if byte in b"\"'/\\":
        spellings.append(rb"\\{1,8}" + re.escape(bytes([byte])))
    spellings += [b"&" + name.encode() + b";" for name, value in _ENTITIES.items() if value == bytes([byte])]
    # The plain byte is the last choice: it may begin its own escape, as in &amp; or %25.
    return b"(?:" + b"|".join([*spellings, re.escape(bytes([byte]))]) + b")"


@lru_cache(maxsize=4096)
def _meaning(escape: bytes) -> bytes:
    text = escape.decode("ascii")
    if text[:3] == "\\u{":
        return bytes([int(text[3:-1], 16)])
    if text[0] == "%" or text[:2] in {"\\u", "\\x"}:
        return bytes([int(text[-2:], 16)])
    if text[0] == "\\":
        return _CONTROLS.get(escape[1:], escape[1:])
    if text[1] != "#":
        return _ENTITIES[text[1:-1]]
    digits = text[2:].removesuffix(";")
    code = int(digits[1:], 16) if digits[0] in "xX" else int(digits[-3:])  # before them are zeros, perhaps thousands
    return bytes([code]) if code <= 0xFF else escape  # noqa: PLR2004 - a byte
