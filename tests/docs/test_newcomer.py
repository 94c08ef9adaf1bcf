"""Documents followed literally: the commands to a certificate, and the worked example of a check."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
CLEAN = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("CONFORMANCE_", "PYTHON", "VIRTUAL_ENV", "COVERAGE", "GIT_", "TOX"))
}

TITLES = ("Try it", "Test your service")


def blocks(page: str, language: str) -> list[str]:
    """Return the code blocks of a page in one language."""
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL)


def shell(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a script that stops at the first command that fails."""
    return subprocess.run(
        ["/bin/bash", "-euxo", "pipefail", "-c", script],
        check=False, capture_output=True, text=True, cwd=folder, env=CLEAN | variables, timeout=900,
    )  # fmt: skip


@pytest.mark.skipif(not (ROOT / ".git").exists() or not shutil.which("git"), reason="there is no repository to clone")
def test_five_commands_lead_to_a_verified_certificate(tmp_path: Path) -> None:
    """The commands of docs/certificates.md lead from git clone to a valid certificate."""
    (script,) = blocks("docs/certificates.md", "sh")

    done = shell(script.replace("URL", f"--quiet {ROOT}", 1), tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    assert len(script.splitlines()) == 5
    assert "The certificate is valid at level 1, self-consistent: reference is conformant" in done.stdout


def test_the_readme_activates_the_environment_before_its_commands() -> None:
    """The section after the installation works in a shell in which nothing is activated yet."""
    readme = (ROOT / "README.md").read_text("utf-8")
    tried, service = (readme.partition(f"## {title}\n")[2].partition("\n## ")[0] for title in TITLES)
    commands = [line.strip() for line in service.splitlines() if line.startswith("    ")]

    assert "python3 -m venv .venv && .venv/bin/pip install -q ." in tried
    assert commands[0] == ". .venv/bin/activate"
    assert commands[-1] == "conformance run"


def test_the_check_that_contributors_are_shown_is_one_of_the_suite() -> None:
    """The check in CONTRIBUTING.md is a literal part of the package."""
    (shown,) = re.findall(r"   ```python\n(.*?)   ```", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.DOTALL)
    check = re.sub(r"^   ", "", shown, flags=re.MULTILINE)

    assert any(check in module.read_text("utf-8") for module in (ROOT / "conformance/checks").glob("test_*.py"))


def test_the_worked_example_of_a_check_works(tmp_path: Path) -> None:
    """Its requirement passes on the reference service, and its three faults are found and named."""
    package = tmp_path / "conformance"
    shutil.copytree(ROOT / "conformance", package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "openapi.yaml", tmp_path)
    (entry,) = blocks("docs/writing-a-check.md", "yaml")
    scenario, check, fault = blocks("docs/writing-a-check.md", "python")
    catalogue = package / "catalogue" / "data" / "section-4.yaml"
    catalogue.write_text(catalogue.read_text("utf-8").replace("open_points:\n", f"{entry}open_points:\n", 1), "utf-8")
    (package / "scenarios" / "engagements" / "reading_twice.py").write_text(scenario)
    (package / "checks" / "test_s4_reading_twice.py").write_text(check)
    (package / "reference" / "faults" / "reading_twice.py").write_text(fault)
    command = f"{sys.executable} -m conformance"

    judged = shell(f"{command} run --quiet --effort quick --only get-engagement-twice --report r", tmp_path)
    found = shell(f"{command} selftest --faults second-read-renames --faults 'reading-*' --jobs 1 --report s", tmp_path)

    assert judged.returncode == found.returncode == 0, judged.stdout + judged.stderr + found.stdout + found.stderr
    report = json.loads((tmp_path / "r" / "report.json").read_text())
    outcomes = {requirement["id"]: requirement["outcome"] for requirement in report["requirements"]}
    assert outcomes["get-engagement-twice"] == "passed"
    assert re.search(r"3 +Found, and the named requirement reported", found.stdout)
