"""Section 2: the fields of resources in every response of the run.

Section 4 lists the fields of each operation with its endpoint; this module judges them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.markers import observes, requirement
from conformance.checks.observations import observing
from conformance.oracle.laws import responses as laws
from conformance.oracle.laws.no_ops import archivings_again, no_op_changes
from conformance.oracle.laws.shapes import PROMISES
from conformance.oracle.rendering import render
from conformance.scenarios.access.unspecified import unspecified
from conformance.scenarios.whole_run_laws import expect_law
from conformance.verdicts.stages import Stage

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange


@pytest.fixture(scope="module")
def repeated(run: Run) -> frozenset[int]:
    """Return the numbers of successes for which the interface leaves the response open."""
    return no_op_changes(run.wire.exchanges)


@pytest.mark.stage(Stage.LAWS)
@pytest.mark.parametrize(
    "operation", [pytest.param(name, marks=requirement(promise)) for name, promise in PROMISES.items()]
)
def test_promised_fields(run: Run, operation: str, repeated: frozenset[int]) -> None:
    """Every success of an operation has the fields that its endpoint lists, each of its type."""
    expect_law(run, lambda exchange: exchange.number not in repeated and laws.fields(exchange), operation)


@pytest.mark.stage(Stage.LAWS)
@requirement("organization-slug-url-safe")
def test_slug_is_safe_in_a_url(run: Run) -> None:
    """The slug of the organization can be used in a URL without escaping."""
    expect_law(run, laws.slug_url_safe)


@pytest.mark.stage(Stage.LAWS)
@requirement("member-roles-known")
def test_roles_are_known(run: Run) -> None:
    """The role of every member is owner, admin or member."""
    expect_law(run, laws.member_roles_known)


@pytest.mark.stage(Stage.LAWS)
@requirement("member-email-is-address")
def test_emails_are_addresses(run: Run) -> None:
    """The email of every member is an e-mail address."""
    expect_law(run, laws.member_email_is_address)


@pytest.mark.stage(Stage.LAWS)
@requirement("engagement-status-known")
def test_statuses_are_known(run: Run) -> None:
    """The status of every engagement is active or archived."""
    free = archivings_again(run.wire.exchanges)
    expect_law(run, lambda exchange: exchange.number not in free and laws.engagement_status_known(exchange))


@pytest.mark.stage(Stage.LAWS)
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


@pytest.mark.stage(Stage.LAWS)
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
        for exchange in run.wire.exchanges
        if exchange.request.operation.id == operation
        for resource in laws.readable_resources(exchange)
    ]


OBSERVATIONS: Final = (observing("identifier-never-issued", unspecified, lambda seen: seen.never_issued),)
