"""Outcomes of generated requests that are valid by the interface."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from conformance.checks import test_generated as checks
from conformance.oracle.input_validity import Validity
from conformance.oracle.outcomes import CantTell, Inapplicable, NonConformity
from conformance.scenarios.generated.requests import Generated
from tests.fakes.exchanges import make_exchange

if TYPE_CHECKING:
    from collections.abc import Collection

OPERATION = "updateCurrentOrganization"


def judge(statuses: tuple[int, ...], ensure_no_rule: Any) -> None:
    """Judge responses to valid requests."""
    exchanges = tuple(make_exchange(OPERATION, status, {}) for status in statuses)
    run = cast("Any", SimpleNamespace(wire=SimpleNamespace(exchanges=exchanges)))
    checks._expect_accepted(run, Generated({Validity.VALID: exchanges}), ensure_no_rule)


def rule_is_found(_: Collection[str]) -> None:
    """Report that plain names are accepted."""
    raise CantTell("the service has a naming rule")


def no_rule_is_found(_: Collection[str]) -> None:
    """Report that plain names are refused, too."""


def test_names_against_a_rule_of_the_service_leave_nothing_undecided() -> None:
    """If the service has a naming rule, refused names are no reason against a verdict."""
    with pytest.raises(Inapplicable, match="naming rule"):
        judge((200, 422), rule_is_found)


def test_refused_names_without_a_rule_are_a_failure() -> None:
    """If the service accepts no plain names either, refused names are a failure."""
    with pytest.raises(NonConformity):
        judge((422,), no_rule_is_found)


def test_another_status_is_a_failure_beside_a_rule() -> None:
    """A naming rule excuses no other response."""
    with pytest.raises(NonConformity):
        judge((418, 422), rule_is_found)
