"""Connections through an HTTP or SOCKS5 proxy."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from http import HTTPStatus
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final, Protocol, Self
from urllib.parse import unquote, urlsplit

import h11

if TYPE_CHECKING:
    import ssl

_PORTS: Final = {"http": 80, "https": 443, "socks5": 1080}
_NO_PASSWORD, _PASSWORD = 0, 2
_ADDRESS_BYTES: Final = {1: 4, 4: 16}
"""The length of an IPv4 and an IPv6 address, by SOCKS5's type of address."""
_NAME: Final = 3
"""SOCKS5's type of address for the name of a host."""
_NO_PROXY: Final = "the proxy's response is not that of a proxy"


class ProxyError(Exception):
    """The proxy makes no connection; the message is a clause without a full stop."""


class ByteStream(Protocol):
    """A connection to the proxy."""

    def write(self, data: bytes) -> None:
        """Send bytes."""

    async def read(self) -> bytes:
        """Wait for bytes; return none at the end."""


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy.

    Attributes:
        scheme: http, https or socks5.
        host: Its host.
        port: Its port.
        user: The user's name; None without credentials.
        password: The password.
        context: The TLS context of an https proxy.
    """

    scheme: str
    host: str
    port: int
    user: str | None = field(default=None, repr=False)
    password: str = field(default="", repr=False)
    context: ssl.SSLContext | None = None

    @classmethod
    def of(cls, url: str, context: ssl.SSLContext | None) -> Self:
        """Return the proxy of a URL, with the TLS context of https proxies."""
        parts = urlsplit(url)
        user = None if parts.username is None else unquote(parts.username)
        return cls(
            parts.scheme,
            parts.hostname or "",
            parts.port or _PORTS[parts.scheme],
            user,
            unquote(parts.password or ""),
            context if parts.scheme == "https" else None,
        )

    def forwards(self, scheme: str) -> bool:
        """Whether requests to URLs of a scheme are sent to the proxy itself, and not through a tunnel."""
        return scheme == "http" and self.scheme != "socks5"

    @property
    def headers(self) -> list[tuple[str, str]]:
        """The headers of requests to an HTTP proxy: its credentials, if any."""
        if self.user is None:
            return []
        credentials = base64.b64encode(f"{self.user}:{self.password}".encode()).decode("ascii")
        return [("Proxy-Authorization", f"Basic {credentials}")]

    async def tunnel(self, stream: ByteStream, host: str, port: int) -> None:
        """Let the proxy connect the stream to a host, which it also resolves.

        Raises:
            ProxyError: It does not.
        """
        if self.scheme == "socks5":
            await _Socks5(stream).connect(self, host, port)
        else:
            await self._connect(stream, host, port)

    async def _connect(self, stream: ByteStream, host: str, port: int) -> None:
        http = h11.Connection(our_role=h11.CLIENT)
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        request = h11.Request(method="CONNECT", target=address, headers=[("Host", address), *self.headers])
        stream.write((http.send(request) or b"") + (http.send(h11.EndOfMessage()) or b""))
        try:
            while not isinstance(event := http.next_event(), h11.Response):
                if event is h11.NEED_DATA:
                    http.receive_data(await stream.read())
        except h11.RemoteProtocolError:
            raise ProxyError(_NO_PROXY) from None
        if http.their_state is not h11.SWITCHED_PROTOCOL:
            raise refusal(event.status_code)


def refusal(status: int) -> ProxyError:
    """Return the error for the status of an HTTP proxy."""
    needs = " and needs a user and a password" if status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED else ""
    return ProxyError(f"the proxy refuses the connection with {status}{needs}")


class _Socks5:
    """The client's side of SOCKS5 (RFC 1928 and 1929)."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._received = b""

    async def connect(self, proxy: Proxy, host: str, port: int) -> None:
        methods = [_NO_PASSWORD] if proxy.user is None else [_NO_PASSWORD, _PASSWORD]
        self._stream.write(bytes([5, len(methods), *methods]))
        version, method = await self._read(2)
        if version != 5:  # noqa: PLR2004 - SOCKS5
            raise ProxyError(_NO_PROXY)
        if method not in methods:
            raise ProxyError("the proxy accepts no credentials of this kind")
        if method == _PASSWORD:
            self._stream.write(b"\x01" + _counted(proxy.user or "") + _counted(proxy.password))
            if (await self._read(2))[1]:
                raise ProxyError("the proxy refuses the user or the password")
        self._stream.write(b"\x05\x01\x00" + _address(host) + port.to_bytes(2))
        _, reply, _, kind = await self._read(4)
        if reply:
            raise ProxyError(f"the proxy refuses the connection with SOCKS error {reply}")
        await self._read((_ADDRESS_BYTES.get(kind) or (await self._read(1))[0]) + 2)

    async def _read(self, count: int) -> bytes:
        while len(self._received) < count:
            data = await self._stream.read()
            if not data:
                raise ProxyError(_NO_PROXY)
            self._received += data
        read, self._received = self._received[:count], self._received[count:]
        return read


def _counted(text: str) -> bytes:
    data = text.encode()[:255]
    return bytes([len(data)]) + data


def _address(host: str) -> bytes:
    try:
        address = ip_address(host)
    except ValueError:
        return bytes([_NAME]) + _counted(host)
    return bytes([1 if len(address.packed) == _ADDRESS_BYTES[1] else 4]) + address.packed
