"""An HTTP and SOCKS5 proxy on the loopback."""

from __future__ import annotations

import base64
import socket
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

USER: Final = "gate-user"
PASSWORD: Final = "p:ss word-of-nobody"
HOST: Final = "service.internal"
"""The name of the loopback address, which only the proxy resolves."""


@dataclass
class Proxied:
    """The proxy's address and what it was asked to connect to."""

    port: int
    asked: list[str]


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    needs_password = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []


class _Handler(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        with suppress(OSError):
            if self.rfile.peek(1)[:1] == b"\x05":  # type: ignore[attr-defined]
                self._socks()
            else:
                self._http()

    def _socks(self) -> None:
        methods = self.rfile.read(self.rfile.read(2)[1])
        wanted = 2 if self.server.needs_password else 0
        self.wfile.write(bytes([5, wanted if wanted in methods else 255]))
        if wanted not in methods:
            return
        if self.server.needs_password:
            self.rfile.read(1)
            given = [self.rfile.read(self.rfile.read(1)[0]).decode() for _ in range(2)]
            self.wfile.write(bytes([1, given != [USER, PASSWORD]]))
            if given != [USER, PASSWORD]:
                return
        kind = self.rfile.read(4)[3]
        host = socket.inet_ntoa(self.rfile.read(4)) if kind == 1 else self.rfile.read(self.rfile.read(1)[0]).decode()
        port = int.from_bytes(self.rfile.read(2))
        self.server.asked.append(f"SOCKS {host}:{port}")
        self._relay(host, port, b"\x05\x00\x00\x01" + bytes(6))

    def _http(self) -> None:
        method, target, _ = self.rfile.readline().decode().split()
        self.server.asked.append(f"{method} {target}")
        lines = []
        while (line := self.rfile.readline()) not in {b"\r\n", b""}:
            lines.append(line)
        credentials = base64.b64encode(f"{USER}:{PASSWORD}".encode())
        if self.server.needs_password and b"Proxy-Authorization: Basic " + credentials + b"\r\n" not in lines:
            self.wfile.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
            return
        if method == "CONNECT":
            host, _, port = target.rpartition(":")
            self._relay(host, int(port), b"HTTP/1.1 200 OK\r\n\r\n")
            return
        url = urlsplit(target)
        kept = [line for line in lines if not line.lower().startswith((b"proxy-", b"connection"))]
        head = f"{method} {url.path}{'?' if url.query else ''}{url.query} HTTP/1.1\r\nConnection: close\r\n"
        with _connected(url.hostname or "", url.port or 80) as upstream:
            upstream.sendall(head.encode() + b"".join(kept) + b"\r\n")
            while data := upstream.recv(65536):
                self.wfile.write(data)

    def _relay(self, host: str, port: int, welcome: bytes) -> None:
        with _connected(host, port) as upstream:
            self.wfile.write(welcome)
            back = threading.Thread(target=_copy, args=(upstream, self.request))
            back.start()
            _copy(self.request, upstream)
            back.join()


@contextmanager
def proxying(*, needs_password: bool = False, context: ssl.SSLContext | None = None) -> Iterator[Proxied]:
    """Serve as a proxy until the end of the ``with``; with a TLS context as one of https."""
    server = _Server()
    server.needs_password = needs_password
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield Proxied(server.server_address[1], server.asked)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _connected(host: str, port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1" if host == HOST else host, port))


def _copy(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_RDWR)
