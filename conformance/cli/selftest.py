"""``conformance selftest``: the suite against deliberate faults and against everything that conforms."""

from __future__ import annotations

import os
import sys
import time
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from conformance.cli.ending import Exit
from conformance.running.options import Effort, RunOptions

if TYPE_CHECKING:
    from conformance.selftest.figures import Figures
    from conformance.selftest.subjects import Subject

_JOBS_A_CORE: Final = 11
"""Trials at a time for each core; they wait most of their time."""
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
    "--focused",
    is_flag=True,
    help="Try each fault on the checks of the requirement that it breaks, and on the others only where those find "
    "nothing. Takes less than half of the time, but does not tell which other requirements would be reported.",
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
        _try_all(figures, subjects, options, jobs=jobs, focused=given["focused"])
    except KeyboardInterrupt:
        interrupted = True
    run = {
        "started_at": began.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "seconds": round(time.monotonic() - start, 1),
        "effort": given["effort"],
        "seed": given["seed"],
        "focused": given["focused"],
        "jobs": jobs,
        "planned": len(subjects),
        "interrupted": interrupted,
    }
    content = results.document(figures, run)
    results.write(content, given["report"])
    _print(content, given["report"])
    sys.exit(Exit.INTERRUPTED if interrupted else Exit.OK if content["good"] else Exit.FAILED)


def _try_all(figures: Figures, subjects: list[Subject], options: RunOptions, *, jobs: int, focused: bool) -> None:
    """Try the suite on every subject, and once more, alone, on the faults that it missed.

    Args:
        figures: Takes the trials in.
        subjects: What to try it on.
        options: What to ask of each run.
        jobs: Trials at a time.
        focused: Whether each fault meets the checks of what it breaks first.
    """
    from conformance.cli.selftest_progress import progress
    from conformance.selftest.pool import Pool
    from conformance.selftest.trial import Task

    task = Task.quick if focused else Task.complete
    with progress(figures, len(subjects)) as shown:
        for trial in Pool(jobs).trials([task(one, options) for one in subjects]):
            shown(trial, figures.add(trial))
        again = figures.to_repeat() if jobs > 1 or focused else []
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
