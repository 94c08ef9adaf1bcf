"""Section 2: observations of identifiers and of values that the interface leaves open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.markers import observes
from conformance.checks.observations import observing
from conformance.oracle.exchanges import of_operation
from conformance.oracle.laws.responses import readable_resources
from conformance.oracle.rendering import render
from conformance.scenarios.access.unspecified import unspecified
from conformance.verdicts.stages import Stage

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange


@pytest.mark.stage(Stage.EVERY_RESPONSE)
@observes("plan-values-seen")
def test_plan_values(run: Run) -> None:
    """Observe the values of plan."""
    plans = {
        str(plan): exchange
        for exchange, resource in _resources(run, "getCurrentOrganization")
        if isinstance(plan := resource.get("plan"), str)
    }

    if plans:
        run.observe("plan-values-seen", ", ".join(render(plan) for plan in sorted(plans)), *plans.values())


@pytest.mark.stage(Stage.EVERY_RESPONSE)
@observes("last-seen-null")
def test_last_seen_null(run: Run) -> None:
    """Observe whether a member's lastSeenAt is null."""
    members = [(exchange, member) for exchange, member in _resources(run, "listMembers") if "lastSeenAt" in member]
    never = [exchange for exchange, member in members if member["lastSeenAt"] is None]

    if members:
        run.observe("last-seen-null", "yes" if never else "no", *(never or [members[0][0]])[:1])


def _resources(run: Run, operation: str) -> list[tuple[Exchange, dict[str, object]]]:
    """Return the readable resources of all successes of an operation."""
    return [
        (exchange, resource)
        for exchange in of_operation(run.wire.exchanges, operation)
        for resource in readable_resources(exchange)
    ]


OBSERVATIONS: Final = (observing("identifier-never-issued", unspecified, lambda seen: seen.never_issued),)
