"""The file of ``--baseline``: an earlier report whose failures count as known."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from conformance.reports.atomic_files import place
from conformance.reports.model import load_report, report_bytes
from conformance.reports.sealing import REPORT
from conformance.reports.wording import counted

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.reports.model import Report


def load_baseline(path: Path, *, updates: bool) -> Report | None:
    """Return a baseline, which may be the folder of a run; None if it is to be written and does not exist.

    Raises:
        InvalidReport: It cannot be read, or is no report.
    """
    if updates and not path.exists():
        return None
    return load_report(path / REPORT if path.is_dir() else path)


def update_baseline(path: Path, before: Report | None, report: Report) -> None:
    """Write the failures of a run to a baseline; a known failure that the run did not judge stays.

    Raises:
        OSError: The file cannot be written.
    """
    known = {entry["id"]: entry for entry in before["requirements"]} if before is not None else {}
    entries = [
        known[entry["id"]] if entry["outcome"] in {"untested", "cantTell"} and entry["id"] in known else entry
        for entry in report["requirements"]
    ]
    data = report_bytes(cast("Report", {**report, "requirements": entries}))
    place({path: data})
    failures = sum(entry["outcome"] == "failed" for entry in entries)
    click.echo(f"The baseline {path} now has {counted(failures, 'failure')}.")
