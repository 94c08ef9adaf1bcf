"""Targets with unusual HTTP: framing, encodings, headers and timing."""

from __future__ import annotations

import asyncio
import gzip
import time
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.fakes.target import Behaviour, Reply, Turn, honestly, json_reply
from tests.hostile.cases import (
    CORE,
    UNTESTABLE,
    Case,
    Every,
    always,
    broken,
    changed,
    conformant,
    raw,
    undecided,
    untestable,
    written,
)

_HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
_PLAIN: Final = b'{"data":{"id":"x"}}'


def _coded(announced: str, *really: Callable[[bytes], bytes]) -> Behaviour:
    """Announce some content codings and apply others."""

    def change(turn: Turn, reply: Reply) -> Reply:
        body = reply.body
        for code in really:
            body = code(body)
        return Reply(reply.status, reply.headers, body).with_headers(
            **({"Content_Encoding": announced} if announced else {})
        )

    return changed(change)


def _with(**headers: str) -> Behaviour:
    return changed(lambda turn, reply: reply.with_headers(**headers))


def _with_lines(*lines: bytes) -> Behaviour:
    """Send raw header lines before all others."""
    extra = b"\r\n" + b"\r\n".join(lines)

    def write(turn: Turn, reply: Reply) -> bytes:
        first, rest = reply.written().split(b"\r\n", 1)
        return first + extra + b"\r\n" + rest

    return written(write)


def _repeated_limits(turn: Turn, reply: Reply) -> bytes:
    """Send every rate-limit header twice, as a gateway may do."""
    first, rest = reply.written().split(b"\r\n", 1)
    copies = [f"{n}: {v}".encode() for n, v in reply.headers if n.lower().startswith("x-ratelimit")]
    return b"\r\n".join([first, *copies, rest])


def _chunked_with_length(turn: Turn, reply: Reply) -> bytes:
    """Send chunks and a Content-Length; the chunks count."""
    head = reply.written().partition(b"\r\n\r\n")[0].replace(b"Content-Length: ", b"Content-Length: 1")
    size = b"%x\r\n" % len(reply.body)
    return head + b"\r\nTransfer-Encoding: chunked\r\n\r\n" + size + reply.body + b"\r\n0\r\n\r\n"


async def _reset_behind(turn: Turn) -> None:
    """Respond, and reset the connection shortly after."""
    await honestly(turn)
    await asyncio.sleep(0.02)
    turn.reset()


def _slower(step: float, most: float) -> Behaviour:
    async def behave(turn: Turn) -> None:
        reply = await turn.honest()
        await asyncio.sleep(min(most, step * turn.number))
        await turn.send(reply)

    return behave


async def _early_refusal(turn: Turn) -> bool:
    """Refuse a key before the body is read, and close."""
    keys = {f"Bearer {key}" for key in (turn.target.api_key, turn.target.honest.bootstrap.other_organization)}
    if turn.headers.get("Authorization") in keys:
        return False
    await honestly(turn)
    turn.close()
    return True


def _greets(first: bytes, *, close: bool) -> Callable[[], dict[str, Any]]:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        writer.write(first)
        await writer.drain()
        if close:
            writer.close()
        return not close

    return lambda: {"greeting": greet}


def _too_many(retry_after: str, wait: float = 1) -> Behaviour:
    """Respond with a 429 of a short window."""
    envelope = {"error": {"code": "RATE_LIMITED", "message": "no", "statusCode": 429}}

    def reply(_: Turn) -> Reply:
        limits = {
            "X_RateLimit_Limit": "100",
            "X_RateLimit_Remaining": "0",
            "X_RateLimit_Reset": str(int(time.time() + wait + 1)),
        }
        return json_reply(429, envelope, Retry_After=retry_after, **limits)

    return always(reply)


def _dies(turn: Turn) -> Any:
    turn.target.vanish(None)
    turn.reset()
    return asyncio.sleep(0)


