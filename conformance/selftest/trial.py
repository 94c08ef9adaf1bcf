"""One trial: the whole suite against one subject, and what came of it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from conformance.selftest.hosting import HostedExecution
from conformance.verdicts.judge import Judge
from conformance.verdicts.session import run_checks

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pytest

    from conformance.running.options import RunOptions
    from conformance.selftest.subjects import Subject
    from conformance.verdicts.results import CheckResult


@dataclass(frozen=True, slots=True)
class Trial:
    """What the suite said of a subject.

    Attributes:
        subject: The subject.
        reported: The requirements that failed, each with the checks that said so and their message.
        convicting: The same requirements, each with the checks that failed, without parameters.
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
    convicting: dict[str, list[str]] = field(default_factory=dict)
    undecided: dict[str, str] = field(default_factory=dict)
    passed: int = 0
    requests: int = 0
    found_after: int | None = None
    seconds: float = 0.0
    errors: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    alone: bool = False
    whole: bool = True


class _BriefJudge(Judge):
    """A judge whose tracebacks are those of Python: pytest's take a fifth of a trial's time, and few are read."""

    def pytest_configure(self, config: pytest.Config) -> None:
        """Choose the style."""
        config.option.tbstyle = "native"


def focus(subject: Subject, options: RunOptions) -> RunOptions:
    """The options of a trial in which a fault meets only the checks of the requirements that it breaks."""
    return replace(options, only=subject.breaks)


def attempt(subject: Subject, options: RunOptions) -> Trial:
    """Run the suite against a subject.

    Args:
        subject: The subject.
        options: What to ask of the run.

    Raises:
        EmbeddedError: The subject did not start.
    """
    began = time.monotonic()
    with HostedExecution(subject, options) as execution:
        judge = _BriefJudge(execution.run)
        execution.run.closed = execution.reach()
        run_checks(judge)
        undone = execution.undo()
        requests = execution.run.wire.sent
    reported = _reported(judge.results)
    return Trial(
        subject=subject,
        reported=reported,
        convicting=_convicting(judge.results),
        undecided=_undecided(judge.results, reported),
        passed=len({one.requirement for one in judge.results if one.outcome == "passed"} - reported.keys()),
        requests=requests,
        found_after=_found_after(judge.results),
        seconds=round(time.monotonic() - began, 3),
        errors=tuple(judge.errors),
        left=tuple(undone.left),
        whole=not options.only,
    )


def _reported(results: Iterable[CheckResult]) -> dict[str, list[str]]:
    reported: dict[str, list[str]] = {}
    for result in results:
        if result.failure is not None:
            reported.setdefault(result.requirement, []).append(f"{result.check}: {result.failure.message}")
    return reported


def _convicting(results: Iterable[CheckResult]) -> dict[str, list[str]]:
    convicting: dict[str, list[str]] = {}
    for result in results:
        if result.failure is not None:
            convicting.setdefault(result.requirement, []).append(result.check.partition("[")[0])
    return {requirement: sorted(set(checks)) for requirement, checks in convicting.items()}


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
