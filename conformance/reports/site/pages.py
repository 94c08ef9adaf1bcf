"""Files of the site."""

from __future__ import annotations

import os
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from conformance.files import DOCUMENT, is_file, read_file
from conformance.reports.html import html_bytes
from conformance.reports.metrics import merged_metrics
from conformance.reports.model import load_report
from conformance.reports.sealing import REPORT
from conformance.reports.site import matrices
from conformance.reports.templating import environment, fixed_parts
from conformance.reports.view import MARKS, bar
from conformance.reports.wording import (
    MODES,
    OUTCOMES_AND_WAIVED,
    VERDICTS,
    by_section,
    counted,
    counts_of,
    moment,
    verdict_sentence,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from conformance.reports.site.matrices import Implementation
    from conformance.reports.site.stored import StoredRun

    Content = Callable[[], Iterable[bytes]]
    Links = Mapping[Path, str]

_STYLES: Final = ("report.css", "site/site.css")
_MOST_CHANGES: Final = 40
"""Most changes of one kind that a step of a history lists."""


def site_files(runs: Sequence[StoredRun], output: Path) -> Mapping[Path, Content]:
    """Return every file of the site by its path, as functions that make the content in pieces.

    metrics.prom has the samples of the latest run of each implementation.
    A run whose folder contains a report.html is linked there by a relative URL, so that site and folders can be moved
    together. For other runs, a page is made from report.json.

    Args:
        runs: The runs, oldest first.
        output: The folder of the site.
    """
    listed = matrices.implementations(runs)
    own = {run.folder: f"runs/{number:03}.html" for number, run in enumerate(runs, 1) if not is_file(run.page)}
    links = {run.folder: own.get(run.folder) or _relative(run.page, output) for run in runs}
    pages: dict[str, Callable[[], bytes]] = {
        "index.html": partial(_index, listed, runs, links),
        "requirements.html": partial(_requirements, listed, links),
        "observations.html": partial(_observations, listed),
        **{
            f"implementations/{implementation.file}": partial(_implementation, implementation, links)
            for implementation in listed
        },
        **{own[run.folder]: partial(_of_report, run) for run in runs if run.folder in own},
        "metrics.prom": partial(_metrics, listed),
    }
    return {output / name: partial(_pieces, make) for name, make in pages.items()}


def _pieces(make: Callable[[], bytes]) -> Iterable[bytes]:
    return [make()]


def _relative(page: Path, output: Path) -> str:
    return quote(os.fsencode(os.path.relpath(page, output.resolve())))


def _of_report(run: StoredRun) -> bytes:
    return html_bytes(load_report(run.folder / REPORT))


def _metrics(listed: Sequence[Implementation]) -> bytes:
    files = {item.name: item.latest.folder / "metrics.prom" for item in listed}
    return merged_metrics(
        {name: read_file(path, DOCUMENT).decode("utf-8", "replace") for name, path in files.items() if is_file(path)}
    )


def _index(listed: Sequence[Implementation], runs: Sequence[StoredRun], links: Links) -> bytes:
    verdicts = Counter(implementation.latest.report["verdict"] for implementation in listed)
    return _rendered(
        "index",
        listed=listed,
        links=links,
        classes=_classes(listed),
        class_outcomes=lambda report: {entry["id"]: entry["outcome"] for entry in report["classes"]},
        verdicts=[(verdict, verdicts[verdict]) for verdict in VERDICTS if verdicts[verdict]],
        runs=runs,
    )


def _classes(listed: Sequence[Implementation]) -> list[tuple[str, str]]:
    """Return id and title of every class in a latest run."""
    return list({entry["id"]: entry["title"] for item in listed for entry in item.latest.report["classes"]}.items())


def _requirements(listed: Sequence[Implementation], links: Links) -> bytes:
    sections = by_section(matrices.requirement_rows(listed), lambda row: row.requirement["section"])
    return _rendered("requirements", listed=listed, links=links, sections=sections)


def _observations(listed: Sequence[Implementation]) -> bytes:
    return _rendered("observations", listed=listed, rows=matrices.observation_rows(listed))


def _implementation(implementation: Implementation, links: Links) -> bytes:
    return _rendered(
        "implementation",
        above="../",
        implementation=implementation,
        steps=matrices.history(implementation),
        links=links,
        sentence=verdict_sentence(implementation.latest.report),
        most=_MOST_CHANGES,
    )


def _rendered(page: str, *, above: str = "", **names: Any) -> bytes:  # noqa: ANN401 - names of the template
    """Return a page of the site; ``above`` is the relative path from the page to the site's folder."""
    shared = {
        "page": page,
        "above": above,
        "marks": MARKS,
        "words": OUTCOMES_AND_WAIVED,
        "verdict_words": VERDICTS,
        "modes": MODES,
        "counted": counted,
        "moment": moment,
        "counts_of": counts_of,
        "bar": bar,
    }
    template = environment().get_template(f"site/{page}.html.j2")
    return template.render(**shared, **names, **fixed_parts(_STYLES)).encode("utf-8", "backslashreplace")
