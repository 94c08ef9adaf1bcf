"""Errors of the suite itself: every run still writes a report with its results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.cli import conduct, error_handling, run_outputs
from conformance.cli.events import EventLog
from conformance.cli.gate import GateOptions
from conformance.cli.interruption import Interruption
from conformance.cli.progress import _Silent
from conformance.exits import Exit
from conformance.reports import formats
from conformance.reports.model import InvalidReport
from conformance.running import run_session
from conformance.running.embedded import EmbeddedError
from conformance.running.options import Effort, RunOptions
from conformance.targets.journal import Journal
from conformance.verdicts.reporting import build_report
from tests.fakes.command_line import Reported
from tests.fakes.target import HostileTarget, Turn, hostile, json_reply

CREATING: Final = "update-engagement-keeps-the-rest"
READING: Final = "get-organization-fields"


@pytest.fixture
def target() -> Iterator[HostileTarget]:
    """Serve the reference service in this process."""
    with hostile() as served:
        yield served


class Running(Reported):
    """A runner in this process, with the report."""

    def __init__(self, target: HostileTarget, report: Path) -> None:
        self._target = target
        self.folder = report

    def __call__(self, only: str) -> Exit:
        """Run a few checks and return the exit status."""
        options = RunOptions(
            base_url=self._target.url,
            api_key=self._target.api_key,
            report=self.folder,
            effort=Effort.QUICK,
            only=(only,),
        )
        return conduct.conduct(options, GateOptions(), Interruption(), EventLog(None), quiet=True)


@pytest.fixture
def running(target: HostileTarget, tmp_path: Path) -> Running:
    """Return a runner in this process."""
    return Running(target, tmp_path / "report")


def building(session: Any, results: Any, **more: Any) -> Any:
    """Build a report without results alone."""
    return broken() if results else build_report(session, results, **more)


def broken(*_: object, **__: object) -> Any:
    """Raise an unexpected error."""
    raise RecursionError("too deep")


def test_undoing_that_goes_wrong_keeps_the_report(
    running: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The report says how many changes may be left; the last line names the command that undoes them."""
    monkeypatch.setattr(run_session, "undo", broken)

    assert running(CREATING) is Exit.UNTESTABLE

    assert running.outcome(CREATING) == "passed"
    (left,) = running.report["not_undone"]
    assert left.startswith("An error of the suite ended the undoing; ")
    assert "0 changes" not in left
    output = capsys.readouterr().err
    assert f"conformance cleanup {running.folder} --base-url" in output
    assert "The suite itself failed in 1 place" in output
    assert "RecursionError" in (running.folder / "errors.log").read_text()


