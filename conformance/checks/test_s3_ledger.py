"""Every section: what the service holds of what the run made, whichever check sent it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.ledger_over_run import conclude, ledger_of_run
from conformance.checks.marks import journey, requirement
from conformance.oracle.ledger import RULES
from conformance.verdicts.stages import Stage

if TYPE_CHECKING:
    from conformance.oracle.ledger import Ledger
    from conformance.running.run import Run

ledger_journey = journey(ledger_of_run, alone=True)


@pytest.mark.stage(Stage.WEIGHING)
@pytest.mark.parametrize("rule", [pytest.param(rule, marks=requirement(rule), id=rule) for rule in RULES])
def test_ledger(run: Run, ledger_of_run: Ledger, rule: str) -> None:
    """Every answer of the run agrees with what was done before it."""
    conclude(run, rule, ledger_of_run)
