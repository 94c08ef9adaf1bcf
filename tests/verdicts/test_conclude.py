"""Requirements, classes, observations and the verdict from the results of checks."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.catalogue import CLASSES, load_catalogue
from conformance.reports.curl import curl
from conformance.reports.outcome import Outcome
from conformance.verdicts import conclude
from conformance.verdicts.results import CheckResult, Failure
from conformance.wire.exchange import Exchange
from tests.fakes.exchanges import make_exchange

FORM = "json-well-formed"


def result(outcome: str, *exchanges: Exchange, reason: str | None = None, check: str = "a", of: str = FORM) -> Any:
    """Return a result; the evidence of a failure are its exchanges."""
    failed = Failure(check, "wrong", "this", "that", "/data", exchanges) if outcome == "failed" else None
    return CheckResult(check, of, Outcome(outcome), reason, failed, exchanges, 1.23456789)


def entry(*results: CheckResult, unselected: str = "Not asked for.") -> Any:
    """Return the report's requirement of these results."""
    return next(
        requirement
        for requirement in conclude.requirements(results, unselected)
        if requirement["id"] == results[0].requirement
    )


def test_every_requirement_is_there_in_order() -> None:
    """A requirement without a check that ran is untested, with the given reason."""
    found = conclude.requirements([result("passed")], "Not asked for.")

    assert [requirement["id"] for requirement in found] == list(load_catalogue().requirements)
    assert {(requirement["outcome"], requirement["reason"]) for requirement in found if requirement["id"] != FORM} == {
        ("untested", "Not asked for.")
    }
    assert not any(requirement["waived"] for requirement in found)


def test_a_requirement_is_what_its_checks_came_to() -> None:
    """A failure outweighs other outcomes; the entry lists each check with its outcome, and failures with evidence."""
    first, second = make_exchange(number=7), make_exchange(number=3)

    found = entry(result("passed", first), result("failed", first, second, first, check="b"))

    assert found["outcome"] == "failed"
    assert found["reason"] is None
    known = load_catalogue().requirements[FORM]
    assert (found["id"], found["title"], found["section"]) == (FORM, known.title, known.section)
    assert (found["class"], found["operations"]) == (known.conformance_class, list(known.operations))
    assert found["checks"] == [
        {"name": "a", "outcome": "passed", "seconds": 1.2346, "exchanges": [7]},
        {"name": "b", "outcome": "failed", "seconds": 1.2346, "exchanges": [3, 7]},
    ]
    assert [
        (failure["check"], failure["message"], failure["expected"], failure["actual"], failure["pointer"])
        for failure in found["failures"]
    ] == [("b", "wrong", "this", "that", "/data")]
    assert found["failures"][0]["exchanges"] == [3, 7]


def test_a_failure_is_repeated_by_its_last_exchange() -> None:
    """The command repeats the last exchange; without an exchange there is no command."""
    first, last = make_exchange("listMembers", number=1), make_exchange("getEngagement", number=2)

    assert entry(result("failed", first, last))["failures"][0]["curl"] == curl(last)
    assert entry(result("failed"))["failures"][0]["curl"] == ""


def test_a_failure_quotes_the_statements_of_the_interface() -> None:
    """A failed requirement has the statements that it is based on, in the words of the catalogue; a passed one none."""
    catalogue = load_catalogue()
    failed, passed = entry(result("failed", make_exchange())), entry(result("passed", make_exchange()))

    assert failed["statements"] == [*catalogue.statements_of(catalogue.requirements[FORM]).values()] != []
    assert "statements" not in passed


def test_only_the_first_of_many_exchanges_and_the_last_are_cited() -> None:
    """Of many exchanges the first eleven and the last are cited."""
    many = [make_exchange(number=number) for number in range(40, 0, -1)]

    assert entry(result("passed", *many))["checks"][0]["exchanges"] == [*range(1, 12), 40]


def test_reasons_are_those_of_the_outcome() -> None:
    """Reasons of other outcomes are left out; equal reasons are given once."""
    found = entry(
        result("cantTell", reason="It broke."),
        result("untested", reason="Add a key."),
        result("cantTell", reason="It broke."),
        result("cantTell", reason="It moved."),
        result("cantTell"),
    )

    assert (found["outcome"], found["reason"]) == ("cantTell", "It broke. It moved.")


