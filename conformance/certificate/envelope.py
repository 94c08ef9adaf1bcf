"""DSSE envelopes: a payload and its signatures in one JSON object (Dead Simple Signing Envelope 1.0)."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from cryptography.exceptions import InvalidSignature

from conformance.certificate.keys import key_id
from conformance.reports.text import load_json

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

_PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"


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
    return _Parts(payload, (_signed(payload, key),)).written()


def countersealed(content: bytes, key: Ed25519PrivateKey) -> bytes:
    """Return the content of an envelope with a certifier's signature, which replaces an earlier second one.

    Args:
        content: An envelope that ``opened`` has accepted.
        key: The certifier's key.
    """
    parts = _read(content)
    return _Parts(parts.payload, (parts.signatures[0], _signed(parts.payload, key))).written()


def opened(content: bytes, key: Ed25519PublicKey) -> bytes:
    """Return the payload of an envelope that a key was the first to sign.

    The envelope must be byte for byte what ``sealed`` or ``countersealed`` writes, because every byte of the
    file must be signed.

    Raises:
        InvalidEnvelope: It is not such an envelope, or its signature is not by the key.
    """
    parts = _read(content)
    signature = parts.signatures[0]
    if signature.key != key_id(key):
        raise InvalidEnvelope(f"it names the key {signature.key}, but the given public key is {key_id(key)}")
    _ensure_signed(parts.payload, signature, key)
    return parts.payload


def signers(content: bytes) -> list[str]:
    """Return the ids of the keys that an envelope names for its signatures, in order.

    Raises:
        InvalidEnvelope: It is not an envelope.
    """
    return [signature.key for signature in _read(content).signatures]


def ensure_countersigned(content: bytes, key: Ed25519PublicKey) -> None:
    """Verify the second signature of an envelope that has one.

    Raises:
        InvalidEnvelope: The signature is not by the key.
    """
    parts = _read(content)
    _ensure_signed(parts.payload, parts.signatures[1], key)


class _Signature(NamedTuple):
    key: str
    signature: bytes


def _signed(payload: bytes, key: Ed25519PrivateKey) -> _Signature:
    return _Signature(key_id(key.public_key()), key.sign(pae(_PAYLOAD_TYPE, payload)))


def _ensure_signed(payload: bytes, signature: _Signature, key: Ed25519PublicKey) -> None:
    try:
        key.verify(signature.signature, pae(_PAYLOAD_TYPE, payload))
    except InvalidSignature:
        raise InvalidEnvelope("the signature does not match its content") from None


@dataclass(frozen=True, slots=True)
class _Parts:
    payload: bytes
    signatures: tuple[_Signature, ...]

    def written(self) -> bytes:
        envelope = {
            "payloadType": _PAYLOAD_TYPE,
            "payload": base64.b64encode(self.payload).decode("ascii"),
            "signatures": [
                {"keyid": key, "sig": base64.b64encode(signature).decode("ascii")} for key, signature in self.signatures
            ],
        }
        return json.dumps(envelope, indent=1).encode("ascii") + b"\n"


def _read(content: bytes) -> _Parts:
    try:
        envelope = load_json(content)
        first, *others = (_Signature(str(entry["keyid"]), _bytes(entry["sig"])) for entry in envelope["signatures"])
        parts = _Parts(_bytes(envelope["payload"]), (first, *others))
    except (ValueError, KeyError, TypeError):
        raise InvalidEnvelope("it is not an envelope with one signature or two") from None
    if parts.written() != content or len(others) > 1:
        raise InvalidEnvelope("it has been altered")
    return parts


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
