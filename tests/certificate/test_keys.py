"""Keys of certificates."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from conformance.certificate.keys import KeyFileError, make_keys, read_private_key, read_public_key

from .conftest import conformance


def test_keygen_writes_a_secret_and_a_public_key(tmp_path: Path) -> None:
    """The private key is PKCS8 in PEM, readable only by its owner, and the public key belongs to it."""
    done = conformance("keygen", tmp_path / "key")
    secret = (tmp_path / "key").read_bytes()
    private = serialization.load_pem_private_key(secret, None)
    public = serialization.load_pem_public_key((tmp_path / "key.pub").read_bytes())

    assert done.returncode == 0, done.stderr
    assert secret.startswith(b"-----BEGIN PRIVATE KEY-----")
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    assert isinstance(private, Ed25519PrivateKey)
    assert isinstance(public, Ed25519PublicKey)
    assert private.public_key() == public


@pytest.mark.parametrize("there", ["key", "key.pub"])
def test_keygen_overwrites_nothing(tmp_path: Path, there: str) -> None:
    """An existing file is refused and left unchanged."""
    (tmp_path / there).write_text("mine")
    done = conformance("keygen", tmp_path / "key")

    assert done.returncode == 2
    assert [path.name for path in tmp_path.iterdir()] == [there]
    assert (tmp_path / there).read_text() == "mine"


def test_keygen_follows_no_link(tmp_path: Path) -> None:
    """A dangling link is not followed."""
    (tmp_path / "key").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(KeyFileError):
        make_keys(tmp_path / "key")
    assert not (tmp_path / "elsewhere").exists()


def test_keys_of_other_kinds_are_refused(tmp_path: Path) -> None:
    """The message states the error for any content of the file."""
    other = ec.generate_private_key(ec.SECP256R1())
    plain = other.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    locked = Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(b"word")
    )
    for content, words in ((plain, "Ed25519"), (locked, "password"), (b"nonsense", "not a private key")):
        (tmp_path / "key").write_bytes(content)
        with pytest.raises(KeyFileError, match=words):
            read_private_key(tmp_path / "key")
    with pytest.raises(KeyFileError, match="cannot be read"):
        read_public_key(tmp_path / "none")
