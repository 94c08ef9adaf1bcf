"""Countersigned certificates, with and without a time stamp."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from conformance.certificate.countersigning import countersign
from conformance.certificate.envelope import InvalidEnvelope, countersealed, opened, sealed
from conformance.certificate.keys import key_id, make_keys, public_path, read_private_key, read_public_key
from conformance.certificate.signing import sign
from conformance.certificate.time_stamps import TimeStampError, read_authorities, requested, stamped
from conformance.certificate.verifying import verify
from conformance.reports.sealing import ENVELOPE, TIME_STAMP

from .conftest import conformance, key_pair

CONTENT = b"a certificate"
_SETTINGS = """
[tsa]
serial = {0}/serial
signer_cert = {0}/tsa.pem
certs = {0}/root.pem
signer_key = {0}/tsa.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256, sha512
ess_cert_id_alg = sha256
[stamping]
extendedKeyUsage = critical, timeStamping
"""


def _openssl(*words: object) -> None:
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


@pytest.fixture(scope="session")
def tsa(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the key and the certificates of a time stamp authority."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which is the time stamp authority, is not installed")
    folder = tmp_path_factory.mktemp("tsa")
    (folder / "tsa.cnf").write_text(_SETTINGS.format(folder))
    (folder / "serial").write_text("01\n")
    _openssl(
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=Root", "-days", "3650",
        "-keyout", folder / "root.key", "-out", folder / "root.pem",
    )  # fmt: skip
    _openssl(
        "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=Stamps",
        "-keyout", folder / "tsa.key", "-out", folder / "tsa.csr",
    )  # fmt: skip
    _openssl(
        "x509", "-req", "-in", folder / "tsa.csr", "-CA", folder / "root.pem", "-CAkey", folder / "root.key",
        "-set_serial", "7", "-days", "3650", "-extfile", folder / "tsa.cnf", "-extensions", "stamping",
        "-out", folder / "tsa.pem",
    )  # fmt: skip
    return folder


@contextmanager
def responder(tsa: Path, status: int = 200) -> Iterator[str]:
    """Serve time stamps on loopback inside a ``with``; yield the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            query, reply = tsa / "query", tsa / "reply"
            query.write_bytes(self.rfile.read(int(self.headers["Content-Length"])))
            _openssl(
                "ts", "-reply", "-config", tsa / "tsa.cnf", "-section", "tsa", "-queryfile", query, "-out", reply
            )  # fmt: skip
            self.send_response(status)
            self.end_headers()
            self.wfile.write(reply.read_bytes())

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def authority_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The certifier's private key with its public key beside it."""
    return key_pair(tmp_path_factory, "authority")


@pytest.fixture(scope="session")
def authority(authority_file: Path) -> Ed25519PrivateKey:
    """The certifier's private key."""
    return read_private_key(authority_file)


@pytest.fixture
def countersigned(small: Path, authority: Ed25519PrivateKey) -> Path:
    """A small countersigned run."""
    countersign(small, (small / ENVELOPE).read_bytes(), authority, None, ())
    return small


def test_countersign_verifies_first(small: Path, key_file: Path, authority_file: Path) -> None:
    """A certificate that is not as the programme requires is left as it was."""
    before = (small / ENVELOPE).read_bytes()
    words = ("countersign", small, "--public-key", f"{key_file}.pub", "--key", authority_file)
    refused = conformance(*words, "--require-class", "core", "--require", "any")

    assert refused.returncode == 4
    assert refused.stdout.splitlines()[-1] == "Exit 4: the certificate lacks the class core."
    assert (small / ENVELOPE).read_bytes() == before

    done = conformance(*words, "--require", "any")
    key = key_id(read_public_key(public_path(authority_file)))

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == f"Countersigned by the key {key}."


def test_a_vendor_does_not_countersign_itself(small: Path, key_file: Path) -> None:
    """The two keys differ, in both commands."""
    public = f"{key_file}.pub"
    signing = conformance("countersign", small, "--public-key", public, "--key", key_file)
    verifying = conformance("verify", small, "--public-key", public, "--countersigned-by", public)

    assert (signing.returncode, verifying.returncode) == (2, 2)
    assert "are the same" in signing.stderr
    assert "are the same" in verifying.stderr


def test_verify_takes_two_keys(countersigned: Path, key_file: Path, authority_file: Path) -> None:
    """The last line names the level; without the second key, the countersignature is not recomputed."""
    words = ("verify", countersigned, "--public-key", f"{key_file}.pub", "--require", "any")
    both = conformance(*words, "--countersigned-by", f"{authority_file}.pub")
    one = conformance(*words)

    assert (both.returncode, one.returncode) == (0, 0)
    assert "level 1, self-consistent, and level 3, countersigned: " in both.stdout.splitlines()[-1]
    assert "level 1, self-consistent: " in one.stdout.splitlines()[-1]
    assert "? not recomputed here: The certificate is countersigned by the key" in one.stdout


def test_a_missing_countersignature_is_not_accepted(
    small: Path, key_file: Path, authority_file: Path, tmp_path: Path
) -> None:
    """Neither a certificate with one signature nor one that another certifier signed is accepted."""
    words = ("--public-key", f"{key_file}.pub", "--require", "any")
    make_keys(tmp_path / "other")
    single = conformance("verify", small, *words, "--countersigned-by", f"{authority_file}.pub")
    countersign(small, (small / ENVELOPE).read_bytes(), read_private_key(authority_file), None, ())
    another = conformance("verify", small, *words, "--countersigned-by", tmp_path / "other.pub")

    for done in (single, another):
        assert done.returncode == 4
        assert done.stdout.splitlines()[-1] == "Exit 4: the certificate lacks the certifier's countersignature."