def test_undoing_is_watched_like_the_checks(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """The progress display runs until undoing is over."""
    shown: list[str] = []
    undo = error_handling.undo

    class Watched(_Silent):
        def __exit__(self, *_: object) -> None:
            shown.append("over")

        def undoing(self) -> None:
            shown.append("undoing")

    def undone(*given: Any) -> None:
        undo(*given)
        shown.append("undone")

    monkeypatch.setattr(conduct, "progress_for", lambda *_, **__: Watched())
    monkeypatch.setattr(conduct, "undo", undone)

    assert running(CREATING) is Exit.OK
    assert shown == ["undoing", "undone", "over"]


def test_a_census_that_goes_wrong_keeps_what_was_undone(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """The census comes after undoing."""
    monkeypatch.setattr(run_session, "take_census", broken)

    assert running(CREATING) is Exit.UNTESTABLE
    assert running.report["not_undone"] == []


def test_a_failure_stays_one_where_undoing_goes_wrong(
    running: Running, target: HostileTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exit status stays that of a failed requirement."""

    async def bare(turn: Turn) -> None:
        await turn.send(json_reply(200, {"data": {"id": "o"}}))

    target.behaviour = bare
    monkeypatch.setattr(run_session, "undo", broken)

    assert running(READING) is Exit.FAILED
    assert running.outcome(READING) == "failed"


@pytest.mark.parametrize("step", ["reach", "run_checks"])
def test_checks_that_go_wrong_keep_the_report(running: Running, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """An error in the first request or in pytest itself still gives a report."""
    monkeypatch.setattr(*((run_session, "reach", broken) if step == "reach" else (conduct, step, broken)))

    assert running(READING) is Exit.UNTESTABLE
    assert running.report["verdict"] == "inconclusive"


def test_closing_that_goes_wrong_comes_after_the_report(
    running: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error is reported in a sentence."""
    monkeypatch.setattr(Journal, "close", broken)

    assert running(READING) is Exit.UNTESTABLE
    assert running.outcome(READING) == "passed"
    assert "The suite itself failed while closing the run: RecursionError." in capsys.readouterr().err


def test_an_output_that_cannot_be_made_keeps_the_report(
    running: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only report.json is written."""
    monkeypatch.setitem(formats.FROM_BOTH, "html", ("report.html", broken))

    assert running(READING) is Exit.UNTESTABLE
    assert running.outcome(READING) == "passed"
    assert "/report.json was written." in capsys.readouterr().err


def test_a_report_that_cannot_be_made_is_an_error_of_the_suite(
    running: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is no usage error; the results are at least on the terminal."""

    def invalid(_: object) -> bytes:
        raise InvalidReport("it breaks its schema")

    monkeypatch.setitem(formats.FROM_REPORT, "json", ("report.json", invalid))
    monkeypatch.setattr(run_outputs, "report_bytes", invalid)

    assert running(READING) is Exit.UNTESTABLE
    output = capsys.readouterr()
    assert "The suite itself failed while writing the report: InvalidReport." in output.err
    assert "the verdict is inconclusive" in output.out


def test_results_that_no_report_can_be_built_of_leave_a_minimal_report(
    running: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has no results, and says why."""
    monkeypatch.setattr(conduct, "build_report", building)

    assert running(READING) is Exit.UNTESTABLE
    assert (running.report["verdict"], running.outcome(READING)) == ("inconclusive", "untested")
    assert conduct._NO_RESULTS in running.report["run"]["warnings"]
    assert "RecursionError" in (running.folder / "errors.log").read_text()
    assert "Exit 3: The suite itself failed in 1 place; see errors.log" in capsys.readouterr().err


def test_a_failure_that_no_report_can_be_built_of_stays_one(
    running: Running, target: HostileTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exit status is that of a failure."""

    async def bare(turn: Turn) -> None:
        await turn.send(json_reply(200, {"data": {"id": "o"}}))

    monkeypatch.setattr(conduct, "build_report", building)
    target.behaviour = bare

    assert running(READING) is Exit.FAILED


@pytest.mark.parametrize("only", [READING, "no-such-requirement"])
def test_an_embedded_service_that_does_not_start_leaves_no_old_report(
    running: Running, monkeypatch: pytest.MonkeyPatch, only: str
) -> None:
    """Options that cannot be used change nothing in the folder."""
    assert running(READING) is Exit.OK

    def unstarted(*_: object) -> Any:
        raise EmbeddedError("The embedded reference service did not start.")

    monkeypatch.setattr(run_session, "EmbeddedService", unstarted)
    options = RunOptions(report=running.folder, effort=Effort.QUICK, only=(only,))
    status = conduct.conduct(options, GateOptions(), Interruption(), EventLog(None), quiet=True)

    is_usable = only == READING
    assert status is (Exit.UNTESTABLE if is_usable else Exit.USAGE)
    assert (running.folder / "report.json").exists() is not is_usable


def test_a_summary_that_cannot_be_printed_costs_no_report(
    running: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The report is written, and one sentence says the verdict."""
    monkeypatch.setattr(conduct, "print_summary", broken)

    assert running(READING) is Exit.UNTESTABLE
    assert running.outcome(READING) == "passed"
    assert "The verdict is inconclusive; the summary could not be printed." in capsys.readouterr().err


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(Path.unlink, id="deleted"),
        pytest.param(lambda path: path.write_text("something else\n"), id="replaced"),
        pytest.param(lambda path: path.write_bytes(b""), id="truncated"),
    ],
)
def test_a_lost_journal_is_reported(running: Running, target: HostileTarget, spoil: Callable[[Path], object]) -> None:
    """The run goes on and undoes its changes; the report contains a warning."""

    async def spoiling(turn: Turn) -> None:
        if turn.number == 5:
            spoil(running.folder / "journal.jsonl")
        await turn.send(await turn.honest())

    target.behaviour = spoiling

    assert running(CREATING) is Exit.OK
    assert any("journal was deleted, replaced or truncated" in warning for warning in running.report["run"]["warnings"])


def test_a_journal_that_stays_is_not_mentioned(running: Running) -> None:
    """There is no warning."""
    assert running(CREATING) is Exit.OK
    assert running.report["run"]["warnings"] == []
