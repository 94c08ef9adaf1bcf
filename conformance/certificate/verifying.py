"""Verification of a signed folder, claim by claim, including judging the recorded exchanges again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.certificate import statement as statements
from conformance.certificate.consistency import problems
from conformance.certificate.envelope import InvalidEnvelope, opened
from conformance.certificate.files import FolderError, changes, digests
from conformance.certificate.keys import key_id
from conformance.certificate.statement import CLAIMS
from conformance.files import DOCUMENT, read_file
from conformance.replay.comparing import differences, is_cut_off
from conformance.replay.recording import REPORT, NotJudgeable, Recording, read_recording
from conformance.replay.reevaluating import rejudge
from conformance.reports.model import InvalidReport, load_report
from conformance.reports.sealing import ENVELOPE
from conformance.reports.text import load_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    from conformance.reports.model import Report


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim that a certificate makes or depends on.

    Attributes:
        text: The claim, as a sentence.
        faults: The reasons why it does not hold, a clause each; empty if it holds.
    """

    text: str
    faults: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether the claim is true."""
        return not self.faults


@dataclass(frozen=True, slots=True)
class Verified:
    """The result of a verification.

    Attributes:
        claims: The verified claims; a failed one is the last if the others depend on it.
        predicate: The predicate of the statement if the signature is valid; else None.
    """

    claims: tuple[Claim, ...]
    predicate: Mapping[str, Any] | None

    @property
    def holds(self) -> bool:
        """Whether every claim is true."""
        return all(claim.holds for claim in self.claims)


def verify(folder: Path, key: Ed25519PublicKey) -> Verified:
    """Verify a signed folder.

    Args:
        folder: The folder of a run with its certificate.
        key: The public key of the trusted signer.
    """
    signature = f"The certificate is signed by the key {key_id(key)}."
    try:
        said = _statement(opened(read_file(folder / ENVELOPE, DOCUMENT), key))
    except OSError as error:
        return Verified((Claim(signature, (f"{ENVELOPE} cannot be read: {error.strerror}",)),), None)
    except InvalidEnvelope as error:
        return Verified((Claim(signature, (str(error),)),), None)
    claims = [Claim(signature), _files(said, folder)]
    claims += _claims(said["predicate"], folder) if claims[-1].holds else [_NOT_JUDGED]
    return Verified(tuple(claims), said["predicate"])


_NOT_JUDGED = Claim(
    "The recorded exchanges, judged again, have the same result.", ("the files are not those that were signed",)
)


def _statement(payload: bytes) -> dict[str, Any]:
    """Return the statement after a check of its form.

    Raises:
        InvalidEnvelope: It is not a statement of this suite.
    """
    try:
        said: dict[str, Any] = load_json(payload)
        known = said["_type"] == statements.STATEMENT and said["predicateType"] == statements.PREDICATE
        complete = isinstance(said["predicate"][CLAIMS], dict) and bool(_signed(said))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InvalidEnvelope("it contains no statement about a run") from None
    if not known or not complete:
        raise InvalidEnvelope("its statement is of another kind")
    return said


def _signed(said: Mapping[str, Any]) -> dict[str, str]:
    return {subject["name"]: subject["digest"]["sha256"] for subject in said["subject"]}


def _files(said: Mapping[str, Any], folder: Path) -> Claim:
    signed = _signed(said)
    try:
        found = changes(signed, digests(folder))
    except FolderError as error:
        found = [str(error).rstrip(".")]
    return Claim(f"All {len(signed)} files of the folder are unchanged since signing.", tuple(found))


def _claims(predicate: Mapping[str, Any], folder: Path) -> list[Claim]:
    """Return the claims that depend on the files."""
    schema = "report.json is valid under its schema."
    try:
        report = load_report(folder / REPORT)
    except InvalidReport as error:
        return [Claim(schema, (str(error).rstrip("."),)), _NOT_JUDGED]
    try:
        recording = read_recording(folder)
    except NotJudgeable as error:
        return [Claim(schema), Claim("This suite can judge the recording.", (str(error).rstrip("."),))]
    suite = report["suite"]
    return [
        Claim(schema),
        Claim(
            f"The report is consistent: {report['verdict']} follows from {len(report['requirements'])} requirements.",
            tuple(problems(report, recording.exchanges)),
        ),
        Claim("The statement agrees with the report.", tuple(_misstated(predicate, recording))),
        Claim(f"This suite is the suite of the run: {suite['name']} {suite['version']}."),
        _judged_again(recording, folder),
    ]


def _misstated(predicate: Mapping[str, Any], recording: Recording) -> list[str]:
    """Return the members of a statement that do not follow from the report, a clause each."""
    report: Report = recording.report
    said = dict(predicate[CLAIMS])
    reservations = said.pop("reservations", None)
    expected = statements.reservations_about(report, recording.provisioned.stopped)
    found = _unlike(
        statements.of_report(report), {name: member for name, member in predicate.items() if name != CLAIMS}
    )
    beside = {"signed_at", "build"}
    found += _unlike(statements.claims(report), {name: member for name, member in said.items() if name not in beside})
    if not isinstance(reservations, list) or any(reservation not in reservations for reservation in expected):
        found.append("reservations")
    return [f"its {name} differs" for name in found]


def _unlike(expected: Mapping[str, Any], said: Mapping[str, Any]) -> list[str]:
    absent: Callable[[], object] = object
    names = dict.fromkeys([*expected, *said])
    return [name for name in names if expected.get(name, absent()) != said.get(name, absent())]


def _judged_again(recording: Recording, folder: Path) -> Claim:
    again = rejudge(recording, folder)
    same = f"have the same outcomes and {len(again.observations)} observations"
    if is_cut_off(recording.report):
        same = "fail the same requirements; nothing else of a run that ended during its checks can be compared"
    return Claim(
        f"The {len(recording.exchanges)} recorded exchanges, judged again, {same}.",
        tuple(differences(recording, again)),
    )
