"""Signing of runs, and its refusals."""

from __future__ import annotations

import base64
import copy
import html
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from conformance.certificate.page import page_bytes
from conformance.certificate.statement import CLAIMS, Signing, build_digest, claims, reservations_about
from conformance.commit import commit
from conformance.replay.recorded_inputs_file import read_inputs
from conformance.reports.model import load_report
from conformance.reports.sealing import PROVISIONED
from conformance.suite import versions

from .conftest import BUILD, conformance


def _said(folder: Path) -> dict[str, Any]:
    envelope = json.loads((folder / "certificate.dsse.json").read_text())
    said: dict[str, Any] = json.loads(base64.b64decode(envelope["payload"]))
    return said


def test_statement_says_what_was_tested_and_how(signed_run: Path) -> None:
    """The statement has suite, document, target, organization, classes, mode, effort, seed, counts, dates and build."""
    predicate = _said(signed_run)["predicate"]
    said, report = predicate[CLAIMS], load_report(signed_run / "report.json")

    assert said["verdict"] == "conformant"
    assert said["suite"]["sha256"] == read_inputs(signed_run / "provisioned.jsonl").suite_sha256
    assert said["suite"].get("commit") == report["suite"].get("commit") == commit()
    assert said["level"] == "1, self-consistent"
    assert said["interface"] == report["interface"]
    assert said["evidence"]["mail"] == "the suite's own mailbox"
    assert said["versions"]["run"] == said["versions"]["signed"] == versions()
    assert said["openapi_sha256"] == report["suite"]["openapi_sha256"]
    assert said["target"]["base_url"] == report["target"]["base_url"]
    assert said["target"]["organization"]
    assert "core" in said["classes_attained"]
    assert {name: said["run"][name] for name in ("mode", "effort", "seed")} == {
        name: report["run"][name] for name in ("mode", "effort", "seed")
    }
    assert sum(said["outcomes"].values()) == len(report["requirements"])
    assert said["build"] == {"sha256": "ab" * 32}
    assert said["reservations"] == []
    assert said["waivers"] == []
    assert predicate["failedTests"] == predicate["warnedTests"] == []
    assert len(predicate["passedTests"]) == said["outcomes"]["passed"]


def test_every_file_is_a_subject(signed_run: Path) -> None:
    """The subjects include the printable page, but not the envelope."""
    names = {subject["name"] for subject in _said(signed_run)["subject"]}

    assert names == {path.name for path in signed_run.iterdir()} - {"certificate.dsse.json"}
    assert {"report.json", "exchanges.har", "journal.jsonl", "provisioned.jsonl", "certificate.html"} <= names


def test_inconclusive_run_is_refused_without_anyway(small_run: Path, key_file: Path, tmp_path: Path) -> None:
    """The refusal gives the reason and writes nothing; with --anyway, the run is signed with the reason."""
    folder = shutil.copytree(small_run, tmp_path / "run")
    refused = conformance("sign", folder, "--key", key_file)
    written = list(folder.glob("certificate*"))
    signed = conformance("sign", folder, "--key", key_file, "--anyway", "--subject-digest", BUILD)

    assert refused.returncode == 1
    assert "inconclusive" in refused.stderr
    assert written == []
    assert signed.returncode == 0, signed.stderr
    assert _said(folder)["predicate"]["result"] == "WARNED"
    assert _said(folder)["predicate"][CLAIMS]["reservations"] == ["The verdict is inconclusive."]
    again = conformance("sign", folder, "--key", key_file, "--anyway")
    assert again.returncode == 2
    assert "holds a certificate. --replace replaces it." in again.stderr
    assert conformance("sign", folder, "--key", key_file, "--anyway", "--replace").returncode == 0
    verified = conformance("verify", folder, "--public-key", f"{key_file}.pub")
    assert verified.returncode == 4
    assert verified.stdout.splitlines()[-1] == "Exit 4: the certificate lacks the verdict conformant."


def test_report_that_its_recording_does_not_bear_out_is_refused(
    whole_run: Path, key_file: Path, tmp_path: Path
) -> None:
    """A report that was changed after the run is not signed."""
    folder = shutil.copytree(whole_run, tmp_path / "run")
    report = json.loads((folder / "report.json").read_text())
    report["requirements"][0]["checks"][0]["exchanges"] = [1]
    (folder / "report.json").write_text(json.dumps(report))
    done = conformance("sign", folder, "--key", key_file)

    assert done.returncode == 1
    assert "report.json was changed after the run" in done.stderr
    assert report["requirements"][0]["id"] in done.stderr


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda report: report["run"].update(interrupted=True), "interrupted"),
        (lambda report: report.update(verdict="inconclusive"), "inconclusive"),
        (lambda report: report.update(verdict="non-conformant"), "not conformant"),
        (lambda report: report.update(waivers=[{"requirement": "x"}]), "waived"),
        (lambda report: report["requirements"][0].update(waived=True), "waived"),
    ],
)
def test_each_reservation_has_a_reason(whole_run: Path, change: Any, words: str) -> None:
    """Interrupted, inconclusive, failed and waived runs have one reason each."""
    report = copy.deepcopy(load_report(whole_run / "report.json"))

    assert reservations_about(report, None) == []
    change(report)
    assert [words in reason for reason in reservations_about(report, None)] == [True]


def test_run_that_ended_early_is_not_certified(whole_run: Path) -> None:
    """A run that used up its budget is not certified."""
    assert "used up" in reservations_about(load_report(whole_run / "report.json"), "the budget is used up")[0]


@pytest.mark.parametrize(
    "digest", ["", "ab" * 32, "sha256:abc", "md5:" + "a" * 32, "sha256:" + "AB" * 32, "sha512:" + "a" * 64]
)
def test_build_digest_must_be_one(digest: str, small_run: Path, key_file: Path) -> None:
    """An invalid digest is a usage error before any file is read."""
    with pytest.raises(ValueError, match="expected sha256"):
        build_digest(digest)
    assert conformance("sign", small_run, "--key", key_file, "--subject-digest", digest).returncode == 2


def test_page_names_the_classes_and_shows_nothing_that_acts(whole_run: Path) -> None:
    """The target's texts are escaped, and the page loads nothing."""
    report = copy.deepcopy(load_report(whole_run / "report.json"))
    report["target"]["name"] = "<script>alert(1)</script>\u202e"
    report["suite"]["commit"] = "0d" * 20
    signing = Signing("2026-01-02T03:04:05Z")
    page = page_bytes(report, claims(report, read_inputs(whole_run / PROVISIONED), signing), "0123").decode()
    unescaped = html.unescape(page)

    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "\u202e" not in page
    assert "default-src 'none'" in unescaped
    assert "0d" * 20 in page
    assert all(entry["title"] in unescaped for entry in report["classes"])
    assert "http-equiv" in page
    assert "src=" not in page.replace("-src", "")


def test_missing_key_and_folder_are_usage_errors(tmp_path: Path, key_file: Path) -> None:
    """The command prints one sentence without a traceback."""
    for arguments in (("sign", tmp_path, "--key", key_file), ("sign", tmp_path, "--key", tmp_path / "none")):
        done = conformance(*arguments)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
