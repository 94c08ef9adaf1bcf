"""Verification of a signed folder, claim by claim, including judging the recorded exchanges again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from conformance import __version__
from conformance.certificate import statement as statements
from conformance.certificate.challenged import signs
from conformance.certificate.claims import Basis, Claim
from conformance.certificate.envelope import InvalidEnvelope, ensure_countersigned, opened, signers
from conformance.certificate.examining import CertificatePage, examined
from conformance.certificate.files import UncertifiableFolder, changes, digests, ignored
from conformance.certificate.keys import key_id
from conformance.certificate.page import page_bytes
from conformance.certificate.statement import CLAIMS, Signing
from conformance.certificate.time_stamps import TimeStampError, stamped
from conformance.certificate.vendor_statements import stated
from conformance.certificate.witnessing import attested
from conformance.files import DOCUMENT, read_file
from conformance.interface.openapi import openapi_sha256
from conformance.replay.recording import NotJudgeable, Recording, read_recording
from conformance.reports.model import InvalidReport, load_report
from conformance.reports.sealing import ENVELOPE, REPORT, TIME_STAMP, WITNESS, sha256
from conformance.reports.text import json_bytes, load_json, one_line
from conformance.suite import suite_sha256

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from pathlib import Path

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.x509 import Certificate


@dataclass(frozen=True, slots=True)
class Verified:
    """The result of a verification.

    Attributes:
        claims: The verified claims; a failed one is the last if the others depend on it.
        predicate: The predicate of the statement if the signature is valid; else None.
        envelope: The envelope; empty if it could not be read.
        is_countersigned: Whether the given certifier countersigned it.
        is_stamped: Whether a given authority gave it a time stamp.
        is_witnessed: Whether the given certifier repeated a share of its requirements, without a difference.
        created: The number of engagements that the run created under a name with the mark of its challenge.
        recording: The recording, if it was re-evaluated; else None.
        is_judged: Whether the recorded exchanges were re-evaluated; False if that takes another release of the suite.
    """

    claims: tuple[Claim, ...]
    predicate: Mapping[str, Any] | None
    envelope: bytes = b""
    is_countersigned: bool = False
    is_stamped: bool = False
    is_witnessed: bool = False
    created: int = 0
    recording: Recording | None = None
    is_judged: bool = True

    @property
    def holds(self) -> bool:
        """Whether nothing refutes any claim."""
        return all(claim.holds for claim in self.claims)


def verify(
    folder: Path,
    key: Ed25519PublicKey,
    certifier: Ed25519PublicKey | None = None,
    authorities: Collection[Certificate] = (),
) -> Verified:
    """Verify a signed folder.

    Args:
        folder: The folder of a run with its certificate.
        key: The public key of the trusted signer.
        certifier: The public key of the certifier who should have countersigned, or None.
        authorities: The root certificates of the trusted time stamp authority, if there is one.
    """
    signature = f"The certificate is signed by the key {key_id(key)}."
    try:
        envelope = read_file(folder / ENVELOPE, DOCUMENT)
        payload = opened(envelope, key)
        statement = _statement(payload)
    except OSError as error:
        return Verified((Claim(signature, (f"{ENVELOPE} cannot be read: {error.strerror}",)),), None)
    except InvalidEnvelope as error:
        return Verified((Claim(signature, (str(error),)),), None)
    countersignature, is_countersigned = _countersignature(envelope, certifier)
    time_stamp, is_stamped = _time_stamp(folder, envelope, authorities)
    witness, is_witnessed = _witness(folder, payload, certifier)
    signatures = Claim(signature), *countersignature, *time_stamp, *witness
    of_envelope = Verified(signatures, statement["predicate"], envelope, is_countersigned, is_stamped, is_witnessed)
    try:
        found, left_out = digests(folder), ignored(folder)
        files = _files(statement, found, left_out)
    except UncertifiableFolder as error:
        files = Claim(_UNCHANGED, (str(error).rstrip("."),))
    if not files.holds:
        return replace(of_envelope, claims=(*signatures, files, _NOT_JUDGED))
    if (other := _other_suite(statement["predicate"][CLAIMS])) is not None:
        return replace(of_envelope, claims=(*signatures, files, other), is_judged=False)
    claims, recording = _claims(payload, statement, folder, found, key)
    challenge = None if recording is None else recording.inputs.options.challenge
    created = 0 if recording is None or challenge is None else signs(recording, challenge).created
    return replace(of_envelope, claims=(*signatures, files, *claims), created=created, recording=recording)


_UNCHANGED = "All files of the folder are unchanged since signing."
_NOT_JUDGED = Claim(
    "The recorded exchanges, re-evaluated, have the same result.", ("the files are not those that were signed",)
)


def _countersignature(envelope: bytes, certifier: Ed25519PublicKey | None) -> tuple[list[Claim], bool]:
    """Return the claim about the second signature, if there is one, and whether it is the certifier's."""
    named = next(iter(signers(envelope)[1:]), None)
    if named is None:
        return [], False
    text = f"The certificate is countersigned by the key {one_line(named)}"
    if certifier is None or named != key_id(certifier):
        return [Claim(f"{text}, whose public key is not given.", basis=Basis.NOT_HERE)], False
    try:
        ensure_countersigned(envelope, certifier)
    except InvalidEnvelope as error:
        return [Claim(f"{text}.", (str(error),))], False
    return [Claim(f"{text}.")], True


