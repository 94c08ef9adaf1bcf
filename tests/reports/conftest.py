"""Shared fixtures of the report tests: runs to render."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from conformance.reports.model import Report
    from conformance.wire.exchange import Exchange

NPM_PATIENCE = 60
"""Timeout for a package from npm in seconds; without a response of its registry, npm would retry for minutes."""


def _load(name: str) -> ModuleType:
    """Return a module beside the tests, which are not a package."""
    spec = importlib.util.spec_from_file_location(f"report_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def samples() -> ModuleType:
    """The module of sample runs."""
    return _load("samples")


@pytest.fixture(scope="session")
def browser() -> ModuleType:
    """The module that drives Chromium."""
    module = _load("browser")
    if module.CHROMIUM is None:
        pytest.skip("no Chromium is installed")
    return module


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


@pytest.fixture(params=["passing", "failing", "hostile"])
def run(request: pytest.FixtureRequest, samples: ModuleType) -> tuple[Report, list[Exchange]]:
    """Each sample run: its report and its exchanges."""
    return deepcopy(getattr(samples, request.param)())  # type: ignore[no-any-return]


@pytest.fixture
def passing(samples: ModuleType) -> tuple[Report, list[Exchange]]:
    """The run of a conforming service."""
    return samples.passing()  # type: ignore[no-any-return]


@pytest.fixture
def failing(samples: ModuleType) -> tuple[Report, list[Exchange]]:
    """The run of a faulty service."""
    return samples.failing()  # type: ignore[no-any-return]


@pytest.fixture
def hostile(samples: ModuleType) -> tuple[Report, list[Exchange]]:
    """The run of a service that sends dangerous text."""
    return samples.hostile()  # type: ignore[no-any-return]
