"""Signing of a run's folder."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from conformance.certificate.consistency import problems
from conformance.certificate.envelope import sealed
from conformance.certificate.files import FolderError, digests
from conformance.certificate.keys import key_id
from conformance.certificate.page import page_bytes
from conformance.certificate.statement import build_digest, reservations_about, statement
from conformance.replay.comparing import differences
from conformance.replay.recording import NotJudgeable, read_recording
from conformance.replay.reevaluating import rejudge
from conformance.reports.atomic_files import place
from conformance.reports.sealing import ENVELOPE, PAGE
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

    The run is judged again first, because only a verifiable run may be signed.

    Args:
        folder: The folder.
        key: The key that signs.
        build: The digest of the build under test as the vendor states it.
        anyway: Whether to sign a run that is not certified, with the reasons in the statement.

    Raises:
        Refused: The run is not certified.
        NotJudgeable: The folder contains no recording that this suite can judge.
        FolderError: A file cannot be read or written.
        ValueError: The build's digest is invalid.
    """
    build_digest(build)
    recording = read_recording(folder)
    reasons = reservations_about(recording.report, recording.provisioned.stopped) + _doubts(recording, folder)
    if reasons and not anyway:
        raise Refused(reasons)
    signed_at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    found = {name: digest for name, digest in digests(folder).items() if name != PAGE}
    made = statement(recording.report, found, signed_at=signed_at, reservations=reasons, build=build)
    page = page_bytes(recording.report, made["predicate"], key_id(key.public_key()))
    with_page = {**found, PAGE: hashlib.sha256(page).hexdigest()}
    made = statement(recording.report, with_page, signed_at=signed_at, reservations=reasons, build=build)
    envelope = sealed(json_bytes(made), key)
    try:
        place({folder / PAGE: lambda: [page], folder / ENVELOPE: lambda: [envelope]})
    except OSError as error:
        raise FolderError(f"The certificate cannot be written to {folder}: {error.strerror}.") from error
    return Signed(made, key_id(key.public_key()))


def _doubts(recording: Recording, folder: Path) -> list[str]:
    """Return the reasons why the report is not reliable, a sentence each."""
    wrong = [
        f"The report contradicts itself: {problem}." for problem in problems(recording.report, recording.exchanges)
    ]
    other = differences(recording, rejudge(recording, folder))
    more = [f"And {len(other) - _MOST_LISTED} more differences."] if len(other) > _MOST_LISTED else []
    return wrong + [f"Judged again, the result differs: {difference}." for difference in other[:_MOST_LISTED]] + more


__all__ = ["NotJudgeable", "Refused", "Signed", "sign"]
