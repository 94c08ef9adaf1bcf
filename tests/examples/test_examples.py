"""Runs with every target file under examples/ against the sandbox of ``conformance serve``."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
CLEAN = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("CONFORMANCE_", "KEY_", "PYTHONDONTWRITE"))
}


@pytest.fixture(scope="module")
def ran(sandbox: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, Any]]:
    """Return a function that returns the report of the run with an example's target file."""
    return cache(lambda target: run(target, sandbox, tmp_path_factory.mktemp("example") / "report"))


def run(target: str, sandbox: dict[str, str], folder: Path) -> dict[str, Any]:
    """Return the report of a run with an example's target file."""
    command = [sys.executable, "-m", "conformance", "run", "--effort", "quick", "--quiet"]
    done = subprocess.run(
        [*command, "--target", str(EXAMPLES / target), "--report", str(folder)],
        check=False, capture_output=True, text=True, env=CLEAN | sandbox, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    report: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return report


@pytest.mark.parametrize(
    ("target", "classes"),
    [
        ("key-only.yaml", {"core"}),
        ("scoped-keys.yaml", {"core"}),
        (
            "full.yaml",
            {"core", "organization", "permissions", "membership", "isolation", "cascade", "mail", "throttling"},
        ),
    ],
)
@pytest.mark.skipif(not shutil.which("curl"), reason="the provisioner in shell needs curl")
def test_an_example_tests_what_it_unlocks(target: str, classes: set[str], ran: Callable[[str], dict[str, Any]]) -> None:
    """The classes that the file unlocks pass, and the verdict is conformant."""
    report = ran(target)

    assert report["verdict"] == "conformant"
    assert {entry["id"] for entry in report["classes"] if entry["outcome"] == "passed"} == classes


@pytest.mark.skipif(not shutil.which("node"), reason="the provisioner needs Node")
def test_a_provisioner_in_node_does_the_same(sandbox: dict[str, str], tmp_path: Path) -> None:
    """Every class passes with its keys, members, organizations, records and mail."""
    shutil.copy(EXAMPLES / "provisioner.mjs", tmp_path)
    target = tmp_path / "full.yaml"
    target.write_text((EXAMPLES / "full.yaml").read_text().replace("[sh, provisioner.sh]", "[node, provisioner.mjs]"))

    report = run(str(target), sandbox, tmp_path / "report")

    assert "provisioner.mjs" in target.read_text()
    assert {entry["outcome"] for entry in report["classes"]} == {"passed"}


@pytest.mark.skipif(not shutil.which("node"), reason="the provisioner needs Node")
def test_a_provisioner_in_node_follows_the_protocol(sandbox: dict[str, str]) -> None:
    """A missing method gets -32601, and a refusal of the sandbox another error."""
    requests = [{"jsonrpc": "2.0", "id": 1, "method": "dance"}, {"jsonrpc": "2.0", "id": 2, "method": "create_key"}]

    done = subprocess.run(
        ["node", str(EXAMPLES / "provisioner.mjs")],
        input="".join(f"{json.dumps(request)}\n" for request in requests),
        check=False, capture_output=True, text=True, env=CLEAN | sandbox, timeout=60,
    )  # fmt: skip

    unknown, wrong = (json.loads(line) for line in done.stdout.splitlines())
    assert (unknown["id"], unknown["error"]["code"]) == (1, -32601)
    assert wrong["id"] == 2
    assert wrong["error"]["code"] != -32601
    assert done.returncode == 0


def test_scoped_keys_unlock_most_permissions(ran: Callable[[str], dict[str, Any]]) -> None:
    """Without members and a disposable organization, the other requirements of permissions and isolation are judged."""
    report = ran("scoped-keys.yaml")

    outcomes = {entry["id"]: entry["outcome"] for entry in report["requirements"]}
    assert outcomes["scope-refuses-create-engagement"] == "passed"
    assert outcomes["isolation-get-engagement"] == "passed"
    assert outcomes["scope-allows-remove-member"] == "untested"
