"""SIGINT and SIGTERM at any moment: a run ends in time and leaves nothing."""

from __future__ import annotations

import json
import random
import signal
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from conformance.reports.model import load_report
from tests.fakes.command_line import Ended, Started, start
from tests.fakes.target import HostileTarget, Turn, honestly, hostile
from tests.hostile.cases import Every
from tests.replay.conftest import conformance
from tests.sudden.conftest import PATIENCE, Moment, under_way, until

MOMENTS = 50
"""Moments for each signal; ``--sample`` tries a few."""

WITHIN = 10.0
LATITUDE = 20.0
"""Seconds that a busy machine may add."""


def begun(target: HostileTarget, folder: Path, *words: str) -> Started:
    """Start a run against a target."""
    words = ("run", "--base-url", target.url, "--effort", "quick", *words)
    started = start(folder, *words, CONFORMANCE_API_KEY=target.api_key)
    under_way(started)
    return started


def assert_whole(ended: Ended) -> None:
    """Check that every output exists and is complete."""
    load_report(ended.folder / "report.json")
    for name in ("exchanges.har", "ctrf.json", "earl.jsonld", "report.sarif"):
        json.loads((ended.folder / name).read_text())
    for name in ("junit.xml", "badge.svg"):
        ET.fromstring((ended.folder / name).read_text())  # noqa: S314 - the suite's output
    assert (ended.folder / "report.html").read_text().rstrip().endswith("</html>")
    assert (ended.folder / "metrics.prom").read_text().endswith("\n# EOF\n")
    assert not [path for path in ended.folder.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", range(MOMENTS))
def test_a_signal_at_any_moment(number: signal.Signals, moment: int, target: HostileTarget, tmp_path: Path) -> None:
    """An interrupted run undoes its changes, writes its report and says that it was interrupted."""
    before = target.inventory()
    started = begun(target, tmp_path / "report")
    Moment.of(number, moment).wait(started, target)

    started.process.send_signal(number)
    sent = time.monotonic()
    ended = started.wait(PATIENCE + 20)

    assert time.monotonic() - sent <= WITHIN + LATITUDE
    assert "Traceback" not in ended.out + ended.err
    assert_whole(ended)
    assert ended.report["run"]["interrupted"] == (ended.status == 128 + number)
    assert ended.status in {128 + number, 0}, ended.messages()
    assert target.inventory() == before


def _heeding_ctrl_c() -> None:
    """Enable SIGINT as in a terminal, also if the tests run in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", range(-(-MOMENTS // 2)))
def test_a_signal_while_it_starts(number: signal.Signals, moment: int, target: HostileTarget, tmp_path: Path) -> None:
    """A signal before any change gives the status of the signal, and no traceback except the interpreter's."""
    before = target.inventory()
    words = ("run", "--base-url", target.url, "--effort", "quick")
    started = start(tmp_path / "report", *words, preexec=_heeding_ctrl_c, CONFORMANCE_API_KEY=target.api_key)
    until((tmp_path / "report" / "journal.jsonl").exists, random.Random(f"{number}:{moment}").uniform(0, 2))

    started.process.send_signal(number)
    ended = started.wait(PATIENCE)

    assert ended.status == 128 + number, ended.err
    assert "/conformance/cli/" not in ended.err
    if (ended.folder / "journal.jsonl").exists():
        assert_whole(ended)
    assert target.inventory() == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_undoing(number: signal.Signals, tmp_path: Path) -> None:
    """A run that gets the signal while it undoes its changes ends in time."""

    async def slow_deletion(turn: Turn) -> None:
        await (turn.stall() if turn.method == "DELETE" else honestly(turn))

    with hostile(slow_deletion) as target:
        started = begun(target, tmp_path / "report", "--only", "create-engagement-succeeds")
        assert until(lambda: any(head.startswith(b"DELETE") for head in target.heads))

        started.process.send_signal(number)
        sent = time.monotonic()
        ended = started.wait(PATIENCE)

    assert time.monotonic() - sent <= WITHIN + LATITUDE
    assert ended.status == 128 + number
    assert ended.report["not_undone"] != []
    assert_whole(ended)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_ends_at_once(number: signal.Signals, tmp_path: Path) -> None:
    """A run that a second signal ends names the cleanup command."""

    async def slow_deletion(turn: Turn) -> None:
        await (turn.stall() if turn.method == "DELETE" else honestly(turn))

    with hostile(slow_deletion) as target:
        started = begun(target, tmp_path / "report", "--only", "create-engagement-succeeds")
        assert until(lambda: any(head.startswith(b"DELETE") for head in target.heads))
        started.process.send_signal(number)
        time.sleep(0.5)
        started.process.send_signal(number)
        ended = started.wait(PATIENCE)

    assert ended.status == 128 + number
    assert f"conformance cleanup {ended.folder} --base-url http://" in ended.err
    assert "Traceback" not in ended.err


def test_a_run_that_is_stopped_for_a_while_goes_on(target: HostileTarget, tmp_path: Path) -> None:
    """After SIGSTOP and SIGCONT a run ends as if nothing had happened."""
    before = target.inventory()
    started = begun(target, tmp_path / "report")
    assert until(lambda: target.turns > 40)

    started.process.send_signal(signal.SIGSTOP)
    time.sleep(2)
    started.process.send_signal(signal.SIGCONT)
    ended = started.wait(PATIENCE)

    assert ended.status == 0, ended.messages()
    assert_whole(ended)
    assert target.inventory() == before


def test_everything_that_was_started_ends_with_the_run(tmp_path: Path) -> None:
    """The embedded service and the provisioner do not outlive an interrupted run."""
    started = start(tmp_path / "report", "run", "--effort", "quick")
    under_way(started)
    time.sleep(1)

    started.process.send_signal(signal.SIGTERM)

    assert started.wait(PATIENCE).status == 143


@pytest.mark.parametrize("requests", [5, 40])
def test_a_silent_target_does_not_hold_up_the_end(requests: int, tmp_path: Path) -> None:
    """A signal ends a run in time that waits for responses that never come."""

    async def silent(turn: Turn) -> None:
        await turn.stall()

    with hostile(Every(1, silent, after=requests)) as target:
        started = begun(target, tmp_path / "report")
        assert until(lambda: target.turns > requests)
        started.process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        ended = started.wait(PATIENCE)

    assert time.monotonic() - sent <= WITHIN + LATITUDE
    assert ended.status == 130


def test_an_interrupted_run_can_be_reevaluated(target: HostileTarget, tmp_path: Path) -> None:
    """Checks that were interrupted are no errors of the suite."""
    started = begun(target, tmp_path / "report")
    Moment(150, 0).wait(started, target)
    started.process.send_signal(signal.SIGINT)
    ended = started.wait(PATIENCE)

    again = conformance("render", "--rejudge", ended.folder)

    assert ended.report["run"]["interrupted"]
    assert (again.returncode, again.stderr) == (0, ""), again.stdout
    assert "interrupted" in again.stdout
