"""Course of ``conformance run``: reach the target, run the checks, undo, write the report, return the exit status."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from conformance.catalogue import SelectionError
from conformance.cli.default_folder import default_folder
from conformance.cli.ending import say_why
from conformance.cli.error_handling import reach, succeeds, undo
from conformance.cli.fail_fast import FailFast
from conformance.cli.gate import NO_RESULTS, Gate, Judging
from conformance.cli.progress import Discreet, progress_for
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
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from conformance.cli.events import EventLog
    from conformance.cli.interruption import Interruption
    from conformance.reports.model import Report
    from conformance.running.options import RunOptions
    from conformance.wire.exchange import Exchange

    Summarize = Callable[[Report, Sequence[Exchange], Path | None, bool], object]

_NO_JOURNAL: Final = (
    "The journal was deleted, replaced or truncated during the run, so conformance cleanup cannot undo what is left."
)

_MASKED: Final = "Names and addresses of members and texts of other users' engagements are pseudonyms."


def conduct(options: RunOptions, gate: Gate, interruption: Interruption, events: EventLog, *, quiet: bool) -> Exit:
    """Run the suite against a target, write the report, and print in the last line why the status is not 0.

    Args:
        options: The options of the run.
        gate: The conditions for exit status 0.
        interruption: The signal handlers.
        events: The events of the run.
        quiet: Whether only the verdict and failures are printed.

    Returns:
        The exit status.
    """

    def summarize(
        report: Report,
        exchanges: Sequence[Exchange],
        folder: Path | None,
        is_tested: bool,  # noqa: FBT001 - as called
    ) -> None:
        print_summary(report, folder, exchanges, quiet=quiet, is_tested=is_tested)

    status, why = carried_out(options, gate, interruption, events, summarize, quiet=quiet)
    events.finished(int(status), why)
    return status if status is Exit.OK else say_why(status, why)


def carried_out(
    options: RunOptions, gate: Gate, interruption: Interruption, events: EventLog, summarize: Summarize, *, quiet: bool
) -> tuple[Exit, str]:
    """Run the suite against a target and write the report.

    Args:
        options: The options of the run.
        gate: The conditions for exit status 0.
        interruption: The signal handlers.
        events: The events of the run.
        summarize: Takes the report, its exchanges, its folder if it was written, and whether the target was reached.
        quiet: Whether no progress is shown.

    Returns:
        The exit status, and the reason for it.
    """
    end: tuple[Exit, str] | None = None
    try:
        judging = Judging.by(gate)
        with RunSession(options, default_folder=default_folder) as execution:
            if PLAIN_HTTP in execution.profile.warnings:
                complain(f"Warning: {PLAIN_HTTP}")
            end = _conduct(execution, interruption, judging, events, summarize, quiet=quiet)
    except (TargetFileError, SelectionError, JournalError, FolderError, WaiverError, InvalidReport) as error:
        return Exit.USAGE, str(error)
    except EmbeddedError as error:
        return Exit.UNTESTABLE, str(error)
    except Exception as error:
        if end is None:
            raise
        reason = f"The suite itself failed while closing the run: {type(error).__name__}."
        if end[0] in {Exit.OK, Exit.UNDECIDED}:
            return Exit.UNTESTABLE, reason
        complain(reason)
    return end


def _conduct(
    execution: RunSession,
    interruption: Interruption,
    judging: Judging,
    events: EventLog,
    summarize: Summarize,
    *,
    quiet: bool,
) -> tuple[Exit, str]:
    interruption.farewell = _farewell(execution)
    interruption.kill_children = execution.kill_children
    progress = events.follow(execution, progress_for(execution.run, quiet=quiet))
    progress = Discreet(progress) if is_masked(execution) else progress
    fail_fast = FailFast(progress, judging.expects)
    judge = Judge(execution.run, fail_fast)
    reached = None

    def end(reason: str) -> None:
        judge.stop()
        execution.run.wire.end(reason)

    def stop(reason: str) -> None:
        judge.stop()  # a finalizer may swallow the KeyboardInterrupt, and judging a deep run takes long
        execution.run.wire.stop(reason)

    interruption.stops(stop)
    if judging.fail_fast:
        fail_fast.ends(end)
    with progress:
        with interruption.breaking():
            reached = reach(execution, judge.errors)
            execution.run.closed = reached
            succeeds(lambda: run_checks(judge), judge.errors)
        if execution.run.journal.pending():
            progress.undoing()
        undo(execution, judge.errors)
    errors, outputs = len(judge.errors), RunOutputs(execution)
    reason = _reason_of_suite(outputs, judge.errors) or reached or _reason_of_target(execution, judge)
    ended_by = interruption.signal  # a later signal changes nothing
    if ended_by is not None or fail_fast.failed is not None:
        judge.give_up("The run ended before this check did.")
    has_failed_fast = fail_fast.failed is not None and ended_by is None
    report, problems = _built(execution, judge, judging, interrupted=ended_by is not None, failed_fast=has_failed_fast)
    if report["not_undone"] and (command := _cleanup_command(execution)):
        report["cleanup"] = execution.redactor.text(command)
    report, exchanges = outputs.masked(report), outputs.exchanges()
    events.built(report)
    written = outputs.write(report, exchanges)
    folder = execution.folder if written else None
    _summarized(lambda: summarize(report, exchanges, folder, reached is None), report, judge)
    if len(judge.errors) > errors:
        reason = _reason_of_suite(outputs, judge.errors)
    if ended_by is not None:
        status, why = Exit.of(ended_by), f"ended by {ended_by.name}"
    elif not written:
        status = Exit.FAILED if report["verdict"] == "non-conformant" else Exit.UNTESTABLE
        why = f"the report could not be written to {execution.folder}"
    else:
        status, why = judging.ending(report, problems, reason)
        status = judging.despite_loss(status, report, judge.results)
    return status, f"{why.rstrip('.')}.{_how_to_clean_up(report)}"


def _built(
    execution: RunSession, judge: Judge, judging: Judging, *, interrupted: bool, failed_fast: bool
) -> tuple[Report, list[str]]:
    """Return the report and the problems of the waivers; if that fails, a report without results."""
    built: list[tuple[Report, list[str]]] = []

    def build() -> None:
        found = build_report(
            execution,
            judge.results,
            waivers=judging.waivers,
            known=judging.known,
            interrupted=interrupted,
            failed_fast=failed_fast,
            warnings=[
                *([_NO_JOURNAL] if execution.run.journal.is_lost else []),
                *([_MASKED] if is_masked(execution) else []),
            ],
        )
        built.append(found)

    if not succeeds(build, judge.errors):
        built.append(build_report(execution, (), interrupted=interrupted, warnings=[NO_RESULTS]))
    return built[0]


def _summarized(step: Callable[[], object], report: Report, judge: Judge) -> None:
    """Print the summary; if that fails, a sentence."""
    if not succeeds(step, judge.errors):
        complain(f"The verdict is {report['verdict']}; the summary could not be printed.")


def _how_to_clean_up(report: Report) -> str:
    """Return the end of the last line if records are left: the command that removes them."""
    if "cleanup" not in report:
        return ""
    return f" To remove what is left ({len(report['not_undone'])}): {report['cleanup']}"


def _farewell(execution: RunSession) -> str:
    """Return the last line of a run that a second signal ends before undoing."""
    command = _cleanup_command(execution)
    return "Ended at once." if command is None else f"Ended at once. To undo what the run has left: {command}"


def _cleanup_command(execution: RunSession) -> str | None:
    """Return the command that undoes what the run left; None for the embedded service, which ends with the run."""
    options = execution.options
    if options.target is None and options.base_url is None:
        return None
    address = None if options.base_url is None else execution.profile.base_url  # without the user info
    named = [("--target", options.target), ("--base-url", address), *options.connection.options()]
    arguments = ["conformance", "cleanup", str(execution.folder)]
    arguments += [argument for option, value in named if value is not None for argument in (option, str(value))]
    return shlex.join(arguments)


def _reason_of_target(execution: RunSession, judge: Judge) -> str | None:
    """Return why the run is no valid test of a target that was reached, as a sentence; None if it is valid."""
    stopped = execution.run.wire.stopped
    outcomes = {result.outcome for result in judge.results}
    if execution.failure is not None:
        return f"The run ended early: {execution.failure}"
    if StopCause.of(stopped) in {StopCause.TARGET_LOST, StopCause.KEY_REFUSED}:
        return f"The target could not be tested to the end: {stopped}."
    if not outcomes & {"passed", "failed"} and (stopped is not None or not outcomes or "cantTell" in outcomes):
        return f"Nothing could be decided: {stopped or 'no response was conclusive'}."
    if execution.provisioner is not None and execution.provisioner.never_responded:
        return f"The provisioner never responded. {execution.provisioner.problem}"
    return None


def _reason_of_suite(outputs: RunOutputs, errors: Sequence[str]) -> str | None:
    """Log the suite's own errors in the report's folder and return a sentence about them; None without errors."""
    if not errors:
        return None
    failed = f"The suite itself failed in {counted(len(errors), 'place')}"
    if outputs.log(errors):
        return f"{failed}; see {ERRORS} in the report's folder."
    return f"{failed}, and {ERRORS} could not be written."
