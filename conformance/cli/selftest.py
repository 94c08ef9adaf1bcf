"""``conformance selftest``: test of the suite on faulty and on conforming services."""

from __future__ import annotations

import os
import random
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from conformance.catalogue import SelectionError, choose
from conformance.cli.completion import complete_fault, complete_latitude, complete_pattern
from conformance.exits import Exit
from conformance.reports.wording import counted
from conformance.running.options import Effort, RunOptions

if TYPE_CHECKING:
    from conformance.selftest.figures import Figures
    from conformance.selftest.subjects import Subject
    from conformance.selftest.trial import Task

_SECONDS: Final = {"fault": 1.5, "whole fault": 3.0, "drawn": 4.0, "latitude": 3.0, "combination": 5.0}
"""Seconds of a core that a quick trial takes, about, for the announcement."""
_TIMES: Final = {Effort.QUICK: 1.0, Effort.STANDARD: 2.5, Effort.DEEP: 5.0}
"""Multiples of this time at each effort."""
_WAITING: Final = 5
"""Trials for each core if they judge only some requirements: they spend most of their time waiting."""
_COMBINATIONS: Final = 100
"""Random combinations by default."""
_WHOLE: Final = 60
"""Faults that the whole suite tests; with 60 the means are exact to about a tenth."""
_EARLIER: Final = 0.9
"""Fraction of the other trials over which the slowest ones are spread, so that none is left for the end."""


@click.command()
@click.option(
    "--faults",
    "patterns",
    multiple=True,
    metavar="PATTERN",
    shell_complete=complete_fault,
    help="Try only the faults whose id matches (* and ? allowed); conforming services only if they are chosen, too. "
    "Repeatable.",
)
@click.option(
    "--values",
    multiple=True,
    metavar="PATTERN",
    shell_complete=complete_latitude,
    help="Try only the latitudes NAME=VALUE that match (* and ? allowed); others only if they are chosen, too. "
    "Repeatable.",
)
@click.option(
    "--drawn",
    type=click.IntRange(0),
    metavar="N",
    help="Number of faults to compose at random; other trials only if they are chosen, too. The whole suite tests "
    "them. The share found is reported and does not affect the exit status.",
)
@click.option(
    "--draw-seed",
    type=click.IntRange(0),
    metavar="N",
    help="Seed of the drawn faults.  [default: that of --seed]",
)
@click.option(
    "--latitudes",
    type=click.IntRange(0),
    metavar="N",
    help="Number of conforming services with a random choice at every latitude, besides those that cover all pairs of "
    f"choices; 0 omits both.  [default: {_COMBINATIONS}; 0 with --faults, --values or --drawn]",
)
@click.option(
    "--only",
    multiple=True,
    shell_complete=complete_pattern,
    metavar="PATTERN",
    help="Judge only these requirements, and try only the faults that break them; patterns are as for conformance run. "
    "Repeatable.",
)
@click.option(
    "--effort",
    type=click.Choice([effort.value for effort in Effort]),
    default=Effort.QUICK.value,
    show_default=True,
    help="Thoroughness of each run.",
)
@click.option(
    "--whole",
    type=click.IntRange(0),
    default=_WHOLE,
    show_default=True,
    metavar="N",
    help="Number of faults, chosen at random, that the whole suite tests, to measure what else it reports. Only the "
    "checks of the broken requirements test the other faults, and the whole suite if these find nothing.",
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of the random choices.")
@click.option(
    "--jobs", type=click.IntRange(1), help=f"Concurrent trials.  [default: one per core; {_WAITING} with --only]"
)
@click.option(
    "--report",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("reports/selftest"),
    show_default=True,
    metavar="DIR",
    help="Folder of the outputs.",
)
def selftest(
    patterns: tuple[str, ...],
    values: tuple[str, ...],
    drawn: int | None,
    draw_seed: int | None,
    latitudes: int | None,
    only: tuple[str, ...],
    **given: Any,  # noqa: ANN401 - the values of click's options
) -> None:
    """Test the suite on faulty services, which it must report, and on conforming ones, which it must not.

    Exit status: 0 every fault, drawn ones aside, was found by its requirement and no conforming service was reported;
    1 otherwise; 2 nothing to try; 130 interrupted, with the finished trials in the report.
    """
    from conformance.selftest import results
    from conformance.selftest.figures import Figures

    draw_seed = given["seed"] if draw_seed is None else draw_seed
    try:
        only = only and choose(only=only)
        subjects = _subjects(patterns, values, latitudes, given["seed"], (drawn, draw_seed), only)
    except (LookupError, SelectionError) as problem:
        raise click.UsageError(str(problem)) from None
    if not subjects:
        raise click.UsageError(
            "No fault and no latitude matches. List them with: conformance faults, conformance latitudes"
        )
    cores = os.cpu_count() or 1
    cores *= _WAITING if only else 1
    jobs = given["jobs"] or cores
    options = RunOptions(effort=Effort(given["effort"]), seed=given["seed"], only=only)
    click.echo(_announcement(subjects, cores, given["whole"], options.effort))
    began, start = datetime.now(UTC), time.monotonic()
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
        "draw_seed": draw_seed,
        "whole": given["whole"],
        "only": only,
        "jobs": jobs,
        "planned": len(subjects),
        "interrupted": interrupted,
    }
    content = results.document(figures, run)
    results.write(content, given["report"])
    _print(content, given["report"], names_reported=bool(patterns))
    sys.exit(Exit.INTERRUPTED if interrupted else Exit.OK if content["good"] else Exit.FAILED)


