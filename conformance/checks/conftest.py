"""What every check can ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conformance.running.run import Run


@pytest.fixture(scope="session")
def run(request: pytest.FixtureRequest) -> Run:
    """The run that the check is part of."""
    from conformance.verdicts.plugin import current_run  # noqa: PLC0415 - the plugin imports what checks must not load

    return current_run(request.config)
