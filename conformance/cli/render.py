"""``conformance render``: conversion of a run's report.json to another format."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from conformance.cli.text import usage_error
from conformance.cli.workflow_commands import write_exactly
from conformance.files import is_file
from conformance.reports.allure import allure_files
from conformance.reports.atomic_files import place
from conformance.reports.formats import FROM_BOTH, FROM_REPORT
from conformance.reports.har_reading import InvalidRecording, read_har
from conformance.reports.model import InvalidReport, load_report
from conformance.reports.sealing import EXCHANGES, REPORT

if TYPE_CHECKING:
    from conformance.reports.model import Report
    from conformance.wire.exchange import Exchange

_FORMATS: Final = (*FROM_REPORT, *FROM_BOTH, "allure")


class ReportFile(click.ParamType[Path]):
    """A report.json, or the folder of a run that holds one."""

    name = "report"

    def convert(self, value: str | Path, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path of the report.json."""
        path = Path(value)
        path = path if is_file(path) else path / REPORT
        if not is_file(path):
            self.fail(f"There is no report at {click.format_filename(path)}.", param, ctx)
        return path


def read_report(path: Path) -> Report:
    """Return the report.

    Raises:
        click.UsageError: The report is invalid.
    """
    try:
        return load_report(path)
    except InvalidReport as error:
        raise usage_error(error) from error


@click.command("render")
@click.argument("report", type=ReportFile())
@click.option("--format", "form", type=click.Choice(_FORMATS), help="The format of the output.")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="The file to write, or the folder for allure.  [default: standard output]",
)
@click.option(
    "--rejudge", is_flag=True, help="Re-evaluate the recorded exchanges and compare the outcomes with the report."
)
def render(report: Path, form: str | None, output: Path | None, *, rejudge: bool) -> None:
    """Convert REPORT, a report.json or the folder of a run, to another format.

    HTML and Markdown use the exchanges of exchanges.har if that file is beside the report. The annotations are
    workflow commands for a step on GitHub. Allure gets a file for each requirement, in the folder of --output.

    --rejudge runs the checks again on the recording in the folder, without a target. Exit status then: 0 every
    outcome and observation is the same, and the verdict and the classes follow from them; 1 there are differences,
    one per line; 2 there is no recording.
    """
    if rejudge:
        if form is not None or output is not None:
            raise click.UsageError("--rejudge and --format or --output exclude each other.")
        from conformance.cli.reevaluation import reevaluate_folder

        sys.exit(reevaluate_folder(report.parent))
    if form is None:
        raise click.UsageError("Missing option '--format'.")
    if form == "allure":
        if output is None:
            raise click.UsageError("Allure gets many files: name a folder with --output.")
        files = {output / name: data for name, data in allure_files(read_report(report)).items()}
    elif output is None:
        write_exactly(_rendered(report, form))
        return
    else:
        files = {output: _rendered(report, form)}
    try:
        if form == "allure":
            output.mkdir(parents=True, exist_ok=True)
        place(files)
    except OSError as error:
        raise click.UsageError(f"{click.format_filename(output)} cannot be written: {error.strerror}.") from error


def _rendered(path: Path, form: str) -> bytes:
    report = read_report(path)
    if form in FROM_REPORT:
        return FROM_REPORT[form][1](report)
    return FROM_BOTH[form][1](report, _exchanges(path.with_name(EXCHANGES), required=form == "har"))


def _exchanges(path: Path, *, required: bool) -> list[Exchange]:
    if not required and not path.exists():
        return []
    try:
        return read_har(path)
    except InvalidRecording as error:
        raise usage_error(error) from error
