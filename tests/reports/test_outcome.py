"""Outcomes and how they combine."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.reports.outcome import Outcome, Verdict, of_checks, of_requirements, verdict

OUTCOMES = st.lists(st.sampled_from(Outcome))


@pytest.mark.parametrize(
    ("checks", "outcome"),
    [
        ([], "untested"),
        (["passed", "passed"], "passed"),
        (["passed", "cantTell"], "cantTell"),
        (["passed", "failed", "cantTell"], "failed"),
        (["passed", "inapplicable"], "passed"),
        (["passed", "untested"], "passed"),
        (["inapplicable", "untested"], "untested"),
        (["inapplicable"], "inapplicable"),
    ],
)
def test_a_requirement_is_what_its_checks_decided(checks: list[str], outcome: str) -> None:
    """Failed outweighs undecided, and undecided outweighs passed."""
    assert of_checks([Outcome(check) for check in checks]) == outcome


@pytest.mark.parametrize(
    ("requirements", "outcome"),
    [
        (["passed", "inapplicable"], "passed"),
        (["passed", "untested"], "untested"),
        (["passed", "untested", "cantTell"], "cantTell"),
        (["failed", "cantTell", "untested"], "failed"),
        (["inapplicable"], "untested"),
        ([], "untested"),
    ],
)
def test_a_class_passes_only_where_nothing_stayed_open(requirements: list[str], outcome: str) -> None:
    """An untested or undecided requirement prevents the class from passing."""
    assert of_requirements([Outcome(requirement) for requirement in requirements]) == outcome


@given(OUTCOMES)
def test_the_order_of_outcomes_does_not_matter(outcomes: list[Outcome]) -> None:
    """The outcome does not depend on the order."""
    assert of_checks(outcomes) == of_checks(outcomes[::-1])
    assert of_requirements(outcomes) == of_requirements(outcomes[::-1])


@given(OUTCOMES)
def test_a_failure_always_shows(outcomes: list[Outcome]) -> None:
    """No other outcome hides a failure."""
    outcomes = [*outcomes, Outcome.FAILED]

    assert of_checks(outcomes) is Outcome.FAILED
    assert of_requirements(outcomes) is Outcome.FAILED


@pytest.mark.parametrize(
    ("core", "every", "failed", "expected"),
    [
        ("passed", ["passed", "untested"], False, Verdict.CONFORMANT),
        ("passed", ["passed", "failed"], True, Verdict.NON_CONFORMANT),
        ("passed", ["passed", "failed"], False, Verdict.CONFORMANT),
        ("passed", ["passed", "cantTell"], False, Verdict.INCONCLUSIVE),
        ("untested", ["passed", "untested"], False, Verdict.INCONCLUSIVE),
        ("cantTell", ["cantTell", "failed"], True, Verdict.NON_CONFORMANT),
    ],
)
def test_a_verdict_needs_a_decided_core(core: str, every: list[str], *, failed: bool, expected: Verdict) -> None:
    """Conformant needs a passed core and no undecided requirement."""
    assert verdict(Outcome(core), [Outcome(value) for value in every], failed_unwaived=failed) is expected
