"""Rendering of report.html: the whole run in one file that needs no network and no script."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from conformance.reports.templating import environment, fixed_parts
from conformance.reports.text import COMMAND, as_reference
from conformance.reports.view import view
from conformance.reports.wording import of_chosen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reports.model import Report
    from conformance.wire.exchange import Exchange

_OWN: Final = r"(?P<own><(?P<kind>style|script)>.*?</(?P=kind)>)"
_OWN_OR_COMMAND: Final = re.compile(f"{_OWN}|{COMMAND.pattern}", re.MULTILINE | re.DOTALL)


def html_bytes(report: Report, exchanges: Sequence[Exchange] = ()) -> bytes:
    """Return the content of report.html.

    Args:
        report: The finished run.
        exchanges: Its exchanges. Those that failures and observations cite are shown in full, the others in a table.
    """
    template = environment().get_template("report.html.j2")
    text = template.render(view(of_chosen(report), exchanges), **fixed_parts(("report.css",), "report.js"))
    harmless = _OWN_OR_COMMAND.sub(lambda found: found[0] if found["own"] else as_reference(found), text)
    return harmless.encode("utf-8", "backslashreplace")
