"""Conducts a run: reaches the target, lets pytest run the checks, undoes, reports, and gives the exit status."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from conformance.catalogue import SelectionError
from conformance.cli.ending import ending, say_why
from conformance.cli.fail_fast import FailFast
from conformance.cli.guarding import guarded, reach, undo
from conformance.cli.progress import progress_for
from conformance.cli.summary import print_summary
from conformance.cli.text import complain
from conformance.exits import Exit
from conformance.replay.recorded_inputs_file import note_lines
from conformance.reports.drift import compare, drift_text
from conformance.reports.folder import ERRORS, FolderError, write_all
from conformance.reports.model import InvalidReport, load_report, report_bytes
from conformance.reports.placing import place
from conformance.reports.wording import counted
from conformance.running.embedded import EmbeddedError
from conformance.running.run_session import RunSession
from conformance.targets.journal import JournalError
from conformance.targets.yaml_entries import TargetFileError
from conformance.verdicts.judge import Judge
from conformance.verdicts.reporting import build_report
from conformance.verdicts.session import run_checks
from conformance.verdicts.waivers import Waiver, WaiverError, load_waivers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.cli.interruption import Interruption
    from conformance.reports.model import Report
    from conformance.running.options import RunOptions
    from conformance.verdicts.results import CheckResult

_NO_JOURNAL: Final = (
    "The journal was deleted, replaced or truncated during the run, so conformance cleanup cannot undo what is left."
)


@dataclass(frozen=True, slots=True)
class Gate:
    """What a run must meet to end with 0.

    Attributes:
        waivers: The file of waivers, or None.
        baseline: The report whose failures are not new, or None.
        strict: Whether what was chosen and is left untested or undecided counts.
        fail_fast: Whether the checks end at the first failure that is neither waived nor in the baseline.
    """

    waivers: Path | None = None
    baseline: Path | None = None
    strict: bool = False
    fail_fast: bool = False


def conduct(options: RunOptions, gate: Gate, interruption: Interruption, *, quiet: bool) -> Exit:
    """Run the suite against a target and write the report; the last line says why the exit status is not 0.

    Args:
        options: What was asked for.
        gate: What the run must meet.
        interruption: Watches for signals.
        quiet: Whether only the verdict and failures are printed.

    Returns:
        The exit status.
    """
    status, why = _ended(options, gate, interruption, quiet=quiet)
    return status if status is Exit.OK else say_why(status, why)


def _ended(options: RunOptions, gate: Gate, interruption: Interruption, *, quiet: bool) -> tuple[Exit, str]:
    """The exit status of a run, and why it is that."""
    end: tuple[Exit, str] | None = None
    try:
        judging = _Judging(
            load_waivers(gate.waivers) if gate.waivers else [],
            load_report(_file_of(gate.baseline)) if gate.baseline else None,
            strict=gate.strict,
            fail_fast=gate.fail_fast,
        )
        with RunSession(options, default_folder=_default_folder) as execution:
            end = _conduct(execution, interruption, judging, quiet=quiet)
    except (TargetFileError, SelectionError, JournalError, FolderError, WaiverError, InvalidReport) as error:
        return Exit.USAGE, str(error)
    except EmbeddedError as error:
        return Exit.UNTESTABLE, str(error)
    except Exception as error:
        if end is None:
            raise
        reason = f"The suite itself failed when the run was over: {type(error).__name__} while closing."
        if end[0] in {Exit.OK, Exit.UNDECIDED}:
            return Exit.UNTESTABLE, reason
        complain(reason)
    return end


@dataclass(frozen=True, slots=True)
class _Judging:
    """A gate whose files are read."""

    waivers: list[Waiver]
    baseline: Report | None
    strict: bool
    fail_fast: bool

    @property
    def known(self) -> frozenset[str]:
        """The requirements that failed in the baseline."""
        entries = [] if self.baseline is None else self.baseline["requirements"]
        return frozenset(entry["id"] for entry in entries if entry["outcome"] == "failed")

    def expects(self, result: CheckResult) -> bool:
        """Whether the failure of a check is waived or not new."""
        today = datetime.now(UTC).date()
        waived = (one.waives(result.requirement, result.check, today) for one in self.waivers)
        return result.requirement in self.known or any(waived)

    def ending(self, report: Report, problems: list[str], reason: str | None) -> tuple[Exit, str]:
        """The exit status of a run that no signal ended, and why; says what is new and what was mended."""
        if self.baseline is not None:
            click.echo(drift_text(compare(self.baseline, report)))
        status, why = ending(report, reason=reason, strict=self.strict, problems=problems)
        for problem in problems:
            if problem not in why:
                complain(problem)
        return status, why


def _file_of(baseline: Path) -> Path:
    """The report.json of a baseline, which may be the folder of a run."""
    return baseline / "report.json" if baseline.is_dir() else baseline


def _conduct(execution: RunSession, interruption: Interruption, judging: _Judging, *, quiet: bool) -> tuple[Exit, str]:
    interruption.farewell = _farewell(execution)
    progress = progress_for(execution.run, quiet=quiet)
    fail_fast = FailFast(progress, judging.expects)
    judge = Judge(execution.run, fail_fast)
    reached = None

    def end(reason: str) -> None:
        judge.stop()
        execution.run.wire.end(reason)

    def stop(reason: str) -> None:
        judge.stop()  # a finalizer may swallow what breaks off the checks, and judging a deep run takes long
        execution.run.wire.stop(reason)

    interruption.stops(stop)
    if judging.fail_fast:
        fail_fast.ends(end)
    with progress:
        with interruption.breaking():
            reached = reach(execution, judge.errors)
            execution.run.closed = reached
            guarded(lambda: run_checks(judge), judge.errors)
        if execution.run.journal.pending():
            progress.undoing()
        undo(execution, judge.errors)
    reason = _reason_of_suite(execution, judge.errors) or reached or _reason_of_target(execution, judge)
    ended_by = interruption.signal  # one that comes later finds everything done
    if ended_by is not None or fail_fast.failed is not None:
        judge.give_up("The run ended before this check did.")
    report, problems = build_report(
        execution,
        judge.results,
        waivers=judging.waivers,
        known=judging.known,
        interrupted=ended_by is not None,
        failed_fast=fail_fast.failed is not None and ended_by is None,
        warnings=[_NO_JOURNAL] if execution.run.journal.is_lost else [],
    )
    if report["not_undone"] and (command := _cleanup_command(execution)):
        report["cleanup"] = execution.redactor.text(command)
    written = _write(report, execution)
    print_summary(report, execution.folder if written else None, quiet=quiet, is_tested=reached is None)
    if ended_by is not None:
        status, why = Exit.of(ended_by), f"ended by {ended_by.name}"
    elif not written:
        status = Exit.FAILED if report["verdict"] == "non-conformant" else Exit.UNTESTABLE
        why = f"the report could not be written to {execution.folder}"
    else:
        status, why = judging.ending(report, problems, reason)
    return status, f"{why.rstrip('.')}.{_how_to_clean_up(report)}"


def _how_to_clean_up(report: Report) -> str:
    """The rest of the last line if records are left: what removes them."""
    if "cleanup" not in report:
        return ""
    return f" To remove what is left ({len(report['not_undone'])}): {report['cleanup']}"


def _farewell(execution: RunSession) -> str:
    """What is said where nothing can be undone any more; the embedded service ends with the run."""
    command = _cleanup_command(execution)
    return "Ended at once." if command is None else f"Ended at once. To undo what the run has left: {command}"


def _cleanup_command(execution: RunSession) -> str | None:
    """The command that undoes what the run has left; None for the embedded service, which ends with the run."""
    options = execution.options
    if options.target is None and options.base_url is None:
        return None
    address = None if options.base_url is None else execution.profile.base_url  # without the user info
    named = [("--target", options.target), ("--base-url", address)]
    words = ["conformance", "cleanup", str(execution.folder)]
    words += [word for option, value in named if value is not None for word in (option, str(value))]
    return shlex.join(words)


def _reason_of_target(execution: RunSession, judge: Judge) -> str | None:
    """What keeps the run from being a test of the target, although it was reached."""
    stopped = execution.run.wire.stopped
    outcomes = {result.outcome for result in judge.results}
    if execution.failure is not None:
        return f"The run ended early: {execution.failure}"
    if stopped is not None and stopped.startswith(("the target", "the main key")):
        return f"The target could not be tested to the end: {stopped}."
    if not outcomes & {"passed", "failed"} and (stopped is not None or not outcomes or "cantTell" in outcomes):
        return f"Nothing could be decided: {stopped or 'no response was conclusive'}."
    if execution.provisioner is not None and execution.provisioner.never_responded:
        return f"The provisioner never answered. {execution.provisioner.problem}"
    return None


def _reason_of_suite(execution: RunSession, errors: Sequence[str]) -> str | None:
    """What went wrong in the suite itself, which its developers find in the report's folder."""
    if not errors:
        return None
    failed = f"The suite itself failed in {counted(len(errors), 'place')}"
    if _logged(execution, errors):
        return f"{failed}; see {ERRORS} in the report's folder."
    return f"{failed}, and {ERRORS} could not be written."


