"""Signing of a run's folder."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from conformance.certificate.envelope import sealed
from conformance.certificate.examining import examined
from conformance.certificate.files import UncertifiableFolder, digests
from conformance.certificate.keys import key_id
from conformance.certificate.page import page_bytes
from conformance.certificate.statement import Signing, build_digest, claims, reservations_about, statement
from conformance.replay.recording import read_recording
from conformance.reports.atomic_files import place
from conformance.reports.sealing import ENVELOPE, PAGE, TIME_STAMP, WITNESS, sha256
from conformance.reports.text import json_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from conformance.replay.recording import Recording

_MOST_LISTED = 5


class Refused(Exception):
    """The run is not certified.

    Attributes:
        reasons: The reasons, a sentence each.
    """

    def __init__(self, reasons: list[str]) -> None:
        super().__init__(" ".join(reasons))
        self.reasons = tuple(reasons)


@dataclass(frozen=True, slots=True)
class Signed:
    """A signed statement.

    Attributes:
        statement: The statement.
        key: The id of the key.
    """

    statement: dict[str, Any]
    key: str


def sign(folder: Path, key: Ed25519PrivateKey, *, build: str | None = None, anyway: bool = False) -> Signed:
    """Write certificate.html and certificate.dsse.json into a run's folder.

    The run is re-evaluated first, because only a verifiable run may be signed.

    Args:
        folder: The folder.
        key: The key that signs.
        build: The digest of the build under test as the vendor states it.
        anyway: Whether to sign a run that is not certified, with the reasons in the statement.

    Raises:
        Refused: The run is not certified.
        NotJudgeable: The folder contains no recording that this suite can judge.
        UncertifiableFolder: A file cannot be read or written.
        ValueError: The build's digest is invalid.
    """
    stated_build = build_digest(build)
    recording = read_recording(folder)
    report, found = recording.report, digests(folder)
    present = [name for name in found if name not in {PAGE, ENVELOPE}]
    now = datetime.now(UTC)
    if now < datetime.fromisoformat(report["run"]["finished_at"]):
        raise UncertifiableFolder(f"By this machine's clock it is {now:%Y-%m-%dT%H:%M:%SZ}, before the end of the run.")
    reasons = reservations_about(report, recording.inputs.stopped) + _doubts(recording, folder, present)
    if reasons and not anyway:
        raise Refused(reasons)
    signing = Signing(now.strftime("%Y-%m-%dT%H:%M:%SZ"), reasons, stated_build)
    signer = key_id(key.public_key())
    page = page_bytes(report, claims(report, recording.inputs, signing), signer)
    subjects = {**{name: found[name] for name in present}, PAGE: sha256([page])}
    made = statement(report, recording.inputs, subjects, signing)
    envelope = sealed(json_bytes(made), key)
    try:
        for name in (TIME_STAMP, WITNESS):
            (folder / name).unlink(missing_ok=True)
        place({folder / PAGE: page, folder / ENVELOPE: envelope})
    except OSError as error:
        raise UncertifiableFolder(f"The certificate cannot be written to {folder}: {error.strerror}.") from error
    return Signed(made, signer)


def _doubts(recording: Recording, folder: Path, present: list[str]) -> list[str]:
    """Return the reasons why the folder is not reliable, a sentence each."""
    found: list[str] = []
    for claim in examined(recording, folder, present):
        found += [f"{claim.text.rstrip('.')} is wrong: {fault}." for fault in claim.faults[:_MOST_LISTED]]
        more = len(claim.faults) - _MOST_LISTED
        found += [f"And {more} more differences."] if more > 0 else []
    return found
