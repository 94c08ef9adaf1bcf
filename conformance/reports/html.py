"""report.html: the whole run in one file that needs no network and no script."""

from __future__ import annotations

import base64
import functools
import hashlib
from importlib import resources
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from conformance.reports import pretty
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
    template = _environment().get_template("report.html.j2")
    text = template.render(view(report, exchanges), **_fixed_parts())
    return text.encode("utf-8", "backslashreplace")


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("conformance.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["seen"] = pretty.seen
    environment.filters["body"] = pretty.body
    return environment


@functools.cache
def _fixed_parts() -> dict[str, Any]:
    """Style and script, which are ours alone, and the policy that allows nothing but them."""
    style, script = _part("report.css"), _part("report.js")
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return {"style": Markup(style), "script": Markup(script), "policy": policy}  # noqa: S704 - files of this package


def _part(name: str) -> str:
    return resources.files("conformance.reports").joinpath("templates", name).read_text("utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
