"""One trial: the whole suite against one subject, and what came of it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

from conformance.selftest.early_stop import LAWS, EarlyEnd, EarlyJudge
from conformance.selftest.in_process import HostedSession
from conformance.verdicts.judge import Judge
from conformance.verdicts.session import run_checks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from conformance.oracle.laws import Law
    from conformance.running.options import RunOptions
    from conformance.selftest.subjects import Subject
    from conformance.verdicts.results import CheckResult


@dataclass(frozen=True, slots=True)
class Trial:
    """What the suite said of a subject.

    Attributes:
        subject: The subject.
        reported: The requirements that failed, each with the checks that said so and their message.
        detecting: The same requirements, each with the checks that failed, without parameters.
        undecided: The requirements that came to no decision, each with the reason.
        passed: How many requirements passed.
        requests: How many requests were sent.
        found_after: How many requests had been sent when the first failure could be told; None without one.
        seconds: How long it took.
        errors: What went wrong in the suite itself.
        left: What the run could not undo in a conforming service.
        alone: Whether this is another trial of a fault, with nothing else under way, and counts instead of the
            first one.
        whole: Whether all requirements were judged, and not only those that the fault breaks.
    """

    subject: Subject
    reported: dict[str, list[str]] = field(default_factory=dict)
    detecting: dict[str, list[str]] = field(default_factory=dict)
    undecided: dict[str, str] = field(default_factory=dict)
    passed: int = 0
    requests: int = 0
    found_after: int | None = None
    seconds: float = 0.0
    errors: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    alone: bool = False
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Task:
    """A trial to be done.

    Attributes:
        subject: What the suite is tried on.
        options: What to ask of the run.
        in_process: Whether requests are handed to the service, without a socket between.
        early: Whether the run ends once the requirement that the fault is known to break was found broken.
        otherwise: What is done instead where this one does not find the fault.
    """

    subject: Subject
    options: RunOptions
    in_process: bool = False
    early: bool = False
    otherwise: Self | None = None

    @classmethod
    def complete(cls, subject: Subject, options: RunOptions) -> Self:
        """A trial with the whole suite, over a socket where that may make a difference."""
        return cls(subject, options, in_process=not subject.is_about_transport)

    @classmethod
    def quick(cls, subject: Subject, options: RunOptions) -> Self:
        """A trial that takes no more time than it must.

        A fault meets the checks of the requirements that it breaks, and the whole suite only where requests of other
        checks bring it to light; at once where the requirement's own checks send none. What conforms meets the whole
        suite.
        """
        if subject.kind != "fault":
            return cls.complete(subject, options)
        hidden = cls(subject, options, in_process=True, early=True)
        if subject.breaks[0] in LAWS:
            return hidden
        return cls(subject, replace(options, only=subject.breaks), in_process=True, otherwise=hidden)

    @property
    def is_whole(self) -> bool:
        """Whether all requirements are judged."""
        return not self.options.only and not self.early

    @property
    def law(self) -> Law | None:
        """What ends the run once it is broken."""
        return LAWS.get(self.subject.breaks[0]) if self.early else None


def attempt(task: Task, run: Callable[[Judge], None] = run_checks) -> Trial:
    """Do a trial.

    Args:
        task: The trial.
        run: What runs the checks.

    Raises:
        EmbeddedError: The subject did not start.
    """
    began = time.monotonic()
    with HostedSession(task.subject, task.options, in_process=task.in_process) as execution:
        judge = EarlyJudge(execution.run, task.subject.breaks[0]) if task.early else Judge(execution.run)
        if task.law is not None:
            execution.run.wire.observe(EarlyEnd(task.law, execution.run))
        execution.run.closed = execution.reach()
        run(judge)
        undone = execution.undo()
        requests = execution.run.wire.sent
    reported = _reported(judge.results)
    return Trial(
        subject=task.subject,
        reported=reported,
        detecting=_convicting(judge.results),
        undecided=_undecided(judge.results, reported),
        passed=len({one.requirement for one in judge.results if one.outcome == "passed"} - reported.keys()),
        requests=requests,
        found_after=_found_after(judge.results),
        seconds=round(time.monotonic() - began, 3),
        errors=tuple(judge.errors),
        left=tuple(undone.left),
        whole=task.is_whole,
    )


def _reported(results: Iterable[CheckResult]) -> dict[str, list[str]]:
    reported: dict[str, list[str]] = {}
    for result in results:
        if result.failure is not None:
            reported.setdefault(result.requirement, []).append(f"{result.check}: {result.failure.message}")
    return reported


def _convicting(results: Iterable[CheckResult]) -> dict[str, list[str]]:
    detecting: dict[str, list[str]] = {}
    for result in results:
        if result.failure is not None:
            detecting.setdefault(result.requirement, []).append(result.check.partition("[")[0])
    return {requirement: sorted(set(checks)) for requirement, checks in detecting.items()}


def _undecided(results: Iterable[CheckResult], reported: Iterable[str]) -> dict[str, str]:
    undecided = {one.requirement: one.reason or "" for one in results if one.outcome in {"cantTell", "untested"}}
    return {requirement: reason for requirement, reason in undecided.items() if requirement not in set(reported)}


def _found_after(results: Iterable[CheckResult]) -> int | None:
    """The number of the last exchange that the earliest failure needs."""
    needed = [
        max(exchange.number for exchange in one.failure.exchanges)
        for one in results
        if one.failure is not None and one.failure.exchanges
    ]
    return min(needed, default=None)
