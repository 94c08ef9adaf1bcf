"""Trials in processes of their own, several at a time, forked from one that has imported everything."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor, as_completed
from multiprocessing import get_context
from typing import TYPE_CHECKING, Final

from conformance.selftest.trial import Trial, attempt, focus

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkServerProcess

    from conformance.running.options import RunOptions
    from conformance.selftest.subjects import Subject

_LONGEST: Final = 300.0
"""Seconds that a trial may take."""
_ENDING: Final = 5.0
_PRELOADED: Final = ["conformance.selftest.preloaded"]


class Pool:
    """Runs trials.

    Args:
        jobs: How many go on at once; most of a trial is waiting.
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._context = get_context("forkserver")
        self._context.set_forkserver_preload(_PRELOADED)
        self._running: set[ForkServerProcess] = set()
        self._stopped = False

    def trials(self, subjects: Sequence[Subject], options: RunOptions, *, focused: bool = False) -> Iterator[Trial]:
        """Try the suite on each subject; the trials come as they end.

        Args:
            subjects: What to try it on.
            options: What to ask of every run.
            focused: Whether faults meet only the checks of what they break.
        """
        with ThreadPoolExecutor(self._jobs, thread_name_prefix="trial") as threads:
            asked = [focus(one, options) if focused and one.kind == "fault" else options for one in subjects]
            futures = [threads.submit(self._try, *each) for each in zip(subjects, asked, strict=True)]
            try:
                for future in as_completed(futures):
                    yield future.result()
            finally:
                self._stopped = True
                threads.shutdown(wait=False, cancel_futures=True)
                for process in tuple(self._running):
                    process.kill()

    def _try(self, subject: Subject, options: RunOptions) -> Trial:
        here, there = self._context.Pipe(duplex=False)
        process = self._context.Process(target=_work, args=(there, subject, options), daemon=True)
        process.start()
        there.close()
        self._running.add(process)
        try:
            return self._wait(here, subject)
        finally:
            self._running.discard(process)
            process.join(_ENDING)
            if process.is_alive():
                process.kill()
                process.join()
            process.close()

    def _wait(self, here: Connection, subject: Subject) -> Trial:
        with here:
            try:
                if here.poll(_LONGEST):
                    trial: Trial = here.recv()
                    return trial
            except (EOFError, OSError):
                return Trial(subject, errors=("The process of the trial ended without a word.",))
        return Trial(subject, errors=(f"The trial did not end within {_LONGEST:.0f} s.",))


def _work(there: Connection, subject: Subject, options: RunOptions) -> None:
    """Carry out one trial in a process of its own and tell what came of it."""
    # A faulty service logs its unexpected errors, and those are meant here.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    gc.disable()  # a trial is over before what it leaves behind matters
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            trial = attempt(subject, options)
        except Exception:  # noqa: BLE001 - whatever it is, it is told instead of a result
            trial = Trial(subject, errors=(traceback.format_exc(),))
    with there:
        there.send(trial)
