"""Comparison of a run's report with its re-evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.reports.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from conformance.replay.recording import Recording
    from conformance.replay.reevaluating import Reevaluation
    from conformance.reports.model import Report, Requirement

_OF_FAILURE: Final = ("check", "message", "expected", "actual", "pointer", "exchanges")
_LONGEST: Final = 200


def differences(recording: Recording, again: Reevaluation) -> list[str]:
    """Return the differences between a report and its re-evaluation, a sentence each.

    Of a run that ended early, only the outcomes are compared: the requests that its end cut off are no property of the
    target. Of a run that a signal or its first failure ended, only the failures are compared.
    """
    report = recording.report
    found = [f"{name} was changed after the run" for name in recording.changed]
    found += again.misfits
    now = {entry["id"]: entry for entry in again.conclusions.requirements}
    interrupted = is_cut_off(report)
    whole = recording.inputs.stopped is None and not interrupted
    for entry in report["requirements"]:
        then = now.pop(entry["id"], None)
        if then is not None and entry.get("chosen", True) != then.get("chosen", True):
            found.append(f"{entry['id']}: the report is wrong about whether the requirement was chosen")
        if entry["outcome"] == "failed" or not interrupted:
            found += _of_requirement(entry, then, whole=whole)
    found += [f"requirement {name} is not in the report" for name in now]
    if whole:
        found += _of_observations(report["observations"], again.conclusions.observations)
    return [one_line(line) for line in found]


def is_cut_off(report: Report) -> bool:
    """Whether a signal or the first failure ended the run during its checks."""
    return report["run"]["interrupted"] or report["run"].get("failed_fast", False)


def _of_requirement(before: Requirement, now: Requirement | None, *, whole: bool) -> list[str]:
    name = before["id"]
    if now is None:
        return [f"requirement {name} is not in the catalogue"]
    if before["outcome"] != now["outcome"]:
        reason = f" ({now['reason']})" if now["reason"] else ""
        return [f"{name}: the report says {before['outcome']}, re-evaluated it is {now['outcome']}{reason}"]
    if not whole:
        return []
    failures = [_picked(failure) for failure in before["failures"]]
    if failures != (again := [_picked(failure) for failure in now["failures"]]):
        return [f"{name}: the failures differ: {_shown(failures)}, re-evaluated {_shown(again)}"]
    if _evidence(before) != _evidence(now):
        return [f"{name}: the evidence differs: {_shown(_evidence(before))}, re-evaluated {_shown(_evidence(now))}"]
    return []


def _of_observations(before: Iterable[Mapping[str, Any]], now: Iterable[Mapping[str, Any]]) -> list[str]:
    first, again = (
        {observation["id"]: (observation["observed"], observation["exchanges"]) for observation in side}
        for side in (before, now)
    )
    return [
        f"observation {name}: the report says {_shown(first.get(name))}, re-evaluated it is {_shown(again.get(name))}"
        for name in dict.fromkeys([*first, *again])
        if first.get(name) != again.get(name)
    ]


def _picked(failure: Mapping[str, Any]) -> list[object]:
    return [failure.get(name) for name in _OF_FAILURE]


def _evidence(requirement: Requirement) -> Sequence[object]:
    return [(check["name"], check["outcome"], check["exchanges"]) for check in requirement.get("checks", [])]


def _shown(value: object) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
