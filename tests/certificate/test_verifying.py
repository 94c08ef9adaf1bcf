"""Verification of certificates: each claim separately, and detection of every change."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from conformance.certificate.envelope import sealed
from conformance.certificate.statement import CLAIMS
from conformance.certificate.verifying import verify
from conformance.reports.sealing import PROVISIONED, SEALED
from conformance.reports.text import json_bytes

from .conftest import conformance

_CHANGES = 1000

Change = Callable[[dict[str, Any]], object]


def _resign(folder: Path, key: Ed25519PrivateKey, change: Change) -> None:
    """Sign a changed statement over the existing files, as a dishonest signer would."""
    envelope = json.loads((folder / "certificate.dsse.json").read_text())
    said = json.loads(base64.b64decode(envelope["payload"]))
    for subject in said["subject"]:
        subject["digest"]["sha256"] = hashlib.sha256((folder / subject["name"]).read_bytes()).hexdigest()
    change(said)
    (folder / "certificate.dsse.json").write_bytes(sealed(json_bytes(said), key))


def _change_report(folder: Path, change: Change) -> None:
    """Change the report and update the run's own digests."""
    report = json.loads((folder / "report.json").read_text())
    change(report)
    (folder / "report.json").write_bytes(json_bytes(report))
    path = folder / PROVISIONED
    *lines, last = path.read_bytes().splitlines(keepends=True)
    digests = json.loads(last)["sha256"]
    digests |= {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in SEALED}
    path.write_bytes(b"".join(lines) + json_bytes({"sha256": digests}) + b"\n")


def _decided(report: dict[str, Any]) -> dict[str, Any]:
    """Return the first requirement that a check decided."""
    found: dict[str, Any] = next(requirement for requirement in report["requirements"] if requirement["checks"])
    return found


def test_signed_run_holds(signed_run: Path, key_file: Path) -> None:
    """The command prints a line for each claim and exits with 0."""
    done = conformance("verify", signed_run, "--public-key", f"{key_file}.pub")
    *claims, service, verdict = done.stdout.splitlines()

    assert (done.returncode, done.stderr) == (0, "")
    assert [line.partition(": ")[0] for line in claims] == ["✓ recomputed"] * 9 + ["· stated by the vendor"] * 9
    assert claims[9].partition(": ")[2].startswith("The folder says that this suite ran: engagement-conformance 1")
    assert service.endswith(
        "different error messages are sentences of this suite's reference service: that service "
        "responded, or a service with its texts."
    )
    level = "The certificate is valid at level 1, self-consistent"
    assert verdict.startswith(f"{level}: reference is conformant; attained: c")
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize(
    ("words", "status", "last"),
    [
        ((), 0, "The certificate is valid at level 1, self-consistent: reference is conformant; attained: core"),
        (("--require", "conformant", "--require-class", "core"), 0, "The certificate is valid"),
        (("--require-class", "mail", "--require-class", "cascade"), 0, "The certificate is valid"),
        (("--effort", "quick", "--max-age", "90d"), 0, "The certificate is valid"),
        (("--effort", "standard"), 4, "Exit 4: the certificate lacks the effort standard."),
        (("--max-age", "0h"), 4, "Exit 4: the certificate lacks a run of the last 0 h."),
    ],
)
def test_a_class_may_be_required(
    signed_run: Path, key_file: Path, words: tuple[str, ...], status: int, last: str
) -> None:
    """A run is accepted if it attained the required class, with the required effort and age."""
    done = conformance("verify", signed_run, "--public-key", f"{key_file}.pub", *words)

    assert done.returncode == status
    assert done.stdout.splitlines()[-1].startswith(last)


def test_a_class_that_was_not_attained_is_not_accepted(small_signed: Path, key_file: Path) -> None:
    """The certificate is valid but not accepted."""
    words = ("--require-class", "core", "--require", "inconclusive")
    done = conformance("verify", small_signed, "--public-key", f"{key_file}.pub", *words)

    assert done.returncode == 4
    assert done.stdout.splitlines()[-1] == "Exit 4: the certificate lacks the class core."


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        ((), "the verdict conformant"),
        (("--require", "conformant"), "the verdict conformant"),
        (("--require-class", "core"), "the verdict conformant, the class core"),
        (("--require", "inconclusive"), "the verdict inconclusive"),
        (("--require", "any", "--require-class", "core"), "the class core"),
    ],
)
def test_a_run_that_is_not_conformant_is_not_accepted(
    broken_signed: Path, key_file: Path, words: tuple[str, ...], missing: str
) -> None:
    """Every claim of the certificate holds, also that the service is not conformant; the exit status is 4."""
    done = conformance("verify", broken_signed, "--public-key", f"{key_file}.pub", *words)
    lines = done.stdout.splitlines()

    assert (done.returncode, done.stderr) == (4, "")
    assert len([line for line in lines if line.startswith("✓ ")]) == 9
    assert not [line for line in lines if line.startswith("✗ ")]
    assert " is non-conformant; attained: no class." in lines[-2]
    assert lines[-1] == f"Exit 4: the certificate lacks {missing}."


def test_every_changed_byte_is_found(small: Path, public_key: Ed25519PublicKey) -> None:
    """A thousand random changes of single bytes in all files, including the envelope, are found."""
    chance = random.Random(7)
    files = sorted(small.iterdir())
    assert verify(small, public_key).holds
    for number in range(_CHANGES):
        path = files[number % len(files)]
        content = path.read_bytes()
        place = chance.randrange(len(content))
        other = chance.choice([byte for byte in range(256) if byte != content[place]])
        path.write_bytes(content[:place] + bytes([other]) + content[place + 1 :])
        assert not verify(small, public_key).holds, (path.name, place, other)
        path.write_bytes(content)
    assert verify(small, public_key).holds


