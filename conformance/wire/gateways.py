"""Refusals by gateways and HTTP parsers in front of a service, and size limits that avoid them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_to_bytes

from conformance.wire.statuses import ERRORS_FROM, SERVER_ERRORS_FROM

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.wire.requests import Request

MAX_TARGET: Final = 2_000
"""The most bytes of a request target; the smallest limits in use are a little higher."""

MAX_SENT_HEADERS: Final = 4_096
"""The most bytes of a request's own headers together."""

LARGE_BODY: Final = 32 * 1024
"""Bytes of a body above which a 413 may be a gateway's."""

GATEWAY_STATUSES: Final = frozenset({502, 503, 504})
"""Statuses that a gateway returns when it cannot reach the service, possibly for a moment."""

TOO_LONG: Final = frozenset({414, 431})
"""Statuses for targets and headers that are too long; the suite sends no such requests."""

TOO_LARGE: Final = 413
"""The status for a body that is too large."""

_ODD: Final = re.compile(rb"[\x00-\x1f\x7f/\\%;]")
"""Bytes that gateways refuse in a path even if they are escaped, because servers may interpret them."""


class OverLimit(ValueError):
    """A request is longer than gateways accept; the message says so as a clause."""


def ensure_short(target: bytes, headers: Iterable[tuple[str, str]]) -> None:
    """Ensure that a request is short enough for gateways.

    Args:
        target: The request target: path and query as they are sent.
        headers: The request's own headers, beside those of every request of the run.

    Raises:
        OverLimit: It is too long.
    """
    if len(target) > MAX_TARGET:
        raise OverLimit(f"the request target would take {len(target)} bytes, and gateways may refuse more than 2,000")
    size = sum(len(name.encode()) + len(value.encode("utf-8", "surrogatepass")) for name, value in headers)
    if size > MAX_SENT_HEADERS:
        raise OverLimit(f"its own headers would take {size} bytes, and gateways may refuse more than 4,096")


def may_be_parsers(request: Request, status: int) -> bool:
    """Whether a status refuses a path with escapes that parsers and gateways may refuse themselves."""
    return ERRORS_FROM <= status < SERVER_ERRORS_FROM and _has_odd_escape(request.path)


def _has_odd_escape(target: str) -> bool:
    path = target.partition("?")[0]
    if "%" not in path:
        return False
    for part in path.split("/"):
        decoded = unquote_to_bytes(part)
        try:
            decoded.decode()
        except UnicodeDecodeError:
            return True
        if _ODD.search(decoded) or decoded in {b".", b".."}:
            return True
    return False
