"""Tests of exchanges and whether they can be judged."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.wire.exchange import Exchange, NoResponse, NotSent, Response
from conformance.wire.requests import OTHER_KEY, Credential
from conformance.wire.run_limits import RunStopped
from tests.fakes.exchanges import make_exchange


def came(status: int) -> Exchange:
    """Return an exchange with this status."""
    return make_exchange(status=status)


@pytest.mark.parametrize("status", [200, 302, 404, 500, 501, 505])
def test_a_response_of_the_service_is_judged(status: int) -> None:
    """Any response of the service itself is judged."""
    exchange = came(status)

    assert exchange.judgeable
    assert exchange.response is exchange.received
    assert exchange.status == status


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_gateways_response_is_none(status: int) -> None:
    """It says nothing about the service."""
    assert not came(status).judgeable
    with pytest.raises(NoResponse, match=f"a gateway responded with {status} in place of the service") as raised:
        _ = came(status).response
    assert raised.value.exchanges == (came(status),)


@pytest.mark.parametrize("error", ["the connection broke", None])
def test_no_response_is_none(error: str | None) -> None:
    """The error is the reason."""
    exchange = replace(came(200), received=None, error=error)

    assert not exchange.judgeable
    with pytest.raises(NoResponse, match=error or "no response came"):
        _ = exchange.status
    with pytest.raises(NoResponse):
        _ = exchange.succeeded


def test_a_429_is_a_response_if_it_is_expected() -> None:
    """For other requests it is no response."""
    limited = came(429)
    with pytest.raises(NoResponse, match="the service returned only 429"):
        _ = limited.response

    assert replace(limited, request=replace(limited.request, expects_429=True)).status == 429
    assert limited.judgeable


@pytest.mark.parametrize(("status", "succeeded"), [(199, False), (200, True), (299, True), (300, False), (404, False)])
def test_a_success_is_a_2xx(status: int, *, succeeded: bool) -> None:
    """No other status is a success."""
    assert came(status).succeeded is succeeded


def test_headers_are_found_by_name() -> None:
    """Case is ignored; several values are joined, and an absent header is None."""
    response = Response(200, (("X-One", "1"), ("x-one", "2"), ("Empty", "")), b"")

    assert response.header("X-ONE") == "1, 2"
    assert response.values("x-One") == ("1", "2")
    assert response.header("empty") == ""
    assert response.header("absent") is None
    assert response.values("absent") == ()


@pytest.mark.parametrize(
    ("response", "altered"),
    [
        (Response(200, (), b'{"data": "plain"}'), False),
        (Response(200, (), b'"<api_key>"'), False),
        (Response(200, (), b'"<header:X-Tenant>"'), True),
        (Response(200, (("X", "<header:X-Tenant>"),), b""), True),
        (Response(200, (("<header:X-Tenant>", "x"),), b""), True),
        (Response(200, (("X", "\ud800"),), b""), False),
    ],
)
def test_whether_a_text_was_taken_out_that_may_have_been_right(response: Response, *, altered: bool) -> None:
    """Placeholders of keys do not count; those of hidden texts do, in body and headers."""
    assert response.is_altered is altered


def test_exchanges_are_hashed_by_their_numbers() -> None:
    """Sets distinguish them by number, without hashing bodies."""
    exchange, same, other = make_exchange(number=1), make_exchange(number=1), make_exchange(number=2)

    assert {exchange, same, other} == {exchange, other}
    assert hash(exchange) == hash(replace(exchange, error="x"))


def test_only_a_broken_connection_allows_a_retry() -> None:
    """Only a broken connection allows a retry of the check."""
    assert not NoResponse("the connection broke").permanent
    assert NotSent("it could change what is not the run's").permanent
    assert RunStopped("it is over").permanent


def test_an_exchange_shows_no_bodies() -> None:
    """The repr omits the request, which may be large."""
    assert "SentRequest" not in repr(came(200))
    assert "Call(" not in repr(came(200))


@pytest.mark.parametrize(
    ("status", "scopes", "is_main"),
    [
        (200, [], True),
        (404, [], True),
        (403, [], False),
        (403, ["engagements:read"], False),
        (403, ["engagements:write"], True),
        (401, ["engagements:write"], False),
    ],
)
def test_the_view_of_another_organization(status: int, scopes: list[str], *, is_main: bool) -> None:
    """Its key is the main one, unless it was refused and is not known to have the permission."""
    key, own = Credential.bearer(OTHER_KEY, "key-of-another"), Credential.bearer("engagements:write", "key-of-ours")
    seen = make_exchange("updateEngagement", status, {}, key=key).seen_from_other(scopes)

    assert (seen.request.credential is None) is is_main
    assert make_exchange("updateEngagement", status, {}, key=own).seen_from_other(scopes).request.key_name == OTHER_KEY
