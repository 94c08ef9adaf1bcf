"""The process that trials are forked from: it imports everything and collects the checks, once for all of them."""

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
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Final

from conformance.catalogue import load_catalogue
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
_LOOKING_UP: Final = 1.0


def fork_trials(asker: Connection, tasks: Sequence[Task], jobs: int) -> None:
    """Carry out trials, each in a process of its own, and tell what came of each; the whole life of a process.

    Args:
        asker: Where results go; once its other end is closed, nothing goes on.
        tasks: The trials.
        jobs: How many trials go on at once.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to everybody; whoever asked ends this
    _take_turns_seldom()
    load_catalogue()
    all_faults()
    import_module("uvicorn.protocols.http.h11_impl")  # which it would load by itself in every trial
    sys.modules.setdefault("sniffio", None)  # type: ignore[arg-type] # httpx would look for it at every request
    with tempfile.TemporaryDirectory(prefix="conformance-selftest-") as folder:
        tempfile.tempdir = folder  # so that nothing stays of a trial that has to be ended
        _warm_up()
        with_collected_checks(lambda checks: _Forking(asker, checks).carry_out(tasks, jobs))


def _take_turns_seldom() -> None:
    """Have what computes go on where something else wakes up, as the system allows: caches are refilled less often."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # a sandbox may forbid it, and then trials only take longer
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def _warm_up() -> None:
    """Reach a service once, so that what is loaded, compiled and kept at first use is there for all trials."""
    (honest,) = latitudes("default")
    with HostedSession(honest, RunOptions(effort=Effort.QUICK, seed=1), in_process=True) as execution:
        execution.reach()


@dataclass(frozen=True, slots=True)
class _Begun:
    task: Task
    process: BaseProcess
    until: float


class _Forking:
    """The trials that are under way."""

    def __init__(self, asker: Connection, checks: CollectedChecks) -> None:
        self._asker = asker
        self._checks = checks
        self._context = get_context("fork")
        self._begun: dict[Connection, _Begun] = {}
        self._waiting: deque[Task] = deque()
        gc.collect()
        gc.freeze()  # so that a trial's collections do not write to what it shares

    def carry_out(self, tasks: Sequence[Task], jobs: int) -> None:
        """Have each done, so many at once."""
        self._waiting.extend(tasks)
        try:
            while self._waiting or self._begun:
                while self._waiting and len(self._begun) < jobs:
                    self._begin(self._waiting.popleft())
                ready = wait([self._asker, *self._begun], _LOOKING_UP)
                if self._asker in ready:
                    return
                for here in (one for one in tuple(self._begun) if one in ready or self._is_overdue(one)):
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

    def _is_overdue(self, here: Connection) -> bool:
        return time.monotonic() > self._begun[here].until

    def _conclude(self, here: Connection) -> None:
        """Tell what came of a trial, unless it left a fault unfound and there is another way to try."""
        begun = self._begun.pop(here)
        trial = _ended(here, begun)
        if begun.task.otherwise is not None and state_of(trial) in MISSED:
            self._waiting.appendleft(begun.task.otherwise)
        else:
            self._asker.send(trial)


def _ended(here: Connection, begun: _Begun) -> Trial:
    """What came of a trial whose process has ended, or has to."""
    try:
        if not here.poll():
            return Trial(begun.task.subject, errors=(f"The trial did not end within {_LONGEST:.0f} s.",))
        trial: Trial = here.recv()
    except (EOFError, OSError):
        return Trial(begun.task.subject, errors=("The process of the trial ended without a word.",))
    else:
        return trial
    finally:
        here.close()
        begun.process.kill()  # it has nothing more to say
        begun.process.join()
        begun.process.close()


def _work(there: Connection, task: Task, checks: CollectedChecks) -> None:
    """Carry out one trial in a process of its own and tell what came of it."""
    # A faulty service logs its unexpected errors, and those are meant here.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    gc.disable()  # a trial is over before what it leaves behind matters
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            trial = attempt(task, checks.run)
        except Exception:  # noqa: BLE001 - whatever it is, it is told instead of a result
            trial = Trial(task.subject, errors=(traceback.format_exc(),))
    there.send(trial)
