"""Redaction of parts of a key in responses that refuse a key."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Final

from conformance.wire.escapes import without_escapes
from conformance.wire.redaction import BASE64_URL, WITHHELD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LENGTH: Final = 8
"""Characters of a piece that is removed, in any encoding; a shorter key counts as one piece."""

_SHORTEST: Final = 4
_LARGE: Final = 2**16
"""Bytes of a body from which only pieces of twice the length are searched for, which is much faster."""

_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.?)*+"', re.DOTALL)
_LABEL: Final = "<withheld: a piece of a key was in it>"
_NUMBER: Final = re.compile(r"[0-9.]*")


class KeyPieces:
    """Removes the pieces of a key from refusals, in either letter case.

    A wrong key may contain half of the real key. A service may show it shortened or encoded, as in
    ``Unknown API key: sk_live_4eC3...``. Several such responses would reveal the real key.

    Args:
        key: The key.
        is_word: Whether a piece is an ordinary word, which any response may contain.
    """

    def __init__(self, key: str, is_word: Callable[[bytes], bool]) -> None:
        raw = key.encode("utf-8", "surrogatepass")
        self._length = min(LENGTH, len(raw))
        plain = [piece for piece in self._pieces(raw) if not any(map(is_word, (piece, piece.lower(), piece.upper())))]
        encoded = [piece for text in _encodings(raw) for piece in self._pieces(text)]
        is_distinctive = plain and self._length >= _SHORTEST
        self._known = frozenset(piece.lower() for piece in (*plain, *encoded)) if is_distinctive else frozenset()

    def body(self, body: bytes) -> bytes:
        """Return a body without the strings that contain a piece; withhold it if it is no JSON and contains one."""
        if not self._is_in(body):
            return body
        label = json.dumps(_LABEL).encode()
        clean = _STRING.sub(lambda string: label if self._is_in(string[0]) else string[0], body)
        return clean if _is_json(clean) or not self._is_in(clean) else WITHHELD

    def headers(self, headers: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        """Return headers without the names and values that contain a piece; numbers stay."""
        return tuple((self._text(name), self._text(value)) for name, value in headers)

    def _text(self, text: str) -> str:
        return text if _NUMBER.fullmatch(text) or not self._is_in(text.encode("utf-8", "replace")) else _LABEL

    def _is_in(self, data: bytes) -> bool:
        step = 1 if len(data) < _LARGE else LENGTH + 1
        forms = (data, *without_escapes(data))
        return any(not self._known.isdisjoint(self._pieces(form.lower(), step)) for form in forms)

    def _pieces(self, data: bytes, step: int = 1) -> Iterator[bytes]:
        return (data[at : at + self._length] for at in range(0, len(data) - self._length + 1, step))


def _encodings(raw: bytes) -> Iterator[bytes]:
    """Yield the key in hexadecimal, base64 and base32, for every offset in a longer text and every letter case."""
    for spelling in {raw, raw.lower(), raw.upper(), raw.swapcase()}:
        yield spelling.hex().encode()
        for shift in range(3):
            encoded = base64.b64encode(bytes(shift) + spelling)[shift:]
            yield from (encoded, encoded.translate(BASE64_URL))
        for shift in range(5):
            yield base64.b32encode(bytes(shift) + spelling)[2 * shift :]


def _is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True