def _time_stamp(folder: Path, envelope: bytes, authorities: Collection[Certificate]) -> tuple[list[Claim], bool]:
    """Return the claim about the time stamp, if there is one, and whether it is the authority's."""
    if not (folder / TIME_STAMP).exists():
        return [], False
    if not authorities:
        return [Claim(f"{TIME_STAMP} is not verified without its certificate.", basis=Basis.NOT_HERE)], False
    try:
        time = stamped(read_file(folder / TIME_STAMP, DOCUMENT), envelope, authorities)
    except (OSError, TimeStampError) as error:
        return [Claim("The time stamp is the authority's.", (one_line(str(error)),))], False
    return [Claim(f"The signed certificate existed at {time:%Y-%m-%dT%H:%M:%SZ}, by the time stamp authority.")], True


def _witness(folder: Path, payload: bytes, certifier: Ed25519PublicKey | None) -> tuple[list[Claim], bool]:
    """Return the claim about the witness, if there is one, and whether the given certifier found no difference."""
    if not (folder / WITNESS).exists():
        return [], False
    text = "A certifier repeated a share of the requirements against the service."
    try:
        content = read_file(folder / WITNESS, DOCUMENT)
        if certifier is None or signers(content)[0] != key_id(certifier):
            return [Claim(f"{WITNESS} is signed by a key that is not given.", basis=Basis.NOT_HERE)], False
        witness = attested(content, payload, certifier)
    except (OSError, InvalidEnvelope) as error:
        return [Claim(text, (one_line(str(error)),))], False
    found = "agrees" if not witness["differences"] else f"differs: {' '.join(witness['differences'])}"
    return [
        Claim(
            one_line(
                f"The certifier signed that its own run against {witness['base_url']}, which ended at "
                f"{witness['finished_at']}, {found}. "
                f"Compared: {witness['compared']}, drawn from {witness['challenge']}."
            )
        )
    ], not witness["differences"]


def _statement(payload: bytes) -> dict[str, Any]:
    """Return the statement after a check of its form.

    Raises:
        InvalidEnvelope: It is not a statement of this suite.
    """
    try:
        statement: dict[str, Any] = load_json(payload)
        known = statement["_type"] == statements.STATEMENT and statement["predicateType"] == statements.PREDICATE
        complete = isinstance(statement["predicate"][CLAIMS], dict) and bool(_signed(statement))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InvalidEnvelope("it contains no statement about a run") from None
    if not known or not complete:
        raise InvalidEnvelope("its statement is of another kind")
    return statement


def _signed(statement: Mapping[str, Any]) -> dict[str, str]:
    return {subject["name"]: subject["digest"]["sha256"] for subject in statement["subject"]}


