"""Data of the site's pages: implementations, matrices and histories, arranged for the templates."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from conformance.reports.drift import Drift, compare
from conformance.reports.wording import outcome_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.reports.model import Observation, Report, Requirement
    from conformance.reports.site.stored import StoredRun

_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_RANKS: Final = 6
"""Ranks of observed behaviours that have a colour; further ones share the last colour."""


@dataclass(frozen=True, slots=True)
class Implementation:
    """A service by its target name, and its runs, oldest first."""

    name: str
    file: str
    runs: tuple[StoredRun, ...]

    @property
    def latest(self) -> StoredRun:
        """The latest run."""
        return self.runs[-1]


@dataclass(frozen=True, slots=True)
class RequirementRow:
    """A requirement and its outcome in the latest run of each implementation; None if that run does not know it."""

    requirement: Requirement
    outcomes: tuple[str | None, ...]

    @property
    def same(self) -> bool:
        """Whether all implementations with a decided outcome have the same outcome."""
        return len({outcome for outcome in self.outcomes if outcome in {"passed", "failed", "waived"}}) <= 1

    @property
    def failed(self) -> int:
        """The number of implementations that fail it, waived or not."""
        return sum(outcome in {"failed", "waived"} for outcome in self.outcomes)


@dataclass(frozen=True, slots=True)
class ObservationRow:
    """An open point and the behaviour of each implementation.

    Attributes:
        observation: The open point, as recorded in a run.
        responses: The observed behaviours, most frequent first: a letter, the behaviour and its number.
        letters: The letter and the rank of each implementation's behaviour; empty and 0 if not observed.
    """

    observation: Observation
    responses: tuple[tuple[str, str, int], ...]
    letters: tuple[tuple[str, int], ...]

    @property
    def same(self) -> bool:
        """Whether all observed implementations behave the same."""
        return len(self.responses) <= 1


@dataclass(frozen=True, slots=True)
class Step:
    """A run of an implementation, and its changes since the previous run; None for the first run."""

    run: StoredRun
    drift: Drift | None


def implementations(runs: Iterable[StoredRun]) -> list[Implementation]:
    """Return the implementations that the runs tested, sorted by name, each with the file name of its page."""
    by_name: dict[str, list[StoredRun]] = {}
    for run in runs:
        by_name.setdefault(run.name, []).append(run)
    names = sorted(by_name, key=lambda name: (name.casefold(), name))
    return [Implementation(name, f"{number:03}.html", tuple(by_name[name])) for number, name in enumerate(names, 1)]


def requirement_rows(listed: Sequence[Implementation]) -> list[RequirementRow]:
    """Return requirements by implementation, in the order of the newest catalogue, then of older ones."""
    reports = [implementation.latest.report for implementation in listed]
    known: dict[str, Requirement] = {}
    for report in _newest_first(listed):
        for requirement in report["requirements"]:
            known.setdefault(requirement["id"], requirement)
    outcomes = [
        {requirement["id"]: outcome_of(requirement) for requirement in report["requirements"]} for report in reports
    ]
    rows = [
        RequirementRow(requirement, tuple(column.get(name) for column in outcomes))
        for name, requirement in known.items()
    ]
    return sorted(rows, key=lambda row: int(row.requirement["section"]))


def observation_rows(listed: Sequence[Implementation]) -> list[ObservationRow]:
    """Return open points by implementation; the most frequent behaviour has the letter A."""
    known: dict[str, Observation] = {}
    for report in _newest_first(listed):
        for observation in report["observations"]:
            known.setdefault(observation["id"], observation)
    observed = [
        {observation["id"]: observation["observed"] for observation in item.latest.report["observations"]}
        for item in listed
    ]
    rows = [
        _observation_row(observation, [column.get(name) for column in observed]) for name, observation in known.items()
    ]
    return sorted(rows, key=lambda row: int(row.observation["section"]))


def _observation_row(observation: Observation, observed: list[str | None]) -> ObservationRow:
    counted = Counter(response for response in observed if response is not None)
    responses = sorted(counted, key=lambda response: (-counted[response], response))
    letters = {response: (letter(place), min(place + 1, _RANKS)) for place, response in enumerate(responses)}
    return ObservationRow(
        observation,
        tuple((letters[response][0], response, counted[response]) for response in responses),
        tuple(("", 0) if response is None else letters[response] for response in observed),
    )


def letter(place: int) -> str:
    """Return a letter by number: A to Z, then AA, AB and so on."""
    before, place = divmod(place, len(_LETTERS))
    return (letter(before - 1) if before else "") + _LETTERS[place]


def _newest_first(listed: Sequence[Implementation]) -> list[Report]:
    return [
        implementation.latest.report
        for implementation in sorted(listed, key=lambda implementation: implementation.latest.began, reverse=True)
    ]


def history(implementation: Implementation) -> list[Step]:
    """Return the runs of an implementation, newest first, each with the changes since the previous run."""
    drifts = [None, *(compare(old.report, new.report) for old, new in pairwise(implementation.runs))]
    return list(map(Step, implementation.runs, drifts))[::-1]
