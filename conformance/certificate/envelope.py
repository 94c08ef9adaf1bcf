"""DSSE envelopes: a payload and its signature in one JSON object (Dead Simple Signing Envelope 1.0)."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cryptography.exceptions import InvalidSignature

from conformance.certificate.keys import key_id
from conformance.reports.text import load_json

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"


class InvalidEnvelope(ValueError):
    """The envelope cannot be trusted; the message is a clause."""


def pae(payload_type: str, payload: bytes) -> bytes:
    """Return the signed bytes: the type and the payload with their lengths, so that they cannot be confused."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def sealed(payload: bytes, key: Ed25519PrivateKey) -> bytes:
    """Return the content of an envelope with one signature.

    Args:
        payload: A JSON text in UTF-8.
        key: The key that signs.
    """
    return _Parts(payload, key.sign(pae(PAYLOAD_TYPE, payload)), key_id(key.public_key())).written()


def opened(content: bytes, key: Ed25519PublicKey) -> bytes:
    """Return the payload of an envelope that a key has signed.

    The envelope must be byte for byte what ``sealed`` writes, because every byte of the file must be signed.

    Raises:
        InvalidEnvelope: It is not such an envelope, or its signature is not by the key.
    """
    parts = _read(content)
    if parts.key != key_id(key):
        raise InvalidEnvelope(f"it names the key {parts.key}, but the given public key is {key_id(key)}")
    try:
        key.verify(parts.signature, pae(PAYLOAD_TYPE, parts.payload))
    except InvalidSignature:
        raise InvalidEnvelope("the signature does not match its content") from None
    return parts.payload


@dataclass(frozen=True, slots=True)
class _Parts:
    payload: bytes
    signature: bytes
    key: str

    def written(self) -> bytes:
        envelope = {
            "payloadType": PAYLOAD_TYPE,
            "payload": base64.b64encode(self.payload).decode("ascii"),
            "signatures": [{"keyid": self.key, "sig": base64.b64encode(self.signature).decode("ascii")}],
        }
        return json.dumps(envelope, indent=1).encode("ascii") + b"\n"


def _read(content: bytes) -> _Parts:
    try:
        envelope = load_json(content)
        (signature,) = envelope["signatures"]
        parts = _Parts(_bytes(envelope["payload"]), _bytes(signature["sig"]), str(signature["keyid"]))
    except (ValueError, KeyError, TypeError):
        raise InvalidEnvelope("it is not an envelope with one signature") from None
    if parts.written() != content:
        raise InvalidEnvelope("it has been altered")
    return parts


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
