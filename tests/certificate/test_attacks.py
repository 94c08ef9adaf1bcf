"""Forged certificates: each attack is found, or verify says that the claim rests on the vendor's word."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from conformance.certificate.envelope import sealed
from conformance.certificate.files import UncertifiableFolder, digests
from conformance.certificate.keys import KeyFileError, read_public_key
from conformance.certificate.recomputing import _of_undoing
from conformance.certificate.signing import Refused, sign
from conformance.certificate.statement import CLAIMS
from conformance.certificate.verifying import Verified, verify
from conformance.reports.sealing import ENVELOPE, PROVISIONED, SEALED, sha256
from conformance.reports.text import json_bytes
from conformance.suite import versions
from conformance.targets.journal import Journal
from conformance.targets.journal_entries import Action
from conformance.targets.names import RunNames

from .conftest import conformance
from .forging import Change, documents, forge, reseal

SMALL_ORDER = (
    "0100000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
)
"""The eight points of Ed25519 whose order is 1, 2, 4 or 8."""


def faults(verified: Verified) -> list[str]:
    """Return the reasons why a certificate is not valid."""
    return [fault for claim in verified.claims for fault in claim.faults]


def _own(report: dict[str, Any]) -> dict[str, Any]:
    run: dict[str, Any] = report["run"]
    return run


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda report: report["target"].update(name="Acme"), "/target/name is Acme"),
        (lambda report: report["target"].update(base_url="https://api.acme.example"), "/target/base_url is https"),
        (lambda report: report["target"].update(certificate_sha256="ab" * 32), "/target/certificate_sha256 is ab"),
        (lambda report: report["census"]["before"].update(id="org_acme"), "/census/before/id is org_acme"),
        (lambda report: report["census"]["after"].update(name="Acme"), "/census/after/name is Acme"),
        (lambda report: _own(report).update(started_at="2019-01-02T03:04:05Z"), "are not"),
        (lambda report: _own(report).update(finished_at="2039-01-02T03:04:05Z"), "are not"),
        (
            lambda report: _own(report).update(
                started_at="2039-01-02T03:04:05Z", finished_at="2039-01-02T03:04:05Z", seconds=0
            ),
            "before the run began",
        ),
        (lambda report: _own(report).update(effort="deep"), "/run/effort is deep, but the recording gives quick"),
        (lambda report: _own(report).update(seed=8), "/run/seed is 8"),
        (lambda report: _own(report).update(mode="read-only"), "/run/mode is read-only"),
        (lambda report: _own(report).update(workers=1), "/run/workers is 1"),
        (lambda report: _own(report).update(catalogue="1.0"), "/run/catalogue is 1.0, but the recording gives absent"),
        (lambda report: _own(report).update(catalogue="0.9"), "the requirements are not those of the catalogue"),
        (lambda report: _own(report).pop("selection"), "/run/selection is absent"),
        (lambda report: _own(report).update(interrupted=True), "the run was cut off"),
        (lambda report: report["suite"].update(name="certified suite"), "/suite/name is certified suite"),
        (lambda report: report["interface"].update(version="v2"), "/interface/version is v2"),
        (lambda report: report["requirements"][0].update(title="All is well."), "/requirements/0/title is All is well"),
        (lambda report: report["classes"][0].update(title="Everything"), "/classes/0/title is Everything"),
        (lambda report: report["classes"][0].update(unlock=["x"]), "/classes/0/unlock"),
        (lambda report: report["requirements"][0].update(section="9"), "/requirements/0/section is 9"),
        (lambda report: report["requirements"][0].update(reason="It was easy."), "/requirements/0/reason is It was"),
        (lambda report: report.update(journal=[]), "/journal is []"),
        (lambda report: report.update(awarded="gold"), "/awarded is gold, but the recording gives absent"),
        (lambda report: _own(report).update(warnings=["The run ended early: x."]), "the warning about an early end"),
    ],
)
def test_a_report_that_contradicts_its_recording_is_neither_signed_nor_verified(
    small: Path, private_key: Ed25519PrivateKey, public_key: Ed25519PublicKey, change: Change, words: str
) -> None:
    """Both commands name the member, although everything that follows from it was made anew."""
    forge(small, private_key, "report", change)
    found = faults(verify(small, public_key))

    assert any(words in fault for fault in found), found
    with pytest.raises((Refused, UncertifiableFolder), match=f"{re.escape(words)}|before the end of the run"):
        sign(small, private_key)


@pytest.mark.parametrize(
    ("signed_at", "found"),
    [
        ("2020-01-02T03:04:05Z", ["it was signed before the run ended"]),
        ("yesterday, honestly", ["the claims that its signer added are invalid"]),
        ("2031-01-02T03:04:05Z", []),
    ],
)
def test_signing_before_the_end_of_the_run_is_found(
    small: Path, private_key: Ed25519PrivateKey, public_key: Ed25519PublicKey, signed_at: str, found: list[str]
) -> None:
    """A time of signing must be one, and not before the end of the run; a later one is the vendor's word."""
    forge(small, private_key, "statement", lambda said: said["predicate"][CLAIMS].update(signed_at=signed_at))
    verified = verify(small, public_key)

    assert faults(verified) == found
    assert (f"The certificate was signed at {signed_at}." in conformance_lines(verified)) is (not found)


