"""Script and pytest file of a failure from the report's folder, against a service with the fault."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.cli.conftest import ENVIRONMENT
from tests.conftest import serve_sandbox

if TYPE_CHECKING:
    from collections.abc import Callable

TARGET = """
base_url: {CONFORMANCE_BASE_URL}
api_key: ${{STAGING_KEY}}
keys: {{engagements:read: "${{READING_KEY}}"}}
headers: {{X-Gateway: "${{GATEWAY}}"}}
"""


def repeated(script: Path, **keys: str) -> tuple[int, str]:
    """Run a script with only the keys in its environment; return its status and output."""
    done = subprocess.run(
        ["/bin/sh", str(script)], env={"PATH": ENVIRONMENT["PATH"]} | keys, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def pytest_of(test: Path, **keys: str) -> tuple[int, str]:
    """Run a pytest file with only the keys in its environment; return pytest's status and output."""
    command = [sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", "-c", os.devnull, test.name]
    environment = {"PATH": ENVIRONMENT["PATH"]} | keys
    done = subprocess.run(command, cwd=test.parent, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_reproductions_show_the_fault(conformance: Callable[..., Any], tmp_path: Path) -> None:
    """Script and pytest file show an edit of an archived engagement, and no fault of a service without it."""
    target, only = tmp_path / "target.yaml", "archived-edit-changes-nothing"
    with serve_sandbox("--fault", "archived-edit-applied") as sandbox:
        keys = {
            "STAGING_KEY": sandbox["CONFORMANCE_API_KEY"],
            "READING_KEY": sandbox["KEY_ENGAGEMENTS_READ"],
            "GATEWAY": "a-value-of-nobody-7",
        }
        target.write_text(TARGET.format(**sandbox))
        target.chmod(0o600)
        ended = conformance("run", "--target", str(target), "--effort", "quick", "--only", only, **keys)
        script, test = ended.folder / "reproduce" / f"{only}.sh", ended.folder / "reproduce" / f"test_{only}.py"
        first, again = (repeated(script, **keys) for _ in range(2))
        tested = pytest_of(test, **keys)
        missing, _ = repeated(script, **(keys | {"STAGING_KEY": ""}))
        listed = subprocess.run(
            [
                "curl", "-sS", "-H", f"Authorization: Bearer {keys['STAGING_KEY']}",
                f"{sandbox['CONFORMANCE_BASE_URL']}/api/v1/engagements",
            ],
            capture_output=True, check=True,
        )  # fmt: skip

    with serve_sandbox() as healthy:
        for path in (script, test):
            moved = path.read_text().replace(sandbox["CONFORMANCE_BASE_URL"], healthy["CONFORMANCE_BASE_URL"])
            (tmp_path / path.name).write_text(moved)
        given = {"STAGING_KEY": healthy["CONFORMANCE_API_KEY"], "READING_KEY": healthy["KEY_ENGAGEMENTS_READ"]}
        right = repeated(tmp_path / script.name, **(keys | given))
        tested_right = pytest_of(tmp_path / test.name, **(keys | given))

    assert ended.status == 1, ended.err
    (failed,) = [entry for entry in ended.report["requirements"] if entry["outcome"] == "failed"]
    failure = failed["failures"][0]
    assert (failure["script"], failure["test"]) == (script.read_text(), test.read_text())
    assert failure["gone"].startswith("The run has deleted the engagement eng_")
    assert '-H "Authorization: Bearer $STAGING_KEY"' in failure["curl"]
    assert f"    sh {script}\n" in ended.out
    for status, output in (first, again):
        assert status == 0, output
        edits = output.partition("(in the run")[2]
        assert "HTTP/1.1 409" in edits
        *_, read = [line for line in output.splitlines() if line.startswith('{"data"')]
        assert json.loads(read)["data"]["name"] == json.loads(failure["actual"])
        assert f"Expected: {failure['expected']}" in output
    assert tested[0] == 1, tested
    assert f"Expected: {failure['expected']}" in tested[1]
    assert (right[0], tested_right[0]) == (0, 0), (right, tested_right)
    *_, read = [line for line in right[1].splitlines() if line.startswith('{"data"')]
    assert json.loads(read)["data"]["name"] == json.loads(failure["expected"])
    assert missing != 0
    assert json.loads(listed.stdout)["data"] == []
    for path in filter(Path.is_file, ended.folder.rglob("*")):
        content = path.read_text()
        assert not any(key in content for key in keys.values()), path.name
        assert path.suffix not in {".html", ".md", ".xml"} or script.name in content, path.name
