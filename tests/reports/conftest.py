"""What the tests of the reports share: runs to render."""

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
"""Seconds that npm has for a package; where its registry does not answer it would try for many minutes."""


def _load(name: str) -> ModuleType:
    """A module that lies beside the tests, which are no package."""
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
    """Brings a package that only tests use with npm, and gives its folder; skips where that is not possible."""
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
    """One sample run after the other: its report and its exchanges."""
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
