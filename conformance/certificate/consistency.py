"""Consistency of a report with itself, the catalogue and its recording."""

from __future__ import annotations

import copy
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from conformance.catalogue import RELEASES, load_catalogue
from conformance.reports.outcome import Outcome, of_checks
from conformance.verdicts import conclude
from conformance.verdicts.waivers import Waiver, apply_waivers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.reports.model import Report, Requirement
    from conformance.wire.exchange import Exchange


def problems(report: Report, exchanges: Sequence[Exchange]) -> list[str]:
    """Return the contradictions in a report, a clause each.

    Args:
        report: A report that is valid under its schema.
        exchanges: Its recording.
    """
    return [
        *_of_requirements(report["requirements"], report["run"].get("catalogue")),
        *_of_waivers(report),
        *_of_conclusions(report),
        *_of_numbers(report, exchanges),
    ]


def _of_requirements(requirements: Iterable[Requirement], release: str | None) -> list[str]:
    found = []
    entries = list(requirements)
    known = load_catalogue().of_release(release) if release in {None, *RELEASES} else {}
    if [entry["id"] for entry in entries] != list(known):
        found.append("the requirements are not those of the catalogue")
    for entry in entries:
        outcomes = [Outcome(check["outcome"]) for check in entry.get("checks", [])]
        if of_checks(outcomes) != entry["outcome"]:
            found.append(f"the checks of {entry['id']} do not result in {entry['outcome']}")
        if bool(entry["failures"]) != (entry["outcome"] == "failed"):
            found.append(f"the failures of {entry['id']} do not fit its outcome {entry['outcome']}")
    return found


def _of_waivers(report: Report) -> list[str]:
    """Return the requirements whose mark as waived disagrees with the waivers, a clause each."""
    given: Any = report.get("waivers", [])
    try:
        waivers = [Waiver(**{**waiver, "expires": date.fromisoformat(waiver["expires"])}) for waiver in given]
        fresh = copy.deepcopy(report["requirements"])
        for entry in fresh:
            entry["waived"] = False
        apply_waivers(fresh, waivers, datetime.fromisoformat(report["run"]["started_at"]).date())
    except (TypeError, ValueError, KeyError):
        return ["the waivers cannot be read"]
    pairs = zip(report["requirements"], fresh, strict=True)
    wrong = [entry["id"] for entry, now in pairs if entry["waived"] != now["waived"]]
    return [f"the mark of {name} as waived does not agree with the waivers" for name in wrong]


def _of_conclusions(report: Report) -> list[str]:
    found = []
    classes = conclude.classes(report["requirements"], {})
    stated = [(entry["id"], entry["outcome"], entry["requirements"]) for entry in report["classes"]]
    if stated != [(entry["id"], entry["outcome"], entry["requirements"]) for entry in classes]:
        found.append("the classes do not follow from the requirements")
    if report["verdict"] != conclude.overall(report["requirements"]).value:
        found.append(f"the verdict {report['verdict']} does not follow from the requirements")
    return found


def _of_numbers(report: Report, exchanges: Sequence[Exchange]) -> list[str]:
    found = []
    recorded = {exchange.number for exchange in exchanges}
    failures = [failure for entry in report["requirements"] for failure in entry["failures"]]
    checks = [check for entry in report["requirements"] for check in entry.get("checks", [])]
    cited = {number for citing in (*failures, *checks, *report["observations"]) for number in citing["exchanges"]}
    if unknown := sorted(cited - recorded):
        found.append(f"exchange {unknown[0]} is cited but not recorded")
    if max(recorded, default=0) != report["run"]["requests"]:
        found.append(f"{report['run']['requests']} requests are counted, and the last recorded number is another")
    if report["run"]["finished_at"] < report["run"]["started_at"]:
        found.append("the run ended before it began")
    return found