CASES: Final[Mapping[str, Case]] = {
    # --- no complete answer
    "dies with the first request": untestable(_dies, "no complete response ever came"),
    "HTTP/0.9": untestable(raw(_PLAIN + b"\r\n"), UNTESTABLE),
    "HTTP/2 without being asked": untestable(raw(b"\0\0\x12\4\0\0\0\0\0\0\3\0\0\0d"), "not HTTP"),
    "an empty line before every answer": untestable(
        written(lambda turn, reply: b"\r\n" + reply.written()), "not HTTP", timeout=5
    ),
    "another protocol is agreed to": untestable(
        raw(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", then="stall"),
        UNTESTABLE,
    ),
    "gzip announced, plain sent": untestable(_coded("gzip"), "does not decode"),
    "deflate announced, plain sent": untestable(_coded("deflate"), "does not decode"),
    "gzip three times": untestable(_coded("gzip, gzip, gzip", *[gzip.compress] * 3), "encoded more than 2 times"),
    "an unknown encoding": untestable(_coded("snail"), "did not accept"),
    "an unknown transfer coding": untestable(raw(_HEAD + b"Transfer-Encoding: snail\r\n\r\n" + _PLAIN), UNTESTABLE),
    "a status without a number": untestable(raw(b"HTTP/1.1 OK\r\nContent-Length: 2\r\n\r\n{}"), "not HTTP"),
    "line feeds and nothing else": untestable(raw(b"\n" * 100_000), UNTESTABLE),
    "resets with the end of the headers": untestable(
        raw(_HEAD + b"Content-Length: 19\r\n\r\n", then="reset"), UNTESTABLE
    ),
    # --- complete but invalid responses
    "HTTP/7.3": broken(raw(b"HTTP/7.3 200 OK\r\nContent-Length: 2\r\n\r\n{}"), "json-media-type"),
    "gzip sent, nothing announced": broken(_coded("", gzip.compress), "json-well-formed", only=CORE),
    "gzip twice, announced once": broken(_coded("gzip", gzip.compress, gzip.compress), "json-well-formed", only=CORE),
    "a 408 before any request": broken(
        raw(),
        "error-envelope",
        parts=_greets(b"HTTP/1.1 408 Late\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", close=True),
    ),
    # --- unusual but conformant
    "gzip twice, announced twice": conformant(_coded("gzip, gzip", gzip.compress, gzip.compress), only=CORE),
    "deflate with zlib's header": conformant(_coded("deflate", zlib.compress), only=CORE),
    "chunks and a Content-Length": conformant(written(_chunked_with_length), only=CORE),
    "folded headers": conformant(_with_lines(b"X-Folded: one", b"  two", b"\tthree"), only=CORE),
    "60 KB of headers": conformant(_with_lines(*(b"X-%d: %s" % (n, b"x" * 1000) for n in range(58))), only=CORE),
    "headers in Latin-1": conformant(_with_lines("X-Name: Jörg \xa0".encode("latin-1")), only=CORE),
    "rate-limit headers twice": conformant(written(_repeated_limits), only=CORE),
    "cookies": conformant(_with(Set_Cookie="session=stolen; Path=/"), only=CORE),
    "a Date of nonsense": conformant(_with(Date="yesterday, about tea time"), only=CORE),
    "a Date beyond all years": conformant(_with(Date="Mon, 99 Foo 99999 99:99:99 +9999"), only=CORE),
    "no Date": conformant(_with(Date=""), only=CORE),
    "keys refused before the body is read": conformant(parts=lambda: {"early": _early_refusal}),
    "429 now and then, Retry-After no number": conformant(Every(25, _too_many("soon"), methods=("GET",)), only=CORE),
    "429 now and then, Retry-After no date": conformant(
        Every(25, _too_many("Mon, 99 Foo 2026 99:99:99 GMT"), methods=("GET",)), only=CORE
    ),
    "slower and slower, to half a second": conformant(_slower(0.005, 0.5), only=CORE),
    # --- lost responses
    "connections reset behind every answer": undecided(_reset_behind, only=CORE, verdict=("inconclusive",), timeout=5),
    "slower and slower": Case(behaviour=_slower(0.05, 60), says="was lost", seconds=90, timeout=2, clean=False),
    "every third request stalls": undecided(
        Every(3, raw(then="stall")),
        words=("--max-seconds", "60"),
        timeout=1,
        seconds=70,
        verdict=("inconclusive",),
        only=CORE,
    ),
}
