"""Fixtures of every layer, and the tiers of the tests."""

from __future__ import annotations

import fcntl
import gc
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import settings

from tests import tiers

settings.register_profile("unhurried", deadline=None)  # no test may depend on the speed of the machine
settings.load_profile("unhurried")

RecordedRun = Callable[..., Path]
NPM_PATIENCE = 60
"""Timeout for a package from npm in seconds; without a response of its registry, npm would retry for minutes."""


def pytest_configure(config: pytest.Config) -> None:
    """Measure the coverage of pytest-xdist's workers, but not of the hundreds of runs that tests start.

    That would double their time and add little coverage.
    """
    os.environ.pop("CI", None)  # tests of its effects set it themselves
    if hasattr(config, "workerinput"):
        os.environ.pop("COVERAGE_PROCESS_CONFIG", None)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--tier`` and ``--sample``."""
    parser.addoption("--tier", choices=["quick", "long"], help="run only the quick or the long tests")
    parser.addoption("--sample", action="store_true", help="run only the long tests that the commit draws")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files without a test of the tier, since each process collects all others."""
    file = collection_path.relative_to(config.rootpath).as_posix() if collection_path.is_file() else None
    if file is None or config.option.tier is None:
        return None
    return (tiers.is_long(file) if config.option.tier == "quick" else not tiers.may_be_long(file)) or None


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Mark tests by their path, select by the tier, ``-m`` and ``-k``, and draw a sample of the selected tests."""
    for item in items:
        for mark in tiers.marks(item.nodeid):
            item.add_marker(mark)
    if config.option.tier is not None:
        is_long = config.option.tier == "long"
        _leave_out(config, items, {item.nodeid for item in items if tiers.is_long(item.nodeid) != is_long})
    yield
    if config.option.sample:
        _leave_out(config, items, tiers.left_out([item.nodeid for item in items], tiers.commit()))


def _leave_out(config: pytest.Config, items: list[pytest.Item], names: set[str]) -> None:
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in names])
    items[:] = [item for item in items if item.nodeid not in names]


def pytest_collection_finish() -> None:
    """Exclude the thousands of tests from garbage collections."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the sample."""
    if terminalreporter.config.option.sample:
        reports = [report for reports in terminalreporter.stats.values() for report in reports]
        names = sorted({report.nodeid for report in reports if isinstance(report, pytest.TestReport)})
        terminalreporter.section(f"sample of commit {tiers.commit() or 'unknown'}")
        for test, drawn in groupby(filter(tiers.drawn_from, names), lambda name: name.partition("[")[0]):
            terminalreporter.write_line(f"{test} {' '.join(name.removeprefix(test) for name in drawn)}".rstrip())


@contextmanager
def serve_sandbox(*options: str) -> Iterator[dict[str, str]]:
    """Run ``conformance serve`` inside a ``with``; yield the variables that it prints."""
    command = [sys.executable, "-u", "-m", "conformance", "serve", "--port", "0", *options]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("CONFORMANCE_", "KEY_"))}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as serve:
        assert serve.stdout is not None
        variables: dict[str, str] = {}
        for line in serve.stdout:
            if found := re.match(r"export (\w+)=(\S+)", line):
                variables[found[1]] = found[2]
            if line.startswith("curl"):
                break
        yield variables
        serve.terminate()


@pytest.fixture(scope="session")
def sandbox() -> Iterator[dict[str, str]]:
    """The variables that a running ``conformance serve`` prints."""
    with serve_sandbox() as variables:
        yield variables


@pytest.fixture(scope="session")
def npm_package(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    """Return a function that installs a package with npm and returns its folder; it skips the test on failure."""
    folder = tmp_path_factory.mktemp("npm")

    def bring(name: str, version: str) -> Path:
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("npm is not installed")
        options = ["--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=0", "--prefix", str(folder)]
        command = [npm, "install", *options, f"{name}@{version}"]
        try:
            subprocess.run(command, capture_output=True, timeout=NPM_PATIENCE, check=True)
        except subprocess.SubprocessError as error:
            pytest.skip(f"npm does not bring {name} here: {type(error).__name__}")
        return folder / "node_modules" / name

    return bring


@pytest.fixture(scope="session")
def axe(npm_package: Callable[[str, str], Path]) -> str:
    """The source of axe-core."""
    return (npm_package("axe-core", "4") / "axe.min.js").read_text("utf-8")


@pytest.fixture(scope="session")
def recorded_run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> RecordedRun:
    """Return a function that returns the folder of a quick run of the embedded service with some options.

    The workers of pytest-xdist share it, so tests change only a copy.
    """
    base = tmp_path_factory.getbasetemp()
    runs = (base.parent if hasattr(request.config, "workerinput") else base) / "recorded"
    runs.mkdir(exist_ok=True)

    def recorded(*options: str) -> Path:
        folder = runs / hashlib.sha256(repr(options).encode()).hexdigest()[:16]
        with folder.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not folder.with_suffix(".ended").exists():
                command = [sys.executable, "-m", "conformance", "run", "--embedded", "--effort", "quick", *options]
                done = subprocess.run([*command, "--report", str(folder)], check=False, capture_output=True, text=True)
                assert done.returncode == 0, done.stderr
                folder.with_suffix(".ended").touch()
        return folder

    return recorded


@pytest.fixture(scope="session")
def whole_run(recorded_run: RecordedRun) -> Path:
    """The folder of a conformant run of every class, which tests must not change."""
    return recorded_run("--seed", "3")
