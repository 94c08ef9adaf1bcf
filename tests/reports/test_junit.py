"""Content of junit.xml, read with junitparser."""

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
    """Return the outcome properties of a suite's cases; junitparser reads only the properties of suites."""
    root = ET.fromstring(junit_bytes(report))  # noqa: S314 - the suite's own text
    found = root.findall(f"testsuite[@name='{name}']/testcase/properties/property[@name='outcome']")
    return [element.get("value") for element in found]


def test_suites_are_classes_and_cases_are_requirements(run: tuple[Report, list[Exchange]]) -> None:
    """Every requirement is in the suite of its class, with its section."""
    report, _ = run
    suites = list(JUnitXml.fromstring(junit_bytes(report)))

    assert [suite.name for suite in suites] == [entry["id"] for entry in report["classes"]]
    for suite in suites:
        members = [requirement for requirement in report["requirements"] if requirement["class"] == suite.name]
        places = [f"conformance.{requirement['class']}.section_{requirement['section']}" for requirement in members]
        assert [case.classname for case in suite] == places
        assert _outcomes(report, suite.name) == [requirement["outcome"] for requirement in members]


def test_the_counts_are_those_of_the_cases(failing: tuple[Report, list[Exchange]]) -> None:
    """Two cases failed; a waived, an undecided and two untested ones are skipped."""
    document = JUnitXml.fromstring(junit_bytes(failing[0]))

    assert (document.tests, document.failures, document.errors, document.skipped) == (23, 2, 0, 4)
    core = next(suite for suite in document if suite.name == "core")
    assert (core.tests, core.failures, core.errors, core.skipped) == (21, 2, 0, 2)


def test_all_findings_of_a_case_stand_in_one_failure(failing: tuple[Report, list[Exchange]]) -> None:
    """The first element contains all findings, and its message gives their number."""
    broken = failing[0]["requirements"][10]
    (failed,) = _cases(failing[0])[broken["id"]].result

    assert isinstance(failed, Failure)
    assert failed.message == f"{broken['failures'][0]['message']} (and 1 more)"
    assert failed.type == broken["failures"][0]["check"]
    assert broken["title"] in failed.text
    for failure in broken["failures"]:
        for text in (failure["message"], f"expected: {failure['expected']}", failure["curl"]):
            assert text in failed.text
    assert "exchanges: 4, 5" in failed.text
    assert "and 35 more" in failed.text


def test_a_failure_of_the_baseline_is_skipped(failing: tuple[Report, list[Exchange]]) -> None:
    """A gate on the file passes if the exit status does."""
    requirements = [{**requirement, "known": True} for requirement in failing[0]["requirements"]]
    document = JUnitXml.fromstring(junit_bytes({**failing[0], "requirements": requirements}))  # type: ignore[typeddict-item]

    assert (document.failures, document.skipped) == (0, 6)


def test_undecided_waived_and_untested_requirements_are_skipped_with_reasons(
    failing: tuple[Report, list[Exchange]],
) -> None:
    """The messages distinguish undecided, waived and untested requirements."""
    messages = {
        case.name: case.result[0].message
        for case in _cases(failing[0]).values()
        if isinstance(next(iter(case.result), None), Skipped)
    }

    listed = failing[0]["requirements"]
    assert messages[listed[8]["id"]].startswith("undecided: No complete response within 10 s")
    assert messages[listed[16]["id"]].startswith("waived: Waived until 1 June")
    assert messages["mail-1"] == "not tested: a readable mailbox is needed"
    assert len(messages) == 4


def test_the_waived_failure_is_kept_as_output(failing: tuple[Report, list[Exchange]]) -> None:
    """The finding of a waived failure is in the output of the case."""
    case = _cases(failing[0])[failing[0]["requirements"][16]["id"]]

    assert "the integer 404" in case.system_out


def test_the_verdict_and_the_seed_are_properties(failing: tuple[Report, list[Exchange]]) -> None:
    """The file contains the verdict, the seed and the mode of the run."""
    suite = next(iter(JUnitXml.fromstring(junit_bytes(failing[0]))))

    properties = {element.name: element.value for element in suite.properties()}  # type: ignore[no-untyped-call]  # junitparser leaves it untyped
    assert (properties["verdict"], properties["seed"], properties["mode"]) == ("non-conformant", "1", "default")


def test_hostile_text_stays_text_and_bounded(hostile: tuple[Report, list[Exchange]]) -> None:
    """Forbidden characters are shown by number, markup is escaped, and long text is cut."""
    data = junit_bytes(hostile[0])
    case = next(iter(_cases(hostile[0]).values()))

    assert len(data) < 200_000
    assert "⟨U+001B⟩[31mred⟨U+0000⟩" in case.result[0].message
    assert "]]></style></script>" in case.result[0].message
    assert b"]]>" not in data
    assert b"<script" not in data
