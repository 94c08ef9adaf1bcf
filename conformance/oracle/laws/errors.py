"""Laws of every error: its envelope, its statusCode, its code, and that it is not a server error.

Like the laws of ``conformance.oracle.laws.responses``, each returns False if it does not apply and True if it holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.json_text import Parsed
from conformance.oracle import read
from conformance.oracle.outcomes import NonConformity
from conformance.oracle.rendering import kind_of, render
from conformance.wire.statuses import ERRORS_FROM, SERVER_ERRORS_FROM

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.oracle.laws.responses import LawFunction
    from conformance.wire.exchange import Exchange

ERROR_CODES: Final[Mapping[int, str]] = {
    400: "BAD_REQUEST",
    401: "UNAUTHORIZED",
    403: "FORBIDDEN",
    404: "NOT_FOUND",
    409: "CONFLICT",
    422: "VALIDATION_ERROR",
    429: "RATE_LIMITED",
}


def no_server_error(exchange: Exchange) -> bool:
    """Require that no response of the service is a 5xx."""
    if exchange.status >= SERVER_ERRORS_FROM:
        raise NonConformity(
            f"the service returned {exchange.status}", exchange, expected="no 5xx", actual=str(exchange.status)
        )
    return True


def error_envelope(exchange: Exchange) -> bool:
    """Require an object error with a string code, a string message and an integer statusCode."""
    if exchange.status < ERRORS_FROM:
        return False
    response = exchange.response
    if response.body and not isinstance(response.reading, Parsed):
        return False
    error = read.error_or_none(exchange)
    if error is None:
        actual = render(response.reading.value) if isinstance(response.reading, Parsed) else "no body"
        raise NonConformity(
            "an error has no object error", exchange, expected="an object error", actual=actual, pointer="/error"
        )
    for name, kind in (("code", "string"), ("message", "string"), ("statusCode", "number")):
        value = error.get(name)
        if kind_of(value) != kind or (kind == "number" and read.integer_or_none(value) is None):
            expected = "an integer" if kind == "number" else "a string"
            actual = f"{render(value)} ({kind_of(value)})" if name in error else "absent"
            raise NonConformity(
                f"error.{name} is not as promised", exchange, expected=expected, actual=actual, pointer=f"/error/{name}"
            )
    return True


def error_status_code_agrees(exchange: Exchange) -> bool:
    """Require that the statusCode of an error is its HTTP status."""
    error = read.error_or_none(exchange) if exchange.status >= ERRORS_FROM else None
    given = error.get("statusCode") if error else None
    if read.integer_or_none(given) is None:
        return False
    if given != exchange.status:
        raise NonConformity(
            "statusCode is not the HTTP status",
            exchange,
            expected=str(exchange.status),
            actual=render(given),
            pointer="/error/statusCode",
        )
    return True


def error_code(status: int) -> LawFunction:
    """Return the law that errors of a status carry the code of the interface's table."""

    def law(exchange: Exchange) -> bool:
        error = read.error_or_none(exchange) if exchange.status == status else None
        code = error.get("code") if error else None
        if not isinstance(code, str):
            return False
        if code != ERROR_CODES[status]:
            raise NonConformity(
                f"a {status} has the code {render(code)}",
                exchange,
                expected=ERROR_CODES[status],
                actual=render(code),
                pointer="/error/code",
            )
        return True

    law.__doc__ = f"Require the code {ERROR_CODES[status]} of every error with the status {status}."
    return law
