"""junit.xml, read back with junitparser."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from junitparser import Failure, JUnitXml, Skipped

from conformance.reports.junit import junit_bytes

if TYPE_CHECKING:
    from junitparser import TestCase

    from conformance.reports.model import Report
    from conformance.wire.exchange import Exchange


def _cases(report: Report) -> dict[str, TestCase]:
    return {case.name: case for suite in JUnitXml.fromstring(junit_bytes(report)) for case in suite}


def _outcomes(report: Report, name: str) -> list[str | None]:
    """The outcomes that a suite's cases have as a property; junitparser reads properties of suites alone."""
    root = ET.fromstring(junit_bytes(report))  # noqa: S314 - our own text
    found = root.findall(f"testsuite[@name='{name}']/testcase/properties/property[@name='outcome']")
    return [element.get("value") for element in found]


def test_suites_are_classes_and_cases_are_requirements(run: tuple[Report, list[Exchange]]) -> None:
    """Every requirement stands in the suite of its class, with its section."""
    report, _ = run
    suites = list(JUnitXml.fromstring(junit_bytes(report)))

    assert [suite.name for suite in suites] == [entry["id"] for entry in report["classes"]]
    for suite in suites:
        members = [requirement for requirement in report["requirements"] if requirement["class"] == suite.name]
        places = [f"conformance.{requirement['class']}.section_{requirement['section']}" for requirement in members]
        assert [case.classname for case in suite] == places
        assert _outcomes(report, suite.name) == [requirement["outcome"] for requirement in members]


def test_the_counts_are_those_of_the_cases(failing: tuple[Report, list[Exchange]]) -> None:
    """Two failed; one waived, one undecided and two untested are skipped."""
    document = JUnitXml.fromstring(junit_bytes(failing[0]))

    assert (document.tests, document.failures, document.errors, document.skipped) == (23, 2, 0, 4)
    core = next(suite for suite in document if suite.name == "core")
    assert (core.tests, core.failures, core.errors, core.skipped) == (21, 2, 0, 2)


def test_all_findings_of_a_case_stand_in_one_failure(failing: tuple[Report, list[Exchange]]) -> None:
    """A reader that shows the first element alone shows them all; the message says how many there are."""
    broken = failing[0]["requirements"][10]
    (told,) = _cases(failing[0])[broken["id"]].result

    assert isinstance(told, Failure)
    assert told.message == f"{broken['failures'][0]['message']} (and 1 more)"
    assert told.type == broken["failures"][0]["check"]
    assert broken["title"] in told.text
    for failure in broken["failures"]:
        for text in (failure["message"], f"expected: {failure['expected']}", failure["curl"]):
            assert text in told.text
    assert "exchanges: 4, 5" in told.text
    assert "and 35 more" in told.text


def test_a_failure_of_the_baseline_is_skipped(failing: tuple[Report, list[Exchange]]) -> None:
    """A gate on the file is green where the exit status is."""
    requirements = [{**requirement, "known": True} for requirement in failing[0]["requirements"]]
    document = JUnitXml.fromstring(junit_bytes({**failing[0], "requirements": requirements}))  # type: ignore[typeddict-item]

    assert (document.failures, document.skipped) == (0, 6)


def test_what_did_not_fail_and_did_not_pass_is_skipped_with_its_reason(failing: tuple[Report, list[Exchange]]) -> None:
    """Undecided, waived and untested are told apart by their messages."""
    messages = {
        case.name: case.result[0].message
        for case in _cases(failing[0]).values()
        if isinstance(next(iter(case.result), None), Skipped)
    }

    listed = failing[0]["requirements"]
    assert messages[listed[8]["id"]].startswith("undecided: No complete response came")
    assert messages[listed[16]["id"]].startswith("waived: Waived until 1 June")
    assert messages["mail-1"] == "not tested: a readable mailbox is needed"
    assert len(messages) == 4


def test_the_waived_failure_is_kept_as_output(failing: tuple[Report, list[Exchange]]) -> None:
    """A waiver hides nothing."""
    case = _cases(failing[0])[failing[0]["requirements"][16]["id"]]

    assert "the integer 404" in case.system_out


def test_the_verdict_and_the_seed_are_properties(failing: tuple[Report, list[Exchange]]) -> None:
    """A reader of the file alone knows what the run was."""
    suite = next(iter(JUnitXml.fromstring(junit_bytes(failing[0]))))

    told = {element.name: element.value for element in suite.properties()}  # type: ignore[no-untyped-call]  # junitparser leaves it untyped
    assert (told["verdict"], told["seed"], told["mode"]) == ("non-conformant", "1", "default")


def test_hostile_text_stays_text_and_bounded(hostile: tuple[Report, list[Exchange]]) -> None:
    """Forbidden characters are shown by number, markup is escaped, megabytes are cut."""
    data = junit_bytes(hostile[0])
    case = next(iter(_cases(hostile[0]).values()))

    assert len(data) < 200_000
    assert "⟨U+001B⟩[31mred⟨U+0000⟩" in case.result[0].message
    assert "]]></style></script>" in case.result[0].message
    assert b"]]>" not in data
    assert b"<script" not in data
