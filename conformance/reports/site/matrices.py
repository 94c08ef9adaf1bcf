"""What the pages of the site show: implementations, matrices and histories, arranged for their templates."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from conformance.reports.drift import Drift, compare
from conformance.reports.wording import OUTCOMES, is_waived, tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.reports.model import Observation, Report, Requirement
    from conformance.reports.site.stored import StoredRun

LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_RANKS: Final = 6
"""Ranks of answers that have a colour of their own; the last one is shared."""
ORDER: Final = ("passed", "failed", "waived", "cantTell", "untested", "inapplicable")


@dataclass(frozen=True, slots=True)
class Implementation:
    """A service by its target name, and its runs, the oldest first."""

    name: str
    file: str
    runs: tuple[StoredRun, ...]

    @property
    def latest(self) -> StoredRun:
        """The run that counts today."""
        return self.runs[-1]


@dataclass(frozen=True, slots=True)
class RequirementRow:
    """A requirement and its outcome in the latest run of each implementation; None where that run does not know it."""

    requirement: Requirement
    outcomes: tuple[str | None, ...]

    @property
    def same(self) -> bool:
        """Whether no two implementations that decided it differ."""
        return len({outcome for outcome in self.outcomes if outcome in {"passed", "failed", "waived"}}) < 2  # noqa: PLR2004 - two differ

    @property
    def failed(self) -> int:
        """How many implementations fail it, waived or not."""
        return sum(outcome in {"failed", "waived"} for outcome in self.outcomes)


@dataclass(frozen=True, slots=True)
class ObservationRow:
    """An open point and who does what there.

    Attributes:
        observation: The open point, as one run knows it.
        responses: What implementations do: a letter, the answer, and how many give it; the most frequent first.
        letters: The letter and the rank of each implementation's answer; empty and 0 where it was not observed.
    """

    observation: Observation
    responses: tuple[tuple[str, str, int], ...]
    letters: tuple[tuple[str, int], ...]

    @property
    def same(self) -> bool:
        """Whether all who were observed do the same."""
        return len(self.responses) < 2  # noqa: PLR2004 - two differ


@dataclass(frozen=True, slots=True)
class Step:
    """A run of an implementation, and what changed since the one before; None for the first."""

    run: StoredRun
    counts: tuple[tuple[str, int], ...]
    drift: Drift | None


def implementations(runs: Iterable[StoredRun]) -> list[Implementation]:
    """The implementations that the runs tested, by name; each gets the name of its page's file."""
    by_name: dict[str, list[StoredRun]] = {}
    for run in runs:
        by_name.setdefault(run.name, []).append(run)
    names = sorted(by_name, key=lambda name: (name.casefold(), name))
    return [Implementation(name, f"{number:03}.html", tuple(by_name[name])) for number, name in enumerate(names, 1)]


def outcome_of(requirement: Requirement) -> str:
    """A requirement's outcome, ``waived`` where somebody answers for its failure."""
    return "waived" if is_waived(requirement) else requirement["outcome"]


def counts_of(report: Report) -> tuple[tuple[str, int], ...]:
    """How many requirements came to what; what none came to is left out."""
    count = tally(report)
    return tuple((outcome, count[outcome]) for outcome in ORDER if count[outcome])


def requirement_rows(listed: Sequence[Implementation]) -> list[RequirementRow]:
    """Requirements by implementations, in the order of the newest catalogue and then of older ones."""
    reports = [one.latest.report for one in listed]
    known: dict[str, Requirement] = {}
    for report in _newest_first(listed):
        for requirement in report["requirements"]:
            known.setdefault(requirement["id"], requirement)
    outcomes = [{one["id"]: outcome_of(one) for one in report["requirements"]} for report in reports]
    rows = [RequirementRow(one, tuple(column.get(name) for column in outcomes)) for name, one in known.items()]
    return sorted(rows, key=lambda row: int(row.requirement["section"]))


def observation_rows(listed: Sequence[Implementation]) -> list[ObservationRow]:
    """Open points by implementations; the answer that most give has the letter A."""
    known: dict[str, Observation] = {}
    for report in _newest_first(listed):
        for observation in report["observations"]:
            known.setdefault(observation["id"], observation)
    observed = [{one["id"]: one["observed"] for one in item.latest.report["observations"]} for item in listed]
    rows = [_observation_row(one, [column.get(name) for column in observed]) for name, one in known.items()]
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
    """A to Z, then AA, AB and so on."""
    before, place = divmod(place, len(LETTERS))
    return (letter(before - 1) if before else "") + LETTERS[place]


def _newest_first(listed: Sequence[Implementation]) -> list[Report]:
    return [one.latest.report for one in sorted(listed, key=lambda one: one.latest.began, reverse=True)]


def history(implementation: Implementation) -> list[Step]:
    """The runs of an implementation, the newest first, each with what changed since the one before."""
    drifts = [None, *(compare(old.report, new.report) for old, new in pairwise(implementation.runs))]
    steps = [Step(run, counts_of(run.report), drift) for run, drift in zip(implementation.runs, drifts, strict=True)]
    return steps[::-1]


def words() -> dict[str, str]:
    """Outcomes in words."""
    return {"waived": "waived"} | dict(OUTCOMES.items())
