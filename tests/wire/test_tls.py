"""Tests of the digest of a TLS certificate."""

from __future__ import annotations

import socket
import ssl
import threading
from contextlib import suppress
from pathlib import Path

import certifi
import pytest
from cryptography.hazmat.primitives import hashes

from conformance.wire.requests import Credential
from conformance.wire.settings import WireSettings
from conformance.wire.tls import certificate_sha256
from tests.fakes.tls import certificate


def _settings(url: str, *, verify: bool = True, ca_file: Path | None = None) -> WireSettings:
    key = Credential.bearer("api_key", "key-of-the-target")
    return WireSettings(base_url=url, credential=key, verify=verify, ca_file=None if ca_file is None else str(ca_file))


def test_fingerprint_is_that_of_the_certificate_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The digest is returned without verification, and with it by authorities of a file or of certifi."""
    file = tmp_path / "server.pem"
    shown = certificate(file)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}"

        def serve() -> None:
            for _ in range(3):
                taken, _ = listener.accept()
                with taken, context.wrap_socket(taken, server_side=True) as secured, suppress(ConnectionResetError):
                    secured.recv(1)

        serving = threading.Thread(target=serve)
        serving.start()
        found = [
            certificate_sha256(_settings(url, ca_file=file)),
            certificate_sha256(_settings(url, verify=False)),
        ]
        monkeypatch.setattr(certifi, "where", lambda: str(file))
        found.append(certificate_sha256(_settings(url)))
        serving.join()

    assert found == [shown.fingerprint(hashes.SHA256()).hex()] * 3


def test_a_lost_target_has_none() -> None:
    """Without a certificate there is no digest."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    assert certificate_sha256(_settings(f"https://127.0.0.1:{port}")) is None


def test_http_needs_no_connection_and_https_uses_its_port(monkeypatch: pytest.MonkeyPatch) -> None:
    """The port is that of HTTPS by default."""
    addresses: list[tuple[str, int]] = []

    def refuse(address: tuple[str, int], _: float) -> socket.socket:
        addresses.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", refuse)

    urls = ("http://service.test", "https://service.test", "https://service.test:8443")
    assert [certificate_sha256(_settings(url)) for url in urls] == [None] * 3
    assert addresses == [("service.test", 443), ("service.test", 8443)]
