"""Course of ``conformance run``: reach the target, run the checks, undo, write the report, return the exit status."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import click

from conformance.catalogue import SelectionError
from conformance.cli.default_folder import default_folder
from conformance.cli.ending import say_why
from conformance.cli.error_handling import attempt, reach, undo
from conformance.cli.fail_fast import FailFast
from conformance.cli.gate import Gate, GateOptions
from conformance.cli.progress import WithoutMessages, progress_for
from conformance.cli.run_outputs import RunOutputs, is_masked
from conformance.cli.summary import print_summary
from conformance.cli.text import complain
from conformance.exits import Exit
from conformance.reports.folder import ERRORS, FolderError
from conformance.reports.model import InvalidReport
from conformance.reports.wording import counted
from conformance.running.embedded import EmbeddedError
from conformance.running.run_session import RunSession
from conformance.targets.journal_file import JournalError
from conformance.targets.profile import PLAIN_HTTP
from conformance.targets.yaml_entries import TargetFileError
from conformance.verdicts.judge import Judge
from conformance.verdicts.reporting import build_report
from conformance.verdicts.session import run_checks
from conformance.verdicts.waivers import WaiverError
from conformance.wire.run_limits import StopCause

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from signal import Signals

    from conformance.cli.events import EventLog
    from conformance.cli.interruption import Interruption
    from conformance.reports.model import Report
    from conformance.running.options import RunOptions
    from conformance.wire.exchange import Exchange

_NO_JOURNAL: Final = (
    "The journal was deleted, replaced or truncated during the run, so conformance cleanup cannot undo what is left."
)

_MASKED: Final = "Names and addresses of members and texts of other users' engagements are pseudonyms."
_NO_RESULTS: Final = "The suite itself failed while building the report, so it has no results."


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd:
    """The end of a run, which has been undone.

    Attributes:
        status: The exit status.
        why: The reason for it.
        report: The report; None if the run did not begin.
        exchanges: The exchanges as outputs show them.
        folder: The folder of the outputs; None if they could not be written.
        is_tested: Whether the target was reached.
        drift: The changes since the baseline, as text; None without a baseline.
        problems: The problems of the waivers that the reason does not name, as sentences.
    """

    status: Exit
    why: str
    report: Report | None = None
    exchanges: Sequence[Exchange] = ()
    folder: Path | None = None
    is_tested: bool = False
    drift: str | None = None
    problems: Sequence[str] = ()

    def despite(self, error: Exception, step: str) -> RunEnd:
        """Return the end after an error of the suite in a step after the report; print it if it is not the reason."""
        failure = f"The suite itself failed while {step}: {type(error).__name__}."
        if self.status in {Exit.OK, Exit.UNDECIDED}:
            return replace(self, status=Exit.UNTESTABLE, why=failure)
        complain(failure)
        return self


def conduct(
    options: RunOptions, conditions: GateOptions, interruption: Interruption, events: EventLog, *, quiet: bool
) -> Exit:
    """Carry out a run, and print its summary and in the last line why the status is not 0.

    Args:
        options: The options of the run.
        conditions: The conditions for exit status 0.
        interruption: The signal handlers.
        events: The events of the run.
        quiet: Whether only the failures, the warnings and the verdict are printed.

    Returns:
        The exit status.
    """
    end = carry_out(options, conditions, interruption, events, quiet=quiet)
    if end.report is not None:
        try:
            print_summary(end.report, end.folder, end.exchanges, quiet=quiet, is_tested=end.is_tested)
        except Exception as error:  # noqa: BLE001 - the report is written
            complain(f"The verdict is {end.report['verdict']}; the summary could not be printed.")
            end = end.despite(error, "printing the summary")
    if end.drift is not None and not quiet:
        click.echo(end.drift)
    for problem in end.problems:
        complain(problem)
    events.finished(int(end.status), end.why)
    return end.status if end.status is Exit.OK else say_why(end.status, end.why)


def carry_out(
    options: RunOptions, conditions: GateOptions, interruption: Interruption, events: EventLog, *, quiet: bool
) -> RunEnd:
    """Run the suite against a target and write the report; the arguments are those of ``conduct``."""
    end: RunEnd | None = None
    try:
        gate = Gate.read(conditions)
        with RunSession(options, default_folder=default_folder) as session:
            if PLAIN_HTTP in session.profile.warnings:
                complain(f"Warning: {PLAIN_HTTP}")
            judge, failed_fast = _checked(session, interruption, gate, events, quiet=quiet)
            ended_by = interruption.signal  # a later signal changes nothing
            end = _ended(session, judge, gate, events, ended_by, failed_fast=failed_fast)
    except (TargetFileError, SelectionError, JournalError, FolderError, WaiverError, InvalidReport) as error:
        return RunEnd(status=Exit.USAGE, why=str(error))
    except EmbeddedError as error:
        return RunEnd(status=Exit.UNTESTABLE, why=str(error))
    except Exception as error:
        if end is None:
            raise
        return end.despite(error, "closing the run")
    return end


def _checked(
    session: RunSession, interruption: Interruption, gate: Gate, events: EventLog, *, quiet: bool
) -> tuple[Judge, bool]:
    """Run the checks and undo; return the judge, and whether ``--fail-fast`` ended the checks."""
    interruption.final_message = _final_message(session)
    interruption.kill_children = session.kill_children
    progress = events.follow(session, progress_for(session.run, quiet=quiet))
    progress = WithoutMessages(progress) if is_masked(session) else progress
    fail_fast = FailFast(progress, gate.expects)
    judge = Judge(session.run, fail_fast)

    def end(reason: str) -> None:
        judge.stop()
        session.run.wire.end(reason)

    def stop(reason: str) -> None:
        judge.stop()  # a finalizer may swallow the KeyboardInterrupt, and judging a deep run takes long
        session.run.wire.stop(reason)

    interruption.stops(stop)
    if gate.fail_fast:
        fail_fast.ends(end)
    with progress:
        with interruption.raising():
            session.run.closed = reach(session, judge.errors)
            attempt(lambda: run_checks(judge), judge.errors)
        if session.run.journal.pending():
            progress.undoing()
        undo(session, judge.errors)
    return judge, fail_fast.failed is not None


def _ended(
    session: RunSession,
    judge: Judge,
    gate: Gate,
    events: EventLog,
    ended_by: Signals | None,
    *,
    failed_fast: bool,
) -> RunEnd:
    """Write the report of a run that has been undone, and return the end of the run."""
    outputs, closed = RunOutputs(session), session.run.closed
    reason = _reason_of_suite(outputs, judge.errors) or closed or _reason_of_target(session, judge)
    if ended_by is not None or failed_fast:
        judge.give_up("The run ended before this check did.")
    built = _built(session, judge, gate, ended_by, failed_fast=failed_fast)
    if built is None:
        reason = _reason_of_suite(outputs, judge.errors)
    report, problems = built or build_report(session, (), interrupted=ended_by is not None, warnings=[_NO_RESULTS])
    if report["not_undone"] and (command := _cleanup_command(session)):
        report["cleanup"] = session.redactor.text(command)
    report, exchanges = outputs.masked(report), outputs.exchanges()
    events.built(report)
    folder = session.folder if outputs.write(report, exchanges) else None
    drift: str | None = None
    if ended_by is not None:
        status, why, problems = Exit.of(ended_by), f"ended by {ended_by.name}", []
    elif folder is None:
        status = Exit.FAILED if report["verdict"] == "non-conformant" else Exit.UNTESTABLE
        why, problems = f"the report could not be written to {session.folder}", []
    else:
        status, why = gate.ending(report, problems, reason)
        status = gate.despite_loss(status, judge.results) if built is None else status
        drift = gate.drift(report)
    return RunEnd(
        status=status,
        why=f"{why.rstrip('.')}.{_how_to_clean_up(report)}",
        report=report,
        exchanges=exchanges,
        folder=folder,
        is_tested=closed is None,
        drift=drift,
        problems=[problem for problem in problems if problem not in why],
    )


def _built(
    session: RunSession, judge: Judge, gate: Gate, ended_by: Signals | None, *, failed_fast: bool
) -> tuple[Report, list[str]] | None:
    """Return the report and the problems of the waivers; None after an error of the suite."""
    return attempt(
        lambda: build_report(
            session,
            judge.results,
            waivers=gate.waivers,
            known=gate.tolerated,
            interrupted=ended_by is not None,
            failed_fast=failed_fast and ended_by is None,
            warnings=[
                *([_NO_JOURNAL] if session.run.journal.is_lost else []),
                *([_MASKED] if is_masked(session) else []),
            ],
        ),
        judge.errors,
    )


def _how_to_clean_up(report: Report) -> str:
    """Return the end of the last line if records are left: the command that removes them."""
    if "cleanup" not in report:
        return ""
    return f" To remove what is left ({len(report['not_undone'])}): {report['cleanup']}"


def _final_message(session: RunSession) -> str:
    """Return the last line of a run that a second signal ends before undoing."""
    command = _cleanup_command(session)
    return "Ended at once." if command is None else f"Ended at once. To undo what the run has left: {command}"


def _cleanup_command(session: RunSession) -> str | None:
    """Return the command that undoes what the run left; None for the embedded service, which ends with the run."""
    options = session.options
    if options.target is None and options.base_url is None:
        return None
    address = None if options.base_url is None else session.profile.base_url  # without the user info
    named = [("--target", options.target), ("--base-url", address), *options.connection.options()]
    arguments = ["conformance", "cleanup", str(session.folder)]
    arguments += [argument for option, value in named if value is not None for argument in (option, str(value))]
    return shlex.join(arguments)


def _reason_of_target(session: RunSession, judge: Judge) -> str | None:
    """Return why the run is no valid test of a target that was reached, as a sentence; None if it is valid."""
    stopped = session.run.wire.stopped
    outcomes = {result.outcome for result in judge.results}
    if session.failure is not None:
        return f"The run ended early: {session.failure}"
    if StopCause.of(stopped) in {StopCause.TARGET_LOST, StopCause.KEY_REFUSED}:
        return f"The target could not be tested to the end: {stopped}."
    if not outcomes & {"passed", "failed"} and (stopped is not None or not outcomes or "cantTell" in outcomes):
        return f"Nothing could be decided: {stopped or 'no response was conclusive'}."
    if session.provisioner is not None and session.provisioner.never_responded:
        return f"The provisioner never responded: {session.provisioner.problem}"
    return None


def _reason_of_suite(outputs: RunOutputs, errors: Sequence[str]) -> str | None:
    """Log the suite's own errors in the report's folder and return a sentence about them; None without errors."""
    if not errors:
        return None
    failed = f"The suite itself failed in {counted(len(errors), 'place')}"
    if outputs.log(errors):
        return f"{failed}; see {ERRORS} in the report's folder."
    return f"{failed}, and {ERRORS} could not be written."
