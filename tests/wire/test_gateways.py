"""Tests of gateways' responses and of size limits."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from conformance.wire import requests
from conformance.wire.exchange import NoResponse, Refused
from conformance.wire.gateways import LARGE_BODY, MAX_SENT_HEADERS, MAX_TARGET, OverLimit, ensure_short
from tests.fakes.exchanges import make_exchange
from tests.fakes.wires import Fixtures, Scripted

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

PAGE = b"<html><h1>refused</h1></html>"
ENVELOPE = json.dumps({"error": {"code": "BAD_REQUEST", "message": "", "statusCode": 400}}).encode()
READING = requests.get_engagement("e1")


def responded(request: Request, status: int, body: bytes = PAGE) -> Exchange:
    """Return an exchange with this response."""
    return make_exchange(request, status, body=body)


@pytest.mark.parametrize("status", [414, 431])
@pytest.mark.parametrize("body", [PAGE, ENVELOPE, b""])
def test_a_refusal_for_length_is_the_gateways(status: int, body: bytes) -> None:
    """A 414 or 431 is no response of the service, and a retry is of no use."""
    exchange = responded(READING, status, body)

    assert (exchange.judgeable, exchange.as_received) == (False, None)
    with pytest.raises(Refused, match=f"a gateway responded with {status} in place of the service") as error:
        _ = exchange.response
    assert error.value.permanent


@pytest.mark.parametrize(("size", "judged"), [(0, True), (LARGE_BODY, True), (LARGE_BODY + 1, False)])
def test_a_body_that_is_too_large_may_be_refused_by_a_gateway(size: int, *, judged: bool) -> None:
    """A 413 is a gateway's from 32 KiB on."""
    exchange = responded(requests.create_engagement({}).with_body(b"x" * size), 413)

    assert exchange.judgeable == judged
    assert (exchange.as_received is not None) == judged


@pytest.mark.parametrize("identifier", ["a/b", "a\\b", "\0", "a\nb", "\x7f", "100%", "a;b", "..", ".", "\ud800"])
def test_an_odd_escape_in_a_path_may_be_refused_in_any_form(identifier: str) -> None:
    """A refusal without the envelope is a gateway's; with it, only its status is judged."""
    request = requests.get_engagement(identifier)

    assert not responded(request, 400).judgeable
    assert responded(request, 400, ENVELOPE).status == 400
    assert responded(request, 400, ENVELOPE).as_received is None
    assert responded(request, 404).judgeable is False


@pytest.mark.parametrize("status", [200, 301, 500])
def test_other_responses_are_judged_for_any_path(status: int) -> None:
    """A success, a redirect and a server error are the service's responses."""
    exchange = responded(requests.get_engagement("a/b"), status)

    assert exchange.as_received is exchange


@pytest.mark.parametrize("identifier", ["e-1_2.3~4", "a b", "é😀", "a:b@c+d,e", "'\"", "a?b#c&d="])
def test_usual_escapes_are_the_services_to_handle(identifier: str) -> None:
    """Gateways accept letters of all scripts, and any query."""
    assert responded(requests.get_engagement(identifier), 400).judgeable
    assert responded(requests.list_engagements(status="a/b%;"), 400).judgeable


def test_statuses_of_a_service_that_cannot_be_reached_are_not_lasting() -> None:
    """A retry may succeed."""
    with pytest.raises(NoResponse, match="a gateway responded with 503") as error:
        _ = responded(READING, 503).response
    assert not error.value.permanent


@pytest.mark.parametrize(
    ("target", "headers", "is_short"),
    [
        (b"x" * MAX_TARGET, [], True),
        (b"x" * (MAX_TARGET + 1), [], False),
        (b"x", [("N", "v" * (MAX_SENT_HEADERS - 1))], True),
        (b"x", [("N", "v" * MAX_SENT_HEADERS)], False),
        (b"x", [("N", "é" * (MAX_SENT_HEADERS // 2))], False),
        (b"x", [("N", "v" * (MAX_SENT_HEADERS // 2))] * 2, False),
    ],
)
def test_bounds_of_a_request(target: bytes, headers: list[tuple[str, str]], *, is_short: bool) -> None:
    """A target of 2,000 bytes and headers of 4,096 bytes are sent."""
    if is_short:
        ensure_short(target, headers)
    else:
        with pytest.raises(OverLimit, match="gateways may refuse more than"):
            ensure_short(target, headers)


def test_a_request_that_is_too_long_is_not_sent(make: Fixtures) -> None:
    """The path of the base URL counts; nothing is sent, and no fault is found."""
    transport = Scripted(lambda _: (200, {}))
    wire = make.wire(f"http://target.test/{'base' * 20}", transport=transport)
    room = MAX_TARGET - len(f"/{'base' * 20}/api/v1/engagements?status=")

    fitting, long = wire.send_all([requests.list_engagements(status="x" * size) for size in (room, room + 1)])

    assert (fitting.status, len(transport.requests)) == (200, 1)
    assert (long.was_sent, long.received) == (False, None)
    assert long.error == (
        "the request was not sent: the request target would take 2001 bytes, and gateways may refuse more than 2,000"
    )


def test_a_refusal_of_a_gateway_is_not_retried(make: Fixtures) -> None:
    """A retry would have the same result."""
    responses: dict[str, Any] = {}
    transport = Scripted(lambda _: (414, responses))

    make.wire(transport=transport).send(READING)

    assert len(transport.requests) == 1
