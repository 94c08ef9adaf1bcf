"""Formats that a report is rendered in, each with its file in the folder of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reports.annotations import annotations_bytes
from conformance.reports.badge import badge_bytes
from conformance.reports.ctrf import ctrf_bytes
from conformance.reports.earl import earl_bytes
from conformance.reports.har import har_bytes
from conformance.reports.html import html_bytes
from conformance.reports.junit import junit_bytes
from conformance.reports.markdown import markdown_bytes
from conformance.reports.metrics import metrics_bytes
from conformance.reports.model import report_bytes
from conformance.reports.sarif import sarif_bytes
from conformance.reports.sealing import REPORT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from conformance.reports.model import Report
    from conformance.wire.exchange import Exchange

FROM_REPORT: Final[Mapping[str, tuple[str | None, Callable[[Report], bytes]]]] = {
    "json": (REPORT, report_bytes),
    "junit": ("junit.xml", junit_bytes),
    "earl": ("earl.jsonld", earl_bytes),
    "ctrf": ("ctrf.json", ctrf_bytes),
    "badge": ("badge.svg", badge_bytes),
    "sarif": ("report.sarif", sarif_bytes),
    "annotations": (None, annotations_bytes),
}
"""The formats that need no exchanges."""

FROM_BOTH: Final[Mapping[str, tuple[str | None, Callable[[Report, Sequence[Exchange]], bytes]]]] = {
    "html": ("report.html", html_bytes),
    "markdown": ("summary.md", markdown_bytes),
    "metrics": ("metrics.prom", metrics_bytes),
    "har": (None, lambda _, exchanges: har_bytes(exchanges)),  # a run writes it in pieces
}
