"""Pinned releases of the catalogue, tried with a copy of the suite that is one release further."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conformance import __version__
from conformance.catalogue import RELEASES
from tests.conftest import serve_sandbox

ROOT = Path(__file__).parents[2]
YOUNG = "error-code-404"
"""A requirement of core; the fault violates it and no other."""
FAULT = "code-404"
ENTRY = 'of: code-404, operations: all, since: "1.0"'


@pytest.fixture(scope="module")
def later(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a suite whose release 1.1 has added a requirement."""
    folder = tmp_path_factory.mktemp("later")
    package = folder / "conformance"
    shutil.copytree(ROOT / "conformance", package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "openapi.yaml", package)
    for file, before, after in (
        ("entries.py", 'RELEASES: Final = ("1.0",)', 'RELEASES: Final = ("1.0", "1.1")'),
        ("data/section-7.yaml", ENTRY, ENTRY.replace("1.0", "1.1")),
    ):
        path = package / "catalogue" / file
        text = path.read_text("utf-8")
        assert text.count(before) == 1
        path.write_text(text.replace(before, after), "utf-8")
    return folder


def run(suite: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command of a copy of the suite."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CONFORMANCE_")}
    return subprocess.run(
        [sys.executable, "-m", "conformance", *words],
        cwd=suite,
        env=kept | variables | {"PYTHONPATH": str(suite)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_new_requirement_fails_no_gate_that_pins_the_release_before(later: Path, tmp_path: Path) -> None:
    """The fault fails a run; a pinned run attains core, with the whole verdict, and its certificate says so."""
    folder, key = str(tmp_path / "pinned"), str(tmp_path / "key")
    chosen = ("--effort", "quick", "--class", "core", "--strict")
    with serve_sandbox("--fault", FAULT) as variables:
        failed = run(later, "run", "--effort", "quick", "--only", YOUNG, "--report", str(tmp_path / "new"), **variables)
        pinned = run(later, "run", *chosen, "--catalogue", "1.0", "--report", folder, **variables)
        nothing = run(later, "run", "--only", YOUNG, "--catalogue", "1.0", **variables)
    run(later, "keygen", key)
    signed = run(later, "sign", folder, "--key", key)
    verified = run(later, "verify", folder, "--public-key", f"{key}.pub", "--require-class", "core")
    report = json.loads(Path(folder, "report.json").read_text("utf-8"))

    assert failed.returncode == 1, failed.stderr
    assert pinned.returncode == 0, pinned.stderr
    assert (report["verdict"], report["run"]["catalogue"]) == ("conformant", "1.0")
    assert YOUNG not in {entry["id"] for entry in report["requirements"]}
    assert "release 1.0 of the catalogue" in pinned.stdout
    assert nothing.returncode == 2
    assert nothing.stderr.endswith("Exit 2: --class, --only, --skip and --catalogue together leave no requirement\n")
    assert (signed.returncode, verified.returncode) == (0, 0), signed.stderr + verified.stderr
    assert "release 1.0" in Path(folder, "certificate.html").read_text("utf-8")


def test_the_pages_of_a_later_release_name_it(later: Path) -> None:
    """The commands that print requirements say since when each is required."""
    listed = json.loads(run(later, "requirements", "--json").stdout)["requirements"]
    explained = run(later, "explain", YOUNG, "--no-example").stdout

    assert [entry["id"] for entry in listed if entry["since"] == "1.1"] == [YOUNG]
    assert "release 1.1 of the catalogue" in explained


def test_an_unknown_release_is_a_usage_error() -> None:
    """The message lists the releases."""
    ended = run(ROOT, "run", "--embedded", "--catalogue", "0.9")

    assert ended.returncode == 2
    assert ended.stderr.splitlines()[-1] == "Exit 2: Invalid value for '--catalogue': '0.9' is not '1.0'."


def test_the_version_is_of_a_release() -> None:
    """A new minor version has its release of the catalogue."""
    assert ".".join(__version__.split(".")[:2]) in RELEASES
