"""Progress display of a run: a live line on a terminal, plain lines elsewhere, nothing with ``--quiet``."""

from __future__ import annotations

import threading
import time
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TimeElapsedColumn,
)
from rich.table import Column

from conformance.cli.text import open_console, plain, printable
from conformance.reports.outcome import Outcome
from conformance.reports.wording import counted
from conformance.verdicts.results import CheckListener

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime
    from types import TracebackType

    from rich.console import Console, RenderableType
    from rich.text import Text

    from conformance.running.run import Run
    from conformance.verdicts.results import CheckResult
    from conformance.wire.waits import Waiting

_EVERY: Final = 25
_INDENT: Final = "    "
_DESCRIPTION: Final = 46
_LONGEST_SILENCE: Final = 15.0
"""Seconds without output after which a line is printed: pipelines end silent jobs."""
_POLL: Final = 0.2
_WITHHELD: Final = "see the report, which has pseudonyms"
_SHORTEST_WAIT: Final = 2.0
"""Seconds from which a wait is shown."""


class ProgressDisplay(CheckListener, AbstractContextManager["ProgressDisplay"], Protocol):
    """A listener that displays the progress of a run inside a ``with``."""

    def undoing(self) -> None:
        """Show that the checks are over and the run is being undone."""


def progress_for(run: Run, *, quiet: bool) -> ProgressDisplay:
    """Return the progress display for stdout."""
    console = open_console()
    if quiet:
        return _Silent()
    return _Live(run, console) if console.is_terminal else _Lines(run, console)


def waits_for(run: Run) -> str | None:
    """Return the current wait of the run with its end; None without a wait of two seconds or more."""
    waiting = run.waiting
    return None if waiting is None or waiting.left < _SHORTEST_WAIT else str(waiting)


@contextmanager
def reported_waits(waiting: Callable[[], Waiting | None], say: Callable[[str], None]) -> Iterator[None]:
    """Report each longer wait once, from a thread, inside a ``with``.

    Args:
        waiting: Returns the current wait, or None.
        say: Prints a line.
    """
    over = threading.Event()

    def poll() -> None:
        reported: datetime | None = None
        while not over.wait(_POLL):
            found = waiting()
            if found is None or found.left < _SHORTEST_WAIT:
                continue
            if reported is None or (found.until - reported).total_seconds() >= _SHORTEST_WAIT:
                say(str(found))
                reported = found.until

    watch = threading.Thread(target=poll, name="waits", daemon=True)
    watch.start()
    try:
        yield
    finally:
        over.set()
        watch.join()


class WithoutMessages:
    """A display without the messages of checks, which may quote people."""

    def __init__(self, shown: ProgressDisplay) -> None:
        self.planned, self.began, self.undoing = shown.planned, shown.began, shown.undoing
        self._shown = shown

    def __enter__(self) -> Self:
        self._shown.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._shown.__exit__(kind, error, trace)

    def ended(self, result: CheckResult) -> None:
        """Pass a result on without its messages."""
        failure = None if result.failure is None else replace(result.failure, message=_WITHHELD)
        reason = None if result.reason is None else _WITHHELD
        self._shown.ended(replace(result, failure=failure, reason=reason))


