"""Tests of the messages in place of a response."""

from __future__ import annotations

import socket
import ssl

import httpx
import pytest

from conformance.wire.bounded_reading import Unreadable
from conformance.wire.errors import describe_error


def caused(error: BaseException, cause: BaseException) -> BaseException:
    """Return an error with a cause."""
    error.__cause__ = cause
    return error


def met(error: BaseException, before: BaseException) -> BaseException:
    """Return an error with a context."""
    error.__context__ = before
    return error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Unreadable("the answer is longer than 8 MiB"), "the answer is longer than 8 MiB"),
        (ssl.SSLError("handshake"), "no TLS connection could be made"),
        (socket.gaierror(-2, "Name or service not known"), "the name of the host could not be resolved"),
        (ConnectionRefusedError(111, "refused"), "the connection was refused"),
        (httpx.ConnectError("unheard of"), "no connection could be made"),
        (httpx.RemoteProtocolError("illegal"), "the response is not HTTP"),
        (httpx.ReadTimeout(""), "no complete response came in time"),
        (httpx.ReadError(""), "the connection broke before the response was complete"),
        (ConnectionResetError(104, "reset"), "the connection broke before the response was complete"),
        (KeyError("its own words"), "the response could not be read (KeyError)"),
    ],
)
def test_every_error_has_a_short_message(error: BaseException, said: str) -> None:
    """No message quotes the target."""
    assert describe_error(error) == said


@pytest.mark.parametrize(
    "error",
    [
        caused(httpx.ConnectError("all attempts failed"), ConnectionRefusedError()),
        met(httpx.ConnectError("all attempts failed"), ConnectionRefusedError()),
        caused(httpx.ConnectError(""), caused(OSError("of several"), ConnectionRefusedError())),
        caused(httpx.ConnectError(""), ExceptionGroup("each address", [OSError("no route"), ConnectionRefusedError()])),
    ],
    ids=["cause", "context", "far cause", "one of several"],
)
def test_the_cause_of_an_error_decides_the_message(error: BaseException) -> None:
    """The depth and other causes do not matter."""
    assert describe_error(error) == "the connection was refused"


def test_a_certificate_that_is_not_accepted_says_why() -> None:
    """The message has the TLS library's reason."""
    refused = ssl.SSLCertVerificationError(1, "verify failed")
    refused.verify_message = "self-signed certificate"

    assert describe_error(caused(httpx.ConnectError(""), refused)) == (
        "the TLS certificate is not accepted: self-signed certificate (--ca-file names an authority to trust)"
    )


def test_errors_that_cause_each_other_end() -> None:
    """Causes may form a circle."""
    first, other = KeyError(), TypeError()
    first.__context__, other.__context__ = other, first

    assert describe_error(first) == "the response could not be read (KeyError)"


def test_a_cause_on_two_paths_is_visited_once() -> None:
    """The cause says more."""
    before = met(OSError("no route"), ConnectionRefusedError())

    assert describe_error(met(caused(httpx.ConnectError(""), before), before)) == "the connection was refused"
