"""Messages for exceptions that take the place of a response."""

from __future__ import annotations

import socket
import ssl
from typing import TYPE_CHECKING, Final

import httpx

from conformance.wire.bounded_reading import Unreadable
from conformance.wire.proxies import ProxyError

if TYPE_CHECKING:
    from collections.abc import Iterator

REFUSED: Final = "the connection was refused"
BROKEN: Final = "the connection broke before the response was complete"

_BY_TYPE: Final = (
    (ssl.SSLError, "no TLS connection could be made"),
    (socket.gaierror, "the name of the host could not be resolved"),
    (ConnectionRefusedError, REFUSED),
    (httpx.ConnectError, "no connection could be made"),
    (httpx.RemoteProtocolError, "the response is not HTTP"),
    (httpx.TimeoutException, "no complete response came in time"),
    (httpx.NetworkError, BROKEN),
    (OSError, BROKEN),
)


def describe_error(error: BaseException) -> str:
    """Return what an exception means; it quotes nothing of the target except a TLS library's reason.

    Args:
        error: An exception that was raised while a request was in flight.

    Returns:
        One clause without a full stop.
    """
    if isinstance(error, Unreadable):
        return str(error)
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, ProxyError):
            return str(cause)
        if isinstance(cause, ssl.SSLCertVerificationError):
            return (
                f"the TLS certificate is not accepted: {cause.verify_message} (--ca-file names an authority to trust)"
            )
    for kind, words in _BY_TYPE:
        if any(isinstance(cause, kind) for cause in causes):
            return words
    return f"the response could not be read ({type(error).__name__})"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the exception and its causes, members of groups included, each once."""
    seen: set[int] = set()
    waiting: list[BaseException] = [error]
    while waiting:
        current = waiting.pop(0)
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        waiting += [cause for cause in (current.__cause__, current.__context__) if cause is not None]
        waiting += current.exceptions if isinstance(current, BaseExceptionGroup) else ()
