"""Tests that any bytes of a target end in a response or an error sentence."""

from __future__ import annotations

import asyncio
import gzip
import tracemalloc
import zlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.wire.bounded_reading import MAX_BODY
from conformance.wire.exchange import NoResponse
from conformance.wire.requests import create_engagement, get_engagement, get_organization
from tests.fakes.wires import KEY, Behaviour, Fixtures, Turn, endless, raw_response

if TYPE_CHECKING:
    from collections.abc import Callable

PLAIN = b'{"data":{"id":"x"}}'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def says(*parts: bytes, then: str = "close", pause: float = 0.0) -> Behaviour:
    """Send the parts, then close, reset, stall, or keep the connection."""

    async def behave(turn: Turn) -> None:
        for part in parts:
            await turn.say(part)
            await asyncio.sleep(pause)
        if then == "stall":
            await asyncio.sleep(60)
        if then == "reset":
            turn.reset()
        if then == "close":
            turn.writer.close()

    return behave


def encoded(body: bytes, *codings: str) -> bytes:
    """Return a response with these encodings."""
    return raw_response(200, body, f"Content-Encoding: {', '.join(codings)}")


def raw_deflate(data: bytes) -> bytes:
    """Compress without the header of zlib."""
    compressor = zlib.compressobj(wbits=-15)
    return compressor.compress(data) + compressor.flush()


