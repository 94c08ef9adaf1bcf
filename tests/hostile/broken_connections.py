"""Targets that never send a complete response."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Mapping
from typing import Any, Final

from tests.fakes.target import json_reply
from tests.fakes.wires import endless
from tests.hostile.cases import UNTESTABLE, Case, raw, untestable

_HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
_PLAIN: Final = b'{"data":{"id":"x"}}'
_LONG: Final = _HEAD + b"Content-Length: 900000\r\n\r\n"
_GZIP: Final = zlib.MAX_WBITS | 16
_CHUNKED: Final = _HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


def _bomb(megabytes: int, wbits: int) -> bytes:
    """Return the compressed form of that many zeros, without a checksum: the same block again and again."""
    compressor = zlib.compressobj(wbits=wbits)
    head = compressor.compress(bytes(2**20)) + compressor.flush(zlib.Z_FULL_FLUSH)
    block = compressor.compress(bytes(2**20)) + compressor.flush(zlib.Z_FULL_FLUSH)
    return head + block * (megabytes - 1)


def _encoded(body: bytes, *codings: str) -> bytes:
    return json_reply(200, body, Content_Encoding=", ".join(codings)).written()


def _greeting(reset: bool) -> dict[str, Any]:  # noqa: FBT001 - the only parameter
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        if reset:
            writer.transport.abort()
        else:
            await asyncio.sleep(120)
        return False

    return {"greeting": greet}


CASES: Final[Mapping[str, Case]] = {
    "silent from the start": untestable(raw(), "within 1 s", parts=lambda: _greeting(reset=False)),
    "closed before any request": untestable(raw(), UNTESTABLE, parts=lambda: _greeting(reset=True)),
    "closed without a word": untestable(raw(), "closed before a response"),
    "reset without a word": untestable(raw(then="reset"), "closed before a response"),
    "stalls before headers": untestable(raw(then="stall"), "within 1 s"),
    "stalls amid headers": untestable(raw(_HEAD, then="stall"), "within 1 s"),
    "stalls amid the body": untestable(raw(_LONG, b"{", then="stall"), "within 1 s"),
    "drips headers": untestable(endless(_HEAD, b"X", 0.02), "within 1 s"),
    "drips a body": untestable(endless(_LONG, b" ", 0.02), "within 1 s"),
    "drips chunks": untestable(endless(_CHUNKED, b"1\r\n \r\n", 0.02), "within 1 s"),
    "never ends the body": untestable(endless(_HEAD + b"\r\n", b" " * 100_000), "longer than 8 MiB", timeout=5),
    "never ends the chunks": untestable(
        endless(_CHUNKED, b"8000\r\n" + b" " * 0x8000 + b"\r\n"), "longer than 8 MiB", timeout=5
    ),
    "never ends the headers": untestable(endless(_HEAD + b"X: ", b"x" * 10_000), "not HTTP"),
    "promises a terabyte": untestable(
        endless(_HEAD + b"Content-Length: 1099511627776\r\n\r\n", b" " * 100_000), "longer than 8 MiB", timeout=5
    ),
    "a body of 50 MB": untestable(raw(json_reply(200, b'"%s"' % (b"x" * 50_000_000)).written()), "8 MiB", timeout=5),
    "gzip bomb in gzip": untestable(
        raw(_encoded(gzip.compress(_bomb(256, _GZIP)), "gzip", "gzip")), "longer than 8 MiB", timeout=5
    ),
    "deflate bomb": untestable(raw(_encoded(_bomb(64, zlib.MAX_WBITS), "deflate")), "longer than 8 MiB", timeout=5),
    "gzip cut short": untestable(raw(_encoded(gzip.compress(_PLAIN)[:-3], "gzip")), "cut short"),
    "an encoding that was not requested": untestable(raw(_encoded(_PLAIN, "br")), "did not accept"),
    "too short a Content-Length": untestable(raw(_HEAD + b"Content-Length: 3\r\n\r\n" + _PLAIN), "more bytes came"),
    "too long a Content-Length": untestable(raw(_HEAD + b"Content-Length: 99\r\n\r\n" + _PLAIN), "cut short"),
    "two Content-Lengths": untestable(
        raw(_HEAD + b"Content-Length: 3\r\nContent-Length: 19\r\n\r\n" + _PLAIN), "not HTTP"
    ),
    "a negative Content-Length": untestable(raw(_HEAD + b"Content-Length: -1\r\n\r\n" + _PLAIN), "not HTTP"),
    "broken chunks": untestable(raw(_CHUNKED + b"zz\r\n{}\r\n"), "not HTTP"),
    "a chunk cut short": untestable(raw(_CHUNKED + b"ff\r\n{"), "cut short"),
    "reset amid the body": untestable(raw(_LONG + _PLAIN, then="reset"), "cut short"),
    "one huge header": untestable(raw(_HEAD + b"X: " + b"x" * 200_000 + b"\r\n\r\n" + _PLAIN), UNTESTABLE),
    "many headers": untestable(raw(_HEAD + b"X: y\r\n" * 20_000 + b"Content-Length: 2\r\n\r\n{}"), UNTESTABLE),
    "a header with a zero byte": untestable(raw(_HEAD + b"X: \0\r\n\r\n{}"), "not HTTP"),
    "status 99": untestable(raw(b"HTTP/1.1 99 Low\r\nContent-Length: 0\r\n\r\n"), "not HTTP"),
    "a flood of 1xx": untestable(endless(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 50), "within 1 s"),
    "another protocol": untestable(raw(b"220 mail.example.com ESMTP\r\n\r\n"), "not HTTP"),
    "a forged second answer": untestable(raw(json_reply(200, _PLAIN).written() * 2, then="stall"), "more bytes came"),
}
