"""Settings of Sphinx for the documentation site: the pages of the repository, under their own paths."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

NAVIGATION: Final = {
    "Test a service": ("target-files", "provisioners", "classes", "effort", "results", "sandbox"),
    "Gates": ("gates", "waivers"),
    "Certificates": ("certificates", "programme"),
    "The interface": ("requirements", "observations", "coverage"),
    "The suite": ("glossary", "model", "writing-a-check", "selftest", "hostile-targets", "mutation"),
    "Examples": ("/examples/README", "/examples/express-service/README"),
    "The project": ("/ARCHITECTURE", "/CONTRIBUTING", "/SECURITY", "/CHANGELOG"),
}
"""The headings of the sidebar, each with its pages."""
STYLE: Final = "<style>pre { white-space: pre-wrap } pre, td code { overflow-wrap: anywhere }</style>"
"""Wraps what is wider than a narrow screen."""
NAMES: Final = {
    '<aside class="sidebar-drawer': '<aside aria-label="Pages" class="sidebar-drawer',
    '<aside class="toc-drawer': '<aside aria-label="On this page" class="toc-drawer',
    '<div id="search-results">': '<h1>Search</h1>\n<div id="search-results">',
}
"""Parts of the theme's pages, each with its name for screen readers."""

project = "Engagement conformance"
release = __version__
extensions = ["myst_parser"]
include_patterns = ["*.md", "docs/*.md", "examples/**.md"]
exclude_patterns = ["**/node_modules"]
root_doc = "README"
myst_heading_anchors = 4
highlight_language = "none"
html_theme = "furo"
html_title = f"{project} {release}"
html_copy_source = html_use_index = False
html_show_copyright = False
html_show_search_summary = False  # browsers refuse to fetch the pages of a site that is opened from files


def setup(app: Sphinx) -> None:
    """Add the sidebar, its levels and names, the style, and an index.html."""
    app.connect("source-read", add_navigation)
    app.connect("html-page-context", complete, priority=1000)  # after the theme
    app.connect("build-finished", add_index)
    app.connect("build-finished", name_regions)


def add_navigation(_: Sphinx, page: str, source: list[str]) -> None:
    """Append the contents of the sidebar to the README."""
    if page == root_doc:
        trees = (
            "\n```{toctree}\n:hidden:\n:caption: "
            + "\n".join([caption, "", *(name if name.startswith("/") else f"docs/{name}" for name in names)])
            + "\n```\n"
            for caption, names in NAVIGATION.items()
        )
        source[0] += "".join(trees)


def complete(_: Sphinx, __: str, ___: str, context: dict[str, Any], ____: object) -> None:
    """Add the style to a page, and to its headings in the sidebar the level that screen readers expect."""
    context["metatags"] = context.get("metatags", "") + STYLE
    tree = context["furo_navigation_tree"]
    context["furo_navigation_tree"] = tree.replace('role="heading"', 'role="heading" aria-level="2"')


def add_index(app: Sphinx, _: Exception | None) -> None:
    """Write the page that leads to the README."""
    page = f'<!DOCTYPE html><title>{project}</title><meta http-equiv="refresh" content="0; url={root_doc}.html">\n'
    Path(app.outdir, "index.html").write_text(page, "utf-8")


def name_regions(app: Sphinx, _: Exception | None) -> None:
    """Name the sidebars of the theme and its search page, so that screen readers tell them apart."""
    for path in Path(app.outdir).rglob("*.html"):
        page = path.read_text("utf-8")
        for region, named in NAMES.items():
            page = page.replace(region, named)
        path.write_text(page, "utf-8")
