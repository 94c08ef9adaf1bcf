"""Common parts of all pages: autoescaped templates, and a Content-Security-Policy for the suite's own parts."""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from conformance.reports import pretty


@functools.cache
def environment(package: str = "conformance.reports") -> Environment:
    """Return the templates of a package, which escape everything and fail on undefined names."""
    made = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["anchor"] = _anchor
    made.filters["seen"] = pretty.seen
    made.filters["body"] = pretty.body
    made.filters["differing"] = pretty.differing
    return made


def _anchor(requirement: str) -> str:
    """Return the anchor of a requirement in the page of a run, from its id."""
    return "r-" + re.sub(r"[^A-Za-z0-9_-]", "_", requirement)


@functools.cache
def fixed_parts(
    styles: tuple[str, ...], script: str | None = None, package: str = "conformance.reports"
) -> dict[str, Any]:
    """Return the suite's own style and script for a page, and the policy that allows only them.

    Args:
        styles: The style sheets among the package's templates, concatenated in one element of the page.
        script: The script among the package's templates, or None.
        package: The package with the templates.
    """
    style = "".join(_text(package, name) for name in styles)
    parts = {"style": Markup(style)}  # noqa: S704 - files of this package
    policy = ["default-src 'none'", f"style-src '{_digest(style)}'"]
    if script is not None:
        text = _text(package, script)
        parts["script"] = Markup(text)  # noqa: S704 - as above
        policy += [f"script-src '{_digest(text)}'", "img-src data:"]
    return {**parts, "policy": "; ".join([*policy, "base-uri 'none'", "form-action 'none'"])}


def _text(package: str, name: str) -> str:
    return resources.files(package).joinpath("templates", name).read_text("utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
