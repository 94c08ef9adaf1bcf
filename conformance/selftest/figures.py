"""Figures of a self-test, from all its trials."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from enum import StrEnum
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from conformance.selftest.subjects import share_of_pairs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from conformance.selftest.subjects import Subject
    from conformance.selftest.trial import Trial


class TrialState(StrEnum):
    """State of a trial."""

    KILLED = "killed"
    SURVIVED = "survived"
    MISNAMED = "misnamed"
    FOUND = "found"
    OVERLOOKED = "overlooked"
    KEPT = "kept"
    FALSE_ALARM = "false alarm"
    BROKEN = "broken"


GOOD = frozenset({TrialState.KILLED, TrialState.FOUND, TrialState.OVERLOOKED, TrialState.KEPT})
"""The states that a self-test may have; of drawn faults the suite need not find all."""

MISSED = frozenset({TrialState.SURVIVED, TrialState.MISNAMED})
"""The states of a fault that the suite does not report, or not by its requirement."""


def state_of(trial: Trial) -> TrialState:
    """Return the state of a trial: ``BROKEN`` if the suite failed, sent nothing or left records."""
    left = trial.left and not trial.subject.is_hard  # a hard service may refuse requests for an hour
    if trial.errors or left or not trial.requests:
        return TrialState.BROKEN
    if trial.subject.kind == "drawn":
        return TrialState.FOUND if trial.reported else TrialState.OVERLOOKED
    if trial.subject.kind != "fault":
        return TrialState.FALSE_ALARM if trial.reported else TrialState.KEPT
    if not trial.reported:
        return TrialState.SURVIVED
    return TrialState.KILLED if trial.subject.breaks[0] in trial.reported else TrialState.MISNAMED


def precision(breaks: Collection[str], reported: Collection[str]) -> float:
    """Return the share of the reported requirements that the fault breaks."""
    return len({*breaks} & {*reported}) / len(reported) if reported else 0.0


@dataclass(slots=True)
class Figures:
    """The finished trials and their figures.

    Attributes:
        trials: The trials in the order of their end.
        counts: The number of trials of each state.
    """

    trials: list[Trial] = field(default_factory=list)
    counts: dict[TrialState, int] = field(default_factory=lambda: dict.fromkeys(TrialState, 0))

    def add(self, trial: Trial) -> TrialState:
        """Add a trial and return its state."""
        state = state_of(trial)
        self.trials.append(trial)
        self.counts[state] += 1
        return state

    def to_repeat(self) -> list[Subject]:
        """Return the missed faults; a repetition may find them with more time or more checks."""
        return [trial.subject for trial in self.trials if state_of(trial) in MISSED]

    def repeat(self, trial: Trial) -> TrialState:
        """Replace the first trial of a fault by a second one and return its state."""
        first = next(earlier for earlier in self.trials if earlier.subject == trial.subject)
        self.counts[state_of(first)] -= 1
        self.trials.remove(first)
        return self.add(replace(trial, alone=True))

    @property
    def good(self) -> bool:
        """Whether every trial has a wanted state."""
        return all(state in GOOD or not count for state, count in self.counts.items())

    def summary(self) -> dict[str, Any]:
        """Return the figures by name; shares are from 0 to 1, figures without a whole trial are None."""
        faults = [trial for trial in self.trials if trial.subject.kind == "fault"]
        conforming = [trial for trial in self.trials if not trial.subject.is_faulty]
        drawn = self.counts[TrialState.FOUND] + self.counts[TrialState.OVERLOOKED]
        found = [trial for trial in faults if trial.reported]
        named = [trial for trial in found if trial.subject.breaks[0] in trial.reported]
        whole = [trial for trial in found if trial.whole]
        after = [trial.found_after for trial in whole if trial.found_after]
        return {
            "faults": len(faults),
            "killed": self.counts[TrialState.KILLED],
            "survived": self.counts[TrialState.SURVIVED],
            "misnamed": self.counts[TrialState.MISNAMED],
            "broken": self.counts[TrialState.BROKEN],
            "repeated": sum(trial.alone for trial in faults),
            "named_share": _share(len(named), len(faults)),
            "focused": sum(not trial.whole for trial in faults),
            "reported_mean": _mean(len(trial.reported) for trial in whole),
            "reported_most": max((len(trial.reported) for trial in whole), default=None),
            "precision_mean": _mean(precision(trial.subject.breaks, trial.reported) for trial in whole),
            "found_after_median": median(after) if after else None,
            "drawn": drawn or None,
            "drawn_found": self.counts[TrialState.FOUND] if drawn else None,
            "drawn_share": _share(self.counts[TrialState.FOUND], drawn) if drawn else None,
            "latitudes": sum(trial.subject.kind == "latitude" for trial in conforming),
            "combinations": sum(trial.subject.kind == "combination" for trial in conforming),
            "pairs_share": round(share_of_pairs(trial.subject for trial in conforming), 4),
            "false_alarms": self.counts[TrialState.FALSE_ALARM],
            "undecided": len(self.avoidable()),
            "requests": sum(trial.requests for trial in self.trials),
        }

    def overlooked(self) -> list[str]:
        """Return the ids of the drawn faults that were not found."""
        return sorted(trial.subject.id for trial in self.trials if state_of(trial) is TrialState.OVERLOOKED)

    def avoidable(self) -> dict[str, dict[str, str]]:
        """Return the undecided requirements with their reasons for each conforming service that should leave none."""
        return {
            trial.subject.id: dict(trial.undecided)
            for trial in self.trials
            if trial.undecided and not trial.subject.is_faulty and not trial.subject.is_hard
        }

    def coverage(self) -> dict[str, dict[str, list[str]]]:
        """Return for each requirement the faults, drawn ones aside, that break it and that it was reported for."""
        found: dict[str, dict[str, list[str]]] = defaultdict(lambda: {"broken_by": [], "reported_for": []})
        for trial in (trial for trial in self.trials if trial.subject.kind != "drawn"):
            for requirement in trial.subject.breaks:
                found[requirement]["broken_by"].append(trial.subject.id)
            for requirement in trial.reported:
                found[requirement]["reported_for"].append(trial.subject.id)
        return {name: {key: sorted(ids) for key, ids in entry.items()} for name, entry in sorted(found.items())}


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 1.0


def _mean(values: Iterable[float]) -> float | None:
    return round(fmean(known), 3) if (known := list(values)) else None
