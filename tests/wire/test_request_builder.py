"""Tests of built requests and of records without secrets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx
import pytest

from conformance.wire.redaction import Redactor
from conformance.wire.request_builder import RequestBuilder
from conformance.wire.requests import (
    Credential,
    create_engagement,
    get_engagement,
    get_organization,
    invite_member,
    update_engagement,
)
from conformance.wire.settings import WireSettings

KEY = "sk_live_0123456789abcdef"


def request_builder(*secrets: tuple[str, str], **settings: Any) -> RequestBuilder:
    """A request builder."""
    redactor = Redactor()
    for name, value in (("api_key", KEY), *secrets):
        redactor.add(name, value)
    credential = Credential.bearer("api_key", KEY)
    return RequestBuilder(WireSettings(base_url="http://x.test/base/", credential=credential, **settings), redactor)


def sent(found: httpx.Request) -> list[tuple[str, str]]:
    """Return the headers of a request, without those of host and body."""
    given = [(name.decode(), value.decode("latin-1")) for name, value in found.headers.raw]
    return [header for header in given if header[0].lower() not in {"host", "content-length"}]


def test_a_request_has_the_key_and_what_every_request_has() -> None:
    """The URL begins with the base URL, and the key is the last header."""
    found = request_builder().build(get_engagement("a/b"))

    assert (found.method, str(found.url)) == ("GET", "http://x.test/base/api/v1/engagements/a%2Fb")
    assert [name for name, _ in sent(found)] == ["User-Agent", "Accept", "Accept-Encoding", "Authorization"]
    assert dict(sent(found))["Authorization"] == f"Bearer {KEY}"
    assert dict(sent(found))["Accept"] == "application/json"


def test_a_requests_own_headers_come_before_the_runs_and_those_before_the_usual() -> None:
    """A header replaces one of the same name in any case; all others stay."""
    made = request_builder(headers=(("X-Gateway", "g"), ("user-agent", "theirs"), ("X-Other", "o")))
    request = replace(get_organization(), headers=(("x-gateway", "mine"), ("ACCEPT", "text/html")))

    assert sent(made.build(request)) == [
        ("Accept-Encoding", "gzip, deflate"),
        ("user-agent", "theirs"),
        ("X-Other", "o"),
        ("x-gateway", "mine"),
        ("ACCEPT", "text/html"),
        ("Authorization", f"Bearer {KEY}"),
    ]


def test_a_header_without_a_value_is_not_sent() -> None:
    """It takes away the header that every request has."""
    request = replace(get_organization(), headers=(("Accept", ""),))

    assert [name for name, _ in sent(request_builder().build(request))] == [
        "User-Agent", "Accept-Encoding", "Authorization",
    ]  # fmt: skip


def test_a_header_may_hold_any_text() -> None:
    """A target's identifiers may contain unpaired surrogates."""
    request = replace(get_organization(), headers=(("X-Odd", "\ud800\u00e9"),))

    assert (b"X-Odd", b"\xed\xa0\x80\xc3\xa9") in request_builder().build(request).headers.raw


def test_a_request_may_show_another_key_or_none() -> None:
    """The main key is only used if the request names none."""
    made = request_builder()
    other, nobody = Credential.bearer("other", "another-key-of-a-member"), Credential("none", None)

    assert dict(sent(made.build(get_organization().with_key(other))))["Authorization"] == (
        "Bearer another-key-of-a-member"
    )
    assert "Authorization" not in dict(sent(made.build(get_organization().with_key(nobody))))
    assert made.credential(get_organization()).name == "api_key"


@pytest.mark.parametrize(
    ("sent", "repeatable"),
    [
        (get_organization(), True),
        (create_engagement({"name": "n"}), False),
        (replace(create_engagement({}), repeatable=True), True),
    ],
)
def test_a_request_says_whether_it_may_be_sent_twice(sent: Any, *, repeatable: bool) -> None:
    """The extension says whether a request may be repeated."""
    assert request_builder().build(sent).extensions["repeatable"] is repeatable


def test_a_request_without_its_identifier_is_not_made() -> None:
    """An empty identifier would lead to the list; a probe has its own path."""
    request = get_engagement("")
    with pytest.raises(ValueError, match=r"^without an identifier the path would be that of the list$"):
        request_builder().build(request)

    assert str(request_builder().build(request.as_probe("GET", "/api/v1/x")).url) == "http://x.test/base/api/v1/x"
    assert str(request_builder().build(replace(get_organization(), identifier="")).url).endswith(
        "/organizations/current"
    )


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "Basic"])
def test_the_record_names_the_key(scheme: str) -> None:
    """The record has the name in place of any key, even a short one."""
    made = request_builder(headers=(("X-Gateway", "g"), ("X-Tenant", "t")))
    request = get_organization().with_key(Credential("odd", f"{scheme} k"))

    shown = dict(made.record(request, made.build(request)).headers)

    assert shown["Authorization"] == f"{scheme} <odd>"
    assert (shown["X-Gateway"], shown["X-Tenant"]) == ("<header X-Gateway>", "<header X-Tenant>")
    assert shown["Accept"] == "application/json"


