"""Checks in plain pytest: ``pytest --pyargs conformance.checks --base-url URL --api-key KEY``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

CLEAN = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("CONFORMANCE_", "PYTEST_", "PYTHONDONTWRITE"))
}

RunPytest = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def pytest_with(tmp_path: Path) -> Iterator[RunPytest]:
    """Run pytest on the checks against the reference service, with or without a fault."""
    services: list[subprocess.Popen[bytes]] = []

    def run(*arguments: str, fault: str | None = None, target: bool = True) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pytest", "-p", "no:cov", *arguments]
        if target:
            options = [] if fault is None else ["--fault", fault]
            service = subprocess.Popen(
                [sys.executable, "-m", "conformance.reference.server", "--announce", *options],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=CLEAN,
            )  # fmt: skip
            services.append(service)
            assert service.stdout is not None
            announced: dict[str, Any] = json.loads(service.stdout.readline())
            command += ["--base-url", announced["base_url"], "--api-key", announced["keys"]["api_key"]]
        return subprocess.run(
            command, check=False, capture_output=True, text=True, cwd=tmp_path, env=CLEAN, timeout=300
        )

    yield run
    for service in services:
        service.communicate()


def test_checks_pass_on_the_reference_service(pytest_with: RunPytest) -> None:
    """-k selects checks as usual in pytest."""
    done = pytest_with("--pyargs", "conformance.checks", "-k", "archived_engagement")

    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
    assert " deselected" in done.stdout


def test_a_failure_shows_expected_and_actual(pytest_with: RunPytest) -> None:
    """-x ends at the first failure, which shows the requirement and no traceback."""
    done = pytest_with("--pyargs", "conformance.checks", "-k", "test_s3_archiving", "-x", fault="archived-editable")

    assert done.returncode == 1, done.stdout + done.stderr
    assert "requirement archived-edit-refused" in done.stdout
    assert "expected: a 4xx other than 401, 404 or 429" in done.stdout
    assert "1 failed" in done.stdout
    assert "Traceback" not in done.stdout


def test_the_last_failures_are_run_again(pytest_with: RunPytest) -> None:
    """--lf runs the checks that failed before."""
    arguments = ("--pyargs", "conformance.checks", "-k", "edit_of_archived_engagement", "-q")
    pytest_with(*arguments, fault="archived-editable")

    again = pytest_with(*arguments, "--lf")

    assert again.returncode == 0, again.stdout + again.stderr
    assert "1 passed" in again.stdout


def test_a_target_that_cannot_be_reached_is_no_success(pytest_with: RunPytest) -> None:
    """Without a response pytest ends with 3."""
    done = pytest_with(
        "--pyargs", "conformance.checks", "--base-url", "http://127.0.0.1:9", "--api-key", "a-key", target=False
    )

    assert done.returncode == 3
    assert "could not be tested" in done.stdout + done.stderr


def test_no_core_file_and_no_cache_is_left(pytest_with: RunPytest, tmp_path: Path) -> None:
    """No core file with keys and no cache of Hypothesis is written to the current folder."""
    (tmp_path / "limit_at_the_end.py").write_text(
        "import resource\n"
        "resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)\n"
        "def pytest_unconfigure():\n    print('core files:', resource.getrlimit(resource.RLIMIT_CORE)[0])\n"
    )
    arguments = ("-p", "limit_at_the_end", "-p", "no:cacheprovider", "--effort", "standard", "-k", "engagement_lists")

    done = pytest_with(*arguments, "--pyargs", "conformance.checks")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "core files: 0" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} <= {"limit_at_the_end.py", "__pycache__"}


def test_other_pytest_runs_are_left_alone(pytest_with: RunPytest, tmp_path: Path) -> None:
    """In another project the plugin does nothing."""
    (tmp_path / "test_other.py").write_text("def test_other() -> None:\n    pass\n")

    done = pytest_with("-q", target=False)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_several_processes_write_no_report(pytest_with: RunPytest) -> None:
    """--report with several processes is a usage error, before anything is sent."""
    done = pytest_with("--pyargs", "conformance.checks", "-n", "2", "--report", "report")

    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "--report needs a single process" in done.stderr
    assert "INTERNALERROR" not in done.stdout + done.stderr


def test_several_processes_and_no_target_end_with_a_sentence(pytest_with: RunPytest) -> None:
    """It is reported once, with the status of the command line."""
    arguments = ("--pyargs", "conformance.checks", "-n", "2", "--base-url", "http://127.0.0.1:9", "--api-key", "a-key")
    done = pytest_with(*arguments, target=False)

    assert done.returncode == 3, done.stdout + done.stderr
    assert "The target could not be tested" in done.stdout + done.stderr
    assert "INTERNALERROR" not in done.stdout + done.stderr


def test_several_processes_test_a_target(pytest_with: RunPytest) -> None:
    """Each process has a run of its own."""
    done = pytest_with("--pyargs", "conformance.checks", "-n", "2", "-k", "archived_engagement")

    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
