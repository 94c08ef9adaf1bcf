"""Re-evaluation of recorded runs of real services."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.reports.text import json_document

from .conftest import change_entries, conformance, reseal


def _reevaluate(folder: Path) -> subprocess.CompletedProcess[str]:
    return conformance("render", "--rejudge", folder)


def test_whole_run_of_every_class_gives_the_same_again(whole_run: Path) -> None:
    """A run of all classes is re-evaluated with the same results."""
    again = _reevaluate(whole_run)

    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout.startswith("Re-evaluated")


def test_a_replay_ignores_the_kinds_of_unknown_keys(tmp_path: Path) -> None:
    """The kinds of unknown keys depend on the real key, which a replay does not have."""
    only = ("--only", "key-unknown-*", "--report", tmp_path)
    run = conformance("run", "--effort", "deep", *only)
    again = _reevaluate(tmp_path)

    assert run.returncode == 0, run.stderr
    assert (again.returncode, again.stderr) == (0, ""), again.stdout


def test_failures_of_a_faulty_service_come_again_word_for_word(tmp_path: Path) -> None:
    """Failures have the same message, expected and actual value, and exchanges."""
    service = subprocess.Popen(
        [sys.executable, "-m", "conformance.reference.server", "--port=0", "--announce", "--fault=archive-not-found"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert service.stdin is not None
    assert service.stdout is not None
    with service.stdin, service.stdout:
        announced = json.loads(service.stdout.readline())
        environment = {"CONFORMANCE_API_KEY": announced["keys"]["api_key"]}
        only = ("--effort", "quick", "--only", "*archive*", "--report", tmp_path)
        run = conformance("run", "--base-url", announced["base_url"], *only, environment=environment)
    service.wait()
    again = _reevaluate(tmp_path)

    assert run.returncode == 1, run.stderr
    assert again.returncode == 0, again.stdout


def test_run_cut_short_by_its_budget_gives_the_same_outcomes(tmp_path: Path) -> None:
    """A replay stops where the recorded run stopped."""
    conformance("run", "--effort", "quick", "--max-requests", 20, "--only", "*archive*", "--report", tmp_path)

    assert _reevaluate(tmp_path).returncode == 0


def test_nothing_is_sent_when_a_run_is_reevaluated(folder: Path) -> None:
    """A replay needs no target and does not change the folder."""
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    assert _reevaluate(folder).returncode == 0
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_changed_response_changes_its_requirement(folder: Path) -> None:
    """A changed status of an archived engagement fails its requirement."""

    def reactivate(entries: list[dict[str, Any]]) -> None:
        for entry in entries:
            content = entry["response"]["content"]
            if entry["_check"] == "archiving" and entry["request"]["url"].endswith("/archive"):
                content["text"] = content["text"].replace('"archived"', '"active"')

    change_entries(folder, reactivate)
    again = _reevaluate(folder)

    assert again.returncode == 1
    assert "report says passed, re-evaluated it is failed" in again.stdout


def test_any_changed_byte_of_the_recording_is_noticed(folder: Path) -> None:
    """Digests detect changes that no check judges."""
    path = folder / "exchanges.har"
    path.write_bytes(path.read_bytes().replace(b'"statusText": "OK"', b'"statusText": "KO"', 1))
    again = _reevaluate(folder)

    assert again.returncode == 1
    assert "exchanges.har was changed after the run" in again.stdout


def test_missing_exchange_is_named(folder: Path) -> None:
    """A request without a recorded exchange is reported."""

    def drop(entries: list[dict[str, Any]]) -> None:
        place = next(i for i, entry in enumerate(entries) if entry["request"]["url"].endswith("/archive"))
        del entries[place]

    change_entries(folder, drop)
    again = _reevaluate(folder)

    assert again.returncode == 1
    assert "/archive, which the recording does not contain" in again.stdout


def test_an_unrequested_exchange_is_reported(folder: Path) -> None:
    """An inserted exchange is reported."""

    def add(entries: list[dict[str, Any]]) -> None:
        number = len(entries) + 1
        entries.append({**entries[0], "_number": number, "_check": "archiving"})

    change_entries(folder, add)
    again = _reevaluate(folder)

    assert again.returncode == 1
    assert "no check requested exchange" in again.stdout


@pytest.mark.parametrize(
    "change",
    [
        lambda report: report.update(verdict="conformant"),
        lambda report: report["classes"][0].update(outcome="passed"),
        lambda report: report["requirements"][0].update(waived=True),
        lambda report: report["run"].update(requests=1),
    ],
    ids=["verdict", "class", "waived", "requests"],
)
def test_a_changed_conclusion_is_noticed(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """The conclusions of a report must follow from its requirements, also if its digest and all outcomes are right."""
    path = folder / "report.json"
    report = json.loads(path.read_bytes())
    change(report)
    path.write_bytes(json_document(report))
    reseal(folder)
    again = _reevaluate(folder)

    assert again.returncode == 1
    assert "was changed after the run" not in again.stdout


def test_changed_note_is_noticed(folder: Path) -> None:
    """A changed prefix is detected, as the checks send other names."""
    reseal(folder, lambda notes: notes[0].update(prefix="cf-aaaaaaaa-"))

    assert _reevaluate(folder).returncode == 1


@pytest.mark.parametrize("cut", [1, 200, 1000])
def test_torn_notes_are_refused(folder: Path, cut: int) -> None:
    """A truncated file is refused."""
    path = folder / "provisioned.jsonl"
    path.write_bytes(path.read_bytes()[:-cut])
    again = _reevaluate(folder)

    assert again.returncode == 2
    assert "provisioned.jsonl" in again.stderr
    assert "Traceback" not in again.stderr


@pytest.mark.parametrize("missing", ["provisioned.jsonl", "exchanges.har"])
def test_folder_without_a_recording_is_refused(folder: Path, missing: str) -> None:
    """The error names the missing file."""
    (folder / missing).unlink()
    again = _reevaluate(folder)

    assert again.returncode == 2
    assert missing in again.stderr


def test_another_suite_refuses(folder: Path) -> None:
    """A suite with other files refuses to judge a recording."""
    reseal(folder, lambda notes: notes[0].update(suite_sha256="0" * 64))
    again = _reevaluate(folder)

    assert again.returncode == 2
    assert "other files" in again.stderr


def test_reevaluation_goes_without_formats(archiving_run: Path) -> None:
    """--rejudge and --format exclude each other."""
    assert conformance("render", "--rejudge", "--format", "html", archiving_run).returncode == 2


def test_recording_holds_no_acceptance_link(archiving_run: Path) -> None:
    """The links of invitations are withheld, so that readers of a report cannot accept them."""
    notes = (archiving_run / "provisioned.jsonl").read_text()

    links = re.findall(r"https?://[^/ ]+(/[a-z0-9/-]*)", notes)
    assert set(links) == {"/withheld"}
    assert _reevaluate(archiving_run).returncode == 0