def _files(statement: Mapping[str, Any], found: Mapping[str, str], left_out: Iterable[str]) -> Claim:
    signed = _signed(statement)
    aside = f" Not verified: {', '.join(map(one_line, left_out))}." if left_out else ""
    return Claim(
        f"All {len(signed)} files of the folder are unchanged since signing.{aside}", tuple(changes(signed, found))
    )


def _other_suite(claims: Mapping[str, Any]) -> Claim | None:
    """Return the claim that another release of the suite can judge the recording; None if this one can."""
    suite: object = claims.get("suite")
    if not isinstance(suite, dict):
        return None
    own = {"version": __version__, "sha256": suite_sha256()}
    if (
        all(suite.get(name) == value for name, value in own.items())
        and claims.get("openapi_sha256") == openapi_sha256()
    ):
        return None
    commit = f", commit {suite['commit']}" if "commit" in suite else ""
    return Claim(
        one_line(
            f"The run was judged by the suite {suite.get('version')}{commit}, files sha256:{suite.get('sha256')}, "
            f"and this is {__version__}, files sha256:{own['sha256']}: "
            "install that release to judge the recording again."
        ),
        basis=Basis.NOT_HERE,
    )


def _claims(
    payload: bytes, statement: Mapping[str, Any], folder: Path, found: Mapping[str, str], key: Ed25519PublicKey
) -> tuple[list[Claim], Recording | None]:
    """Return the claims that depend on the files, and the recording if it can be judged."""
    schema = "report.json is valid under its schema."
    try:
        load_report(folder / REPORT)
    except InvalidReport as error:
        return [Claim(schema, (str(error).rstrip("."),)), _NOT_JUDGED], None
    try:
        recording = read_recording(folder)
    except NotJudgeable as error:
        return [Claim(schema), Claim("This suite can judge the recording.", (str(error).rstrip("."),))], None
    agreement, page = _agreement(payload, statement, recording, found, key_id(key))
    claims = [
        Claim(schema),
        agreement,
        *examined(recording, folder, found, page),
        *(stated(recording, statement["predicate"][CLAIMS]) if agreement.holds else ()),
    ]
    return claims, recording


def _agreement(
    payload: bytes, statement: Mapping[str, Any], recording: Recording, found: Mapping[str, str], key: str
) -> tuple[Claim, CertificatePage | None]:
    """Return the claim that the statement follows from the report, and the page that both give."""
    text = "The statement agrees with the report."
    try:
        signing = Signing.of(statement["predicate"][CLAIMS])
    except (KeyError, TypeError, ValueError, AttributeError):
        return Claim(text, ("the claims that its signer added are invalid",)), None
    expected = statements.statement(recording.report, recording.inputs, found, signing)
    page = page_bytes(recording.report, expected["predicate"][CLAIMS], key)
    faults = _misstated(expected, statement)
    due = statements.reservations_about(recording.report, recording.inputs.stopped)
    if any(reservation not in signing.reservations for reservation in due):
        faults.append("its reservations differ")
    if signing.signed_at < recording.report["run"]["finished_at"]:
        faults.append("it was signed before the run ended")
    if not faults and json_bytes(expected) != payload:
        faults.append("it is not written as this suite writes it")
    return Claim(text, tuple(faults)), CertificatePage(sha256([page]), signing.versions)


def _misstated(expected: Mapping[str, Any], statement: Mapping[str, Any]) -> list[str]:
    """Return the members of a statement that differ from those that the report gives, a clause each."""
    own, theirs = expected["predicate"], statement["predicate"]
    found = _unlike({**expected, "predicate": None}, {**statement, "predicate": None})
    found += _unlike({**own, CLAIMS: None}, {**theirs, CLAIMS: None})
    found += _unlike(own[CLAIMS], theirs[CLAIMS])
    return [f"its {one_line(name)} differs" for name in found]


def _unlike(expected: Mapping[str, Any], actual: Mapping[str, Any]) -> list[str]:
    absent: Callable[[], object] = object
    names = dict.fromkeys([*expected, *actual])
    return [name for name in names if expected.get(name, absent()) != actual.get(name, absent())]
