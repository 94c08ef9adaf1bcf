"""Opaque identifiers in the shapes that implementations use."""

from __future__ import annotations

import re
import secrets
import time
import uuid
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

Kind = Literal["organization", "user", "invitation", "engagement", "subordinate"]

_PREFIXES: dict[Kind, str] = {
    "organization": "org",
    "user": "usr",
    "invitation": "inv",
    "engagement": "eng",
    "subordinate": "sub",
}
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

_PATTERNS = {
    "prefixed": re.compile(r"[a-z]{3}_[A-Za-z0-9_-]{22}"),
    "uuid": re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    "ulid": re.compile(rf"[{_CROCKFORD}]{{26}}"),
    "integer": re.compile(r"[1-9][0-9]{0,17}"),
    "dotted": re.compile(r"[a-z]{3}\.v1\.[0-9a-f]{16}"),
    "reserved": re.compile(r"[a-z]{3}:[0-9a-f]{12}/ü \+%\?#&=;@"),
    "long": re.compile(r"[a-z]{3}_[A-Za-z0-9_-]{196}"),
}
"""The pattern of issued identifiers, by shape."""


def _ulid() -> str:
    number = (time.time_ns() // 1_000_000) << 80 | secrets.randbits(80)
    return "".join(_CROCKFORD[number >> 5 * place & 31] for place in range(25, -1, -1))


_MAKERS: dict[str, Callable[[str], str]] = {
    "prefixed": lambda prefix: f"{prefix}_{secrets.token_urlsafe(16)}",
    "uuid": lambda _: str(uuid.uuid4()),
    "ulid": lambda _: _ulid(),
    "dotted": lambda prefix: f"{prefix}.v1.{secrets.token_hex(8)}",
    "reserved": lambda prefix: f"{prefix}:{secrets.token_hex(6)}/ü +%?#&=;@",
    "long": lambda prefix: f"{prefix}_{secrets.token_urlsafe(147)}",
}


def new_identifier(kind: Kind, shape: str, next_number: Callable[[str], int]) -> str:
    """Return an identifier that was never issued before.

    Args:
        kind: The identifier space.
        shape: A value of the open point ``identifier_shape``.
        next_number: Returns the next number of an identifier space; used only for integers.
    """
    return str(next_number(kind)) if shape == "integer" else _MAKERS[shape](_PREFIXES[kind])


def could_be_issued(identifier: str, shape: str) -> bool:
    """Whether an identifier has a shape."""
    return _PATTERNS[shape].fullmatch(identifier) is not None
