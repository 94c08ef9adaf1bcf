"""TLS certificates: verified unless the target file disables it, which the report shows."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.command_line import Ended, start, target_file
from tests.fakes.target import HostileTarget, hostile
from tests.fakes.tls import certificate as self_signed

PATIENCE = 120.0


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate of 127.0.0.1."""
    file = tmp_path_factory.mktemp("tls") / "certificate.pem"
    self_signed(file)
    return file


def _context(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def _run(target: HostileTarget, folder: Path, *lines: str, url: str = "", timeout: float = 5) -> Ended:
    path = target_file(folder, url or target.url, *lines, timeout=timeout)
    words = ("run", "--target", str(path), "--effort", "quick", "--only", "get-organization-*")
    return start(folder / "report", *words, CONFORMANCE_API_KEY=target.api_key).wait(PATIENCE)


def test_a_self_signed_certificate_is_refused(certificate: Path, tmp_path: Path) -> None:
    """An untrusted certificate gives a message with the reason, and no request is sent."""
    with hostile(context=_context(certificate)) as target:
        ended = _run(target, tmp_path)

        assert ended.status == 3
        assert "certificate is not accepted" in ended.err
        assert target.heads == []


@pytest.mark.parametrize("trusted", [True, False])
def test_it_is_accepted_where_the_target_file_says_so(trusted: bool, certificate: Path, tmp_path: Path) -> None:  # noqa: FBT001 - a test parameter
    """A certificate is accepted as an authority, or unverified with a warning in every output for people."""
    line = f"tls: {{ca_file: {certificate}}}" if trusted else "tls: {verify: false}"
    with hostile(context=_context(certificate)) as target:
        ended = _run(target, tmp_path, line)

    warning = "certificate was not verified"
    assert ended.status == 0, ended.messages()
    assert any(warning in line for line in ended.report["run"]["warnings"]) == (not trusted)
    assert (warning in ended.out) == (not trusted)
    assert (warning in (ended.folder / "report.html").read_text()) == (not trusted)


@pytest.mark.parametrize(
    ("parts", "reason"),
    [({"ends_in_days": -1}, "certificate has expired"), ({"host": "127.0.0.9"}, "IP address mismatch")],
    ids=["expired", "of another host"],
)
def test_a_trusted_authority_does_not_excuse_a_wrong_certificate(
    parts: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    """An expired certificate, or one of another host, is refused with the reason, and no request is sent."""
    made = tmp_path / "certificate.pem"
    self_signed(made, **parts)
    with hostile(context=_context(made)) as target:
        ended = _run(target, tmp_path, f"tls: {{ca_file: {made}}}")

        assert ended.status == 3
        assert reason in ended.err
        assert target.heads == []


def test_plain_http_where_tls_was_expected(tmp_path: Path) -> None:
    """A message reports the failed connection, and the key was not sent."""
    with hostile() as target:
        ended = _run(target, tmp_path, url=target.url.replace("http:", "https:"), timeout=1)

        assert ended.status == 3
        assert "no connection could be made" in ended.err
        assert target.heads == []


def test_tls_where_plain_http_was_expected(certificate: Path, tmp_path: Path) -> None:
    """A message reports that the target could not be tested."""
    with hostile(context=_context(certificate)) as target:
        ended = _run(target, tmp_path, url=target.url.replace("https:", "http:"))

    assert ended.status == 3
    assert "could not be tested" in ended.err
    assert "Traceback" not in ended.err
