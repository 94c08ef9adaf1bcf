"""``conformance diff``: comparison of two reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from conformance.cli.render import ReportFile, read_report
from conformance.cli.workflow_commands import write_exactly
from conformance.reports.drift import Drift, compare, drift_json, drift_markdown, drift_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

_FORMATS: Final[Mapping[str, Callable[[Drift], bytes]]] = {
    "json": drift_json,
    "markdown": lambda drift: drift_markdown(drift).encode(),
}


@click.command("diff")
@click.argument("old", type=ReportFile())
@click.argument("new", type=ReportFile())
@click.option("--format", "form", type=click.Choice(("text", *_FORMATS)), default="text", show_default=True)
@click.option(
    "--fail-on",
    type=click.Choice(("regression", "drift")),
    default="regression",
    show_default=True,
    help="Exit with 1 for new failures only (regression), or also for changed behaviour at an open point (drift).",
)
@click.pass_context
def diff(context: click.Context, old: Path, new: Path, form: str, fail_on: str) -> None:
    """Compare two runs: requirements with another outcome, and open points with another behaviour.

    OLD and NEW are report.json files or the folders of runs. Exit status: 0 no new failure; 1 a new failure, or
    with --fail-on drift a changed behaviour; 2 usage.
    """
    drift = compare(read_report(old), read_report(new))
    if form == "text":
        click.echo(drift_text(drift), nl=False)
    else:
        write_exactly(_FORMATS[form](drift))
    context.exit(1 if drift.regressions or (fail_on == "drift" and drift.drifted) else 0)