BOMB = gzip.compress(bytes(2**24))
TROUBLED: dict[str, tuple[Behaviour, str]] = {
    "stall before headers": (says(then="stall"), "no complete response came within 0.3 s"),
    "stall amid headers": (says(HEAD, then="stall"), "within 0.3 s"),
    "stall amid body": (says(HEAD + b"Content-Length: 9\r\n\r\n{", then="stall"), "within 0.3 s"),
    "dripping headers": (endless(HEAD, b"X", 0.01), "within 0.3 s"),
    "dripping body": (endless(HEAD + b"Content-Length: 900000\r\n\r\n", b" ", 0.01), "within 0.3 s"),
    "dripping chunks": (endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n", 0.01), "within 0.3 s"),
    "slow flood of 1xx": (endless(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n", 0.001), "within 0.3 s"),
    "flood of 1xx": (endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100), "within 0.3 s"),
    "switching protocols": (says(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n"), "not HTTP"),
    "closed without a word": (says(), "closed before a response came"),
    "reset without a word": (says(then="reset"), "closed before a response came"),
    "closed amid headers": (says(HEAD), "closed before a response came"),
    "reset amid headers": (says(HEAD, then="reset", pause=0.05), "closed before a response came"),
    "truncated body": (says(HEAD + b"Content-Length: 50\r\n\r\n" + PLAIN), "cut short"),
    "reset amid body": (says(HEAD + b"Content-Length: 50\r\n\r\n" + PLAIN, then="reset", pause=0.05), "cut short"),
    "truncated chunk": (says(HEAD + b"Transfer-Encoding: chunked\r\n\r\nff\r\n{"), "cut short"),
    "no last chunk": (says(HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"), "cut short"),
    "broken chunk size": (says(HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n"), "not HTTP"),
    "endless chunk extension": (endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n2;", b"x" * 999), "not HTTP"),
    "too short a length": (says(HEAD + b"Content-Length: 3\r\n\r\n" + PLAIN, then="stall"), "more bytes came"),
    "two lengths": (says(HEAD + b"Content-Length: 3\r\nContent-Length: 19\r\n\r\n" + PLAIN), "not HTTP"),
    "negative length": (says(HEAD + b"Content-Length: -1\r\n\r\n" + PLAIN), "not HTTP"),
    "length that is no number": (says(HEAD + b"Content-Length: many\r\n\r\n" + PLAIN), "not HTTP"),
    "length of 400 digits": (says(HEAD + b"Content-Length: " + b"9" * 400 + b"\r\n\r\n" + PLAIN), ""),
    "unknown transfer encoding": (says(HEAD + b"Transfer-Encoding: gzip\r\n\r\n" + PLAIN), "not HTTP"),
    "status 99": (says(b"HTTP/1.1 99 Low\r\nContent-Length: 0\r\n\r\n"), "not HTTP"),
    "status 1000": (says(b"HTTP/1.1 1000 High\r\nContent-Length: 0\r\n\r\n"), "not HTTP"),
    "status abc": (says(b"HTTP/1.1 abc Odd\r\n\r\n"), "not HTTP"),
    "no HTTP at all": (says(b"220 mail.example.com ESMTP\r\n\r\n"), "not HTTP"),
    "nonsense": (says(bytes(range(256)) * 4), "not HTTP"),
    "HTTP/0.9": (says(b"<html>hello</html>"), "closed before a response came"),
    "one huge header": (says(HEAD + b"X: " + b"x" * 100_000 + b"\r\n\r\n" + PLAIN), ""),
    "endless header": (endless(HEAD + b"X: ", b"x" * 10_000), "not HTTP"),
    "many headers": (says(HEAD + b"X: y\r\n" * 11_000 + b"Content-Length: 2\r\n\r\n{}"), ""),
    "header with a zero byte": (says(HEAD + b"X: \0\r\n\r\n{}"), "not HTTP"),
    "header without a name": (says(HEAD + b": x\r\n\r\n{}"), "not HTTP"),
    "endless body": (endless(HEAD + b"\r\n", b" " * 100_000), "longer than 8 MiB"),
    "endless chunks": (
        endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"8000\r\n" + b" " * 0x8000 + b"\r\n"),
        "8 MiB",
    ),
    "length of a terabyte": (endless(HEAD + b"Content-Length: 1099511627776\r\n\r\n", b" " * 100_000), "8 MiB"),
    "gzip bomb": (says(encoded(BOMB, "gzip")), "longer than 8 MiB"),
    "gzip bomb in gzip": (says(encoded(gzip.compress(BOMB), "gzip", "gzip")), "longer than 8 MiB"),
    "deflate bomb": (says(encoded(zlib.compress(bytes(2**24)), "deflate")), "longer than 8 MiB"),
    "three encodings": (says(encoded(PLAIN, "gzip", "gzip", "gzip")), "more than 2 times"),
    "unknown encoding": (says(encoded(PLAIN, "br")), "that the request did not accept"),
    "gzip that is none": (says(encoded(PLAIN, "gzip")), "does not decode"),
    "deflate that is none": (says(encoded(b"\xff\xff\xff", "deflate")), "does not decode"),
    "gzip cut short": (says(encoded(gzip.compress(PLAIN)[:-3], "gzip")), "encoded body is cut short"),
    "gzip with a wrong sum": (says(encoded(gzip.compress(PLAIN)[:-8] + bytes(8), "gzip")), "does not decode"),
    "gzip with something after it": (says(encoded(gzip.compress(PLAIN) + b"more", "gzip")), "does not decode"),
    "deflate with something after it": (says(encoded(zlib.compress(PLAIN) + b"more", "deflate")), "bytes follow"),
    "one byte of deflate": (says(encoded(b"\x78", "deflate")), "encoded body is cut short"),
}


@pytest.mark.parametrize("name", TROUBLED)
def test_broken_responses_are_errors(name: str, make: Fixtures) -> None:
    """A broken, too large or late response ends in an error sentence, within limits."""
    behaviour, expected = TROUBLED[name]
    wire = make.wire(make.serve(behaviour), timeout=0.3 if "0.3" in expected else 8)

    exchange = wire.send(create_engagement({"name": "n"}))

    assert exchange.received is None
    assert expected in (exchange.error or "")
    assert "\n" not in (exchange.error or "")
    with pytest.raises(NoResponse):
        _ = exchange.response


RESPONDED: dict[str, tuple[Behaviour, int, bytes]] = {
    "by length": (says(raw_response(200, PLAIN)), 200, PLAIN),
    "by chunks": (
        says(HEAD + b'Transfer-Encoding: chunked\r\n\r\n5;x=y\r\n{"a":\r\n3\r\n 1}\r\n0\r\nT: x\r\n\r\n'),
        200,
        b'{"a": 1}',
    ),
    "until the end": (says(HEAD + b"\r\n" + PLAIN), 200, PLAIN),
    "HTTP/1.0": (says(b"HTTP/1.0 200 OK\r\n\r\n" + PLAIN), 200, PLAIN),
    "byte by byte": (
        says(*(raw_response(200, PLAIN)[i : i + 1] for i in range(len(raw_response(200, PLAIN))))),
        200,
        PLAIN,
    ),
    "after 1xx": (
        says(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nX: y\r\n\r\n" + raw_response(200, PLAIN)),
        200,
        PLAIN,
    ),
    "status 999": (says(raw_response(999, PLAIN)), 999, PLAIN),
    "status 299": (says(raw_response(299, PLAIN)), 299, PLAIN),
    "204 without a body": (says(b"HTTP/1.1 204 No Content\r\n\r\n"), 204, b""),
    "redirect to another host": (says(raw_response(302, b"", "Location: http://127.0.0.1:9/steal")), 302, b""),
    "redirect that makes no sense": (says(raw_response(301, b"", "Location: http://[:bad")), 301, b""),
    "reset after the answer": (says(raw_response(200, PLAIN), then="reset", pause=0.05), 200, PLAIN),
    "gzip": (says(encoded(gzip.compress(PLAIN), "gzip")), 200, PLAIN),
    "x-gzip": (says(encoded(gzip.compress(PLAIN), "X-GZIP")), 200, PLAIN),
    "gzip in two members": (says(encoded(gzip.compress(PLAIN[:9]) + gzip.compress(PLAIN[9:]), "gzip")), 200, PLAIN),
    "gzip with padding": (says(encoded(gzip.compress(PLAIN) + bytes(9), "gzip")), 200, PLAIN),
    "gzip twice": (says(encoded(gzip.compress(gzip.compress(PLAIN)), "gzip", "gzip")), 200, PLAIN),
    "deflate with a header": (says(encoded(zlib.compress(PLAIN), "deflate")), 200, PLAIN),
    "deflate without a header": (says(encoded(raw_deflate(PLAIN), "deflate")), 200, PLAIN),
    "an empty body called gzip": (says(encoded(b"", "gzip")), 200, b""),
    "identity": (says(encoded(PLAIN, "identity")), 200, PLAIN),
    "8 MiB": (says(raw_response(200, bytes(MAX_BODY))), 200, bytes(MAX_BODY)),
    "8 MiB in gzip": (says(encoded(gzip.compress(bytes(MAX_BODY)), "gzip")), 200, bytes(MAX_BODY)),
    "60 KiB of headers": (says(raw_response(200, PLAIN, *["X: " + "x" * 1000] * 60)), 200, PLAIN),
    "headers that are not ASCII": (says(HEAD + b"X: \xff\xe9\r\nContent-Length: 2\r\n\r\n{}"), 200, b"{}"),
    "a line break after the body": (says(raw_response(200, PLAIN) + b"\r\n", then="stall"), 200, PLAIN),
    "body that is no text": (says(raw_response(200, bytes(range(256)))), 200, bytes(range(256))),
}


@pytest.mark.parametrize("name", RESPONDED)
def test_odd_but_complete_responses_are_responses(name: str, make: Fixtures) -> None:
    """Every valid response is read, even an unusual one."""
    behaviour, status, body = RESPONDED[name]
    server = make.serve(behaviour)

    exchange = make.wire(server, timeout=8).send(create_engagement({"name": "n"}))

    assert exchange.error is None
    assert exchange.received is not None
    assert (exchange.received.status, exchange.received.body) == (status, body)
    assert exchange.received.http_version == ("HTTP/1.0" if name == "HTTP/1.0" else "HTTP/1.1")
    assert len(server.turns) == 1


def test_bombs_need_little_memory(make: Fixtures) -> None:
    """A body that decompresses to a large size is refused before it takes memory."""
    wire = make.wire(make.serve(says(encoded(gzip.compress(BOMB), "gzip", "gzip"))))
    tracemalloc.start()
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()

    wire.send(create_engagement({"name": "n"}))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak - before < 5 * MAX_BODY


def test_responses_do_not_leak_into_the_next(make: Fixtures) -> None:
    """Bytes after a response are never taken for another response."""
    forged = raw_response(200, b'{"data":"forged"}')
    true = raw_response(200, PLAIN)

    async def behave(turn: Turn) -> None:
        await turn.say(true + forged if turn.number == 1 else true)

    wire = make.wire(make.serve(behave))

    first, second = wire.send(create_engagement({"name": "n"})), wire.send(get_organization())

    assert first.received is None
    assert second.response.body == PLAIN


def test_the_key_stays_with_the_target(make: Fixtures) -> None:
    """A redirect to another host is not followed, so that host does not get the key."""
    other = make.serve(says(raw_response()))
    server = make.serve(says(raw_response(307, b"", f"Location: {other.url}/steal")))

    exchange = make.wire(server).send(get_organization())

    assert exchange.status == 307
    assert other.turns == []
    assert f"Bearer {KEY}".encode() in server.turns[0].head


def test_the_environment_is_not_trusted(make: Fixtures, monkeypatch: pytest.MonkeyPatch) -> None:
    """Proxies of the environment are not used."""
    proxy = make.serve(says(raw_response()))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy.url)
    server = make.serve(says(raw_response()))

    make.wire(server).send(get_organization())

    assert proxy.turns == []


def test_cookies_are_not_sent_back(make: Fixtures) -> None:
    """A cookie that the service sets is not sent back."""
    server = make.serve(says(raw_response(200, PLAIN, "Set-Cookie: a=b; Path=/"), then="keep"))
    wire = make.wire(server)

    for _ in range(2):
        wire.send(get_organization())

    assert len(server.turns) == 2
    assert b"cookie" not in server.turns[1].head.lower()


IDENTIFIERS: list[tuple[str, Callable[[bytes], bool]]] = [
    ("../x", lambda target: b"..%2Fx" in target),
    ("..", lambda target: target.endswith(b"/engagements/%2E%2E")),
    (".", lambda target: target.endswith(b"/engagements/%2E")),
    ("a?b#c d", lambda target: b"a%3Fb%23c%20d" in target),
    ("%2e", lambda target: b"%252e" in target),
    ("\ud800", lambda target: b"%ED%A0%80" in target),
    ("x" * 1_900, lambda target: b"x" * 1_900 in target),
]


@pytest.mark.parametrize(
    ("identifier", "arrives"),
    IDENTIFIERS,
    ids=["up and on", "up", "here", "query and fragment", "escaped dot", "surrogate", "long"],
)
def test_identifiers_stay_one_segment(identifier: str, arrives: Callable[[bytes], bool], make: Fixtures) -> None:
    """A target's identifier cannot lead to another path."""
    server = make.serve(says(raw_response()))

    assert make.wire(server).send(get_engagement(identifier)).status == 200
    assert arrives(server.turns[0].head.split(b" ")[1])


def test_requests_that_cannot_be_written_are_errors(make: Fixtures) -> None:
    """An identifier too long for any request is an error, once, and nothing is sent."""
    server = make.serve(says(raw_response()))
    wire = make.wire(server)

    exchange = wire.send(get_engagement("x" * 100_000))

    assert exchange.error == "the request cannot be written as HTTP"
    assert (exchange.was_sent, server.turns, len(wire.exchanges)) == (False, [], 1)


PIECES = st.sampled_from(
    [
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 100 C\r\n\r\n",
        b"HTTP/1.0 500 X\r\n",
        b"Content-Length: 5\r\n",
        b"Content-Length: x\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Content-Encoding: gzip\r\n",
        b"Content-Encoding: deflate\r\n",
        b"Connection: close\r\n",
        b"\r\n",
        b"\n",
        b"\r",
        b"0\r\n\r\n",
        b"5\r\nhello\r\n",
        b"hello",
        b": \r\n",
        b" folded\r\n",
        b"\0",
        gzip.compress(b"hello"),
    ]
)


@given(responses=st.lists(st.lists(st.one_of(PIECES, st.binary(max_size=9)), max_size=9), min_size=1, max_size=6))
@settings(max_examples=40, deadline=None)
def test_any_bytes_make_an_exchange(responses: list[list[bytes]]) -> None:
    """Any bytes end in a response or an error, never another exception."""
    fixtures = Fixtures()

    async def behave(turn: Turn) -> None:
        for piece in responses[turn.number % len(responses)]:
            await turn.say(piece)
        turn.writer.close()

    server = fixtures.serve(behave)
    wire = fixtures.wire(server, timeout=5)
    try:
        for _ in range(2):
            exchange = wire.send(create_engagement({"name": "n"}))
            assert (exchange.received is None) != (exchange.error is None)
    finally:
        wire.close()
        server.close()
