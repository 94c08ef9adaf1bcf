"""Forgeries: consistent edits of a signed folder, with everything that follows from them made anew."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from conformance.certificate.envelope import sealed
from conformance.certificate.files import digests
from conformance.certificate.keys import key_id
from conformance.certificate.page import page_bytes
from conformance.certificate.statement import CLAIMS, Signing, statement
from conformance.replay.recorded_inputs_file import read_inputs
from conformance.reports.folder import outputs
from conformance.reports.har_reading import read_har
from conformance.reports.model import load_report
from conformance.reports.sealing import ENVELOPE, PAGE, PROVISIONED, SEALED
from conformance.reports.text import json_bytes

Change = Callable[[Any], object]


def documents(folder: Path) -> dict[str, Any]:
    """Return the report, the notes, the archive and the statement of a signed folder, as JSON values."""
    envelope = json.loads((folder / ENVELOPE).read_bytes())
    return {
        "report": json.loads((folder / "report.json").read_bytes()),
        "notes": [json.loads(line) for line in (folder / PROVISIONED).read_bytes().splitlines()[:-1]],
        "archive": json.loads((folder / "exchanges.har").read_bytes()),
        "statement": json.loads(_payload(envelope)),
    }


def forge(folder: Path, key: Ed25519PrivateKey, document: str, change: Change) -> None:
    """Change one document of a signed folder and make the rest anew: digests, renderings, statement, signature.

    The statement follows the report as far as the suite can write it.

    Args:
        folder: The folder, which is changed.
        key: The signer's key.
        document: The name of the document, as in ``documents``.
        change: The change of its JSON value.
    """
    values = documents(folder)
    subjects, before = copy.deepcopy([values["statement"][name] for name in ("subject", "predicate")])
    change(values[document])
    (folder / "report.json").write_bytes(json_bytes(values["report"], indent=1) + b"\n")
    (folder / "exchanges.har").write_bytes(archive_bytes(values["archive"]))
    reseal(folder, values["notes"])
    said = values["statement"]
    try:
        report = load_report(folder / "report.json")
        for name, pieces in outputs(report, read_har(folder / "exchanges.har")).items():
            if name not in SEALED:
                (folder / name).write_bytes(b"".join(pieces()))
        inputs = read_inputs(folder / PROVISIONED)
        signing = Signing.of(before[CLAIMS])
        made = statement(report, inputs, {}, signing)
        page = page_bytes(
            report, (said if document == "statement" else made)["predicate"][CLAIMS], key_id(key.public_key())
        )
        (folder / PAGE).write_bytes(page)
        made = statement(report, inputs, digests(folder), signing)
    except Exception:  # noqa: BLE001 - nothing can be rendered from an invalid document
        found = digests(folder)
        made = {**said, "subject": [{"name": name, "digest": {"sha256": digest}} for name, digest in found.items()]}
    if document == "statement":
        made = {**said, "subject": made["subject"]} if said.get("subject") == subjects else said
    (folder / ENVELOPE).write_bytes(sealed(json_bytes(made), key))


def reseal(folder: Path, notes: list[Any]) -> None:
    """Write the notes with correct digests."""
    lines = [json_bytes(note) + b"\n" for note in notes]
    found = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in SEALED}
    found["above"] = hashlib.sha256(b"".join(lines)).hexdigest()
    (folder / PROVISIONED).write_bytes(b"".join(lines) + json_bytes({"sha256": found}) + b"\n")


def archive_bytes(archive: Any) -> bytes:
    """Return an archive in the layout of the suite."""
    log = dict(archive["log"])
    entries = log.pop("entries")
    head = json_bytes({"log": log})[: -len(b"}}")]
    return head + b', "entries": [' + b",".join(b"\n" + json_bytes(entry) for entry in entries) + b"\n]}}\n"


def _payload(envelope: Any) -> bytes:
    return base64.b64decode(envelope["payload"])
