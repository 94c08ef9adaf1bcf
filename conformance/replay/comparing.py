"""Compares what a run found with what judging it again finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.reports.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from conformance.replay.recording import Recording
    from conformance.replay.reevaluating import Rejudged
    from conformance.reports.model import Report, Requirement

_OF_FAILURE: Final = ("check", "message", "expected", "actual", "pointer", "exchanges")
_LONGEST: Final = 200


def differences(recording: Recording, again: Rejudged) -> list[str]:
    """Everything in which the two differ, a sentence each; nothing where they agree.

    A run that ended early is compared by its outcomes alone: which of its requests the end cut off is no property of
    the target. Of one that was interrupted, or ended at its first failure, amid whatever checks, only what had failed
    must fail again.
    """
    report = recording.report
    found = [f"{name} is not as the run has written it" for name in recording.changed]
    found += again.misfits
    now = {entry["id"]: entry for entry in again.requirements}
    interrupted = is_cut_off(report)
    whole = recording.provisioned.stopped is None and not interrupted
    for entry in report["requirements"]:
        then = now.pop(entry["id"], None)
        if then is not None and entry.get("chosen", True) != then.get("chosen", True):
            found.append(f"{entry['id']}: the report is wrong about whether the run was asked to judge it")
        if entry["outcome"] == "failed" or not interrupted:
            found += _of_requirement(entry, then, whole=whole)
    found += [f"requirement {name} is not in the report" for name in now]
    if whole:
        found += _of_observations(report["observations"], again.observations)
    return [one_line(line) for line in found]


def is_cut_off(report: Report) -> bool:
    """Whether a run ended amid its checks: by a signal, or at its first failure."""
    return report["run"]["interrupted"] or report["run"].get("failed_fast", False)


def _of_requirement(before: Requirement, now: Requirement | None, *, whole: bool) -> list[str]:
    name = before["id"]
    if now is None:
        return [f"requirement {name} is not in the catalogue"]
    if before["outcome"] != now["outcome"]:
        reason = f" ({now['reason']})" if now["reason"] else ""
        return [f"{name}: the report says {before['outcome']}, judged again it is {now['outcome']}{reason}"]
    if not whole:
        return []
    failures = [_picked(failure) for failure in before["failures"]]
    if failures != (again := [_picked(failure) for failure in now["failures"]]):
        return [f"{name}: it failed otherwise: {_shown(failures)}, judged again {_shown(again)}"]
    if _evidence(before) != _evidence(now):
        return [f"{name}: other checks or exchanges decide it: {_shown(_evidence(before))}, {_shown(_evidence(now))}"]
    return []


def _of_observations(before: Iterable[Mapping[str, Any]], now: Iterable[Mapping[str, Any]]) -> list[str]:
    told, again = ({one["id"]: (one["observed"], one["exchanges"]) for one in side} for side in (before, now))
    return [
        f"observation {name}: the report says {_shown(told.get(name))}, judged again it is {_shown(again.get(name))}"
        for name in dict.fromkeys([*told, *again])
        if told.get(name) != again.get(name)
    ]


def _picked(failure: Mapping[str, Any]) -> list[object]:
    return [failure.get(name) for name in _OF_FAILURE]


def _evidence(requirement: Requirement) -> Sequence[object]:
    return [(check["name"], check["outcome"], check["exchanges"]) for check in requirement.get("checks", [])]


def _shown(value: object) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
