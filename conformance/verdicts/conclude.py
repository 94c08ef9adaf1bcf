"""Derivation of a report's requirements, classes and verdict from the results of checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.catalogue import CLASSES, Catalogue, load_catalogue
from conformance.reports.outcome import Outcome, Verdict, of_checks, of_requirements, verdict
from conformance.reports.script import Reproductions
from conformance.running.coverage import reached, shares

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from conformance.catalogue import Requirement
    from conformance.reports import model
    from conformance.running.run import Run
    from conformance.verdicts.results import CheckResult, Failure
    from conformance.wire.exchange import Exchange

    Observations = Mapping[str, Sequence[tuple[str, Sequence[Exchange]]]]

_MOST_CITED = 12
_NOT_CHOSEN = "Not chosen by the options of the run."


@dataclass(frozen=True, slots=True)
class Conclusions:
    """The members of a report that follow from the results of checks and the exchanges."""

    requirements: list[model.Requirement]
    classes: list[model.ConformanceClass]
    observations: list[model.Observation]
    coverage: dict[str, dict[str, int]]


def conclusions(run: Run, results: Iterable[CheckResult], unselected: str, recording: Reproductions) -> Conclusions:
    """Return the conclusions of a run from the results of its checks; see ``requirements``."""
    chosen = run.options.only
    concluded = requirements(results, unselected, chosen, recording, run.options.catalogue)
    return Conclusions(
        concluded,
        classes(concluded, unlocking(load_catalogue(), run.missing, chosen)),
        observations(run.observations),
        shares(reached(run.wire.exchanges)),
    )


def requirements(
    results: Iterable[CheckResult],
    unselected: str,
    chosen: Collection[str] = (),
    recording: Reproductions | None = None,
    release: str | None = None,
) -> list[model.Requirement]:
    """Return every requirement of a release of the catalogue with its outcome, in the catalogue's order.

    Args:
        results: The results of the checks.
        unselected: The reason for a requirement whose checks did not run.
        chosen: The ids of the chosen requirements; empty for all.
        recording: The exchanges, for the scripts that reproduce failures.
        release: The release; None for the newest.
    """
    recording = recording or Reproductions()
    by_requirement: dict[str, list[CheckResult]] = {}
    for result in results:
        by_requirement.setdefault(result.requirement, []).append(result)
    return [
        _requirement(entry, by_requirement.get(entry.id, []), unselected, recording)
        if not chosen or entry.id in chosen
        else _requirement(entry, [], _NOT_CHOSEN, recording) | {"chosen": False}
        for entry in load_catalogue().of_release(release).values()
    ]


def classes(
    concluded: Sequence[model.Requirement], unlock: Mapping[str, Sequence[str]]
) -> list[model.ConformanceClass]:
    """Return every class with its outcome.

    Args:
        concluded: The requirements, from ``requirements``.
        unlock: The lines that would unlock the rest of a class, by class.
    """
    found: list[model.ConformanceClass] = []
    for name, title in CLASSES.items():
        outcomes = [entry["outcome"] for entry in concluded if entry["class"] == name]
        found.append(
            {
                "id": name,
                "title": title,
                "outcome": of_requirements(outcomes).value,  # type: ignore[typeddict-item]  # one of four values
                "requirements": len(outcomes),
                "unlock": list(unlock.get(name, ())),
            }
        )
    return found


def overall(concluded: Sequence[model.Requirement]) -> Verdict:
    """Return the verdict of a run; waived failures in the core class must not hide untested requirements there."""
    of_core = (entry for entry in concluded if entry["class"] == "core")
    core = of_requirements(["passed" if entry["waived"] else entry["outcome"] for entry in of_core])
    failed = any(entry["outcome"] == "failed" and not entry["waived"] for entry in concluded)
    return verdict(core, [Outcome(entry["outcome"]) for entry in concluded], failed_unwaived=failed)


def observations(noted: Observations) -> list[model.Observation]:
    """Return the observations, in the catalogue's order."""
    return [
        {
            "id": point.id,
            "section": point.section,
            "question": point.question,
            "observed": "; ".join(text for text, _ in noted[point.id]),
            "exchanges": _numbers([exchange for _, exchanges in noted[point.id] for exchange in exchanges]),
        }
        for point in load_catalogue().open_points.values()
        if point.id in noted
    ]


def unlocking(catalogue: Catalogue, missing: Mapping[str, str], chosen: Collection[str] = ()) -> dict[str, list[str]]:
    """Return the lines that would unlock more of each class.

    Args:
        catalogue: All requirements.
        missing: The needs that are not met, each with the line that meets it.
        chosen: The ids of the chosen requirements; empty for all.
    """
    lines: dict[str, dict[str, None]] = {}
    for entry in catalogue.requirements.values():
        if chosen and entry.id not in chosen:
            continue
        for need in entry.needs:
            if need in missing:
                lines.setdefault(entry.conformance_class, {})[missing[need]] = None
    return {name: list(found) for name, found in lines.items()}


def _requirement(
    entry: Requirement, results: Sequence[CheckResult], unselected: str, recording: Reproductions
) -> model.Requirement:
    outcome = of_checks([result.outcome for result in results])
    reasons = dict.fromkeys(result.reason for result in results if result.outcome is outcome and result.reason)
    failures = [_failure(entry, result.failure, recording) for result in results if result.failure is not None]
    based_on = [*load_catalogue().statements_of(entry).values()] if failures else []
    concluded: model.Requirement = {
        "id": entry.id,
        "title": entry.title,
        "section": entry.section,
        "operations": list(entry.operations),
        "class": entry.conformance_class,
        "outcome": outcome.value,
        "waived": False,
        "reason": " ".join(reasons) or (None if results else unselected),
        "failures": failures,
        "checks": [
            {
                "name": result.check,
                "outcome": result.outcome.value,
                "seconds": round(result.seconds, 4),
                "exchanges": _numbers(result.exchanges),
            }
            for result in results
        ],
    }
    if based_on:
        concluded["statements"] = based_on
    return concluded


def _failure(entry: Requirement, failure: Failure, recording: Reproductions) -> model.Failure:
    content: model.Failure = {
        "check": failure.check,
        "message": failure.message,
        "expected": failure.expected,
        "actual": failure.actual,
        "pointer": failure.pointer,
        "exchanges": _numbers(failure.exchanges),
        "curl": recording.curl(failure.exchanges[-1]) if failure.exchanges else "",
    }
    if failure.exchanges:
        if gone := recording.gone(failure.exchanges[-1]):
            content["gone"] = gone
        texts = {"message": failure.message, "expected": failure.expected, "actual": failure.actual}
        content |= recording.reproduction(entry.id, failure.exchanges, **texts, pointer=failure.pointer)  # type: ignore[typeddict-item]  # two texts
    return content


def _numbers(exchanges: Iterable[Exchange]) -> list[int]:
    """Return the sorted numbers of the exchanges; of many, the first ones and the last."""
    numbers = sorted({exchange.number for exchange in exchanges})
    return numbers if len(numbers) <= _MOST_CITED else [*numbers[: _MOST_CITED - 1], numbers[-1]]