def test_checks_that_ran_without_a_reason_are_not_unselected() -> None:
    """The reason for unselected requirements is only given if no check ran."""
    assert entry(result("passed"))["reason"] is None


def concluded(**outcomes: str) -> list[Any]:
    """Return requirements, each the only member of its class."""
    return [{"id": name, "class": name, "outcome": outcome, "waived": False} for name, outcome in outcomes.items()]


def test_every_class_is_there_with_its_outcome() -> None:
    """A class combines its requirements; without an applicable requirement it is untested."""
    both = [*concluded(core="passed", mail="failed", membership="inapplicable"), *concluded(core="untested")]

    found = conclude.classes(both, {"core": ["add a key"]})

    assert [(entered["id"], entered["title"]) for entered in found] == list(CLASSES.items())
    by_id = {entered["id"]: entered for entered in found}
    assert {name: entered["outcome"] for name, entered in by_id.items()} == dict.fromkeys(CLASSES, "untested") | {
        "core": "untested", "mail": "failed",
    }  # fmt: skip
    assert {name: entered["requirements"] for name, entered in by_id.items()} == dict.fromkeys(CLASSES, 0) | {
        "core": 2, "mail": 1, "membership": 1,
    }  # fmt: skip
    assert (by_id["core"]["unlock"], by_id["mail"]["unlock"]) == (["add a key"], [])


@pytest.mark.parametrize(
    ("core", "mail", "waived", "verdict"),
    [
        ("passed", "passed", False, "conformant"),
        ("passed", "failed", False, "non-conformant"),
        ("passed", "failed", True, "conformant"),
        ("failed", "passed", True, "conformant"),
        ("failed", "passed", False, "non-conformant"),
        ("untested", "passed", False, "inconclusive"),
        ("passed", "cantTell", False, "inconclusive"),
        ("inapplicable", "passed", False, "inconclusive"),
    ],
)
def test_the_verdict(core: str, mail: str, *, waived: bool, verdict: str) -> None:
    """An unwaived failure decides; otherwise the core must pass and no requirement be undecided."""
    found = concluded(core=core, mail=mail)
    for requirement in found:
        requirement["waived"] = waived and requirement["outcome"] == "failed"

    assert conclude.overall(found) == verdict


def test_a_waived_failure_hides_nothing_untested() -> None:
    """An untested core requirement makes the run inconclusive, with any waiver."""
    failed, untested, passed = concluded(core="failed"), concluded(core="untested"), concluded(mail="passed")
    for requirement in failed:
        requirement["waived"] = True

    assert conclude.overall([*failed, *passed]) == "conformant"
    assert conclude.overall([*failed, *untested, *passed]) == "inconclusive"


def test_observations_are_in_the_order_of_the_catalogue() -> None:
    """The observations of an open point are joined, with their exchanges; unobserved points are left out."""
    first, second, *_ = load_catalogue().open_points.values()
    noted: Any = {
        second.id: [("so", (make_exchange(number=9),)), ("and so", (make_exchange(number=4), make_exchange(number=9)))],
        first.id: [("thus", ())],
    }

    found = conclude.observations(noted)

    assert [observation["id"] for observation in found] == [first.id, second.id]
    assert found[1] == {
        "id": second.id,
        "section": second.section,
        "question": second.question,
        "observed": "so; and so",
        "exchanges": [4, 9],
    }


def test_lines_that_unlock_more_are_listed_by_class() -> None:
    """Each line is listed once for each class whose requirements need it; met needs are not listed."""
    lines = conclude.unlocking(load_catalogue(), {"mailbox": "mailbox: ...", "disposable": "disposable: true"})
    missing_means = {
        need: {
            requirement.conformance_class
            for requirement in load_catalogue().requirements.values()
            if need in requirement.needs
        }
        for need in ("mailbox", "disposable")
    }

    assert {name for name, found in lines.items() if "mailbox: ..." in found} == missing_means["mailbox"]
    assert {name for name, found in lines.items() if "disposable: true" in found} == missing_means["disposable"]
    assert all(len(found) == len(set(found)) for found in lines.values())
    assert conclude.unlocking(load_catalogue(), {}) == {}
