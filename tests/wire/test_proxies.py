"""Tests of the dialogue with a proxy."""

from __future__ import annotations

import asyncio
import ssl

import pytest

from conformance.wire.proxies import Proxy, ProxyError

CONTEXT = ssl.create_default_context()


class Stream:
    """A proxy that sends prepared pieces, whatever it gets."""

    def __init__(self, *pieces: bytes) -> None:
        self.written = b""
        self._pieces = list(pieces)

    def write(self, data: bytes) -> None:
        """Take bytes."""
        self.written += data

    async def read(self) -> bytes:
        """Return the next piece, and none at the end."""
        return self._pieces.pop(0) if self._pieces else b""


def tunnelled(url: str, stream: Stream, host: str = "service.test", port: int = 443) -> bytes:
    """Return the bytes that a tunnel through a proxy needs."""
    asyncio.run(Proxy.of(url, None).tunnel(stream, host, port))
    return stream.written


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://p.test", ("http", "p.test", 80, None, "", None)),
        ("https://p.test", ("https", "p.test", 443, None, "", CONTEXT)),
        ("socks5://[::1]", ("socks5", "::1", 1080, None, "", None)),
        ("http://a%40b:c%3Ad@p.test:3128", ("http", "p.test", 3128, "a@b", "c:d", None)),
        ("http://token@p.test", ("http", "p.test", 80, "token", "", None)),
    ],
)
def test_a_url_names_a_proxy(url: str, expected: tuple[object, ...]) -> None:
    """The scheme decides the port; user and password are unescaped."""
    proxy = Proxy.of(url, CONTEXT)

    assert (proxy.scheme, proxy.host, proxy.port, proxy.user, proxy.password, proxy.context) == expected
    assert "c:d" not in repr(proxy)


@pytest.mark.parametrize(
    ("proxy", "scheme", "forwards"),
    [("http", "http", True), ("https", "http", True), ("http", "https", False), ("socks5", "http", False)],
)
def test_an_http_proxy_forwards_plain_requests(proxy: str, scheme: str, *, forwards: bool) -> None:
    """Everything else goes through a tunnel."""
    assert Proxy.of(f"{proxy}://p.test", None).forwards(scheme) is forwards


@pytest.mark.parametrize(
    ("host", "address"), [("service.test", b"service.test:443"), ("10.0.0.1", b"10.0.0.1:443"), ("::1", b"[::1]:443")]
)
def test_a_tunnel_is_a_connect_request(host: str, address: bytes) -> None:
    """With the credentials, if any; the response may come in pieces."""
    pieces = (b"HTTP/1.1 200 Conn", b"ection established\r\nVia: 1.1 p\r\n\r\n")

    assert tunnelled("http://p.test", Stream(*pieces), host) == (
        b"CONNECT %b HTTP/1.1\r\nHost: %b\r\n\r\n" % (address, address)
    )
    assert b"\r\nProxy-Authorization: Basic YTpi\r\n" in tunnelled("http://a:b@p.test", Stream(*pieces))


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("service.test", b"\x03\x0cservice.test"),
        ("10.0.0.1", b"\x01\x0a\x00\x00\x01"),
        ("::1", b"\x04" + bytes(15) + b"\x01"),
    ],
)
def test_socks_connects_to_names_and_addresses(host: str, address: bytes) -> None:
    """Without credentials none are offered; the proxy's address has any type."""
    bound = {b"\x01": 4, b"\x04": 16, b"\x03\x05": 5}
    for kind, length in bound.items():
        stream = Stream(b"\x05", b"\x00", b"\x05\x00\x00" + kind + bytes(length), b"\x01\xbb")
        assert tunnelled("socks5://p.test", stream, host) == b"\x05\x01\x00" + b"\x05\x01\x00" + address + b"\x01\xbb"


def test_socks_logs_in_if_the_proxy_asks() -> None:
    """User and password precede the request."""
    asked = Stream(b"\x05\x02", b"\x01\x00", b"\x05\x00\x00\x01" + bytes(6))
    unasked = Stream(b"\x05\x00", b"\x05\x00\x00\x01" + bytes(6))

    assert tunnelled("socks5://me:pass@p.test", asked).startswith(b"\x05\x02\x00\x02\x01\x02me\x04pass\x05\x01\x00\x03")
    assert tunnelled("socks5://me:pass@p.test", unasked).startswith(b"\x05\x02\x00\x02\x05\x01\x00\x03")


@pytest.mark.parametrize(
    ("url", "pieces", "message"),
    [
        ("http://p.test", (b"HTTP/1.1 403 No\r\n\r\n",), "the proxy refuses the connection with 403"),
        (
            "http://p.test",
            (b"HTTP/1.1 407 No\r\n\r\n",),
            "the proxy refuses the connection with 407 and needs a user and a password",
        ),
        ("http://p.test", (b"SSH-2.0-x\r\n\r\n",), "the proxy's response is not that of a proxy"),
        ("http://p.test", (b"HTTP/1.1 200",), "the proxy's response is not that of a proxy"),
        ("http://p.test", (), "the proxy's response is not that of a proxy"),
        ("socks5://p.test", (b"HTTP",), "the proxy's response is not that of a proxy"),
        ("socks5://p.test", (b"\x05",), "the proxy's response is not that of a proxy"),
        ("socks5://p.test", (b"\x05\xff",), "the proxy accepts no credentials of this kind"),
        ("socks5://p.test", (b"\x05\x02",), "the proxy accepts no credentials of this kind"),
        ("socks5://a:b@p.test", (b"\x05\x02", b"\x01\x01"), "the proxy refuses the user or the password"),
        (
            "socks5://p.test",
            (b"\x05\x00", b"\x05\x04\x00\x01" + bytes(6)),
            "the proxy refuses the connection with SOCKS error 4",
        ),
        ("socks5://p.test", (b"\x05\x00", b"\x05\x00\x00\x01"), "the proxy's response is not that of a proxy"),
    ],
)
def test_a_proxy_that_refuses_is_an_error(url: str, pieces: tuple[bytes, ...], message: str) -> None:
    """The message is a clause for the run's last line."""
    with pytest.raises(ProxyError) as caught:
        tunnelled(url, Stream(*pieces))

    assert str(caught.value) == message
