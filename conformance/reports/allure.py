"""Rendering of Allure results: a file for each requirement, from which Allure builds its report."""

from __future__ import annotations

import hashlib
import uuid
from typing import TYPE_CHECKING, Any, Final

from conformance.reports.text import excerpt, json_document, visible
from conformance.reports.wording import (
    basis_of,
    chosen,
    excuse,
    explain_command,
    milliseconds,
    outcome_word,
    seconds_of,
    trace,
)

if TYPE_CHECKING:
    from conformance.reports.model import Check, Outcome, Report, Requirement

_STATUSES: Final[dict[Outcome, str]] = {
    "passed": "passed",
    "failed": "failed",
    "cantTell": "unknown",
    "inapplicable": "skipped",
    "untested": "skipped",
}


def allure_files(report: Report) -> dict[str, bytes]:
    """Return the files of a folder of results, by name.

    As in junit.xml, a failure that is waived or in the baseline is skipped. The same run has the same names.
    """
    results = [_result(report, requirement) for requirement in chosen(report)]
    return {f"{result['uuid']}-result.json": json_document(result) for result in results}


def _result(report: Report, requirement: Requirement) -> dict[str, Any]:
    target, run = report["target"]["name"], report["run"]
    began = milliseconds(run["started_at"])
    excused = excuse(requirement)
    labels = {
        "parentSuite": target,
        "suite": requirement["class"],
        "subSuite": f"section {requirement['section']}",
        "framework": report["suite"]["name"],
        **({"feature": requirement["operations"][0]} if requirement["operations"] else {}),
    }
    return {
        "uuid": str(uuid.UUID(_digest(target, run["started_at"], str(run["seed"]), requirement["id"]))),
        "historyId": _digest(target, requirement["id"]),
        "testCaseId": _digest(requirement["id"]),
        "fullName": excerpt(requirement["id"]),
        "name": excerpt(requirement["title"]),
        "description": excerpt("\n\n".join(filter(None, (basis_of(requirement), explain_command(requirement))))),
        "status": "skipped" if excused else _STATUSES[requirement["outcome"]],
        "statusDetails": {"known": excused is not None, "message": _message(requirement), "trace": trace(requirement)},
        "stage": "finished",
        "start": began,
        "stop": began + round(seconds_of(requirement) * 1000),
        "labels": [{"name": name, "value": excerpt(value)} for name, value in labels.items()],
        "steps": [_step(check, began) for check in requirement.get("checks", [])],
    }


def _step(check: Check, began: int) -> dict[str, Any]:
    return {
        "name": excerpt(check["name"]),
        "status": _STATUSES[check["outcome"]],
        "stage": "finished",
        "start": began,
        "stop": began + round(check["seconds"] * 1000),
    }


def _message(requirement: Requirement) -> str:
    if requirement["failures"]:
        return "\n".join(excerpt(failure["message"]) for failure in requirement["failures"])
    return excerpt(f"{outcome_word(requirement)}: {requirement['reason'] or requirement['title']}")


def _digest(*parts: str) -> str:
    """Return 32 hexadecimal digits that follow from texts."""
    return hashlib.sha256("\0".join(map(visible, parts)).encode()).hexdigest()[:32]
