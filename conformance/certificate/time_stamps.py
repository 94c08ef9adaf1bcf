"""Time stamps of RFC 3161, which show that a certificate existed at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import httpx
from cryptography.x509 import load_pem_x509_certificates
from rfc3161_client import TimestampRequestBuilder, VerificationError, VerifierBuilder, decode_timestamp_response

from conformance.files import TEXT, read_file

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from pathlib import Path

    from cryptography.x509 import Certificate

_SECONDS: Final = 30.0


class TimeStampError(Exception):
    """There is no valid time stamp; the message is a clause."""


def read_authorities(path: Path) -> list[Certificate]:
    """Read the root certificates of a time stamp authority, in PEM.

    Raises:
        TimeStampError: The file cannot be read, or contains none.
    """
    try:
        return load_pem_x509_certificates(read_file(path, TEXT))
    except OSError as error:
        raise TimeStampError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError:
        raise TimeStampError(f"{path} contains no certificates in PEM") from None


def requested(url: str, content: bytes, authorities: Iterable[Certificate]) -> bytes:
    """Request a time stamp and return the response of the authority, which is valid.

    Args:
        url: The address of the authority.
        content: The content that gets the time stamp; only its SHA-512 digest is sent.
        authorities: The root certificates of the authority.

    Raises:
        TimeStampError: The authority gave no valid time stamp.
    """
    request = TimestampRequestBuilder().data(content).build()
    kind = {"Content-Type": "application/timestamp-query"}
    try:
        response = httpx.post(url, content=request.as_bytes(), headers=kind, timeout=_SECONDS, trust_env=False)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise TimeStampError(f"the time stamp authority did not respond ({type(error).__name__})") from None
    if response.status_code != httpx.codes.OK:
        raise TimeStampError(f"the time stamp authority responded with status {response.status_code}")
    stamped(response.content, content, authorities, request.nonce)
    return response.content


def stamped(stamp: bytes, content: bytes, authorities: Iterable[Certificate], nonce: int | None = None) -> datetime:
    """Return the time of a time stamp after a verification.

    Args:
        stamp: The response of the authority (TimeStampResp in DER).
        content: The content that got the time stamp.
        authorities: The root certificates of the authority.
        nonce: The nonce of the request, if it is known.

    Raises:
        TimeStampError: It is not a time stamp of the content by the authority.
    """
    builder = VerifierBuilder() if nonce is None else VerifierBuilder().nonce(nonce)
    for authority in authorities:
        builder = builder.add_root_certificate(authority)
    try:
        response = decode_timestamp_response(stamp)
        builder.build().verify_message(response, content)
    except (ValueError, VerificationError) as error:
        raise TimeStampError(f"the time stamp is not valid: {error}") from None
    return response.tst_info.gen_time
