"""What a check came to, from what it raised and judged."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.oracle.judgement import Inapplicable, NonConformity, Undecided, Untested
from conformance.verdicts.results import CheckResult, concluded
from conformance.wire.exchange import Exchange, Unanswered

MakeExchange = Callable[..., Exchange]


def result(raised: BaseException | None, evidence: list[Exchange], *, in_preamble: bool = False) -> CheckResult:
    """The result of a check named ``check``."""
    return concluded("check", "json-well-formed", raised, in_preamble=in_preamble, evidence=evidence, seconds=0.1)


def test_a_check_that_judged_something_has_passed(exchange: MakeExchange) -> None:
    """Evidence is what makes a success."""
    assert result(None, [exchange()]).outcome == "passed"


def test_a_check_that_judged_nothing_is_an_error_of_the_suite() -> None:
    """A check without evidence has not passed."""
    found = result(None, [])

    assert (found.outcome, found.error) == ("cantTell", True)


def test_a_non_conformity_fails_with_its_evidence(exchange: MakeExchange) -> None:
    """The failure says what was expected and what came."""
    made = exchange(number=7)

    found = result(NonConformity("wrong", made, expected="a", actual="b", pointer="/data"), [made])

    assert found.outcome == "failed"
    assert found.failure is not None
    assert (found.failure.expected, found.failure.actual, found.failure.pointer) == ("a", "b", "/data")
    assert [one.number for one in found.exchanges] == [7]


def test_a_non_conformity_in_the_preamble_decides_nothing(exchange: MakeExchange) -> None:
    """What goes wrong before the body of a check is not what it judges."""
    found = result(NonConformity("wrong", exchange(), expected="a", actual="b"), [], in_preamble=True)

    assert (found.outcome, found.failure) == ("cantTell", None)


@pytest.mark.parametrize(
    ("raised", "outcome", "error"),
    [
        (Undecided("no answer has data"), "cantTell", False),
        (Unanswered("the connection broke"), "cantTell", False),
        (Inapplicable("there is one member"), "inapplicable", False),
        (Untested("add a key"), "untested", False),
        (KeyError("id"), "cantTell", True),
        (RecursionError(), "cantTell", True),
    ],
)
def test_only_a_non_conformity_fails(raised: BaseException, outcome: str, *, error: bool) -> None:
    """An error of the suite never blames the target."""
    found = result(raised, [])

    assert (found.outcome, found.error, found.failure) == (outcome, error, None)


def test_reasons_are_sentences() -> None:
    """A reason begins with a capital and ends with a full stop."""
    assert result(Undecided("no answer has data"), []).reason == "No answer has data."
