"""What every check can ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from conformance.running.run import Run

_CONFIGURED: Final[list[pytest.Config]] = []
"""pytest's sessions that are under way, one within the other; each check asking for its own takes pytest a while."""


def pytest_configure(config: pytest.Config) -> None:
    """Keep the session's configuration at hand."""
    _CONFIGURED.append(config)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Forget it."""
    _CONFIGURED.remove(config)


@pytest.fixture(scope="session")
def run() -> Run:
    """The run that the check is part of."""
    from conformance.verdicts.plugin import current_run  # noqa: PLC0415 - the plugin imports what checks must not load

    return current_run(_CONFIGURED[-1])
