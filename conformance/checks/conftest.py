"""Fixtures for all checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

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


@pytest.fixture(scope="session")
def run() -> Run:
    """Return the run that the check is part of."""
    from conformance.verdicts.plugin import current_run  # noqa: PLC0415 - the plugin imports what checks must not load

    return current_run(_CONFIGURED[-1])
