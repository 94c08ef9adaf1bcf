"""Reading of the folders of finished runs for the site."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from conformance.files import is_file
from conformance.reports.model import InvalidReport, Report, load_report
from conformance.reports.sealing import REPORT
from conformance.reports.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_WORTH_PROCESSES: Final = 16
"""Least number of folders for which validation in several processes saves time."""
_MEMBERS: Final = ("format", "suite", "target", "run", "verdict", "classes", "observations")


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A finished run in a folder.

    Attributes:
        folder: The folder.
        report: Its report.json without failures, checks, census and journal, which no page of the site shows.
    """

    folder: Path
    report: Report

    @property
    def name(self) -> str:
        """The name of the tested implementation: the target's name."""
        return self.report["target"]["name"]

    @property
    def began(self) -> datetime:
        """The start of the run, in UTC."""
        return datetime.fromisoformat(self.report["run"]["started_at"])

    @property
    def day(self) -> str:
        """The day on which the run began, such as ``4 March 2026``."""
        return self.began.strftime("%-d %B %Y")

    @property
    def page(self) -> Path:
        """The path of its report.html, which may not exist."""
        return self.folder / "report.html"


def read_runs(folders: Sequence[Path], left_out: Callable[[str], object] = lambda _: None) -> list[StoredRun]:
    """Return the runs in some folders, oldest first; a folder that is named twice counts once.

    Args:
        folders: The folders.
        left_out: Called with a sentence for each folder without a complete run.
    """
    distinct = list(dict.fromkeys(Path(os.path.realpath(folder)) for folder in folders))  # resolve() fails in a loop
    if len(distinct) < _WORTH_PROCESSES:
        found = list(map(_read, distinct))
    else:
        with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as processes:
            found = list(processes.map(_read, distinct, chunksize=8))
    for sentence in (result for result in found if isinstance(result, str)):
        left_out(sentence)
    runs = [result for result in found if isinstance(result, StoredRun)]
    return sorted(runs, key=lambda run: (run.began, str(run.folder)))


def _read(folder: Path) -> StoredRun | str:
    """Return the run in a folder, or a sentence that says why there is none."""
    path = folder / REPORT
    if not is_file(path):
        return f"The folder {one_line(str(folder))} contains no report.json, so no finished run."
    try:
        return StoredRun(folder, _slim(load_report(path)))
    except InvalidReport as error:
        return f"The folder {one_line(str(folder))} contains no complete run: {error}"


def _slim(report: Report) -> Report:
    kept = {name: value for name, value in report.items() if name in _MEMBERS}
    requirements = [
        {name: value for name, value in requirement.items() if name != "checks"} | {"failures": []}
        for requirement in report["requirements"]
    ]
    return cast("Report", {**kept, "requirements": requirements})
