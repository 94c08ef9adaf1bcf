"""report.html: the whole run in one file that needs no network and no script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reports.templating import environment, fixed_parts
from conformance.reports.view import view

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reports.model import Report
    from conformance.wire.exchange import Exchange


def html_bytes(report: Report, exchanges: Sequence[Exchange] = ()) -> bytes:
    """The content of report.html.

    Args:
        report: The finished run.
        exchanges: Its exchanges; those that failures and observations cite are shown in full, the others in a table.
    """
    template = environment().get_template("report.html.j2")
    text = template.render(view(report, exchanges), **fixed_parts(("report.css",), "report.js"))
    return text.encode("utf-8", "backslashreplace")
