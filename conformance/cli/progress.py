"""What a run shows while it goes on: a live line on a terminal, plain lines elsewhere, nothing when quiet."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from conformance.cli.text import plain, printable
from conformance.verdicts.outcome import Outcome

if TYPE_CHECKING:
    from types import TracebackType

    from conformance.running.run import Run
    from conformance.verdicts.results import CheckResult

_EVERY: Final = 25
_INDENT: Final = "    "


class Shown(Protocol):
    """A judge's progress that is shown inside a ``with``."""

    def __enter__(self) -> Self:
        """Begin to show."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Show nothing more."""

    def planned(self, checks: int) -> None:
        """So many checks will be judged."""

    def began(self, check: str, requirement: str) -> None:
        """A check begins."""

    def ended(self, result: CheckResult) -> None:
        """A check has come to a result."""

    def undoing(self) -> None:
        """The checks are over, and the run is being undone."""


def progress_for(run: Run, *, quiet: bool) -> Shown:
    """The progress that fits where the output goes."""
    console = Console(file=sys.stdout, highlight=False)
    if quiet:
        return _Silent()
    return _Live(run, console) if console.is_terminal else _Lines(run, console)


class _Silent:
    """Shows nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return

    def planned(self, checks: int) -> None:
        """Nothing is shown."""

    def began(self, check: str, requirement: str) -> None:
        """Nothing is shown."""

    def ended(self, result: CheckResult) -> None:
        """Nothing is shown."""

    def undoing(self) -> None:
        """Nothing is shown."""


class _Lines(_Silent):
    """Shows a line now and then, and each failure."""

    def __init__(self, run: Run, console: Console) -> None:
        self._run = run
        self._console = console
        self._total = 0
        self._done = 0

    def __enter__(self) -> Self:
        profile, options = self._run.profile, self._run.options
        self._say(
            f"Testing {profile.name} at {profile.base_url}: mode {self._run.mode.value}, "
            f"effort {options.effort.value}, seed {options.seed}"
        )
        return self

    def planned(self, checks: int) -> None:
        """Say how much there is to do."""
        self._total = checks
        self._say(f"{checks} checks")

    def ended(self, result: CheckResult) -> None:
        """Say what failed, and how far the run is."""
        self._done += 1
        if result.outcome is Outcome.FAILED and result.failure is not None:
            self._say(f"FAILED {result.requirement}: {printable(result.failure.message)}")
        if self._done % _EVERY == 0 or self._done == self._total:
            self._say(f"{self._done}/{self._total} checks, {self._run.wire.sent} requests")

    def undoing(self) -> None:
        """Say that the run is being undone."""
        self._say("Undoing what the run has made")

    def _say(self, text: str) -> None:
        self._console.print(plain(text), soft_wrap=True)


class _Live(_Silent):
    """Shows one line that lives, and each failure above it."""

    def __init__(self, run: Run, console: Console) -> None:
        self._run = run
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[requests]} requests", markup=False),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._task = self._progress.add_task("reaching the target", total=None, requests=0)

    def __enter__(self) -> Self:
        profile, options = self._run.profile, self._run.options
        self._progress.console.print(
            plain(f"Testing {profile.name} at {profile.base_url}", "bold"),
            plain(f"mode {self._run.mode.value}, effort {options.effort.value}, seed {options.seed}", "dim"),
        )
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def planned(self, checks: int) -> None:
        """Set the end of the bar."""
        self._progress.update(self._task, total=checks)

    def began(self, check: str, requirement: str) -> None:  # noqa: ARG002 - the protocol's signature
        """Name what is judged now."""
        self._progress.update(self._task, description=f"{requirement:.46}", requests=self._run.wire.sent)

    def ended(self, result: CheckResult) -> None:
        """Move the bar, and show a failure above it."""
        if result.outcome is Outcome.FAILED and result.failure is not None:
            console = self._progress.console
            console.print(plain(f"✗ {result.requirement}", "bold red"))
            console.print(plain(f"{_INDENT}{result.failure.message}"))
        self._progress.update(self._task, advance=1, requests=self._run.wire.sent)
