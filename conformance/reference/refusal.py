"""Refusal of a request, and the error code of each HTTP status."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

CODES = {
    400: "BAD_REQUEST",
    401: "UNAUTHORIZED",
    403: "FORBIDDEN",
    404: "NOT_FOUND",
    405: "METHOD_NOT_ALLOWED",
    409: "CONFLICT",
    410: "GONE",
    413: "PAYLOAD_TOO_LARGE",
    415: "UNSUPPORTED_MEDIA_TYPE",
    416: "RANGE_NOT_SATISFIABLE",
    422: "VALIDATION_ERROR",
    423: "LOCKED",
    429: "RATE_LIMITED",
    500: "INTERNAL_ERROR",
}
"""The ``error.code`` of each error status."""


@dataclass(slots=True)
class Refusal(Exception):
    """A request is refused.

    Args:
        status: The HTTP status, one of ``CODES``.
        message: A sentence for developers.
        headers: Headers besides those of every response.
    """

    status: int
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def code(self) -> str:
        """The code of the status."""
        return CODES[self.status]