def conformance_lines(verified: Verified) -> str:
    """Return the claims with their bases, a line each."""
    return "\n".join(f"{claim.basis}: {claim.text}" for claim in verified.claims)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("report.html", b"<script>alert(1)</script>", "report.html is not as it is rendered"),
        ("junit.xml", b"<testsuites/>", "junit.xml is not as it is rendered"),
        ("summary.md", b"Certified by the authority.", "summary.md is not as it is rendered"),
        ("badge.svg", b"<svg/>", "badge.svg is not as it is rendered"),
        ("earl.jsonld", b"{}", "earl.jsonld is not as it is rendered"),
        ("ctrf.json", b"{}", "ctrf.json is not as it is rendered"),
        ("report.sarif", b"{}", "report.sarif is not as it is rendered"),
        ("metrics.prom", b"# EOF\n", "metrics.prom is not as it is rendered"),
        ("certificate.html", b"<h1>Certified</h1>", "certificate.html is not as it is rendered"),
        ("award.html", b"<h1>Award</h1>", "no run writes award.html"),
    ],
)
def test_a_file_that_the_report_does_not_give_is_found(
    small: Path, private_key: Ed25519PrivateKey, public_key: Ed25519PublicKey, name: str, content: bytes, words: str
) -> None:
    """Files are rendered again, and a file that no run writes is refused."""
    (small / name).write_bytes(content)
    envelope = json.loads((small / ENVELOPE).read_bytes())
    said = json.loads(base64.b64decode(envelope["payload"]))
    resign_as_it_is(small, private_key, said)

    assert faults(verify(small, public_key)) == [words.replace("rendered", "rendered from the recording")]


def resign_as_it_is(folder: Path, key: Ed25519PrivateKey, said: dict[str, Any]) -> None:
    """Sign a statement about the files as they are."""
    said["subject"] = [{"name": name, "digest": {"sha256": digest}} for name, digest in digests(folder).items()]
    (folder / ENVELOPE).write_bytes(sealed(json_bytes(said), key))


def test_files_of_file_managers_are_ignored(small: Path, key_file: Path) -> None:
    """The command names them; the certificate holds."""
    (small / ".DS_Store").write_bytes(b"x")
    done = conformance("verify", small, "--public-key", f"{key_file}.pub", "--require", "any")

    assert done.returncode == 0, done.stdout
    assert "Not verified: .DS_Store." in done.stdout