def _logged(execution: RunSession, errors: Sequence[str]) -> bool:
    """Write the suite's own errors down, for its developers; whether that was possible."""
    try:
        place(
            {execution.folder / ERRORS: lambda: [execution.redactor.text("\n\n".join(errors)).encode(errors="replace")]}
        )
    except OSError:
        return False
    return True


def _write(report: Report, execution: RunSession) -> bool:
    """Write the outputs of a run; whether that was possible."""
    try:
        notes = note_lines(execution.run, execution.notes.lines, execution.redactor.text)
        exchanges, log = execution.run.wire.exchanges, execution.log.text()
        taken_out = write_all(report, exchanges, execution.folder, execution.redactor, notes, log)
    except OSError as error:
        complain(f"The report cannot be written to {execution.folder}: {error.strerror}.")
        return False
    except Exception as error:  # noqa: BLE001 - whatever it is, what was found must not be lost
        complain(f"The suite itself failed while writing the report: {type(error).__name__}.")
        return _write_report_alone(report, execution)
    if taken_out:
        told = "; ".join(f"{', '.join(sorted(names))} in {output}" for output, names in taken_out.items())
        complain(f"The last search found secrets in outputs and took them out: {told}.")
    return True


def _write_report_alone(report: Report, execution: RunSession) -> bool:
    """Write report.json if another output cannot be made of the run; the outputs are not whole then."""
    path = execution.folder / "report.json"
    try:
        data = report_bytes(report)
        if not execution.redactor.find(data):
            place({path: lambda: [data]})
            complain(f"{path} is all that was written.")
    except (InvalidReport, OSError):
        return False
    return False


def _default_folder(target: str) -> Path:
    """Where the outputs of a run go that nobody has named a folder for; made, as far as that can be done.

    Args:
        target: The target's name.
    """
    name = re.sub(r"[^A-Za-z0-9.-]+", "-", target).strip("-.") or "target"
    time = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    endings = chain([""], (f"-{number}" for number in count(2)))
    return next(folder for ending in endings if _is_ours(folder := Path("reports") / f"{name}-{time}{ending}"))


def _is_ours(folder: Path) -> bool:
    """Make a folder; whether no other run of this second has it."""
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        return False
    except OSError:  # whoever writes the first file into it says so
        return True
    return True