def _tasks(subjects: list[Subject], options: RunOptions, whole: int) -> list[Task]:
    """Return the tasks of all subjects, in their order.

    Args:
        subjects: The services to try.
        options: The options of each run; the seed also draws the faults that the whole suite tests.
        whole: The number of these faults.
    """
    from conformance.selftest.trial import Task

    faults = sorted(subject.id for subject in subjects if subject.kind == "fault")
    generator = random.Random(options.seed)  # noqa: S311 - reproducible on purpose
    sampled = set(generator.sample(faults, min(whole, len(faults))))
    return [(Task.complete if subject.id in sampled else Task.quick)(subject, options) for subject in subjects]


def _try_all(figures: Figures, tasks: list[Task], options: RunOptions, *, jobs: int) -> None:
    """Run all trials; repeat each missed fault alone and with the whole suite."""
    from conformance.cli.selftest_progress import progress
    from conformance.selftest.pool import run_trials
    from conformance.selftest.trial import Task

    with progress(figures, len(tasks)) as shown:
        for trial in run_trials(tasks, jobs):
            shown(trial, figures.add(trial))
        again = figures.to_repeat() if jobs > 1 or not all(task.is_whole for task in tasks) else []
        # Race windows of a few milliseconds close if many runs share a core.
        for trial in run_trials([Task(subject, options) for subject in again], 1):
            shown(trial, figures.repeat(trial))


def _print(content: dict[str, Any], folder: Path, *, names_reported: bool) -> None:
    """Print the figures, the number of trials and the path of the report, and what was reported for chosen faults."""
    from conformance.selftest import results

    for trial in content["trials"] if names_reported else ():
        if trial["kind"] == "fault" and trial["whole"]:
            click.echo(f"{trial['id']}: reported {', '.join(trial['reported']) or 'nothing'}")
    for label, value in results.rows(content):
        click.echo(f"{value:>8}  {label}")
    if content["overlooked"]:
        click.echo("\n".join(["Drawn faults that were not found:", *content["overlooked"]]))
    if content["avoidable"]:
        click.echo("\n".join(["Avoidable undecided requirements:", *results.avoidable_lines(content)]))
    run, done = content["run"], len(content["trials"])
    planned = counted(run["planned"], "trial")
    tried = f"{done} of {planned}, interrupted," if run["interrupted"] else planned
    click.echo(f"{tried} in {run['seconds']} s. Report: {folder / 'selftest.html'}")


def _announcement(subjects: list[Subject], cores: int, whole: int, effort: Effort) -> str:
    """Return the sentence about the number of trials and their time.

    Args:
        subjects: The services to try.
        cores: The number of trials that share no core.
        whole: The number of faults that the whole suite tests.
        effort: The effort of each run.
    """
    from conformance.cli.selftest_progress import about

    counts = Counter(subject.kind for subject in subjects)
    names = {"drawn": "drawn fault"}
    kinds = ", ".join(counted(count, names.get(kind, kind)) for kind, count in sorted(counts.items()))
    whole = min(whole, counts["fault"])
    seconds = sum(_SECONDS[kind] * count for kind, count in counts.items())
    seconds += whole * (_SECONDS["whole fault"] - _SECONDS["fault"])
    seconds *= _TIMES[effort] / cores
    return f"{counted(len(subjects), 'trial')} ({kinds}), {about(seconds)}"


def _subjects(
    patterns: tuple[str, ...],
    values: tuple[str, ...],
    latitudes: int | None,
    seed: int,
    draw: tuple[int | None, int] = (None, 0),
    only: tuple[str, ...] = (),
) -> list[Subject]:
    """Return the services to try; slow ones are spread among CPU-bound ones, to keep the processor busy.

    Args:
        patterns: Patterns of faults.
        values: Patterns of latitudes.
        latitudes: The number of random combinations.
        seed: The seed of the combinations.
        draw: The number of drawn faults and their seed.
        only: The requirements of which a fault must break one; empty for all faults.

    Raises:
        LookupError: A pattern begins as the id of a drawn fault and is none.
    """
    from conformance.selftest import subjects

    everything = ("*",) if latitudes is None and draw[0] is None and not patterns and not values else ()
    latitudes = (_COMBINATIONS if everything else 0) if latitudes is None else latitudes
    named = [fault for pattern in patterns or everything for fault in subjects.faults(pattern)]
    named = [fault for fault in named if not only or set(only).intersection(fault.breaks)]
    faults = {fault.id: fault for fault in (*named, *subjects.drawn(draw[0] or 0, draw[1]))}
    chosen = {choice.id: choice for pattern in values or everything for choice in subjects.latitudes(pattern)}
    together = [*subjects.covering(seed), *subjects.mixtures(latitudes, seed)] if latitudes else []
    kinds = ((_EARLIER, together), (_EARLIER, [*chosen.values()]), (1.0, [*faults.values()]))
    spread = [(span * place / len(kind), subject) for span, kind in kinds for place, subject in enumerate(kind)]
    return [subject for _, subject in sorted(spread, key=itemgetter(0))]
