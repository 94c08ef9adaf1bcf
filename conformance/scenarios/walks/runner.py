"""The scenario of random walks: their number and length, and the report of a failed walk."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from conformance.oracle import read
from conformance.oracle.lists.collation import LABEL, syllables
from conformance.running.options import Effort
from conformance.running.scenarios import scenario
from conformance.scenarios.walks.actors import Actors
from conformance.scenarios.walks.engagement_walk import TakenStep, Walk
from conformance.scenarios.walks.failed_walk import FailedWalk, describe_walk
from conformance.scenarios.walks.plan import WRITES, Kind, Step, plan
from conformance.scenarios.walks.shrinking import shrink
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.oracle.ledger.findings import Finding, Findings
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange


@dataclass(frozen=True, slots=True)
class _Size:
    """The size of the walks of an effort.

    Attributes:
        walks: Number of walks.
        steps: Steps of each walk.
        slots: Engagements in use at once.
        further: Further engagements, so that lists have several pages of a hundred.
        shrinking: Most requests for finding the shortest failing sequence.
    """

    walks: int
    steps: int
    slots: int
    further: int
    shrinking: int


SIZES: Final = {
    Effort.QUICK: _Size(walks=1, steps=6, slots=2, further=0, shrinking=60),
    Effort.STANDARD: _Size(walks=2, steps=60, slots=5, further=0, shrinking=150),
    Effort.DEEP: _Size(walks=8, steps=190, slots=8, further=60, shrinking=400),
}
_ATTEMPTS: Final = 64


@dataclass(slots=True)
class Walks:
    """The result of all walks.

    Attributes:
        failed: The failed walks, shrunk, by the requirement that they broke.
        findings: The evidence of all walks for requirements.
    """

    failed: dict[str, FailedWalk] = field(default_factory=dict)
    findings: list[Findings] = field(default_factory=list)

    def kept(self, requirement: str) -> list[Exchange]:
        """Return responses that could have broken a requirement and did not."""
        return [exchange for finding in self.findings for exchange in finding.kept.get(requirement, ())]


@scenario
def random_walks(run: Run) -> Walks:
    """Create, edit, archive, unarchive, delete, read and list engagements in random sequences.

    A run that is not quick sends them with all its keys in turn.
    """
    size, walks = SIZES[run.effort], Walks()
    actors = Actors(run) if run.effort is Effort.QUICK else Actors.of(run)
    further = _create_further(run, size.further)
    for number in range(size.walks):
        steps = plan(run.random(f"walk {number}"), size.steps, size.slots)
        walk = Walk(actors, number * _ATTEMPTS, further)
        finding = walk.send_steps(steps)
        walks.findings.append(walk.ledger.findings)
        if finding is not None and finding.requirement not in walks.failed:
            walk, finding = _shortest(*_cleared(walk, finding), size.shrinking)
            walks.failed[finding.requirement] = describe_walk(walk, finding)
    return walks


def _create_further(run: Run, count: int) -> list[Exchange]:
    """Create engagements that stay unchanged, every third with a name that begins like the one before."""
    words = [syllables(number) + syllables(number * 7) for number in range(count)]
    alike = range(2, count, 3)
    names = [words[place - 1] + word if place in alike else word for place, word in enumerate(words)]
    return run.send_all([requests.create_engagement({"name": run.names.name(f"{LABEL}-{name}")}) for name in names])


def _cleared(walk: Walk, finding: Finding) -> tuple[Walk, Finding]:
    """Return the same walk with a read after each step, if the fault may have several causes."""
    steps = _guesses(walk.taken, finding)[1]
    if not finding.ambiguous or not steps:
        return walk, finding
    another = Walk(walk.actors, walk.number + _ATTEMPTS - 1, walk.further)
    found = another.send_steps([doubled for step in steps for doubled in (step, Step(Kind.GET, step.slot))])
    return (walk, finding) if found is None else (another, found)


def _shortest(walk: Walk, finding: Finding, budget: int) -> tuple[Walk, Finding]:
    """Return the shortest walk that shows the same fault, within a budget of requests."""
    first = walk.number - walk.number % _ATTEMPTS
    numbers = iter(range(first + 1, first + _ATTEMPTS - 1))
    shortest = walk

    def attempt(steps: Sequence[Step]) -> Finding | None:
        nonlocal shortest
        if (number := next(numbers, None)) is None:
            return None
        another = Walk(walk.actors, number, walk.further)
        found = another.send_steps(steps)
        if found is None or found.requirement != finding.requirement:
            return None
        shortest = another
        return found

    steps = [taken_step.step for taken_step in walk.taken]
    _, found = shrink(steps, finding, _guesses(walk.taken, finding), attempt, budget)
    return shortest, found


def _guesses(taken: Sequence[TakenStep], finding: Finding) -> list[list[Step]]:
    """Return shorter walks: the cited steps and their creations; changes of the engagements; all steps about them."""
    cited = {finding.exchange, *finding.because}
    concerned = {
        exchange.request.identifier or read.identifier_or_none(exchange)
        for exchange in cited
        if exchange.accepted or exchange.request.identifier
    }
    about = [taken_step for taken_step in taken if _subject(taken_step) in concerned or taken_step.exchange in cited]
    changes = [taken_step for taken_step in about if taken_step.step.kind in WRITES or taken_step.exchange in cited]
    needed = [taken_step for taken_step in about if taken_step.exchange in cited or taken_step.step.kind is Kind.CREATE]
    return [[taken_step.step for taken_step in steps] for steps in (needed, changes, about)]


def _subject(taken_step: TakenStep) -> str | None:
    """Return the engagement that a step was about."""
    return taken_step.made if taken_step.step.kind is Kind.CREATE else taken_step.exchange.request.identifier