@pytest.mark.parametrize("name", ["report.html", "exchanges.har", "certificate.html", "certificate.dsse.json"])
def test_removed_file_is_found(small: Path, name: str, public_key: Ed25519PublicKey) -> None:
    """The missing file is named."""
    (small / name).unlink()
    faults = [fault for claim in verify(small, public_key).claims for fault in claim.faults]

    assert name in faults[0]


@pytest.mark.parametrize("name", ["more.txt", ".hidden", "sub/more.txt"])
def test_added_file_is_found(small: Path, name: str, public_key: Ed25519PublicKey) -> None:
    """A file that was not signed is named."""
    (small / name).parent.mkdir(exist_ok=True)
    (small / name).write_text("")
    faults = [fault for claim in verify(small, public_key).claims for fault in claim.faults]

    assert faults[0] == f"{name} was added"


def test_link_is_found(small: Path, public_key: Ed25519PublicKey) -> None:
    """A link in place of a file is refused, even to the same content."""
    (small / "report.html").rename(small.parent / "moved")
    (small / "report.html").symlink_to(small.parent / "moved")

    assert not verify(small, public_key).holds


def test_another_key_is_refused(signed_run: Path) -> None:
    """A certificate by another than the trusted key is not valid."""
    verified = verify(signed_run, Ed25519PrivateKey.generate().public_key())

    assert not verified.holds
    assert verified.predicate is None


@pytest.mark.parametrize(
    "change",
    [
        lambda said: said["predicate"].update(result="PASSED"),
        lambda said: said["predicate"].update(failedTests=["x"]),
        lambda said: said["predicate"].update(more=1),
        lambda said: said["predicate"][CLAIMS].update(verdict="conformant"),
        lambda said: said["predicate"][CLAIMS].update(classes_attained=["core"]),
        lambda said: said["predicate"][CLAIMS].update(reservations=[]),
        lambda said: said["predicate"][CLAIMS]["run"].update(seed=-1),
        lambda said: said["predicate"][CLAIMS]["target"].update(name="another"),
    ],
)
def test_statement_that_says_more_than_the_report_does_not_hold(
    small: Path,
    private_key: Ed25519PrivateKey,
    public_key: Ed25519PublicKey,
    change: Change,
) -> None:
    """The claim fails despite a signature by the trusted key."""
    _resign(small, private_key, change)
    failed = [claim for claim in verify(small, public_key).claims if not claim.holds]

    assert failed[0].text == "The statement agrees with the report."


def test_report_made_better_by_its_signer_does_not_hold(
    small: Path, private_key: Ed25519PrivateKey, public_key: Ed25519PublicKey
) -> None:
    """An untested requirement that was changed to passed, with all digests updated, is found by judging again."""

    def improve(report: dict[str, Any]) -> None:
        entry = next(requirement for requirement in report["requirements"] if requirement["outcome"] == "untested")
        check = {"name": "test_s1_conventions::test_invented", "outcome": "passed", "seconds": 0.1, "exchanges": [1]}
        entry.update(outcome="passed", reason=None, checks=[check])

    _change_report(small, improve)
    _resign(small, private_key, lambda _: None)
    failed = {claim.text: claim.faults for claim in verify(small, public_key).claims if not claim.holds}

    assert any("re-evaluated it is untested" in fault for faults in failed.values() for fault in faults)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda report: report.update(verdict="conformant"), "verdict"),
        (lambda report: report["classes"][0].update(outcome="passed"), "classes"),
        (lambda report: report["requirements"].pop(), "catalogue"),
        (lambda report: report["requirements"][0].update(waived=True), "waiver"),
        (lambda report: report["run"].update(requests=1), "requests are counted"),
        (lambda report: _decided(report)["checks"][0].update(exchanges=[99999]), "cited"),
        (lambda report: report["run"].update(finished_at="2000-01-01T00:00:00Z"), "before it began"),
    ],
)
def test_report_that_contradicts_itself_is_refused(
    small: Path,
    private_key: Ed25519PrivateKey,
    public_key: Ed25519PublicKey,
    change: Change,
    words: str,
) -> None:
    """The contradiction is named."""
    _change_report(small, change)
    _resign(small, private_key, lambda _: None)
    faults = [fault for claim in verify(small, public_key).claims for fault in claim.faults]

    assert any(words in fault for fault in faults), faults


def test_report_outside_its_schema_is_refused(
    small: Path, private_key: Ed25519PrivateKey, public_key: Ed25519PublicKey
) -> None:
    """The place in the report is named."""
    _change_report(small, lambda report: report.update(verdict="splendid"))
    _resign(small, private_key, lambda _: None)
    faults = [fault for claim in verify(small, public_key).claims for fault in claim.faults]

    assert "schema at verdict" in faults[0]


def test_folder_without_a_certificate_fails(small_run: Path, key_file: Path, tmp_path: Path) -> None:
    """The command exits with 1."""
    folder = shutil.copytree(small_run, tmp_path / "run")
    done = conformance("verify", folder, "--public-key", f"{key_file}.pub")

    assert done.returncode == 1
    assert "certificate.dsse.json cannot be read" in done.stdout


def test_private_key_is_no_public_one(small: Path, key_file: Path) -> None:
    """The usage error says that the key is not public."""
    done = conformance("verify", small, "--public-key", key_file)

    assert done.returncode == 2
    assert "not a public key" in done.stderr
