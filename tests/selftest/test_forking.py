"""Parent process of trials: crashes, timeouts, fallbacks and the end of the pool."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from multiprocessing import Pipe, active_children
from typing import TYPE_CHECKING, cast

import pytest

from conformance.running.options import Effort, RunOptions
from conformance.selftest import forking, subjects
from conformance.selftest.trial import Task, Trial

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from pathlib import Path

    from conformance.verdicts.session import CollectedChecks

# Python 3.12 and later warn of forking beside another thread, such as that of pytest-xdist.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

NO_CHECKS = cast("CollectedChecks", None)  # the replacement of the suite uses none

FIRST, SECOND, THIRD = (Task(subject, RunOptions(effort=Effort.QUICK, seed=1)) for subject in subjects.faults()[:3])


def carried_out(monkeypatch: pytest.MonkeyPatch, work: Callable[[Connection, Task], None], jobs: int) -> list[Trial]:
    """Return the results of three trials that call a function instead of the suite."""
    monkeypatch.setattr(forking, "_work", lambda there, task, _: work(there, task))
    here, there = Pipe()
    with here, there:
        forking._Forking(there, NO_CHECKS).run([FIRST, SECOND, THIRD], jobs)
        return [here.recv() for _ in range(3)]


def test_a_crashed_trial_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """A crashed trial is reported; the others end normally."""

    def work(there: Connection, task: Task) -> None:
        if task == SECOND:
            os._exit(1)
        there.send(Trial(task.subject))

    errors = {trial.subject.id: trial.errors for trial in carried_out(monkeypatch, work, 2)}

    assert errors == {
        FIRST.subject.id: (),
        SECOND.subject.id: ("The process of the trial ended without a result.",),
        THIRD.subject.id: (),
    }


def test_a_trial_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """A trial that hangs is killed and reported."""
    monkeypatch.setattr(forking, "_LONGEST", 0.3)
    monkeypatch.setattr(forking, "_POLL", 0.05)

    def work(there: Connection, task: Task) -> None:
        if task == FIRST:
            time.sleep(60)
        there.send(Trial(task.subject))

    errors = {trial.subject.id: trial.errors for trial in carried_out(monkeypatch, work, 3)}

    assert errors.pop(FIRST.subject.id) == ("The trial did not end within 0 s.",)
    assert set(errors.values()) == {()}


@pytest.mark.parametrize("found_at", [1, 2, 3])
def test_another_way_to_try_a_fault(monkeypatch: pytest.MonkeyPatch, found_at: int) -> None:
    """The fallback runs if the first trial misses the fault; only the last result is sent."""
    fault = FIRST.subject

    def work(there: Connection, task: Task) -> None:
        is_found = (1 if task.otherwise is not None else 2) >= found_at
        reported = {fault.breaks[0]: ["it"]} if is_found else {}
        there.send(Trial(task.subject, reported=reported, requests=10 if task.otherwise is not None else 20))

    monkeypatch.setattr(forking, "_work", lambda there, task, _: work(there, task))
    here, there = Pipe()
    with here, there:
        forking._Forking(there, NO_CHECKS).run([replace(FIRST, otherwise=FIRST)], 2)
        sent = here.recv()
        assert not here.poll()

    assert sent.requests == (10 if found_at == 1 else 20)
    assert bool(sent.reported) == (found_at <= 2)


def test_a_closed_connection_ends_all_trials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Once the pool has closed its connection, running trials end and no other begins."""
    begun = tmp_path / "begun"

    def work(_: Connection, task: Task) -> None:
        with begun.open("a") as file:
            file.write(f"{task.subject.id}\n")
        time.sleep(60)

    monkeypatch.setattr(forking, "_work", lambda there, task, _: work(there, task))
    here, there = Pipe()
    here.close()
    with there:
        forking._Forking(there, NO_CHECKS).run([FIRST, SECOND, THIRD], 1)

    assert SECOND.subject.id not in (begun.read_text() if begun.exists() else "")
    assert not [child for child in active_children() if child.daemon]
