"""Parent process of the trials, which imports everything and collects the checks once."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import signal
import sys
import tempfile
import time
import traceback
from collections import deque
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Final

from conformance.catalogue import load_catalogue
from conformance.posix import fork_context
from conformance.reference.faults import all_faults
from conformance.running.options import Effort, RunOptions
from conformance.selftest.figures import MISSED, state_of
from conformance.selftest.in_process import HostedSession
from conformance.selftest.subjects import latitudes
from conformance.selftest.trial import Trial, attempt
from conformance.verdicts.session import CollectedChecks, with_collected_checks

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.process import BaseProcess

    from conformance.selftest.trial import Task

_LONGEST: Final = 300.0
"""Seconds that a trial may take."""
_POLL: Final = 1.0


def fork_trials(connection: Connection, tasks: Sequence[Task], jobs: int) -> None:
    """Run each trial in a process of its own and send its result; the main function of the parent process.

    Args:
        connection: The connection for the results; once its other end is closed, the trials end.
        tasks: The tasks.
        jobs: Maximum number of concurrent trials.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all processes; the pool ends this one
    _schedule_as_batch()
    load_catalogue()
    all_faults()
    import_module("uvicorn.protocols.http.h11_impl")  # else every trial would import it
    sys.modules.setdefault("sniffio", None)  # type: ignore[arg-type] # else httpx would search for it at every request
    with tempfile.TemporaryDirectory(prefix="conformance-selftest-") as folder:
        tempfile.tempdir = folder  # removes the files of killed trials
        _warm_up()
        with_collected_checks(lambda checks: _Forking(connection, checks).run(tasks, jobs))


def _schedule_as_batch() -> None:
    """Use the batch scheduler if the system allows it: fewer context switches refill fewer caches."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # a sandbox may forbid it; trials only take longer then
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def _warm_up() -> None:
    """Reach a service once, to fill the caches of all trials."""
    (honest,) = latitudes("default")
    with HostedSession(honest, RunOptions(effort=Effort.QUICK, seed=1), in_process=True) as session:
        session.reach()


@dataclass(frozen=True, slots=True)
class _Begun:
    task: Task
    process: BaseProcess
    until: float


class _Forking:
    """The running trials."""

    def __init__(self, connection: Connection, checks: CollectedChecks) -> None:
        self._connection = connection
        self._checks = checks
        self._context = fork_context()
        self._begun: dict[Connection, _Begun] = {}
        self._waiting: deque[Task] = deque()
        gc.collect()
        gc.freeze()  # so that garbage collection in a trial does not write to shared pages

    def run(self, tasks: Sequence[Task], jobs: int) -> None:
        """Run all tasks."""
        self._waiting.extend(tasks)
        try:
            while self._waiting or self._begun:
                while self._waiting and len(self._begun) < jobs:
                    self._begin(self._waiting.popleft())
                ready = wait([self._connection, *self._begun], _POLL)
                if self._connection in ready:
                    return
                for here in tuple(self._begun):
                    if here in ready or time.monotonic() > self._begun[here].until:
                        self._conclude(here)
        finally:
            for begun in self._begun.values():
                begun.process.kill()
                begun.process.join()

    def _begin(self, task: Task) -> None:
        here, there = self._context.Pipe(duplex=False)
        process = self._context.Process(target=_work, args=(there, task, self._checks), daemon=True)
        process.start()
        there.close()
        self._begun[here] = _Begun(task, process, time.monotonic() + _LONGEST)

    def _conclude(self, here: Connection) -> None:
        """Send the result of a trial; if it missed its fault, start its fallback instead."""
        begun = self._begun.pop(here)
        trial = _ended(here, begun)
        if begun.task.otherwise is not None and state_of(trial) in MISSED:
            self._waiting.appendleft(begun.task.otherwise)
        else:
            self._connection.send(trial)


def _ended(here: Connection, begun: _Begun) -> Trial:
    """Return the result of a trial whose process has ended or is overdue, and end the process."""
    try:
        if not here.poll():
            return Trial(begun.task.subject, errors=(f"The trial did not end within {_LONGEST:.0f} s.",))
        trial: Trial = here.recv()
    except (EOFError, OSError):
        return Trial(begun.task.subject, errors=("The process of the trial ended without a result.",))
    else:
        return trial
    finally:
        here.close()
        begun.process.kill()  # it sends nothing more
        begun.process.join()
        begun.process.close()


def _work(there: Connection, task: Task, checks: CollectedChecks) -> None:
    """Run a trial and send its result; the main function of its process."""
    # A faulty service logs its unexpected errors, which are intended here.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    gc.disable()  # a trial ends before its garbage matters
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            trial = attempt(task, checks.run)
        except Exception:  # noqa: BLE001 - any error is sent instead of a result
            trial = Trial(task.subject, errors=(traceback.format_exc(),))
    there.send(trial)
