"""Seals of journal lines, which prove that a holder of the main key wrote them."""

from __future__ import annotations

import hashlib
import hmac
from typing import Final

_COST: Final = 2**14
"""Cost of scrypt (RFC 7914): each guess of a weak key by a published journal takes some 50 ms."""


class Seal:
    """Seals texts and verifies seals.

    Args:
        key: The main key of the run.
        salt: A text that is unique to the run.
    """

    def __init__(self, key: str, salt: str) -> None:
        secret = key.encode("utf-8", "surrogatepass")
        self._key = hashlib.scrypt(secret, salt=salt.encode("utf-8", "surrogatepass"), n=_COST, r=8, p=1, dklen=32)

    def of(self, text: str) -> str:
        """Return the seal of a text: 32 hexadecimal digits."""
        return hmac.new(self._key, text.encode("utf-8", "surrogatepass"), "sha256").hexdigest()[:32]

    def is_on(self, text: str, seal: object) -> bool:
        """Whether a text has its seal."""
        return isinstance(seal, str) and hmac.compare_digest(self.of(text).encode(), seal.encode("utf-8", "replace"))