class _Silent:
    """A display of nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def planned(self, requirements: Sequence[str]) -> None:
        """Show nothing."""

    def began(self, check: str, requirement: str) -> None:
        """Show nothing."""

    def ended(self, result: CheckResult) -> None:
        """Show nothing."""

    def undoing(self) -> None:
        """Show nothing."""


class _Lines(_Silent):
    """Plain lines: the progress now and then, each failure, and a line after a long silence."""

    def __init__(self, run: Run, console: Console, silence: float = _LONGEST_SILENCE) -> None:
        self._run = run
        self._console = console
        self._silence = silence
        self._total = 0
        self._done = 0
        self._began = time.monotonic()
        self._printed = threading.Event()
        self._over = False
        self._thread = threading.Thread(target=self._report_regularly, name="progress", daemon=True)

    def __enter__(self) -> Self:
        profile, options = self._run.profile, self._run.options
        self._say(
            f"Testing {profile.name} at {profile.base_url}: mode {self._run.mode.value}, "
            f"effort {options.effort.value}, seed {options.seed}"
        )
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True
        self._printed.set()
        self._thread.join()

    def planned(self, requirements: Sequence[str]) -> None:
        """Print the number of checks."""
        self._total = len(requirements)
        self._say(counted(self._total, "check"))

    def ended(self, result: CheckResult) -> None:
        """Print a failure, and every 25 checks the progress."""
        self._done += 1
        if result.outcome is Outcome.FAILED and result.failure is not None:
            self._say(f"FAILED {result.requirement}: {printable(result.failure.message)}")
        if self._done % _EVERY == 0 or self._done == self._total:
            self._say(self._counts())

    def undoing(self) -> None:
        """Print that the run is being undone."""
        self._say("Undoing the changes of the run")

    def _counts(self) -> str:
        return f"{self._done}/{self._total} checks, {self._run.wire.sent} requests"

    def _report_regularly(self) -> None:
        """Print the progress and the current wait after each long silence."""
        while not self._over:
            if self._printed.wait(self._silence):
                self._printed.clear()
                continue
            waiting = waits_for(self._run)
            self._say(f"{time.monotonic() - self._began:.0f} s: {self._counts()}{f'; {waiting}' if waiting else ''}")
            self._printed.clear()

    def _say(self, text: str) -> None:
        self._printed.set()
        self._console.print(plain(text), soft_wrap=True)


class _Live(_Silent):
    """A live line, with each failure above it."""

    def __init__(self, run: Run, console: Console) -> None:
        self._run = run
        self._progress = _WaitingProgress(
            run,
            SpinnerColumn(),
            _ComputedColumn(lambda task: task.description),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            _ComputedColumn(lambda _: f"checks, {run.wire.sent} requests"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._task = self._progress.add_task("reaching the target", total=None)

    def __enter__(self) -> Self:
        profile, options = self._run.profile, self._run.options
        self._progress.console.print(
            plain(f"Testing {profile.name} at {profile.base_url}", "bold"),
            plain(f"mode {self._run.mode.value}, effort {options.effort.value}, seed {options.seed}", "dim"),
        )
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def planned(self, requirements: Sequence[str]) -> None:
        """Set the total of the bar."""
        self._progress.update(self._task, total=len(requirements))

    def began(self, check: str, requirement: str) -> None:  # noqa: ARG002 - the protocol's signature
        """Show the requirement that is judged now."""
        self._progress.update(self._task, description=requirement)

    def ended(self, result: CheckResult) -> None:
        """Advance the bar, and show a failure above it."""
        if result.outcome is Outcome.FAILED and result.failure is not None:
            console = self._progress.console
            console.print(plain(f"✗ {result.requirement}", "bold red"))
            console.print(plain(f"{_INDENT}{result.failure.message}"))
        self._progress.update(self._task, advance=1)

    def undoing(self) -> None:
        """Show that the run is being undone."""
        self._progress.update(self._task, description="undoing the changes of the run")


class _WaitingProgress(Progress):
    """A live line that shows a wait instead of the bar."""

    def __init__(self, run: Run, *columns: ProgressColumn, **settings: Any) -> None:  # noqa: ANN401 - rich's own options
        self._run = run
        super().__init__(*columns, **settings)

    def get_renderables(self) -> Iterator[RenderableType]:
        """Yield the current wait with the progress, or the live line."""
        waiting = waits_for(self._run)
        if waiting is None:
            yield from super().get_renderables()
            return
        counts = [f"{task.completed:.0f}/{task.total:.0f} checks, " for task in self.tasks if task.total is not None]
        line = plain(f"{waiting}; {''.join(counts)}{self._run.wire.sent} requests")
        line.no_wrap, line.overflow = True, "ellipsis"
        yield line


class _ComputedColumn(ProgressColumn):
    """A column whose text is computed at each refresh."""

    def __init__(self, text: Callable[[Task], str]) -> None:
        super().__init__(Column(no_wrap=True))
        self._text = text

    def render(self, task: Task) -> Text:
        """Return the current text."""
        return plain(self._text(task), limit=_DESCRIPTION)
