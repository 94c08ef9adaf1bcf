"""Folder of a report: which files a run replaces and which it keeps."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.targets.journal import Journal
from conformance.targets.journal_entries import Action
from tests.conftest import RecordedRun
from tests.fakes.command_line import start
from tests.fakes.target import Turn, hostile

CLEAN: Final = {
    name: value for name, value in os.environ.items() if not name.startswith(("CONFORMANCE_", "PYTHONDONTWRITE"))
}
SHORT: Final = ("run", "--effort", "quick", "--only", "get-organization-*")
PATIENCE: Final = 200.0


@pytest.fixture
def earlier(recorded_run: RecordedRun, tmp_path: Path) -> Path:
    """The folder of the next run, with the report of an earlier run."""
    return Path(shutil.copytree(recorded_run(*SHORT[3:]), tmp_path / "report"))


def _content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_no_report_of_another_run_is_left(conformance: Callable[..., Any], tmp_path: Path) -> None:
    """A run that ends without a report has removed the earlier outputs, but no other files."""
    with hostile() as target:
        path = tmp_path / "target.yaml"
        path.write_text(json.dumps({"base_url": target.url, "api_key": target.api_key, "organization": "another"}))
        path.chmod(0o600)
        first = conformance(*SHORT, "--base-url", target.url, CONFORMANCE_API_KEY=target.api_key)
        (first.folder / "notes.txt").write_text("of a person")
        second = conformance(*SHORT, "--target", str(path))

    assert first.status == 0, first.err
    assert second.status == 2
    assert "must be another" in second.err
    assert {path.name for path in second.folder.iterdir()} == {"journal.jsonl", "notes.txt"}


def test_the_baseline_may_be_the_report_that_is_replaced(conformance: Callable[..., Any], earlier: Path) -> None:
    """The baseline is read before its removal; an unreadable waiver file prevents the removal."""
    report = earlier / "report.json"
    before = _content(earlier)
    refused = conformance(*SHORT, "--embedded", "--baseline", str(report), "--waivers", str(earlier))
    unchanged = _content(earlier)
    again = conformance(*SHORT, "--embedded", "--baseline", str(report))

    assert refused.status == 2
    assert unchanged == before
    assert again.status == 0, again.err
    assert report.read_bytes() != before["report.json"]


def test_a_certified_folder_is_refused(conformance: Callable[..., Any], earlier: Path, tmp_path: Path) -> None:
    """The command and pytest refuse it with a sentence and change nothing in it."""
    (earlier / "certificate.dsse.json").write_text("signed")
    before = _content(earlier)

    refused = conformance(*SHORT, "--embedded")
    arguments = ["--pyargs", "conformance.checks", "--embedded", "-k", "archived_engagement", "--report", str(earlier)]
    by_pytest = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cov", "-p", "no:cacheprovider", *arguments],
        check=False, capture_output=True, text=True, cwd=tmp_path, env=CLEAN, timeout=PATIENCE,
    )  # fmt: skip

    assert refused.status == 2
    assert "holds a certificate" in refused.err
    assert by_pytest.returncode == 4
    assert "holds a certificate" in by_pytest.stderr
    assert "Traceback" not in by_pytest.stdout + by_pytest.stderr
    assert _content(earlier) == before


def test_a_foreign_file_is_not_overwritten(conformance: Callable[..., Any], tmp_path: Path) -> None:
    """A file that no run wrote is not overwritten."""
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "summary.md").write_text("My holidays")

    refused = conformance(*SHORT, "--embedded")

    assert refused.status == 2
    assert "holds summary.md, which no run wrote" in refused.err
    assert _content(refused.folder) == {"summary.md": b"My holidays"}


def test_a_journal_with_something_to_undo_keeps_the_outputs(conformance: Callable[..., Any], earlier: Path) -> None:
    """The outputs stay until cleanup has undone the changes."""
    journal = Journal.read(earlier)
    journal.intend(Action.CREATE_ENGAGEMENT, "api_key", "cf-abcdefgh-left")
    journal.close()
    before = _content(earlier)

    refused = conformance(*SHORT, "--embedded")

    assert refused.status == 2
    assert "cleanup" in refused.err
    assert _content(earlier) == before


def test_a_killed_run_leaves_no_old_report(earlier: Path) -> None:
    """A run removes the earlier outputs at its start."""

    async def stall(turn: Turn) -> None:
        await turn.stall()

    with hostile(stall) as target:
        started = start(earlier, *SHORT, "--base-url", target.url, CONFORMANCE_API_KEY=target.api_key)
        while target.turns == 0 and started.process.poll() is None:
            pass
        started.process.kill()
        started.process.wait()

    assert [path.name for path in earlier.iterdir()] == ["journal.jsonl"]


def test_no_core_file_can_hold_a_key(tmp_path: Path) -> None:
    """A run sets its limit for core files to 0, with any limit of its parent."""
    most = resource.getrlimit(resource.RLIMIT_CORE)[1]

    async def stall(turn: Turn) -> None:
        await turn.stall()

    with hostile(stall) as target:
        started = start(
            tmp_path / "report", *SHORT, "--base-url", target.url,
            preexec=lambda: resource.setrlimit(resource.RLIMIT_CORE, (most, most)), CONFORMANCE_API_KEY=target.api_key,
        )  # fmt: skip
        while target.turns == 0 and started.process.poll() is None:
            pass
        limits = Path(f"/proc/{started.process.pid}/limits").read_text()
        started.process.kill()
        started.process.wait()

    (line,) = [line for line in limits.splitlines() if line.startswith("Max core file size")]
    assert line.split()[4] == "0"
