"""Rendering of exchanges.har: the exchanges of a run as an HTTP Archive 1.2; entry n - 1 is exchange n."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlsplit

from conformance import __version__
from conformance.reports.text import json_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.wire.exchange import Exchange, Response

_PIECE = 2**14
"""Bytes after which a piece is yielded; the search for secrets takes twice as long for larger pieces."""

_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


def har_pieces(exchanges: Iterable[Exchange]) -> Iterator[bytes]:
    """Yield the content of exchanges.har in pieces; no string of an exchange spans two pieces.

    A run that was cut short may have numbers without an exchange. They get marked empty entries, so that the entry of
    exchange n is always at n - 1.
    """
    creator = json_bytes({"name": "engagement-conformance", "version": __version__})
    yield b'{"log": {"version": "1.2", "creator": ' + creator + b', "entries": ['
    piece: list[bytes] = []
    size = 0
    for entry in _entries(sorted(exchanges, key=lambda exchange: exchange.number)):
        piece.append((b",\n" if entry["_number"] > 1 else b"\n") + json_bytes(entry))
        size += len(piece[-1])
        if size >= _PIECE:
            yield b"".join(piece)
            piece.clear()
            size = 0
    yield b"".join(piece) + b"\n]}}\n"


def har_bytes(exchanges: Iterable[Exchange]) -> bytes:
    """Return the content of exchanges.har."""
    return b"".join(har_pieces(exchanges))


def _entries(exchanges: Iterable[Exchange]) -> Iterator[dict[str, Any]]:
    number = 1
    for exchange in exchanges:
        while number < exchange.number:
            yield _gap(number)
            number += 1
        yield har_entry(exchange)
        number = exchange.number + 1


def har_entry(exchange: Exchange) -> dict[str, Any]:
    """Return an exchange as an entry of an HTTP Archive."""
    milliseconds = round(exchange.seconds * 1000, 3)
    return {
        "startedDateTime": exchange.started_at.isoformat(),
        "time": milliseconds,
        "request": _request(exchange),
        "response": _nothing(exchange.error) if exchange.received is None else _response(exchange.received),
        "cache": {},
        "timings": {"send": 0, "wait": milliseconds, "receive": 0},
        "comment": f"exchange {exchange.number}, {exchange.check}",
        "_number": exchange.number,
        "_check": exchange.check,
        "_trouble": exchange.error,
        "_attempt": exchange.attempt,
        "_sent": exchange.was_sent,
        "_head_seconds": exchange.head_seconds,
        "_call": _intended(exchange),
    }


def _intended(exchange: Exchange) -> dict[str, Any]:
    """Return the facts about the intended request that the archive lacks; values stay in the redacted request."""
    request = exchange.request
    return {
        "operation": request.operation.id,
        "credential": None if request.credential is None else request.credential.name,
        "headers": [name for name, _ in request.headers],
        "probe": request.probe is not None,
        "repeatable": request.repeatable,
        "expects_429": request.expects_429,
        "unjudged": request.unjudged,
    }


def _request(exchange: Exchange) -> dict[str, Any]:
    sent = exchange.sent_request
    entry: dict[str, Any] = {
        "method": sent.method,
        "url": sent.url,
        "httpVersion": "HTTP/1.1" if exchange.received is None else exchange.received.http_version,
        "cookies": [],
        "headers": _headers(sent.headers),
        "queryString": [{"name": name, "value": value} for name, value in _query(sent.url)],
        "headersSize": -1,
        "bodySize": len(sent.body),
    }
    if sent.body or exchange.request.body is not None:
        text, encoding = _text(sent.body)
        entry["postData"] = {"mimeType": _media_type(sent.headers), "text": text} | (
            {"_encoding": encoding} if encoding else {}
        )
    return entry


def _query(url: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(urlsplit(url).query, keep_blank_values=True)
    except ValueError:
        return []


def _response(response: Response) -> dict[str, Any]:
    text, encoding = _text(response.body)
    content = {"size": len(response.body), "mimeType": _media_type(response.headers), "text": text}
    return {
        "status": response.status,
        "statusText": _phrase(response.status),
        "httpVersion": response.http_version,
        "cookies": [],
        "headers": _headers(response.headers),
        "content": content | ({"encoding": encoding} if encoding else {}),
        "redirectURL": response.header("Location") or "",
        "headersSize": -1,
        "bodySize": -1,
    }


def _nothing(error: str | None) -> dict[str, Any]:
    """Return the entry for a missing response, in the form that browsers' archives use."""
    return {
        "status": 0,
        "statusText": "",
        "httpVersion": "",
        "cookies": [],
        "headers": [],
        "content": {"size": 0, "mimeType": "x-unknown"},
        "redirectURL": "",
        "headersSize": -1,
        "bodySize": -1,
        "comment": error or "no response",
    }


def _gap(number: int) -> dict[str, Any]:
    note = f"exchange {number} was not recorded"
    return {
        "startedDateTime": _NEVER.isoformat(),
        "time": 0,
        "request": {
            "method": "",
            "url": "about:blank",
            "httpVersion": "",
            "cookies": [],
            "headers": [],
            "queryString": [],
            "headersSize": -1,
            "bodySize": -1,
        },
        "response": _nothing(note),
        "cache": {},
        "timings": {"send": 0, "wait": 0, "receive": 0},
        "comment": note,
        "_number": number,
        "_missing": True,
    }


def _headers(headers: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers]


def _media_type(headers: Iterable[tuple[str, str]]) -> str:
    return next((value for name, value in headers if name.lower() == "content-type"), "x-unknown")


def _text(body: bytes) -> tuple[str, str | None]:
    """Return the body as text and the encoding of that text: None for UTF-8, base64 otherwise."""
    try:
        return body.decode("utf-8"), None
    except UnicodeDecodeError:
        return base64.b64encode(body).decode("ascii"), "base64"


_PHRASES: Final = {
    413: "Content Too Large",
    414: "URI Too Long",
    416: "Range Not Satisfiable",
    422: "Unprocessable Content",
}
"""The phrases of RFC 9110 for which Python has others before 3.13."""


def _phrase(status: int) -> str:
    try:
        return _PHRASES.get(status) or HTTPStatus(status).phrase
    except ValueError:
        return ""