@pytest.mark.parametrize("authorization", ["Bearer", "Bearer ", "Bearer  "])
def test_a_key_that_is_none_is_shown_as_it_is(authorization: str) -> None:
    """An empty key stays visible as empty."""
    made = request_builder()
    request = get_organization().with_key(Credential("empty", authorization))

    assert dict(made.record(request, None).headers)["Authorization"] == authorization


@pytest.mark.parametrize("key", ["20240917", "active"])
def test_an_ordinary_key_in_another_place_is_named(key: str) -> None:
    """The record of a request that must be refused has the name, wherever the main key was sent."""
    settings = WireSettings(base_url="http://x.test", credential=Credential.bearer("api_key", key))
    made = RequestBuilder(settings, Redactor(ordinary=b"active"))
    elsewhere = (("X-Api-Key", key), ("Cookie", f"token={key}; session={key}"))
    refused = replace(get_organization(), headers=elsewhere).with_key(Credential("no_key", key, invalid=True))

    shown = dict(made.record(refused, made.build(refused)).headers)

    assert [shown[name] for name in ("Authorization", "X-Api-Key", "Cookie")] == [
        "<api_key>",
        "<api_key>",
        "token=<api_key>; session=<api_key>",
    ]
    assert shown["Accept"] == "application/json"


def test_no_secret_is_in_a_record() -> None:
    """No part of the record contains a secret."""
    made = request_builder(("tenant", "tenant-secret-0123456789"), headers=(("x-tenant", "tenant-secret-0123456789"),))
    body = {"name": f"about {KEY} and tenant-secret-0123456789"}
    request = replace(update_engagement(KEY, body), headers=(("Content-Type", "application/json"), ("X-Note", KEY)))

    for outgoing in (made.build(request), None):
        record = made.record(request, outgoing)
        assert KEY not in f"{record}"
        assert "tenant-secret" not in f"{record}"
        assert record.method == "PATCH"
        assert record.url.startswith("http://x.test/base/api/v1/engagements/<")
        assert dict(record.headers)["X-Note"].startswith("<")


def test_a_response_is_recorded_without_secrets() -> None:
    """Status and version stay; headers and body have no secret in names and values."""
    made = request_builder()
    headers = [("X-Echo", KEY), (KEY, "x"), ("Date", "today")]
    response = httpx.Response(404, headers=headers, extensions={"http_version": b"HTTP/1.0"})

    record = made.recorded(get_organization(), response, f'{{"error": "{KEY}"}}'.encode())

    assert (record.status, response.http_version) == (404, "HTTP/1.0")
    assert record.body == b'{"error": "<api_key>"}'
    assert record.header("X-Echo") == "<api_key>"
    assert record.header("Date") == "today"
    assert KEY not in f"{record}"
    assert made.recorded(get_organization(), httpx.Response(200), b"").http_version == "HTTP/1.1"


def test_no_record_can_accept_an_invitation() -> None:
    """Links, and texts that the interface does not name, are withheld; what it names stays as it came."""
    named = b'"id": "inv_1", "email": "a@x.test", "role": "member", "status": "pending"'
    body = (
        b'{"data": {%s, "url": "https://x.test/join?t=T0ken", "more": {"token": ["T0ken"], "for": "a@x.test"}}}' % named
    )
    response = httpx.Response(201, headers=[("Location", "/join/T0ken"), ("Date", "today")])
    invite = invite_member({"email": "a@x.test", "role": "member"})

    record = request_builder().recorded(invite, response, body)

    assert named in record.body
    assert b'"for": "a@x.test"' in record.body
    assert record.body.count(b"<withheld: it may accept the invitation>") == 2
    assert "T0ken" not in f"{record.headers}{record.body!r}"
    assert record.header("Date") == "today"
    assert request_builder().recorded(get_organization(), response, body).body == body


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"data": []}', b'{"data": {"id": "inv_1"}}', b'{"data": {"x": "', b"\xff"]
)
def test_other_responses_to_an_invitation_stay(body: bytes) -> None:
    """Without texts to withhold, the body stays as it came."""
    invite = invite_member({"email": "a@x.test", "role": "member"})

    assert request_builder().recorded(invite, httpx.Response(422), body).body == body


def test_headers_without_secrets_are_recorded_as_they_came() -> None:
    """Repeated headers stay, in their order and case."""
    headers = [("X-a", "1"), ("x-A", "2"), ("Set-Cookie", "\u00ff")]
    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers]

    assert request_builder().recorded(get_organization(), httpx.Response(200, headers=raw), b"").headers == tuple(
        headers
    )
