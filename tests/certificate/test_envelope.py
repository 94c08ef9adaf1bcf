"""The envelope, read without the suite's code."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from conformance.certificate.envelope import InvalidEnvelope, opened, pae, sealed


def test_pae_of_the_specification() -> None:
    """The encoding is that of the example in the specification of DSSE."""
    assert pae("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )


def test_standard_tools_verify_the_certificate(signed_run: Path, key_file: Path) -> None:
    """Signature, encoding, statement and digests are valid for a reader that implements only the specifications."""
    public = serialization.load_pem_public_key(key_file.with_name("signer.pub").read_bytes())
    envelope = json.loads((signed_run / "certificate.dsse.json").read_text())
    payload = base64.b64decode(envelope["payload"])
    kind = envelope["payloadType"].encode()
    signed = b" ".join([b"DSSEv1", str(len(kind)).encode(), kind, str(len(payload)).encode(), payload])
    statement = json.loads(payload)

    assert isinstance(public, Ed25519PublicKey)
    public.verify(base64.b64decode(envelope["signatures"][0]["sig"]), signed)
    assert envelope["payloadType"] == "application/vnd.in-toto+json"
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    assert statement["predicate"]["result"] == "PASSED"
    assert all({"name", "digest", "uri"} & set(descriptor) for descriptor in statement["predicate"]["configuration"])
    assert {subject["name"]: subject["digest"]["sha256"] for subject in statement["subject"]} == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in signed_run.iterdir()
        if path.name != "certificate.dsse.json"
    }


def test_securesystemslib_verifies_the_certificate(signed_run: Path, public_key: Ed25519PublicKey) -> None:
    """The reference implementation for Python accepts the envelope."""
    dsse = pytest.importorskip("securesystemslib.dsse")
    signer = pytest.importorskip("securesystemslib.signer")
    envelope = dsse.Envelope.from_dict(json.loads((signed_run / "certificate.dsse.json").read_text()))
    raw = public_key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw).hex()
    (keyid,) = envelope.signatures
    key = signer.SSlibKey(keyid, "ed25519", "ed25519", {"public": raw})

    assert envelope.verify([key], 1)


def test_envelope_opens_with_its_key_only() -> None:
    """With another key, the error names the key of the envelope."""
    key, other = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
    envelope = sealed(b"{}", key)

    assert opened(envelope, key.public_key()) == b"{}"
    with pytest.raises(InvalidEnvelope, match="names the key"):
        opened(envelope, other.public_key())


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text + b" ",
        lambda text: text.replace(b"\n", b"\r\n"),
        lambda text: text.replace(b'"payloadType"', b'"more": 1, "payloadType"'),
        lambda text: text.replace(b"in-toto+json", b"in-toto+JSON"),
        lambda text: b"[]",
        lambda text: b"\xff",
        lambda text: b'{"signatures": [], "payload": ""}',
        lambda text: b"[" * 100_000,
    ],
)
def test_only_what_was_written_opens(change: object) -> None:
    """Changes outside the signed payload are refused too, without other errors."""
    key = Ed25519PrivateKey.generate()
    changed = change(sealed(b"{}", key))  # type: ignore[operator]

    with pytest.raises(InvalidEnvelope):
        opened(changed, key.public_key())


def test_signature_of_another_payload_type_does_not_count() -> None:
    """A signature for another purpose is not a certificate."""
    key = Ed25519PrivateKey.generate()
    envelope = json.loads(sealed(b"{}", key))
    envelope["signatures"][0]["sig"] = base64.b64encode(key.sign(pae("text/plain", b"{}"))).decode()

    with pytest.raises(InvalidEnvelope, match="signature"):
        opened(json.dumps(envelope, indent=1).encode() + b"\n", key.public_key())
