"""Every section: engagements, members and organizations in all responses, whichever scenario sent the request."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.markers import observes, requirement
from conformance.confirm.torn_lists import record_torn
from conformance.oracle.ledger.ledger import ENGAGEMENT_RULES, ORGANIZATION_RULES
from conformance.scenarios.whole_run_ledger import LedgerResults, conclude, conclude_sent
from conformance.verdicts.stages import Stage

if TYPE_CHECKING:
    from conformance.running.run import Run


@pytest.mark.stage(Stage.WHOLE_RUN)
@pytest.mark.parametrize("rule", [pytest.param(rule, marks=requirement(rule), id=rule) for rule in ENGAGEMENT_RULES])
def test_ledger(ledger_of_run: LedgerResults, rule: str) -> None:
    """Every response of the run agrees with the requests before it."""
    conclude(rule, ledger_of_run)


@pytest.mark.stage(Stage.WHOLE_RUN)
@pytest.mark.parametrize("rule", [pytest.param(rule, marks=requirement(rule), id=rule) for rule in ORGANIZATION_RULES])
def test_people(run: Run, ledger_of_run: LedgerResults, rule: str) -> None:
    """Every response about members and organizations, with any key, agrees with the requests before it."""
    conclude_sent(run, rule, ledger_of_run)


@pytest.mark.stage(Stage.WHOLE_RUN)
@observes("lists-under-writes")
def test_observe_lists_under_writes(run: Run, ledger_of_run: LedgerResults) -> None:
    """Observe whether a list is consistent that is read while the run writes."""
    record_torn(run, *ledger_of_run.torn)
