"""Progress display: output after a long silence, and the current wait."""

from __future__ import annotations

import io
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from conformance.cli.cleanup import cleanup
from conformance.cli.progress import _Lines, _Live, reported_waits, waits_for
from conformance.cli.text import complain
from conformance.targets.journal import Journal
from conformance.targets.names import RunNames
from conformance.targets.pending import UndoResult
from conformance.wire.dispatcher import Dispatcher
from conformance.wire.waits import Waiting, Waits


def run_that_waits(**more: Any) -> Any:
    """Return a run that waits for something."""
    return SimpleNamespace(
        profile=SimpleNamespace(name="staging", base_url="http://service.test"),
        options=SimpleNamespace(effort=SimpleNamespace(value="quick"), seed=1),
        mode=SimpleNamespace(value="default"),
        **({"wire": SimpleNamespace(sent=42), "waiting": None} | more),
    )


def test_a_silent_run_gives_a_sign_of_life() -> None:
    """It contains the checks, the requests sent and the current wait."""
    out = io.StringIO()
    run = run_that_waits(waiting=Waiting("the provisioner (read_mail)", datetime.now(UTC) + timedelta(seconds=600)))

    with _Lines(run, Console(file=out, width=200), silence=0.01) as lines:
        lines.planned(["sort-by-name"] * 431)
        until = time.monotonic() + 10
        while out.getvalue().count("0/431 checks, 42 requests") < 2 and time.monotonic() < until:
            time.sleep(0.01)

    signs = [line for line in out.getvalue().splitlines() if "0/431" in line]
    assert len(signs) >= 2
    assert all("; waiting for the provisioner (read_mail) until " in line for line in signs)


def test_a_wait_for_the_rate_limit_says_until_when() -> None:
    """A short wait is not shown."""
    now = datetime.now(UTC)
    long, short = now + timedelta(seconds=58), now + timedelta(seconds=1)

    wait = waits_for(run_that_waits(waiting=Waiting("the rate limit", long)))

    assert wait is not None
    assert wait.startswith(f"waiting for the rate limit until {long:%H:%M:%S} UTC (5")
    assert waits_for(run_that_waits(waiting=Waiting("the rate limit", short))) is None


@pytest.mark.parametrize("width", [60, 80, 140])
def test_a_terminal_of_any_width_shows_until_when(width: int) -> None:
    """The wait comes first and replaces the bar; without a wait there is the bar."""
    out = io.StringIO()
    run = run_that_waits()
    with _Live(run, Console(file=out, width=width, force_terminal=True)) as live:
        live.planned(["sort-by-name"] * 431)
        live.undoing()
        live._progress.refresh()
        if width > 80:
            assert "undoing the changes of the run" in out.getvalue()
        run.waiting = Waiting("the rate limit", datetime.now(UTC) + timedelta(seconds=58.9))
        live._progress.refresh()

    assert re.search(r"waiting for the rate limit until [0-9:]{8} UTC \(5\d s\)", out.getvalue())


def test_a_wait_is_said_once() -> None:
    """Each wait gives one line, also without a run, as during cleanup."""
    lines: list[str] = []
    waits, last = Waits(), threading.Event()

    def say(line: str) -> None:
        lines.append(line)
        if "background" in line:
            last.set()

    with waits.during("the background", 500), ExitStack() as limits:
        limits.enter_context(waits.during("the rate limit", 100))
        limits.enter_context(waits.during("the rate limit", 100.5))
        with reported_waits(lambda: waits.first, say):
            until = time.monotonic() + 10
            while not lines and time.monotonic() < until:
                time.sleep(0.01)
            limits.pop_all().close()
            assert last.wait(10)

    assert [line.partition(" until ")[0] for line in lines] == [
        "waiting for the rate limit", "waiting for the background"
    ]  # fmt: skip


def test_a_tick_is_not_worth_saying() -> None:
    """A wait of one second is not shown."""
    lines: list[str] = []
    polls, waits = threading.Semaphore(0), Waits()

    def poll() -> Waiting | None:
        polls.release()
        return waits.first

    with reported_waits(poll, lines.append):
        assert polls.acquire(timeout=10)
        with waits.during("a tick", 1.1):
            assert all(polls.acquire(timeout=10) for _ in range(2))

    assert lines == []


def test_the_wait_that_ends_first_is_shown() -> None:
    """The wait with the earliest end is shown; none after all have ended."""
    waits = Waits()
    with waits.during("b", 60), waits.during("a", 30):
        assert waits.first is not None
        assert waits.first.what == "a"
    assert waits.first is None


def test_a_cleanup_prints_its_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """During cleanup the waits of its wire are printed on stderr."""
    reporters: list[tuple[object, object]] = []

    @contextmanager
    def noted(waiting: Callable[[], Waiting | None], say: Callable[[str], None]) -> Iterator[None]:
        with reported_waits(waiting, say):
            yield
        reporters.append((waiting(), say))

    monkeypatch.setattr("conformance.cli.cleanup.reported_waits", noted)
    monkeypatch.setattr("conformance.cli.cleanup.clean_up", lambda *_, **__: UndoResult(left=[], lasting=[]))
    monkeypatch.setattr(Dispatcher, "waiting", "what the wire waits for")
    Journal.open(tmp_path, RunNames("cf-abcdefg2-"), "http://127.0.0.1:9", "main-key-0001").close()

    done = CliRunner().invoke(
        cleanup, [str(tmp_path), "--base-url", "http://127.0.0.1:9", "--api-key", "main-key-0001"]
    )

    assert done.exit_code == 0, done.output
    assert reporters == [("what the wire waits for", complain)]
