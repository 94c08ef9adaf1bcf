"""``conformance selftest``: the suite against deliberate faults and against everything that conforms."""

from __future__ import annotations

import os
import random
import sys
import time
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from conformance.exits import Exit
from conformance.running.options import Effort, RunOptions

if TYPE_CHECKING:
    from conformance.selftest.figures import Figures
    from conformance.selftest.subjects import Subject
    from conformance.selftest.trial import Task

_JOBS_A_CORE: Final = 11
"""Trials at a time for each core; they wait most of their time."""
_WHOLE: Final = 60
"""Faults that meet the whole suite; with so many the means of all are told to a tenth or so."""
_EARLIER: Final = 0.9
"""How far through the others the slowest trials are, so that nothing waits for them in the end."""


@click.command()
@click.option(
    "--faults",
    "patterns",
    multiple=True,
    metavar="PATTERN",
    help="Only faults whose id matches, * and ? allowed; may be repeated. 'none' leaves them out.",
)
@click.option(
    "--values",
    multiple=True,
    metavar="PATTERN",
    help="Only choices NAME=VALUE that match, of those at open points; may be repeated. 'none' leaves them out.",
)
@click.option(
    "--latitudes",
    type=click.IntRange(0),
    default=100,
    show_default=True,
    metavar="N",
    help="Conforming services that choose at every open point by chance, beside those that let every two choices meet; "
    "0 leaves both out.",
)
@click.option(
    "--effort",
    type=click.Choice([effort.value for effort in Effort]),
    default=Effort.QUICK.value,
    show_default=True,
    help="How much a run may cost.",
)
@click.option(
    "--whole",
    type=click.IntRange(0),
    default=_WHOLE,
    show_default=True,
    metavar="N",
    help="How many of the faults, drawn by chance, meet the whole suite, which tells what else is reported for them. "
    "The others meet the checks of the requirement that they break, and the whole suite only where those find nothing.",
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="What choices by chance come from.")
@click.option("--jobs", type=click.IntRange(1), help=f"Trials at a time.  [default: {_JOBS_A_CORE} for each core]")
@click.option(
    "--report",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("reports/selftest"),
    show_default=True,
    metavar="DIR",
    help="Where the outputs go.",
)
def selftest(patterns: tuple[str, ...], values: tuple[str, ...], latitudes: int, **given: Any) -> None:  # noqa: ANN401 - click gives what the options say
    """Try the suite on faulty services, which it must find, and on conforming ones, which it must not accuse.

    Exit status: 0 every fault was found and named and nothing conforming accused; 1 otherwise; 2 nothing to try; 130
    interrupted, with what had been tried in the report.
    """
    from conformance.selftest import results
    from conformance.selftest.figures import Figures

    subjects = _subjects(patterns, values, latitudes, given["seed"])
    if not subjects:
        raise click.UsageError("No fault and no choice matches.")
    jobs = given["jobs"] or _JOBS_A_CORE * (os.cpu_count() or 1)
    began, start = datetime.now(UTC), time.monotonic()
    options = RunOptions(effort=Effort(given["effort"]), seed=given["seed"])
    figures, interrupted = Figures(), False
    try:
        _try_all(figures, _tasks(subjects, options, given["whole"]), options, jobs=jobs)
    except KeyboardInterrupt:
        interrupted = True
    run = {
        "started_at": began.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "seconds": round(time.monotonic() - start, 1),
        "effort": given["effort"],
        "seed": given["seed"],
        "whole": given["whole"],
        "jobs": jobs,
        "planned": len(subjects),
        "interrupted": interrupted,
    }
    content = results.document(figures, run)
    results.write(content, given["report"])
    _print(content, given["report"])
    sys.exit(Exit.INTERRUPTED if interrupted else Exit.OK if content["good"] else Exit.FAILED)


def _tasks(subjects: list[Subject], options: RunOptions, whole: int) -> list[Task]:
    """The trials of all subjects, in their order.

    Args:
        subjects: What to try the suite on.
        options: What to ask of each run; its seed draws the faults that meet the whole suite.
        whole: How many these are.
    """
    from conformance.selftest.trial import Task

    faults = sorted(one.id for one in subjects if one.kind == "fault")
    lot = random.Random(options.seed)  # noqa: S311 - reproducible on purpose
    drawn = set(lot.sample(faults, min(whole, len(faults))))
    return [(Task.complete if one.id in drawn else Task.quick)(one, options) for one in subjects]


def _try_all(figures: Figures, tasks: list[Task], options: RunOptions, *, jobs: int) -> None:
    """Carry out all trials, and once more, alone and with the whole suite, those of the faults that it missed.

    Args:
        figures: Takes the trials in.
        tasks: The trials.
        options: What to ask of each run that is done once more.
        jobs: Trials at a time.
    """
    from conformance.cli.selftest_progress import progress
    from conformance.selftest.pool import Pool
    from conformance.selftest.trial import Task

    with progress(figures, len(tasks)) as shown:
        for trial in Pool(jobs).trials(tasks):
            shown(trial, figures.add(trial))
        again = figures.to_repeat() if jobs > 1 or not all(task.is_whole for task in tasks) else []
        # Windows of a few milliseconds close where many runs share a core.
        for trial in Pool(1).trials([Task(one, options) for one in again]):
            shown(trial, figures.repeat(trial))


def _print(content: dict[str, Any], folder: Path) -> None:
    """Print the figures, how much was tried, and where the report is."""
    from conformance.selftest import results

    for words, value in results.rows(content):
        click.echo(f"{value:>8}  {words}")
    run, done = content["run"], len(content["trials"])
    tried = f"{done} of {run['planned']} trials, interrupted," if run["interrupted"] else f"{run['planned']} trials"
    click.echo(f"{tried} in {run['seconds']} s. Report: {folder / 'selftest.html'}")


def _subjects(patterns: tuple[str, ...], values: tuple[str, ...], latitudes: int, seed: int) -> list[Subject]:
    """What to try the suite on.

    Those that take long and those that take much of the processor's time are spread among each other, so that there is
    always something for it to do.
    """
    from conformance.selftest import subjects

    faults = {one.id: one for pattern in patterns or ("*",) for one in subjects.faults(pattern)}
    chosen = {one.id: one for pattern in values or ("*",) for one in subjects.latitudes(pattern)}
    together = [*subjects.covering(seed), *subjects.mixtures(latitudes, seed)] if latitudes else []
    kinds = ((_EARLIER, together), (_EARLIER, [*chosen.values()]), (1.0, [*faults.values()]))
    spread = [(span * place / len(kind), one) for span, kind in kinds for place, one in enumerate(kind)]
    return [one for _, one in sorted(spread, key=itemgetter(0))]
