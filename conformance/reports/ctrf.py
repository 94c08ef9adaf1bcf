"""Rendering of ctrf.json: the run in the Common Test Report Format, which CI dashboards read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.reports.text import excerpt, json_document
from conformance.reports.wording import (
    OUTCOMES,
    chosen,
    excuse,
    milliseconds,
    outcome_word,
    seconds_of,
    trace,
    verdict_sentence,
)

if TYPE_CHECKING:
    from conformance.reports.model import Report, Requirement

_STATUSES: Final = {
    "passed": "passed",
    "failed": "failed",
    "cantTell": "other",
    "inapplicable": "skipped",
    "untested": "skipped",
}


def ctrf_bytes(report: Report) -> bytes:
    """Return the content of ctrf.json; undecided and waived requirements have the status ``other``."""
    tests = [_test(requirement) for requirement in chosen(report)]
    document = {
        "reportFormat": "CTRF",
        "specVersion": "0.0.0",
        "timestamp": report["run"]["finished_at"],
        "generatedBy": report["suite"]["name"],
        "results": {
            "tool": {"name": report["suite"]["name"], "version": report["suite"]["version"]},
            "summary": _summary(report, [test["status"] for test in tests]),
            "tests": tests,
            "environment": _environment(report),
        },
    }
    return json_document(document)


def _summary(report: Report, statuses: list[str]) -> dict[str, Any]:
    counts = {status: statuses.count(status) for status in ("passed", "failed", "skipped", "pending", "other")}
    run = report["run"]
    return {
        "tests": len(statuses),
        **counts,
        "suites": len(report["classes"]),
        "start": milliseconds(run["started_at"]),
        "stop": milliseconds(run["finished_at"]),
        "extra": {"verdict": report["verdict"], "sentence": verdict_sentence(report)},
    }


def _environment(report: Report) -> dict[str, Any]:
    run = report["run"]
    return {
        "appName": excerpt(report["target"]["name"]),
        "extra": {
            "base_url": excerpt(report["target"]["base_url"]),
            "mode": run["mode"],
            "effort": run["effort"],
            "seed": run["seed"],
            "requests": run["requests"],
            "interrupted": run["interrupted"],
        },
    }


def _test(requirement: Requirement) -> dict[str, Any]:
    test: dict[str, Any] = {
        "name": excerpt(requirement["id"]),
        "status": "other" if excuse(requirement) else _STATUSES[requirement["outcome"]],
        "rawStatus": OUTCOMES[requirement["outcome"]],
        "duration": round(seconds_of(requirement) * 1000),
        "suite": [requirement["class"], f"section {requirement['section']}"],
        "tags": requirement["operations"],
        "extra": {
            "title": excerpt(requirement["title"]),
            "outcome": requirement["outcome"],
            "waived": requirement["waived"],
        },
    }
    if requirement["outcome"] != "passed":
        test["message"] = excerpt(_message(requirement))
    if requirement["failures"]:
        test["trace"] = trace(requirement)
    return test


def _message(requirement: Requirement) -> str:
    if requirement["failures"]:
        return "; ".join(failure["message"] for failure in requirement["failures"])
    return requirement["reason"] or outcome_word(requirement)
