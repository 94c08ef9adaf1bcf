"""Challenges: texts of a certifier that decide the seed of a run and stand in all its names."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from typing import Final

CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{16,64}", re.ASCII)
"""The form of a challenge; fewer characters could be foreseen."""

_BYTES: Final = 15
_MARK: Final = 5


def fresh_challenge() -> str:
    """Return a challenge that cannot be foreseen: 24 lower-case letters and digits."""
    return base64.b32encode(secrets.token_bytes(_BYTES)).decode("ascii").lower()


def seed_of(challenge: str) -> int:
    """Return the seed of a run with a challenge, of 32 bits."""
    return int.from_bytes(_digest("seed", challenge)[:4])


def mark_of(challenge: str) -> str:
    """Return what the names of a run have for a challenge, such as ``m4xq2-``: 25 bits of its digest."""
    return f"{base64.b32encode(_digest('names', challenge)).decode('ascii')[:_MARK].lower()}-"


def _digest(use: str, challenge: str) -> bytes:
    return hashlib.sha256(f"conformance {use} {challenge}".encode()).digest()
