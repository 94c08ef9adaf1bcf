"""Trial: a run of the suite against a subject."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

from conformance.selftest.early_stop import LAWS, EarlyEnd, EarlyJudge, FirstFailureJudge
from conformance.selftest.in_process import HostedSession
from conformance.verdicts.judge import Judge
from conformance.verdicts.session import run_checks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from conformance.oracle.laws.registry import Law
    from conformance.running.options import RunOptions
    from conformance.running.run import Run
    from conformance.selftest.subjects import Subject
    from conformance.verdicts.results import CheckResult, Failure


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of a trial.

    Attributes:
        subject: The subject.
        reported: The requirements that failed, each with its failed checks and their messages.
        detecting: The same requirements, each with its failed checks without parameters.
        undecided: The undecided and untested requirements, each with the reason.
        passed: The number of requirements that passed.
        requests: The number of requests sent.
        found_after: The number of requests until the first failure; None without a failure.
        seconds: Its duration.
        errors: The suite's own errors.
        left: What the run could not undo in a conforming service.
        alone: Whether this is a repetition without concurrent trials, which replaces the first trial.
        whole: Whether all requirements were judged, not only those that the fault breaks.
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
    """A trial to run.

    Attributes:
        subject: The service.
        options: The options of the run.
        in_process: Whether the service is called in process, without a socket.
        early: Whether the run ends once the requirement of the fault has failed; of a drawn fault, any requirement.
        otherwise: The fallback if the trial misses the fault.
    """

    subject: Subject
    options: RunOptions
    in_process: bool = False
    early: bool = False
    otherwise: Self | None = None

    @classmethod
    def complete(cls, subject: Subject, options: RunOptions) -> Self:
        """Return a trial with the whole suite, over a socket if that may matter."""
        return cls(subject, options, in_process=not subject.is_about_transport)

    @classmethod
    def quick(cls, subject: Subject, options: RunOptions) -> Self:
        """Return the shortest sufficient trial.

        A fault meets the checks of the requirements that it breaks. The whole suite follows if they miss it, or runs at
        once if those checks send nothing. A drawn fault meets the whole suite until the first failure. A conforming
        service meets the whole suite.
        """
        if subject.kind == "drawn":
            return cls(subject, options, in_process=True, early=True)
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
        """The law whose break ends the run, or None."""
        return LAWS.get(self.subject.breaks[0]) if self.early and self.subject.kind == "fault" else None

    def judge(self, run: Run) -> Judge:
        """Return the judge of a run."""
        if not self.early:
            return Judge(run)
        return EarlyJudge(run, self.subject.breaks[0]) if self.subject.kind == "fault" else FirstFailureJudge(run)


def attempt(task: Task, run: Callable[[Judge], None] = run_checks) -> Trial:
    """Run a trial.

    Raises:
        EmbeddedError: The service did not start.
    """
    began = time.monotonic()
    with HostedSession(task.subject, task.options, in_process=task.in_process) as session:
        judge = task.judge(session.run)
        if task.law is not None:
            session.run.wire.observe(EarlyEnd(task.law, session.run))
        session.run.closed = session.reach()
        run(judge)
        undone = session.undo()
        requests = session.run.wire.sent
    failed = [(result, result.failure) for result in judge.results if result.failure is not None]
    reported = _by_requirement((result, f"{result.check}: {failure.message}") for result, failure in failed)
    detecting = _by_requirement((result, result.check.partition("[")[0]) for result, _ in failed)
    return Trial(
        subject=task.subject,
        reported=reported,
        detecting={requirement: sorted(set(checks)) for requirement, checks in detecting.items()},
        undecided=_undecided(judge.results, reported),
        passed=len({result.requirement for result in judge.results if result.outcome == "passed"} - reported.keys()),
        requests=requests,
        found_after=_found_after(failure for _, failure in failed),
        seconds=round(time.monotonic() - began, 3),
        errors=tuple(judge.errors),
        left=tuple(undone.left),
        whole=task.is_whole,
    )


def _by_requirement(texts: Iterable[tuple[CheckResult, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for result, text in texts:
        found.setdefault(result.requirement, []).append(text)
    return found


def _undecided(results: Iterable[CheckResult], reported: Iterable[str]) -> dict[str, str]:
    undecided = {
        result.requirement: result.reason or "" for result in results if result.outcome in {"cantTell", "untested"}
    }
    return {requirement: reason for requirement, reason in undecided.items() if requirement not in set(reported)}


def _found_after(failures: Iterable[Failure]) -> int | None:
    """Return the number of the last exchange that the earliest failure needs."""
    cited = (failure.exchanges for failure in failures if failure.exchanges)
    return min((max(exchange.number for exchange in exchanges) for exchanges in cited), default=None)
