"""Conformant targets that are difficult for the suite, and networks that lose messages."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import quote, unquote

from conformance.reference.application import create_app
from tests.fakes.target import Behaviour, Reply, Turn, honestly
from tests.hostile.cases import (
    CORE,
    Case,
    Every,
    changed,
    changed_body,
    changed_json,
    conformant,
    raw,
    resources,
    undecided,
    with_member,
    written,
)

YEAR: Final = 31_536_000
NASTY: Final = (
    "<script>document.title='acted'</script><img src=x onerror=alert(1)> =HYPERLINK(\"http://x\") @SUM(1) | **b** "
    "`c` [a](javascript:b) {{7*7}} %s ]]> & \u001b[31m\u001b]0;title\u0007 \u0001\u000b \u202e \ufffe \u2028 \x7f\x9b2J"
)
_BUSY: Final = b"HTTP/1.1 503 Busy\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<html>busy..."


async def _lost(turn: Turn) -> None:
    """Carry the request out and lose its response."""
    await turn.honest()
    turn.reset()


def _two_at_once(refusal: Behaviour) -> Behaviour:
    """Serve two requests at a time, 10 ms each, and refuse the others."""
    under_way: dict[int, int] = {}

    async def behave(turn: Turn) -> None:
        key = id(turn.target)
        if under_way.get(key, 0) >= 2:
            await refusal(turn)
            return
        under_way[key] = under_way.get(key, 0) + 1
        try:
            reply = await turn.honest()
            await asyncio.sleep(0.01)
        finally:
            under_way[key] -= 1
        await turn.send(reply)

    return behave


async def _pieces(turn: Turn) -> None:
    text = (await turn.honest()).written()
    for start in range(0, len(text), 120):
        await turn.say(text[start : start + 120])
        await asyncio.sleep(0.001)


async def _closes_silently(turn: Turn) -> None:
    """Respond and close the connection without an announcement."""
    await honestly(turn)
    turn.close()


async def _late(turn: Turn) -> None:
    await asyncio.sleep(2)
    await honestly(turn)


def _after(requests: int, seconds: float | None) -> Callable[[Turn], Any]:
    async def behave(turn: Turn) -> None:
        if turn.number == requests:
            turn.target.vanish(seconds)
            turn.reset()
        else:
            await honestly(turn)

    return behave


class _Out:
    """A gateway that responds with 503 for some seconds, beginning with a certain request.

    Args:
        seconds: The duration.
        begins: Whether a request begins it.
    """

    def __init__(self, seconds: float, begins: Callable[[Turn], bool]) -> None:
        self._seconds = seconds
        self._begins = begins
        self._until: dict[int, float] = {}

    async def __call__(self, turn: Turn) -> None:
        """Serve or refuse a request."""
        key = id(turn.target)
        if key not in self._until and self._begins(turn):
            self._until[key] = time.monotonic() + self._seconds
        if time.monotonic() < self._until.get(key, 0.0):
            await raw(_BUSY, then="keep")(turn)
        else:
            await honestly(turn)


def _edits_both(turn: Turn) -> bool:
    """Whether a request edits name and description."""
    return turn.method == "PATCH" and b'"name"' in turn.body and b'"description"' in turn.body


def _http_10(turn: Turn, reply: Reply) -> bytes:
    return reply.written(version="1.0")


def _chunked(turn: Turn, reply: Reply) -> bytes:
    lines = ["HTTP/1.1 200 OK".replace("200", str(reply.status)), *(f"{n.lower()}:{v}" for n, v in reply.headers)]
    lines += ["transfer-encoding: chunked", "trailer: x-sum"]
    chunks = b"".join(b"1;ext=1\r\n%c\r\n" % byte for byte in reply.body)
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + chunks + b"0\r\nx-sum: 1\r\n\r\n"


def _with_hints(turn: Turn, reply: Reply) -> bytes:
    return b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 3 + reply.written()


def _gzipped(turn: Turn, reply: Reply) -> Reply:
    return Reply(reply.status, reply.headers, gzip.compress(reply.body)).with_headers(Content_Encoding="gzip")


def _reflecting(turn: Turn, reply: Reply) -> Reply:
    """Show the key in a header, and in the body as plain text, escaped, in hexadecimal and in base64."""
    import base64  # noqa: PLC0415 - the only use

    key = turn.headers.get("Authorization", "")
    value = json.loads(reply.body) if reply.body else {}
    encoded = base64.b64encode(key.encode()).decode()
    value["seen"] = [key, key.encode().hex(), encoded, quote(key), "".join(f"\\u{ord(c):04x}" for c in key)]
    return Reply(reply.status, reply.headers, json.dumps(value).encode()).with_headers(X_Seen=key)


def _with_members(**members: object) -> Any:
    def change(value: Any) -> None:
        for resource in resources(value):
            resource.update(members)

    return changed_json(change)


def _rename_ids(prefix: str) -> Callable[[Turn], Any]:
    """Add an unusual prefix to the identifiers of engagements."""

    async def behave(turn: Turn) -> None:
        parts = turn.path.split("/")
        turn.path = "/".join(
            quote(unquote(part).removeprefix(prefix), safe="?=&") if unquote(part).startswith(prefix) else part
            for part in parts
        )
        reply = await turn.honest()
        if reply.body.startswith(b"{") and "/organizations" not in turn.path:
            value = reply.data
            for resource in resources(value):
                if "id" in resource:
                    resource["id"] = prefix + resource["id"]
            reply = Reply(reply.status, reply.headers, json.dumps(value).encode())
        await turn.send(reply)

    return behave


def _nastily(value: Any) -> None:
    if "error" in value:
        value["error"]["message"] = NASTY
    for resource in resources(value):
        resource["comment"] = NASTY
        if "memberCount" in resource:
            resource["plan"] = NASTY


def _fairly_limited(limit: int, window: int) -> dict[str, Any]:
    app = create_app()
    with app.service.store.transaction():
        key = app.service.add_key(app.bootstrap.organization_id, limit=limit, window=window)
    return {"honest": app, "api_key": key}


LOSSES: Final = {"seconds": 60, "verdict": ("conformant", "inconclusive")}


def _not_in_a_row(behaviour: Behaviour) -> Behaviour:
    """Apply a behaviour, but never to the repetition of a request."""
    met: set[str] = set()

    async def behave(turn: Turn) -> None:
        if turn.path in met:
            met.remove(turn.path)
            await honestly(turn)
        else:
            met.add(turn.path)
            await behaviour(turn)

    return behave


CASES: Final[Mapping[str, Case]] = {
    "nothing out of the ordinary": conformant(),
    "connection: close": conformant(
        written(lambda turn, reply: reply.with_headers(Connection="close").written(), close=True)
    ),
    "HTTP/1.0": conformant(written(_http_10, close=True)),
    "closes after every answer without a word": conformant(_closes_silently),
    "answers in small pieces": conformant(_pieces, only=CORE),
    "chunks of a byte, extensions and trailers": conformant(written(_chunked), only=CORE),
    "early hints before every answer": conformant(written(_with_hints), only=CORE),
    "gzip": conformant(changed(_gzipped), only=CORE),
    "a gateway's 503 to every ninth read": conformant(Every(9, raw(_BUSY, then="keep"), methods=("GET",))),
    "a gateway's 503 to every fortieth request": undecided(
        Every(40, raw(_BUSY, then="keep")), verdict=("conformant", "inconclusive")
    ),
    "a gateway that takes two requests at once": undecided(
        _two_at_once(raw(_BUSY, then="keep")), verdict=("conformant", "inconclusive"), only=CORE, timeout=5
    ),
    "a gateway's 503 for two seconds, early": undecided(
        _Out(2, lambda turn: turn.number == 12), verdict=("conformant", "inconclusive"), only=CORE
    ),
    "a gateway's 503 for two seconds, at an edit": undecided(
        _Out(2, _edits_both), verdict=("conformant", "inconclusive"), only=CORE
    ),
    "every sixth GET reset": conformant(Every(6, _not_in_a_row(raw(then="reset")), methods=("GET",))),
    "a fair rate limit": conformant(parts=lambda: _fairly_limited(40, 3), only=CORE),
    "a clock a year ahead": conformant(parts=lambda: {"honest": create_app(clock=lambda: time.time() + YEAR)}),
    "a clock a year behind": conformant(
        parts=lambda: {"honest": create_app(clock=lambda: time.time() - YEAR)}, only=CORE
    ),
    "gone for three seconds": conformant(_after(120, 3)),
    "duplicate members": conformant(changed_body(lambda body: b'{"further": 1, "further": 2, ' + body[1:]), only=CORE),
    "1e400 and integers of 10,000 digits": conformant(with_member(b"[1e400, -1e400, " + b"7" * 10_000 + b"]")),
    "members that name what JavaScript inherits": conformant(
        _with_members(__proto__={"id": 1}, constructor={"prototype": {}}, hasOwnProperty=None, toString="x")
    ),
    "strings of 30 KB": conformant(_with_members(further="x" * 30_000), only=CORE),
    "markup, escapes, formulas and what XML forbids": conformant(changed_json(_nastily)),
    "the Authorization header reflected": conformant(changed(_reflecting)),
    "identifiers with slashes and dots": conformant(_rename_ids("../..%2e?#& ;"), only=CORE),
    "identifiers of 1,000 characters": conformant(_rename_ids("x" * 1_000), only=CORE),
    # Such URLs exceed the limits of gateways, so the suite sends no request to these engagements, and they remain.
    "identifiers of 10,000 characters": undecided(
        _rename_ids("x" * 10_000), only=CORE, verdict=("inconclusive",), clean=False
    ),
    "every fourth POST carried out and its answer lost": undecided(Every(4, _lost, methods=("POST",)), **LOSSES),
    "every POST carried out and its answer lost": undecided(
        Every(1, _lost, methods=("POST",)), "create-engagement-succeeds", **LOSSES
    ),
    "every third DELETE and PATCH lost": undecided(Every(3, _lost, methods=("DELETE", "PATCH")), **LOSSES),
    "resets before every fifth request": undecided(Every(5, raw(then="reset")), **LOSSES),
    "2 s latency": undecided(_late, words=("--max-seconds", "25"), timeout=6, seconds=32, verdict=("inconclusive",)),
    "dies in mid-run": Case(behaviour=_after(150, None), says="was lost", seconds=40, timeout=5, clean=False),
    "7 MB in every answer": undecided(
        with_member(b'"%s"' % (b"x" * 7_000_000)), seconds=90, verdict=("inconclusive",), timeout=5
    ),
    "escapes of 7 MB in every answer": undecided(
        with_member(b'"%s"' % (b"\\u0041" * 1_100_000)), seconds=90, verdict=("inconclusive",), timeout=5
    ),
    "millions of lists in every answer": undecided(
        with_member(b"[" + b"[]," * 2_500_000 + b"0]"), seconds=90, verdict=("inconclusive",), timeout=5, clean=False
    ),
    "45,000 objects in every answer": undecided(
        with_member(b"[" + b"{}," * 45_000 + b"0]"), seconds=180, verdict=("conformant", "inconclusive"), timeout=5
    ),
}