def test_twice_given_members_are_refused(
    small: Path, private_key: Ed25519PrivateKey, public_key: Ed25519PublicKey
) -> None:
    """No file may show another reader another value: report, notes, archive and statement have each member once."""
    for name, old, new in (
        ("report.json", b'"verdict": "', b'"verdict": "conformant",\n "verdict": "'),
        (PROVISIONED, b'"seed": ', b'"seed": 0, "seed": '),
        ("exchanges.har", b'"status": ', b'"status": 200, "status": '),
        ("exchanges.har", b'"statusText": "', b'"statusText": "PASSED'),
        ("exchanges.har", b'"comment": "', b'"comment": "<script>'),
    ):
        folder = Path(shutil.copytree(small, small.with_name("copy")))
        content = (folder / name).read_bytes()
        assert old in content
        changed = content.replace(old, new, 1)
        if name == PROVISIONED:
            first, _, rest = changed.partition(b"\n")
            reseal_raw(folder, first + b"\n" + rest)
        else:
            (folder / name).write_bytes(changed)
            reseal(folder, documents(folder)["notes"])
        said = documents(folder)["statement"]
        resign_as_it_is(folder, private_key, said)
        assert faults(verify(folder, public_key)), (name, new)
        shutil.rmtree(folder)

    payload = base64.b64decode(json.loads((small / ENVELOPE).read_bytes())["payload"])
    for old, new in (
        (b'"result": "', b'"result": "PASSED", "result": "'),
        (b'"subject": [', b'"subject": [{"name": "report.json", "digest": {"sha256": "00"}}, '),
        (b'"predicateType"', b'"more": 1, "predicateType"'),
    ):
        assert old in payload
        (small / ENVELOPE).write_bytes(sealed(payload.replace(old, new, 1), private_key))
        assert faults(verify(small, public_key)), new


def reseal_raw(folder: Path, content: bytes) -> None:
    """Write notes as they are with a correct last line."""
    *lines, last = content.splitlines(keepends=True)
    found = json.loads(last)["sha256"] | {"above": sha256(lines)}
    found |= {name: sha256([(folder / name).read_bytes()]) for name in SEALED}
    (folder / PROVISIONED).write_bytes(b"".join(lines) + json_bytes({"sha256": found}) + b"\n")


@pytest.mark.parametrize("point", SMALL_ORDER)
def test_keys_for_which_anyone_can_sign_are_refused(point: str, tmp_path: Path) -> None:
    """A public key of small order is no key."""
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(point))
    pem = key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    (tmp_path / "key.pub").write_bytes(pem)

    with pytest.raises(KeyFileError, match="small order"):
        read_public_key(tmp_path / "key.pub")


def _run(folder: Path, patch: str, *options: str) -> None:
    """Run the suite on the embedded service with a part of it replaced in memory."""
    program = f"{patch}\nimport sys\nsys.argv[0] = 'conformance'\nfrom conformance.__main__ import main\nmain()\n"
    arguments = ["run", "--embedded", "--quiet", "--seed", "1", *options, "--report", str(folder)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CONFORMANCE_")}
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], check=False, capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr


_FEWER_KINDS = """
import conformance.scenarios.access.invalid_credentials as tried
every = tried.near_keys
tried.near_keys = lambda *of: [kind for kind in every(*of) if "letter case" not in kind[0]]
"""
_FEWER_CASES = """
from conformance.scenarios.generated.requests import Generator
every = Generator.cases
Generator.cases = lambda *of: every(*of)[:{most}]
"""
_OTHER_VERSIONS = """
import conformance.replay.recorded_inputs_file as notes
own = notes.versions()
notes.versions = lambda: own | {"hypothesis": "6.0"}
"""


def test_a_suite_that_leaves_out_a_kind_of_wrong_keys_is_found(
    tmp_path: Path, private_key: Ed25519PrivateKey, public_key: Ed25519PublicKey
) -> None:
    """The kinds follow from the form of the key, not from the vendor's notes."""
    _run(tmp_path / "run", _FEWER_KINDS, "--effort", "quick", "--only", "key-unknown-refused")
    sign(tmp_path / "run", private_key, anyway=True)

    found = faults(verify(tmp_path / "run", public_key))
    assert any(fault.startswith("the kinds of wrong keys are not those") for fault in found), found


@pytest.mark.parametrize(
    ("patch", "words"),
    [
        (_FEWER_CASES.format(most=20), "the generated requests of listMembers are not those of the seed 1"),
        (_OTHER_VERSIONS, "not recomputed here: Generated requests cannot be drawn here: hypothesis 6.0, here"),
        (
            _OTHER_VERSIONS + _FEWER_CASES.format(most=10),
            "the number of generated requests of listMembers is none that the effort standard draws",
        ),
        ("", "recomputed: All requests follow from seed 1 and effort standard, the generated ones too."),
    ],
)
def test_generated_requests_are_drawn_again(
    tmp_path: Path, private_key: Ed25519PrivateKey, public_key: Ed25519PublicKey, patch: str, words: str
) -> None:
    """Requests that the seed does not give are found; with other versions, they cannot be drawn here."""
    _run(tmp_path / "run", patch, "--effort", "standard", "--only", "list-members-refuses-invalid")
    sign(tmp_path / "run", private_key, anyway=True)
    verified = verify(tmp_path / "run", public_key)

    assert words in "\n".join([conformance_lines(verified), *faults(verified)])
    assert verified.holds is (("recomputed" in words and "here:" in words) or words.startswith("recomputed"))
    assert verified.is_judged