def test_a_wrong_countersignature_does_not_hold(
    small: Path, private_key: Ed25519PrivateKey, public_key: Ed25519PublicKey, authority: Ed25519PrivateKey
) -> None:
    """A signature that names the certifier's key but signs another payload is a forgery."""
    content = (small / ENVELOPE).read_bytes()
    other = countersealed(sealed(b"{}", private_key), authority).splitlines()
    mixed = countersealed(content, authority).splitlines()
    mixed[-4] = other[-4]
    (small / ENVELOPE).write_bytes(b"\n".join(mixed) + b"\n")
    verified = verify(small, public_key, authority.public_key())

    assert [claim.faults for claim in verified.claims if not claim.holds] == [
        ("the signature does not match its content",)
    ]
    assert not verified.is_countersigned


def test_no_third_signature_is_accepted(private_key: Ed25519PrivateKey, authority: Ed25519PrivateKey) -> None:
    """An envelope has one signature or two."""
    twice = countersealed(sealed(b"{}", private_key), authority)
    entry = b"\n".join(twice.splitlines()[-6:-2])

    assert opened(twice, private_key.public_key()) == b"{}"
    with pytest.raises(InvalidEnvelope):
        opened(twice.replace(entry, entry + b",\n" + entry), private_key.public_key())


def test_a_time_stamp_is_verified(
    small: Path, key_file: Path, authority_file: Path, tsa: Path, public_key: Ed25519PublicKey
) -> None:
    """The stamp is over the countersigned envelope; it is required if the authority's certificate is given."""
    words = ("--public-key", f"{key_file}.pub", "--require", "any")
    root = ("--tsa-cert", tsa / "root.pem")
    with responder(tsa) as url:
        done = conformance("countersign", small, *words, "--key", authority_file, "--tsa", url, *root)
    stamp = (small / TIME_STAMP).read_bytes()
    held = conformance("verify", small, *words, "--countersigned-by", f"{authority_file}.pub", *root)
    unread = conformance("verify", small, *words)

    assert (done.returncode, done.stderr, held.returncode, unread.returncode) == (0, "", 0, 0)
    assert "✓ recomputed: The signed certificate existed at 2" in held.stdout
    assert "? not recomputed here: certificate.tsr is not verified" in unread.stdout

    (small / TIME_STAMP).write_bytes(stamp[:-9] + bytes([stamp[-9] ^ 1]) + stamp[-8:])
    verified = verify(small, public_key, authorities=read_authorities(tsa / "root.pem"))

    assert not verified.holds
    assert not verified.is_stamped

    (small / TIME_STAMP).unlink()
    missing = conformance("verify", small, *words, *root)

    assert missing.returncode == 4
    assert missing.stdout.splitlines()[-1] == "Exit 4: the certificate lacks a time stamp."


def test_a_time_stamp_of_something_else_is_refused(tsa: Path) -> None:
    """Content, nonce and authority must be the right ones."""
    roots = read_authorities(tsa / "root.pem")
    _openssl("req", "-x509", "-key", tsa / "tsa.key", "-subj", "/CN=Another", "-days", "9", "-out", tsa / "other.pem")
    with responder(tsa) as url:
        stamp = requested(url, CONTENT, roots)

    assert stamped(stamp, CONTENT, roots).tzinfo is not None
    for content, authorities, nonce in (
        (b"another certificate", roots, None),
        (CONTENT, roots, 7),
        (CONTENT, read_authorities(tsa / "other.pem"), None),
    ):
        with pytest.raises(TimeStampError, match="not valid"):
            stamped(stamp, content, authorities, nonce)
    for broken in (b"", b"no stamp", stamp[:-1], stamp + b"x"):
        with pytest.raises(TimeStampError, match="not valid"):
            stamped(broken, CONTENT, roots)


def test_nothing_is_written_without_a_time_stamp(small: Path, key_file: Path, authority_file: Path, tsa: Path) -> None:
    """An authority that refuses or is away leaves the certificate as it was; the status is 3."""
    before = (small / ENVELOPE).read_bytes()
    words = ("--public-key", f"{key_file}.pub", "--require", "any", "--key", authority_file)
    root = ("--tsa-cert", tsa / "root.pem")
    with responder(tsa, status=503) as url:
        refused = conformance("countersign", small, *words, "--tsa", url, *root)
    away = conformance("countersign", small, *words, "--tsa", url, *root)
    lone = conformance("countersign", small, *words, "--tsa", url)

    assert (refused.returncode, away.returncode, lone.returncode) == (3, 3, 2)
    assert refused.stdout.splitlines()[-1] == "Exit 3: the time stamp authority responded with status 503."
    assert away.stdout.splitlines()[-1].startswith("Exit 3: the time stamp authority did not respond")
    assert "--tsa and --tsa-cert need each other." in lone.stderr
    assert (small / ENVELOPE).read_bytes() == before
    assert not (small / TIME_STAMP).exists()


def test_signing_again_removes_the_time_stamp(small: Path, private_key: Ed25519PrivateKey) -> None:
    """A stamp of the earlier certificate does not stay."""
    (small / TIME_STAMP).write_bytes(b"of the earlier certificate")
    sign(small, private_key, anyway=True)

    assert not (small / TIME_STAMP).exists()
