"""Progress display of a self-test: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from conformance.cli.text import open_console, printable
from conformance.selftest.figures import GOOD, Figures, TrialState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.selftest.trial import Trial

    Shown = Callable[[Trial, TrialState], None]

_EVERY: Final = 50


@contextmanager
def progress(figures: Figures, planned: int) -> Iterator[Shown]:
    """Yield the function that shows a finished trial and its state."""
    console, start = open_console(), time.monotonic()
    if not console.is_terminal:
        yield lambda trial, state: _line(console, figures, planned, start, trial, state)
        return
    with Live(console=console, refresh_per_second=4) as live:

        def show(trial: Trial, state: TrialState) -> None:
            if state not in GOOD:
                live.console.print(_problem_line(trial, state))
            live.update(_table(figures, planned))

        yield show


def about(seconds: float) -> str:
    """Return a duration in words, in minutes or in tens of seconds."""
    return f"about {seconds / 60:.0f} minutes" if seconds > 90 else f"about {max(10, round(seconds, -1)):.0f} seconds"  # noqa: PLR2004


def _line(console: Console, figures: Figures, planned: int, start: float, trial: Trial, state: TrialState) -> None:
    if state not in GOOD:
        console.print(_problem_line(trial, state), soft_wrap=True)
    done = len(figures.trials)
    if done % _EVERY == 0 or done == planned:
        counts = ", ".join(f"{count} {name}" for name, count in figures.counts.items() if count)
        left = (time.monotonic() - start) / done * (planned - done)
        console.print(f"{done}/{planned}: {counts}{f'; {about(left)} left' if left else ''}", soft_wrap=True)


def _problem_line(trial: Trial, state: TrialState) -> Text:
    """Return the line about a trial with an unwanted state."""
    reported = ", ".join(trial.reported) or "nothing"
    expected = f", not {trial.subject.breaks[0]}" if state in {TrialState.SURVIVED, TrialState.MISNAMED} else ""
    problems = [*trial.errors, *trial.left]
    error = f"; {problems[0].strip().splitlines()[-1]}" if problems else ""
    text = printable(f"{trial.subject.id}: reported {reported}{expected}{error}", limit=400)
    return Text.assemble((f"{state.value:>11}", "bold red"), "  ", text)


def _table(figures: Figures, planned: int) -> Group:
    table = Table.grid(padding=(0, 2))
    for state, count in figures.counts.items():
        style = "green" if state in GOOD else "bold red" if count else "dim"
        table.add_row(Text(str(count), style=style, justify="right"), Text(state.value, style=style))
    done = len(figures.trials)
    bar = ProgressBar(total=planned, completed=done, width=40)
    return Group(bar, Text(f"{done} of {planned} trials"), table)
