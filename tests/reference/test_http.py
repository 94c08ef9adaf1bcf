"""Responses to unusual HTTP requests: always an envelope, never a 500."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.reference.refusal import CODES

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx

    from tests.reference.conftest import Visitor

ENGAGEMENTS = "/api/v1/engagements"
JSON = {"Content-Type": "application/json"}


def refused(response: httpx.Response) -> int:
    """Check the envelope of a refusal and return its status."""
    error = response.json()["error"]
    assert response.headers["Content-Type"] == "application/json"
    assert error == {
        "code": CODES[response.status_code],
        "message": error["message"],
        "statusCode": response.status_code,
    }
    assert error["message"]
    assert {"x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"} <= set(response.headers)
    return response.status_code


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"nothing", 400),
        (b'{"name": NaN}', 400),
        (b'{"name": "\xff"}', 400),
        (b'\xef\xbb\xbf{"name": "a"}', 400),
        (b"[" * 100_000, 400),
        (b'{"name": ' + b"9" * 5000 + b"}", 400),
        ('{"name": "a"}'.encode("utf-16"), 400),
        (b"'a'", 400),
        (b'{"name": "a",}', 400),
        (b'{"name": "a"} x', 400),
        (b'{"name": -Infinity}', 400),
        (b'{"name": "a\nb"}', 400),
        (b"\x00", 400),
        (b"[]", 422),
        (b"null", 422),
        (b"1", 422),
        (b'"name"', 422),
        (b'{"name": 1e400}', 422),
        (b'{"name": "\\ud800"}', 422),
        (b'{"name": "' + b"x" * 2_000_000 + b'"}', 413),
    ],
)
def test_bodies_that_are_no_good(visitor: Visitor, content: bytes, status: int) -> None:
    """An invalid body is refused, and nothing is created."""
    assert refused(visitor.send("POST", ENGAGEMENTS, content=content, headers=JSON)) == status
    assert visitor.get(ENGAGEMENTS).json()["data"] == []


@pytest.mark.parametrize(
    ("declared", "status"),
    [
        ({}, 400),
        ({"Content-Type": "text/plain"}, 400),
        ({"Content-Type": "application/jsonp"}, 400),
        ({"Content-Type": "application/json; charset=utf-8"}, 201),
        ({"Content-Type": "Application/JSON"}, 201),
    ],
)
def test_content_type_is_asked_for(visitor: Visitor, declared: dict[str, str], status: int) -> None:
    """A body needs the media type of JSON, with any parameters."""
    assert visitor.send("POST", ENGAGEMENTS, content=b'{"name": "a"}', headers=declared).status_code == status


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 404),
        ("GET", "/api/v1", 404),
        ("GET", "/api/v2/engagements", 404),
        ("GET", "/api/v1/engagements/", 404),
        ("GET", "//api/v1/engagements", 404),
        ("GET", "/api/v1/engagements/a%2Fb", 404),
        ("GET", "/api/v1/engagements/a/b", 404),
        ("GET", "/api/v1/engagements/%00", 404),
        ("GET", "/api/v1/engagements/%ff%fe", 404),
        ("GET", "/api/v1/%0a", 404),
        ("GET", "/api/v1/engagements/..%2f..", 404),
        ("GET", "/api/v1/engagements/" + "x" * 10_000, 404),
        ("PUT", "/api/v1/engagements", 405),
        ("DELETE", "/api/v1/engagements", 405),
        ("GET", "/api/v1/engagements/x/archive", 405),
        ("OPTIONS", "/api/v1/engagements", 405),
        ("PURGE", "/api/v1/organizations/current", 405),
    ],
)
def test_paths_and_methods_that_are_unknown(visitor: Visitor, method: str, path: str, status: int) -> None:
    """An unknown path is a 404, and an unknown method a 405 that names the known methods."""
    response = visitor.send(method, path)

    assert refused(response) == status
    assert ("Allow" in response.headers) == (status == 405)


def test_head_is_get_without_a_body(visitor: Visitor) -> None:
    """HEAD has the headers of GET."""
    head, get = visitor.send("HEAD", ENGAGEMENTS), visitor.get(ENGAGEMENTS)

    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Length"] == get.headers["Content-Length"]


@pytest.mark.parametrize("shape", ["prefixed", "uuid", "ulid", "integer", "dotted", "reserved", "long"])
def test_identifiers_of_any_shape_find_their_engagement(visit: Callable[..., Visitor], shape: str) -> None:
    """An identifier that is encoded as one segment is found, whatever its characters."""
    visitor = visit(identifier_shape=shape)
    ids = [visitor.engagement(f"n{number}")["id"] for number in range(3)]

    assert len(set(ids)) == 3
    assert [visitor.get(visitor.at(identifier)).json()["data"]["id"] for identifier in ids] == ids
    assert visitor.delete(
        visitor.at(visitor.member("member")["id"], "/api/v1/organizations/current/members")
    ).is_success


def test_unexpected_errors_have_the_envelope(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A bug of the service becomes a 500 with code INTERNAL_ERROR that hides its cause."""

    def broken(*_: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(visitor.app.service.store, "engagements", broken)

    response = visitor.get(ENGAGEMENTS)

    assert refused(response) == 500
    assert "secret" not in response.text
    assert caplog.records[0].levelno == logging.ERROR


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
FIELDS = st.sampled_from(["name", "description", "role", "email", "status", "id", "x"])


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    body=st.dictionaries(FIELDS, JSON_VALUES, max_size=4) | JSON_VALUES,
    place=st.sampled_from(
        [("POST", ""), ("PATCH", "/{id}"), ("PATCH", "@"), ("POST", "@/members/invite"), ("PATCH", "@/members/{user}")]
    ),
)
def test_no_body_is_an_unexpected_error(visitor: Visitor, body: object, place: tuple[str, str]) -> None:
    """Every JSON body is accepted, or refused with an envelope."""
    method, path = place
    path = path.replace("@", "/api/v1/organizations/current") if "@" in path else f"{ENGAGEMENTS}{path}"
    path = path.format(id=visitor.engagement()["id"], user=visitor.member("owner")["id"])

    response = visitor.send(method, path, content=json.dumps(body).encode(), headers=JSON)

    assert response.is_success or refused(response) in (400, 403, 409, 422)
