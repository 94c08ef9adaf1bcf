"""The folders of finished runs, read for the site."""

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
from conformance.reports.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_WORTH_PROCESSES: Final = 16
"""Folders from which checking them against the schema in several processes saves time."""
_MEMBERS: Final = ("format", "suite", "target", "run", "verdict", "classes", "observations")


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A finished run that lies in a folder.

    Attributes:
        folder: Where it lies.
        report: Its report.json without failures, checks, census and journal, which no page of the site shows.
    """

    folder: Path
    report: Report

    @property
    def name(self) -> str:
        """The implementation that was tested, by the target's name."""
        return self.report["target"]["name"]

    @property
    def began(self) -> datetime:
        """When the run began, UTC."""
        return datetime.fromisoformat(self.report["run"]["started_at"])

    @property
    def day(self) -> str:
        """The day on which it began, such as ``4 March 2026``."""
        return self.began.strftime("%-d %B %Y")

    @property
    def page(self) -> Path:
        """Where its report.html lies, or would."""
        return self.folder / "report.html"


def read_runs(folders: Sequence[Path], left_out: Callable[[str], object] = lambda _: None) -> list[StoredRun]:
    """The runs of some folders, the oldest first; a folder that is named twice counts once.

    Args:
        folders: The folders.
        left_out: Told of each one that holds no whole run, in a sentence.
    """
    distinct = list(dict.fromkeys(Path(os.path.realpath(folder)) for folder in folders))  # resolve() fails in a loop
    if len(distinct) < _WORTH_PROCESSES:
        found = list(map(_read, distinct))
    else:
        with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as processes:
            found = list(processes.map(_read, distinct, chunksize=8))
    for sentence in (one for one in found if isinstance(one, str)):
        left_out(sentence)
    runs = [one for one in found if isinstance(one, StoredRun)]
    return sorted(runs, key=lambda run: (run.began, str(run.folder)))


def _read(folder: Path) -> StoredRun | str:
    """The run in a folder, or a sentence that says why there is none."""
    path = folder / "report.json"
    if not is_file(path):
        return f"The folder {one_line(str(folder))} holds no report.json, so no finished run."
    try:
        return StoredRun(folder, _slim(load_report(path)))
    except InvalidReport as error:
        return f"The folder {one_line(str(folder))} holds no whole run: {error}"


def _slim(report: Report) -> Report:
    kept = {name: value for name, value in report.items() if name in _MEMBERS}
    requirements = [
        {name: value for name, value in one.items() if name != "checks"} | {"failures": []}
        for one in report["requirements"]
    ]
    return cast("Report", {**kept, "requirements": requirements})
