"""Tests of the digest of a TLS certificate."""

from __future__ import annotations

import socket
import ssl
import threading
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from conformance.wire.requests import Credential
from conformance.wire.settings import WireSettings
from conformance.wire.tls import certificate_sha256


def _made(folder: Path) -> tuple[x509.Certificate, Path]:
    """A certificate for the loopback address, and the file of it with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM) + key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "server.pem").write_bytes(pem)
    return certificate, folder / "server.pem"


def _settings(url: str, *, verify: bool = True, ca_file: Path | None = None) -> WireSettings:
    key = Credential.bearer("api_key", "key-of-the-target")
    return WireSettings(base_url=url, credential=key, verify=verify, ca_file=None if ca_file is None else str(ca_file))


def test_fingerprint_is_that_of_the_certificate_shown(tmp_path: Path) -> None:
    """The digest is returned with and without verification."""
    certificate, file = _made(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}"

        def serve() -> None:
            for _ in range(2):
                taken, _ = listener.accept()
                with taken, context.wrap_socket(taken, server_side=True) as secured:
                    secured.recv(1)

        serving = threading.Thread(target=serve)
        serving.start()
        found = [
            certificate_sha256(_settings(url, ca_file=file)),
            certificate_sha256(_settings(url, verify=False)),
        ]
        serving.join()

    assert found == [certificate.fingerprint(hashes.SHA256()).hex()] * 2


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
