"""Rendering of report.sarif: the failures in SARIF 2.1.0, for code scanning and editors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.reports.sealing import EXCHANGES
from conformance.reports.text import excerpt, json_document
from conformance.reports.wording import basis_of, chosen, excuse, explain_command, numbers, verdict_sentence

if TYPE_CHECKING:
    from conformance.reports.model import Failure, Report, Requirement

_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif_bytes(report: Report) -> bytes:
    """Return the content of report.sarif.

    A result is a failure of a check, at the line of exchanges.har with its last exchange; it is suppressed if it is
    waived or in the baseline. An undecided requirement is a notification of the run, not a result.
    """
    failed = [requirement for requirement in chosen(report) if requirement["outcome"] == "failed"]
    undecided = [requirement for requirement in chosen(report) if requirement["outcome"] == "cantTell"]
    run, suite = report["run"], report["suite"]
    document = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": suite["name"],
                        "version": suite["version"],
                        "rules": [_rule(requirement) for requirement in (*failed, *undecided)],
                    }
                },
                "automationDetails": {"id": excerpt(f"conformance/{report['target']['name']}/")},
                "columnKind": "unicodeCodePoints",
                "invocations": [
                    {
                        "executionSuccessful": not run["interrupted"],
                        "startTimeUtc": run["started_at"],
                        "endTimeUtc": run["finished_at"],
                        "toolExecutionNotifications": [
                            _notification(place, requirement)
                            for place, requirement in enumerate(undecided, len(failed))
                        ],
                    }
                ],
                "results": [
                    _result(place, requirement, failure)
                    for place, requirement in enumerate(failed)
                    for failure in requirement["failures"]
                ],
                "properties": {"verdict": report["verdict"], "sentence": verdict_sentence(report)},
            }
        ],
    }
    return json_document(document)


def _rule(requirement: Requirement) -> dict[str, Any]:
    return {
        "id": excerpt(requirement["id"]),
        "shortDescription": _message(requirement["title"]),
        "fullDescription": _message(basis_of(requirement) or requirement["title"]),
        "help": _message(explain_command(requirement)),
        "properties": {"tags": [requirement["class"], f"section {requirement['section']}"]},
    }


def _result(place: int, requirement: Requirement, failure: Failure) -> dict[str, Any]:
    result = {
        "ruleId": excerpt(requirement["id"]),
        "ruleIndex": place,
        "level": "error",
        "message": _message(*_facts(failure)),
        "locations": [_location(requirement, failure)],
        "partialFingerprints": {"requirementAndCheck/v1": excerpt(f"{requirement['id']} {failure['check']}")},
    }
    if excused := excuse(requirement):
        reason = excerpt(requirement["reason"] or f"This failure is {excused}.")
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": reason}]
    return result


def _facts(failure: Failure) -> list[str]:
    return [
        failure["message"],
        f"Expected: {failure['expected']}",
        f"Actual: {failure['actual']}",
        *([f"Place: {failure['pointer']}"] if failure.get("pointer") else []),
        f"Exchanges: {numbers(failure['exchanges'])}",
    ]


def _message(*lines: str) -> dict[str, str]:
    """Return a message of these lines in which nothing is a placeholder or a link."""
    text = "\n".join(map(excerpt, lines))
    return {"text": text.replace("{", "{{").replace("}", "}}").replace("](", "] (")}


def _location(requirement: Requirement, failure: Failure) -> dict[str, Any]:
    line = failure["exchanges"][-1] + 1 if failure["exchanges"] else 1
    return {
        "physicalLocation": {"artifactLocation": {"uri": EXCHANGES}, "region": {"startLine": line}},
        "logicalLocations": [{"name": name, "kind": "function"} for name in requirement["operations"]],
    }


def _notification(place: int, requirement: Requirement) -> dict[str, Any]:
    return {
        "level": "warning",
        "message": _message(f"Undecided: {requirement['reason'] or requirement['title']}"),
        "associatedRule": {"id": excerpt(requirement["id"]), "index": place},
    }
