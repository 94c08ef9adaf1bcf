"""Countersigning of a verified certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.certificate.envelope import countersealed
from conformance.certificate.files import UncertifiableFolder
from conformance.certificate.keys import key_id
from conformance.certificate.time_stamps import requested
from conformance.reports.atomic_files import place
from conformance.reports.sealing import ENVELOPE, TIME_STAMP

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.x509 import Certificate


def countersign(
    folder: Path, envelope: bytes, key: Ed25519PrivateKey, tsa: str | None, authorities: Iterable[Certificate]
) -> str:
    """Add a second signature to certificate.dsse.json, and write certificate.tsr if an authority is given.

    Args:
        folder: The folder of the certificate.
        envelope: The content of certificate.dsse.json, which was verified.
        key: The certifier's key.
        tsa: The address of a time stamp authority, or None.
        authorities: The root certificates of the authority.

    Returns:
        The id of the certifier's key.

    Raises:
        UncertifiableFolder: A file cannot be written.
        TimeStampError: The authority gave no valid time stamp; nothing was written.
    """
    content = countersealed(envelope, key)
    stamp = None if tsa is None else requested(tsa, content, authorities)
    try:
        (folder / TIME_STAMP).unlink(missing_ok=True)
        place({folder / ENVELOPE: content} | ({folder / TIME_STAMP: stamp} if stamp else {}))
    except OSError as error:
        raise UncertifiableFolder(f"The certificate cannot be written to {folder}: {error.strerror}.") from error
    return key_id(key.public_key())
