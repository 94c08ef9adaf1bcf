"""Ed25519 keys that sign certificates."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Final

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from conformance.files import TEXT, read_file
from conformance.posix import fchmod

if TYPE_CHECKING:
    from pathlib import Path

_SECRET: Final = 0o600
_PUBLIC: Final = 0o644
_TRIED: Final = 128
"""Messages until a key of small order shows itself, with a probability of all but one in 10 million."""


class KeyFileError(Exception):
    """The key cannot be made, read or used; the message is one plain sentence."""


def public_path(path: Path) -> Path:
    """Return the path of the public key that belongs to a private key."""
    return path.with_name(f"{path.name}.pub")


def make_keys(path: Path) -> str:
    """Make a private key, and its public key beside it as ``FILE.pub``, both in PEM.

    Args:
        path: The file of the private key, which only its owner can read.

    Returns:
        The id of the key.

    Raises:
        KeyFileError: One of the files already exists, or cannot be written.
    """
    public = public_path(path)
    for file in (path, public):
        if file.exists() or file.is_symlink():
            raise KeyFileError(f"{file} already exists, and keys are never overwritten.")
    key = Ed25519PrivateKey.generate()
    _write(path, _private_pem(key), _SECRET)
    _write(public, _public_pem(key.public_key()), _PUBLIC)
    return key_id(key.public_key())


def read_private_key(path: Path) -> Ed25519PrivateKey:
    """Read a private key.

    Raises:
        KeyFileError: It cannot be read, is protected by a password, or is of another kind.
    """
    try:
        key = serialization.load_pem_private_key(_read(path), password=None)
    except TypeError:
        raise KeyFileError(f"{path} is protected by a password, which this command does not ask for.") from None
    except (ValueError, UnsupportedAlgorithm):
        raise KeyFileError(f"{path} is not a private key in PEM.") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyFileError(f"{path} is not an Ed25519 key.")
    return key


def read_public_key(path: Path) -> Ed25519PublicKey:
    """Read a public key.

    Raises:
        KeyFileError: It cannot be read, or is of another kind.
    """
    try:
        key = serialization.load_pem_public_key(_read(path))
    except (ValueError, UnsupportedAlgorithm):
        raise KeyFileError(f"{path} is not a public key in PEM.") from None
    if not isinstance(key, Ed25519PublicKey):
        raise KeyFileError(f"{path} is not an Ed25519 key.")
    if _is_of_small_order(key):
        raise KeyFileError(f"{path} is a key of small order, for which anyone can sign.")
    return key


def _is_of_small_order(key: Ed25519PublicKey) -> bool:
    """Whether a signature that no private key made is valid; for such a key one of eight messages has it."""
    identity_and_zero = bytes([1]) + bytes(63)
    for number in range(_TRIED):
        try:
            key.verify(identity_and_zero, bytes([number]))
        except InvalidSignature:
            continue
        return True
    return False


def key_id(key: Ed25519PublicKey) -> str:
    """Return the id of a key: the SHA-256 digest of its SubjectPublicKeyInfo in DER, in hexadecimal."""
    der = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return hashlib.sha256(der).hexdigest()


def _private_pem(key: Ed25519PrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _public_pem(key: Ed25519PublicKey) -> bytes:
    return key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def _read(path: Path) -> bytes:
    try:
        return read_file(path, TEXT)
    except OSError as error:
        raise KeyFileError(f"{path} cannot be read: {error.strerror}.") from None


def _write(path: Path, content: bytes, mode: int) -> None:
    """Write a new file; no other process can have it open, because it must not exist before."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "wb") as stream:
            fchmod(stream.fileno(), mode)
            stream.write(content)
    except OSError as error:
        raise KeyFileError(f"{path} cannot be written: {error.strerror}.") from None
