"""Progress in a pipe: no long silence, and whatever the run waits for is named."""

from __future__ import annotations

import io
import re
import threading
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from conformance.cli.cleanup import cleanup
from conformance.cli.progress import WaitReporter, _Lines, _Live, waits_for
from conformance.cli.text import complain
from conformance.targets.journal import Journal
from conformance.targets.names import RunNames
from conformance.targets.undo import UndoResult
from conformance.wire.dispatcher import Dispatcher
from conformance.wire.waits import Waiting, Waits


def run_that_waits(**more: Any) -> Any:
    """A run that waits for something."""
    return SimpleNamespace(
        profile=SimpleNamespace(name="staging", base_url="http://service.test"),
        options=SimpleNamespace(effort=SimpleNamespace(value="quick"), seed=1),
        mode=SimpleNamespace(value="default"),
        **({"wire": SimpleNamespace(sent=42), "waiting": None} | more),
    )


def test_a_silent_run_gives_a_sign_of_life() -> None:
    """Checks, requests that were sent by then, and what is waited for."""
    out = io.StringIO()
    run = run_that_waits(waiting=Waiting("the provisioner (read_mail)", datetime.now(UTC) + timedelta(seconds=600)))

    with _Lines(run, Console(file=out, width=200), silence=0.01) as lines:
        lines.planned(431)
        until = time.monotonic() + 10
        while out.getvalue().count("0/431 checks, 42 requests") < 2 and time.monotonic() < until:
            time.sleep(0.01)

    signs = [line for line in out.getvalue().splitlines() if "0/431" in line]
    assert len(signs) >= 2
    assert all("; waiting for the provisioner (read_mail) until " in line for line in signs)


def test_a_wait_for_the_rate_limit_says_until_when() -> None:
    """A short one is not worth saying."""
    now = datetime.now(UTC)
    long, short = now + timedelta(seconds=58), now + timedelta(seconds=1)

    told = waits_for(run_that_waits(waiting=Waiting("the rate limit", long)))

    assert told is not None
    assert told.startswith(f"waiting for the rate limit until {long:%H:%M:%S} UTC (5")
    assert waits_for(run_that_waits(waiting=Waiting("the rate limit", short))) is None


@pytest.mark.parametrize("width", [60, 80, 140])
def test_a_terminal_of_any_width_shows_until_when(width: int) -> None:
    """What is waited for stands first, and is not squeezed by the bar; without it there is the bar."""
    out = io.StringIO()
    run = run_that_waits()
    with _Live(run, Console(file=out, width=width, force_terminal=True)) as live:
        live.planned(431)
        live.undoing()
        live._progress.refresh()
        if width > 80:
            assert "undoing the changes of the run" in out.getvalue()
        run.waiting = Waiting("the rate limit", datetime.now(UTC) + timedelta(seconds=58.9))
        live._progress.refresh()

    assert re.search(r"waiting for the rate limit until [0-9:]{8} UTC \(5\d s\)", out.getvalue())


def test_a_wait_is_said_once() -> None:
    """Also where there is no run, as while cleaning up: one line for each, whoever waits for it."""
    said: list[str] = []
    waits, last = Waits(), threading.Event()

    def say(line: str) -> None:
        said.append(line)
        if "background" in line:
            last.set()

    with waits.during("the background", 500), ExitStack() as limits:
        limits.enter_context(waits.during("the rate limit", 100))
        limits.enter_context(waits.during("the rate limit", 100.5))
        with WaitReporter(lambda: waits.first, say):
            until = time.monotonic() + 10
            while not said and time.monotonic() < until:
                time.sleep(0.01)
            limits.pop_all().close()
            assert last.wait(10)

    assert [line.partition(" until ")[0] for line in said] == [
        "waiting for the rate limit", "waiting for the background"
    ]  # fmt: skip


def test_a_tick_is_not_worth_saying() -> None:
    """Nor is nothing."""
    said: list[str] = []
    looks, waits = threading.Semaphore(0), Waits()

    def look() -> Waiting | None:
        looks.release()
        return waits.first

    with WaitReporter(look, said.append):
        assert looks.acquire(timeout=10)
        with waits.during("a tick", 1.1):
            assert all(looks.acquire(timeout=10) for _ in range(2))

    assert said == []


def test_what_ends_first_is_what_is_waited_for() -> None:
    """Nothing is when all is over."""
    waits = Waits()
    with waits.during("b", 60), waits.during("a", 30):
        assert waits.first is not None
        assert waits.first.what == "a"
    assert waits.first is None


def test_a_cleanup_tells_what_it_waits_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What its wire waits for, on stderr, as long as it undoes."""
    told: list[tuple[object, object]] = []

    class Noted(WaitReporter):
        def __exit__(
            self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
        ) -> None:
            super().__exit__(kind, error, trace)
            told.append((self._waiting(), self._say))

    monkeypatch.setattr("conformance.cli.cleanup.WaitReporter", Noted)
    monkeypatch.setattr("conformance.cli.cleanup.clean_up", lambda *_, **__: UndoResult(left=[], lasting=[]))
    monkeypatch.setattr(Dispatcher, "waiting", "what the wire waits for")
    Journal.open(tmp_path, RunNames("cf-abcdefg2-"), "http://127.0.0.1:9", "main-key-0001").close()

    done = CliRunner().invoke(
        cleanup, [str(tmp_path), "--base-url", "http://127.0.0.1:9", "--api-key", "main-key-0001"]
    )

    assert done.exit_code == 0, done.output
    assert told == [("what the wire waits for", complain)]
