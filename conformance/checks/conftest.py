"""Fixtures for all checks: the run, and the result of each scenario."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance import scenarios
from conformance.checks.markers import scenario_fixture
from conformance.checks.observations import TABLE
from conformance.running.scenarios import MARKED

if TYPE_CHECKING:
    from conformance.running.run import Run

_CONFIGURED: Final[list[pytest.Config]] = []
"""pytest's running sessions, nested ones last; finding them through each check's request would be slow."""


def pytest_configure(config: pytest.Config) -> None:
    """Keep the session's configuration."""
    _CONFIGURED.append(config)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Drop the session's configuration."""
    _CONFIGURED.remove(config)


def pytest_pycollect_makeitem(collector: pytest.Module, name: str, obj: Any) -> list[pytest.Item] | None:  # noqa: ANN401 - any object
    """Collect the rows of a module's table of observations."""
    if name != TABLE:
        return None
    return [pytest.Function.from_parent(collector, name=test.__name__, callobj=test) for test in obj]


@pytest.fixture(scope="session")
def run() -> Run:
    """Return the run that the check is part of."""
    from conformance.verdicts.plugin import current_run  # noqa: PLC0415 - the plugin imports what checks must not load

    return current_run(_CONFIGURED[-1])


for _module in pkgutil.walk_packages(scenarios.__path__, f"{scenarios.__name__}."):
    import_module(_module.name)
globals().update({f"_{name}": scenario_fixture(function, alone=alone) for name, (function, alone) in MARKED.items()})
