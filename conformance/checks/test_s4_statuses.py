"""Section 4: the only success status that the interface states for some operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.markers import requirement
from conformance.oracle.laws import responses as laws
from conformance.oracle.laws.no_ops import role_changes_again
from conformance.scenarios.generated.document_rules import STATED
from conformance.scenarios.whole_run_laws import expect_law
from conformance.verdicts.stages import Stage

if TYPE_CHECKING:
    from conformance.running.run import Run


@pytest.mark.stage(Stage.LAWS)
@pytest.mark.parametrize("operation", [pytest.param(name, marks=requirement(what)) for name, what in STATED.items()])
def test_successes_have_the_stated_status(run: Run, operation: str) -> None:
    """A success has exactly the status that the interface states, for any valid request."""
    free = role_changes_again(run.wire.exchanges)
    expect_law(run, lambda exchange: exchange.number not in free and laws.stated_status(exchange), operation)
