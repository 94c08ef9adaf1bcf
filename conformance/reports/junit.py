"""Rendering of junit.xml: a test suite for each conformance class, a test case for each requirement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from conformance.reports.text import COMMAND, as_reference, excerpt, one_line_excerpt
from conformance.reports.wording import (
    basis_of,
    excuse,
    numbers,
    of_chosen,
    outcome_word,
    repeating_lines,
    seconds_of,
    verdict_sentence,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reports.model import ConformanceClass, Failure, Report, Requirement

_MESSAGE_LIMIT: Final = 1_000
_TEXT_LIMIT: Final = 20_000


def junit_bytes(report: Report) -> bytes:
    """Return the content of junit.xml.

    An undecided requirement is ``skipped``, not ``error``: a pipeline fails on an error, although the run's exit status
    says that nothing failed. The message contains the reason. A failure that is waived or in the baseline is
    ``skipped`` too, with its text as the test case's output. Every outcome is also a property in the terms of EARL.
    """
    report = of_chosen(report)
    root = Element("testsuites", name="conformance", time=f"{report['run']['seconds']:.3f}")
    for entry in report["classes"]:
        members = [requirement for requirement in report["requirements"] if requirement["class"] == entry["id"]]
        _suite(root, report, entry, members)
    _count(root, root.findall("testsuite/testcase"))
    indent(root)
    text = tostring(root, encoding="unicode")
    harmless = COMMAND.sub(as_reference, text)
    return f"<?xml version='1.0' encoding='utf-8'?>\n{harmless}\n".encode()


def _suite(root: Element, report: Report, entry: ConformanceClass, members: list[Requirement]) -> None:
    suite = SubElement(root, "testsuite", name=_attribute(entry["id"]))
    suite.set("timestamp", _attribute(report["run"]["started_at"]))
    suite.set("time", f"{sum(map(seconds_of, members)):.3f}")
    _properties(
        suite,
        {
            "title": entry["title"],
            "outcome": entry["outcome"],
            "verdict": report["verdict"],
            "sentence": verdict_sentence(report),
            "target": report["target"]["name"],
            "base_url": report["target"]["base_url"],
            "seed": str(report["run"]["seed"]),
            "effort": report["run"]["effort"],
            "mode": report["run"]["mode"],
            "interrupted": str(report["run"]["interrupted"]).lower(),
            "suite_version": report["suite"]["version"],
        },
    )
    for requirement in members:
        _case(suite, requirement)
    _count(suite, suite.findall("testcase"))


def _count(element: Element, cases: list[Element]) -> None:
    element.set("tests", str(len(cases)))
    element.set("failures", str(sum(case.find("failure") is not None for case in cases)))
    element.set("errors", "0")
    element.set("skipped", str(sum(case.find("skipped") is not None for case in cases)))


def _properties(element: Element, properties: dict[str, str]) -> None:
    listed = SubElement(element, "properties")
    for name, value in properties.items():
        SubElement(listed, "property", name=name, value=_attribute(value))


def _case(suite: Element, requirement: Requirement) -> None:
    case = SubElement(suite, "testcase", name=_attribute(requirement["id"]))
    case.set("classname", _attribute(f"conformance.{requirement['class']}.section_{requirement['section']}"))
    case.set("time", f"{seconds_of(requirement):.3f}")
    _properties(
        case,
        {
            "title": requirement["title"],
            "outcome": requirement["outcome"],
            "waived": str(requirement["waived"]).lower(),
            "operations": " ".join(requirement["operations"]),
        },
    )
    if requirement["outcome"] == "failed" and excuse(requirement) is None:
        _failed(case, requirement["failures"], requirement)
    elif requirement["outcome"] != "passed":
        _skipped(case, requirement)


def _failed(case: Element, failures: Sequence[Failure], requirement: Requirement) -> None:
    """Add all findings as one element: of several, readers show the first or report the case as passed."""
    first, more = failures[0], len(failures) - 1
    message = f"{first['message']} (and {more} more)" if more else first["message"]
    element = SubElement(case, "failure", type=_attribute(first["check"]), message=_attribute(message))
    element.text = "\n\n".join(_text(requirement, failure) for failure in failures)


def _skipped(case: Element, requirement: Requirement) -> None:
    reason = requirement["reason"] or requirement["title"]
    SubElement(case, "skipped", message=_attribute(f"{outcome_word(requirement)}: {reason}"))
    if requirement["failures"]:
        element = SubElement(case, "system-out")
        element.text = "\n\n".join(_text(requirement, failure) for failure in requirement["failures"])


def _text(requirement: Requirement, failure: Failure) -> str:
    lines = [
        requirement["title"],
        *([basis] if (basis := basis_of(requirement)) else []),
        failure["message"],
        f"expected: {failure['expected']}",
        f"actual: {failure['actual']}",
        *([f"place: {failure['pointer']}"] if failure.get("pointer") else []),
        f"check: {failure['check']}",
        f"exchanges: {numbers(failure['exchanges'])}",
        *repeating_lines(requirement, failure),
    ]
    return "\n".join(excerpt(line, _TEXT_LIMIT) for line in lines)


def _attribute(value: str) -> str:
    return one_line_excerpt(value, _MESSAGE_LIMIT)
