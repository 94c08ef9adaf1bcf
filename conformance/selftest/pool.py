"""Pool of trial processes."""

from __future__ import annotations

from multiprocessing import get_context
from typing import TYPE_CHECKING, Final

from conformance.selftest.forking import fork_trials
from conformance.selftest.trial import Trial

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from multiprocessing.connection import Connection

    from conformance.selftest.subjects import Subject
    from conformance.selftest.trial import Task

_ENDING: Final = 5.0


def run_trials(tasks: Sequence[Task], jobs: int) -> Generator[Trial]:
    """Run trials of different subjects concurrently and yield each when it ends.

    Args:
        tasks: The trials.
        jobs: Maximum number of concurrent trials; a trial mostly waits.
    """
    if not tasks:
        return
    context = get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=fork_trials, args=(there, tasks, jobs))
    process.start()
    there.close()
    try:
        yield from _received(here, [task.subject for task in tasks])  # type: ignore[arg-type, unused-ignore] # on Windows
    finally:
        here.close()  # ends the running trials
        process.join(_ENDING)
        process.kill()
        process.join()
        process.close()


def _received(connection: Connection, subjects: Sequence[Subject]) -> Iterator[Trial]:
    missing = {subject.id: subject for subject in subjects}
    while missing:
        try:
            trial: Trial = connection.recv()
        except (EOFError, OSError):
            break
        del missing[trial.subject.id]
        yield trial
    for subject in missing.values():
        yield Trial(subject, errors=("The parent process of the trials ended without a result.",))