def test_other_versions_of_the_template_engine_are_no_forgery(
    small: Path, private_key: Ed25519PrivateKey, public_key: Ed25519PublicKey
) -> None:
    """A page that this version renders otherwise is not recomputed here; JSON and the archive always are."""
    other = versions() | {"jinja2": "3.1.0"}
    forge(small, private_key, "notes", lambda notes: notes[0].update(versions=other))
    (small / "report.html").write_bytes((small / "report.html").read_bytes() + b"\n")
    resign_as_it_is(small, private_key, documents(small)["statement"])
    verified = verify(small, public_key)

    assert verified.holds, faults(verified)
    assert "not recomputed here: These files cannot be rendered here: report.html (jinja2 3.1.0, here" in (
        conformance_lines(verified)
    )


@pytest.mark.parametrize(
    "change",
    [{"version": "0.9.0"}, {"sha256": "00" * 32}, {"version": "2.0.0", "sha256": "00" * 32, "commit": "0" * 40}],
)
def test_another_release_is_named(small: Path, private_key: Ed25519PrivateKey, key_file: Path, change: Any) -> None:
    """Signature and files hold; the exit status says that another release must judge the recording."""
    forge(small, private_key, "statement", lambda said: said["predicate"][CLAIMS]["suite"].update(change))
    done = conformance("verify", small, "--public-key", f"{key_file}.pub")

    assert done.returncode == 5, done.stdout
    assert [line[0] for line in done.stdout.splitlines()] == ["✓", "✓", "?", "E"]
    assert "not recomputed here: The run was judged by the suite" in done.stdout
    assert all(value in done.stdout for value in change.values())


def test_files_of_another_release_are_no_forgery(
    small: Path, private_key: Ed25519PrivateKey, public_key: Ed25519PublicKey
) -> None:
    """This release neither reads the report of another nor misses or refuses its files."""
    (small / "report.json").write_text("{}")
    (small / "of-that-release.txt").write_text("")
    (small / "summary.md").unlink()
    forge(small, private_key, "statement", lambda said: said["predicate"][CLAIMS]["suite"].update(version="0.9.0"))
    verified = verify(small, public_key)

    assert verified.holds, faults(verified)
    assert not verified.is_judged


def test_unproven_statements_of_the_vendor_are_listed(signed_run: Path, public_key: Ed25519PublicKey) -> None:
    """Which suite ran, that the exchanges took place, the provisioner's work, the build and the times are stated."""
    lines = conformance_lines(verify(signed_run, public_key))

    for text in (
        "The folder says that this suite ran: engagement-conformance",
        "took place as recorded",
        "The main key has",
        "The vendor's program made keys, members and other organizations",
        "Subordinate records were made and looked for by the vendor's program (target, task",
        "E-mails were read by the suite's own mailbox",
        "The run gave 0 warnings",
        "The build under test is sha256:abab",
        "The certificate was signed at",
    ):
        assert f"stated by the vendor: {text}" in lines or (not text[0].isupper() and text in lines), text


@pytest.mark.parametrize(("left", "count"), [([], 1), (["The organization could not be named again."], 0)])
def test_what_the_journal_left_must_be_reported(tmp_path: Path, left: list[str], count: int) -> None:
    """A report that leaves out what was not undone contradicts its journal; a refused change needs no undoing."""
    with closing(Journal.open(tmp_path, RunNames("cf-wbfc2iy2-"), "http://service", "a-main-key-1")) as journal:
        journal.done(journal.intend(Action.RENAME_ORGANIZATION, "api_key", "B", "A"))
        journal.refused(journal.intend(Action.CREATE_ENGAGEMENT, "api_key", "cf-wbfc2iy2-a"))
        report: Any = {"not_undone": left}

        assert len(list(_of_undoing(journal, report))) == count
