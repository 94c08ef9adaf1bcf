"""Fixtures: small modules of checks, run by pytest under a judge, without a target."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.running.options import Effort
from conformance.verdicts.judge import Judge
from conformance.verdicts.plugin import JUDGE
from conformance.verdicts.results import CheckResult
from conformance.wire.requests import Request
from conformance.wire.run_limits import RunStopped

HEAD = """
import pytest
from conformance.checks.markers import observes, requirement, scenario_fixture
from conformance.oracle.outcomes import Inapplicable, NonConformity, CantTell, Untested, evidence
from conformance.targets.capabilities import MissingMeans
from conformance.wire.exchange import NoResponse
from conformance.wire.run_limits import RunStopped
from tests.fakes.exchanges import make_exchange
"""
ALONE = (
    "--disable-plugin-autoload", "-p", "conformance.verdicts.plugin", "-p", "no:terminal", "-p", "no:cacheprovider",
    "-p", "no:faulthandler", "-p", "no:warnings", "--assert=plain", "--capture=no", "--import-mode=importlib",
)  # fmt: skip


def item(nodeid: str = "test_a.py::test_b", /, **marks: tuple[Any, ...]) -> Any:
    """Return an item with these marks, each with its arguments."""
    return SimpleNamespace(
        nodeid=nodeid,
        location=("test_a.py", 1, "test_b"),
        stash=pytest.Stash(),
        get_closest_marker=lambda name: SimpleNamespace(args=marks[name]) if name in marks else None,
        iter_markers=lambda name: [SimpleNamespace(args=marks[name])] if name in marks else [],
    )


@dataclass
class SmallRun:
    """The parts of a run that a judge needs.

    Attributes:
        missing_means: Needs that the target does not meet.
        only: The ids of the chosen requirements.
        effort: The effort of the run.
        closed: Why checks that send requests are left out.
        prepared: The names of the scenarios started in the background; None before.
        sending: The names of the senders, one for each check.
        end: The reason with which a request ends the run; None if it does not.
        sent: The requests of the judge itself.
    """

    missing_means: frozenset[str] = frozenset()
    only: tuple[str, ...] = ()
    effort: Effort = Effort.QUICK
    closed: str | None = None
    prepared: list[str] | None = None
    sending: list[str] = field(default_factory=list)
    end: str | None = None
    sent: list[Request] = field(default_factory=list)

    @property
    def options(self) -> Any:
        """The options of the run."""
        return SimpleNamespace(only=self.only, report=None)

    @property
    def scenarios(self) -> Any:
        """A recorder of the scenarios to start."""
        return SimpleNamespace(prepare=self._prepare)

    @property
    def wire(self) -> Any:
        """A recorder of senders and requests."""
        stopped = self.end if self.sent else None
        return SimpleNamespace(checking=self._checking, send=self._send, exchanges=(), stopped=stopped)

    def meets(self, need: str) -> bool:
        """Whether the target meets a need."""
        return need not in self.missing_means

    def unlocking(self, needs: list[str]) -> str:
        """Return what would meet these needs."""
        return f"Add {' and '.join(needs)}."

    def _prepare(self, scenarios: Any) -> None:
        self.prepared = [scenario.__name__ for scenario in scenarios]

    def _send(self, request: Request) -> None:
        self.sent.append(request)
        if self.end is not None:
            raise RunStopped(self.end)

    @contextmanager
    def _checking(self, name: str) -> Iterator[None]:
        self.sending.append(name)
        yield


@dataclass
class Watching:
    """A progress listener that records its calls."""

    events: list[tuple[str, ...]] = field(default_factory=list)

    def planned(self, requirements: Sequence[str]) -> None:
        """Record the number of checks."""
        self.events.append(("planned", str(len(requirements))))

    def began(self, check: str, requirement: str) -> None:
        """Record the check that begins."""
        self.events.append(("began", check, requirement))

    def ended(self, result: CheckResult) -> None:
        """Record the result of a check."""
        self.events.append(("ended", result.check, result.outcome.value))


@dataclass
class Ran:
    """The results of a module of checks.

    Attributes:
        judge: The judge.
        run: The run.
        status: The exit status of pytest.
        reports: Outcome and text of each test in pytest's report, by name.
        places: File and line of each skipped test, by name.
        phases: The reports of all phases.
        events: The calls of the progress listener.
    """

    judge: Judge
    run: SmallRun
    status: int
    reports: dict[str, tuple[str, str]]
    places: dict[str, tuple[str, int]]
    phases: list[pytest.TestReport]
    events: list[tuple[str, ...]]

    @property
    def outcomes(self) -> list[tuple[str, str]]:
        """The checks and their outcomes, in order."""
        return [(result.check.rpartition("::")[2], result.outcome.value) for result in self.judge.results]


class _Showing:
    """A plugin that registers a judge and records pytest's reports."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self.reports: dict[str, tuple[str, str]] = {}
        self.places: dict[str, tuple[str, int]] = {}
        self.phases: list[pytest.TestReport] = []

    def pytest_configure(self, config: pytest.Config) -> None:
        config.pluginmanager.register(self.judge, JUDGE)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.phases.append(report)
        if report.when == "call" or report.outcome != "passed":
            text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr or "")
            self.reports[report.nodeid.rpartition("::")[2]] = (report.outcome, text)
            if isinstance(report.longrepr, tuple):
                self.places[report.nodeid.rpartition("::")[2]] = report.longrepr[:2]


RunChecks = Callable[..., Ran]


@pytest.fixture
def run_checks(tmp_path: Path) -> RunChecks:
    """Run a module of checks, given as text, under a judge with or without a listener."""

    def run(text: str, *arguments: str, watched: bool = True, **choices: Any) -> Ran:
        (tmp_path / "test_small.py").write_text(HEAD + dedent(text))
        sys.modules.pop("test_small", None)  # that of another test
        small, watching = SmallRun(**choices), Watching()
        judge = Judge(small, watching if watched else None)  # type: ignore[arg-type]
        showing = _Showing(judge)
        status = pytest.main(
            [str(tmp_path), "--rootdir", str(tmp_path), "-c", os.devnull, *ALONE, *arguments],
            plugins=[showing],
        )
        return Ran(judge, small, int(status), showing.reports, showing.places, showing.phases, watching.events)

    return run
