"""Targets whose responses are wrong or prevent testing."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from tests.fakes.target import Reply, Turn, json_reply
from tests.hostile.cases import (
    CORE,
    Case,
    always,
    broken,
    changed,
    changed_body,
    changed_json,
    raw,
    resources,
    undecided,
    with_member,
)

DEEP: Final = b"[" * 100_000 + b"]" * 100_000


def _limits(remaining: int = 99, reset_in: float = 60) -> dict[str, str]:
    return {
        "X_RateLimit_Limit": "100",
        "X_RateLimit_Remaining": str(remaining),
        "X_RateLimit_Reset": str(int(time.time() + reset_in)),
    }


def _error(status: int, code: str, **headers: str) -> Reply:
    envelope = {"error": {"code": code, "message": "no", "statusCode": status}}
    return json_reply(status, envelope, **{**_limits(), **headers})


def _too_many(reset_in: float, retry_after: str) -> Reply:
    return _error(429, "RATE_LIMITED", Retry_After=retry_after, **_limits(0, reset_in))


def _million(turn: Turn, reply: Reply) -> Reply:
    """Return lists of a million items."""
    if reply.status == 200 and isinstance(reply.data.get("data"), list):
        return Reply(200, reply.headers, b'{"data":[' + b"0," * 1_000_000 + b'0],"meta":{}}')
    return reply


def _elsewhere(turn: Turn) -> Reply:
    """Redirect to a page on another host that must never be requested."""
    return json_reply(307, b"", Location=f"{turn.target.url.replace('127.0.0.1', 'localhost')}/stolen{turn.path}")


def _in_a_circle(turn: Turn) -> Reply:
    return json_reply(302, b"", Location=turn.target.url + turn.path)


def _reveal(value: Any) -> None:
    for resource in resources(value):
        if "name" in resource:
            resource["name"] = resource["name"].encode().decode("latin-1")[:3] + "\udcff"


CASES: Final[Mapping[str, Case]] = {
    "401 for everything": Case(behaviour=always(lambda turn: _error(401, "UNAUTHORIZED")), says="main key with 401"),
    "401 for everything, without the envelope": broken(
        always(lambda turn: json_reply(401, {"message": "no"}, **_limits())), "error-envelope", says="main key with 401"
    ),
    "429 for everything, for an hour": Case(behaviour=always(lambda turn: _too_many(3600, "3600")), says="429"),
    "429 for everything, a Retry-After of ten years": Case(
        behaviour=always(lambda turn: _too_many(60, "315360000")),
        says="could not be tested",
        words=("--max-seconds", "20"),
        seconds=30,
    ),
    "429 for everything, a Reset of twenty years": Case(
        behaviour=always(lambda turn: _too_many(630_720_000, "1")), status=(1,), verdict=("non-conformant",), says="429"
    ),
    "429 for everything, and now": Case(behaviour=always(lambda turn: _too_many(0, "0")), says="429"),
    "503 for everything": Case(
        behaviour=raw(b"HTTP/1.1 503 Busy\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\nbusy"), says="gateway"
    ),
    "500 for everything": broken(always(lambda turn: _error(500, "INTERNAL_ERROR")), "get-organization-succeeds"),
    "999 for everything": broken(always(lambda turn: _error(999, "ODD")), "get-organization-succeeds"),
    "204 for everything": broken(always(lambda turn: json_reply(204, b"", **_limits())), "success-data-object"),
    "a page for everything": broken(
        always(lambda turn: json_reply(200, b"<html>", Content_Type="text/html")), "json-well-formed", "json-media-type"
    ),
    "redirects to another host": broken(always(_elsewhere), "no-redirect"),
    "redirects in a circle": broken(always(_in_a_circle), "no-redirect"),
    "bodies with a byte order mark": broken(changed_body(lambda body: b"\xef\xbb\xbf" + body), "json-well-formed"),
    "bodies in UTF-16": broken(changed_body(lambda body: body.decode().encode("utf-16")), "json-well-formed"),
    "bodies with invalid UTF-8": broken(
        changed_body(lambda body: body.replace(b'"name":"', b'"name":"\xff')),
        "json-well-formed",
        only=CORE,
    ),
    "NaN": broken(with_member(b"NaN"), "json-well-formed"),
    "half a body, properly sent": broken(changed_body(lambda body: body[: len(body) // 2]), "json-well-formed"),
    "nesting of 100,000": undecided(with_member(DEEP), "json-well-formed", only=CORE),
    "nesting of 100,000 objects": undecided(
        with_member(b'{"a":' * 100_000 + b"1" + b"}" * 100_000), "json-well-formed", only=CORE
    ),
    "lists of a million": undecided(changed(_million), "list-engagements-fields"),
    "lone surrogates": broken(
        changed_json(_reveal),
        "create-engagement-answers-what-was-sent",
        only=CORE,
        clean=False,  # no read shows a name of the run
    ),
    "a string where an object belongs": broken(
        changed_json(lambda value: value.update(data="text") if "data" in value else None),
        "success-data-object",
        clean=False,  # no response has an identifier
    ),
    "endless pages": broken(
        changed_json(lambda value: value["meta"].update(total=10**9, totalPages=10**7) if "meta" in value else None),
        "list-engagements-page-length",
    ),
    "a Reset of another unit": broken(
        changed(lambda turn, reply: reply.with_headers(X_RateLimit_Reset=str(int(time.time() * 1000)))),
        "rate-limit-reset-is-time",
        only=(*CORE, "rate-limit-*"),
    ),
    "a total that is a word": broken(
        changed_json(lambda value: value["meta"].update(total="many") if "meta" in value else None), "list-meta-fields"
    ),
}
