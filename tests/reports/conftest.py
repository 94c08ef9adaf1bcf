"""Shared fixtures of the report tests: runs to render."""

from __future__ import annotations

import importlib.util
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType

    from conformance.reports.model import Report
    from conformance.wire.exchange import Exchange


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
