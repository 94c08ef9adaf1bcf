"""Fixtures: recorded runs of the embedded service."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.reports.sealing import PROVISIONED, SEALED
from conformance.reports.text import json_bytes
from tests.conftest import RecordedRun

Conformance = Callable[..., "subprocess.CompletedProcess[str]"]


def conformance(*arguments: object, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command of the suite."""
    return subprocess.run(
        [sys.executable, "-m", "conformance", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **(environment or {})},
    )


def reseal(folder: Path, change: Callable[[list[dict[str, Any]]], object] = lambda _: None) -> None:
    """Change the recorded inputs of a run and correct its digests, as an attacker would."""
    path = folder / PROVISIONED
    notes = [json.loads(line) for line in path.read_bytes().splitlines()[:-1]]
    change(notes)
    lines = [json_bytes(note) + b"\n" for note in notes]
    digests = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in SEALED}
    digests["above"] = hashlib.sha256(b"".join(lines)).hexdigest()
    path.write_bytes(b"".join(lines) + json_bytes({"sha256": digests}) + b"\n")


def change_entries(folder: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    """Change the recorded exchanges and correct all digests."""
    path = folder / "exchanges.har"
    archive = json.loads(path.read_bytes())
    change(archive["log"]["entries"])
    path.write_bytes(json_bytes(archive))
    reseal(folder)


@pytest.fixture(scope="session")
def archiving_run(recorded_run: RecordedRun) -> Path:
    """The folder of a run of the archiving requirements."""
    return recorded_run("--only", "*archive*", "--only", "mail*")


@pytest.fixture
def folder(archiving_run: Path, tmp_path: Path) -> Path:
    """Return a copy of that folder to change."""
    return Path(shutil.copytree(archiving_run, tmp_path / "run"))
