"""What a run shows while it goes on: a live line on a terminal, plain lines elsewhere, nothing when quiet."""

from __future__ import annotations

import threading
import time
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
from conformance.verdicts.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
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
"""Seconds after which a line is written in any case: pipelines end jobs that say nothing."""
_LOOKING_UP: Final = 0.2
_WORTH_SAYING: Final = 2.0
"""Seconds of waiting that are told."""


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
    console = open_console()
    if quiet:
        return _Silent()
    return _Live(run, console) if console.is_terminal else _Lines(run, console)


def waits_for(run: Run) -> str | None:
    """Whatever the run waits for at the moment, and until when; None if it goes on."""
    waiting = run.waiting
    return None if waiting is None or waiting.left < _WORTH_SAYING else str(waiting)


class ToldWaits:
    """Says inside a ``with`` what is waited for, once for each wait that is worth saying.

    Args:
        waiting: What is waited for at the moment.
        say: Says a line.
    """

    def __init__(self, waiting: Callable[[], Waiting | None], say: Callable[[str], None]) -> None:
        self._waiting = waiting
        self._say = say
        self._over = threading.Event()
        self._watch = threading.Thread(target=self._look, name="waits", daemon=True)

    def __enter__(self) -> Self:
        self._watch.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._watch.join()

    def _look(self) -> None:
        told: datetime | None = None
        while not self._over.wait(_LOOKING_UP):
            waiting = self._waiting()
            if waiting is None or waiting.left < _WORTH_SAYING:
                continue
            if told is None or (waiting.until - told).total_seconds() >= _WORTH_SAYING:
                self._say(str(waiting))
                told = waiting.until


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
    """Shows a line now and then, each failure, and a sign of life in long silences."""

    def __init__(self, run: Run, console: Console, silence: float = _LONGEST_SILENCE) -> None:
        self._run = run
        self._console = console
        self._silence = silence
        self._total = 0
        self._done = 0
        self._began = time.monotonic()
        self._said = threading.Event()
        self._over = False
        self._heart = threading.Thread(target=self._beat, name="progress", daemon=True)

    def __enter__(self) -> Self:
        profile, options = self._run.profile, self._run.options
        self._say(
            f"Testing {profile.name} at {profile.base_url}: mode {self._run.mode.value}, "
            f"effort {options.effort.value}, seed {options.seed}"
        )
        self._heart.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over = True
        self._said.set()
        self._heart.join()

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
            self._say(self._course())

    def undoing(self) -> None:
        """Say that the run is being undone."""
        self._say("Undoing what the run has made")

    def _course(self) -> str:
        return f"{self._done}/{self._total} checks, {self._run.wire.sent} requests"

    def _beat(self) -> None:
        """Say how far the run is, and what it waits for, whenever nothing was said for a while."""
        while not self._over:
            if self._said.wait(self._silence):
                self._said.clear()
                continue
            waiting = waits_for(self._run)
            self._say(f"{time.monotonic() - self._began:.0f} s: {self._course()}{f'; {waiting}' if waiting else ''}")
            self._said.clear()

    def _say(self, text: str) -> None:
        self._said.set()
        self._console.print(plain(text), soft_wrap=True)


class _Live(_Silent):
    """Shows one line that lives, and each failure above it."""

    def __init__(self, run: Run, console: Console) -> None:
        self._run = run
        self._progress = _WaitingProgress(
            run,
            SpinnerColumn(),
            _Now(lambda task: task.description),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            _Now(lambda _: f"checks, {run.wire.sent} requests"),
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def planned(self, checks: int) -> None:
        """Set the end of the bar."""
        self._progress.update(self._task, total=checks)

    def began(self, check: str, requirement: str) -> None:  # noqa: ARG002 - the protocol's signature
        """Name what is judged now."""
        self._progress.update(self._task, description=requirement)

    def ended(self, result: CheckResult) -> None:
        """Move the bar, and show a failure above it."""
        if result.outcome is Outcome.FAILED and result.failure is not None:
            console = self._progress.console
            console.print(plain(f"✗ {result.requirement}", "bold red"))
            console.print(plain(f"{_INDENT}{result.failure.message}"))
        self._progress.update(self._task, advance=1)

    def undoing(self) -> None:
        """Name what goes on now."""
        self._progress.update(self._task, description="undoing what the run has made")


class _WaitingProgress(Progress):
    """A line that gives way to what is waited for."""

    def __init__(self, run: Run, *columns: ProgressColumn, **how: Any) -> None:  # noqa: ANN401 - rich's own options
        self._run = run
        super().__init__(*columns, **how)

    def get_renderables(self) -> Iterator[RenderableType]:
        """What is waited for and how far the run is; the line if nothing is."""
        waiting = waits_for(self._run)
        if waiting is None:
            yield from super().get_renderables()
            return
        courses = [f"{one.completed:.0f}/{one.total:.0f} checks, " for one in self.tasks if one.total is not None]
        told = plain(f"{waiting}; {''.join(courses)}{self._run.wire.sent} requests")
        told.no_wrap, told.overflow = True, "ellipsis"
        yield told


class _Now(ProgressColumn):
    """A text that is made anew whenever the line is drawn."""

    def __init__(self, text: Callable[[Task], str]) -> None:
        super().__init__(Column(no_wrap=True))
        self._text = text

    def render(self, task: Task) -> Text:
        """The text of now."""
        return plain(self._text(task), limit=_DESCRIPTION)
