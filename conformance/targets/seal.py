"""Seals of a journal's lines: only a holder of the main key can have written them."""

from __future__ import annotations

import hashlib
import hmac
from typing import Final

_COST: Final = 2**14
"""Of scrypt (RFC 7914): guessing a weak key by a published journal takes some 50 ms a guess."""


class Seal:
    """Seals and checks texts.

    Args:
        key: The main key of the run.
        salt: A text of the run that no other run has.
    """

    def __init__(self, key: str, salt: str) -> None:
        secret = key.encode("utf-8", "surrogatepass")
        self._key = hashlib.scrypt(secret, salt=salt.encode("utf-8", "surrogatepass"), n=_COST, r=8, p=1, dklen=32)

    def of(self, text: str) -> str:
        """The seal of a text: 32 hexadecimal digits."""
        return hmac.new(self._key, text.encode("utf-8", "surrogatepass"), "sha256").hexdigest()[:32]

    def is_on(self, text: str, seal: object) -> bool:
        """Whether a text has its seal."""
        return isinstance(seal, str) and hmac.compare_digest(self.of(text).encode(), seal.encode("utf-8", "replace"))
