"""Accessibility by axe-core: no finding in any page, in both colour schemes, with all details open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from conformance.cli import main
from conformance.reference import pages as sandbox
from conformance.reports.html import html_bytes
from conformance.reports.model import report_bytes

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

SCHEMES = {"light": "1", "dark": "0"}


@pytest.fixture(scope="module")
def pages(samples: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of every kind."""
    folder = tmp_path_factory.mktemp("pages")
    for name in ("passing", "failing", "hostile"):
        (folder / name).mkdir()
        report, exchanges = getattr(samples, name)()
        (folder / name / "report.html").write_bytes(html_bytes(report, exchanges))
        (folder / name / "report.json").write_bytes(
            report_bytes(report | {"target": {"name": name, "base_url": "http://x"}})
        )
    runs = [str(folder / name) for name in ("passing", "failing", "hostile")]
    made = CliRunner().invoke(main, ["site", *runs, "--output", str(folder / "site")])
    assert made.exit_code == 0
    site = {name: folder / "site" / f"{name}.html" for name in ("index", "requirements", "observations")}
    for name, values in (("links", {}), ("operations", {"operations": list(sandbox._operations())})):
        (folder / f"{name}.html").write_bytes(sandbox._page(name, **values).body)
    return {
        "links of the sandbox": folder / "links.html",
        "operations of the sandbox": folder / "operations.html",
        "report": folder / "failing" / "report.html",
        "report of a hostile run": folder / "hostile" / "report.html",
        **site,
        "history": folder / "site" / "implementations" / "001.html",
    }


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    "kind",
    [
        "report",
        "report of a hostile run",
        "index",
        "requirements",
        "observations",
        "history",
        "links of the sandbox",
        "operations of the sandbox",
    ],
)
def test_nothing_is_found(
    kind: str, scheme: str, pages: dict[str, Path], browser: ModuleType, axe: str, tmp_path: Path
) -> None:
    """The rules of WCAG 2.1 A and AA that a program can judge hold, and those of good practice, such as order."""
    found = browser.axe_findings(pages[kind], axe, tmp_path, f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}")

    assert found == []


def test_the_guard_itself_works(browser: ModuleType, axe: str, tmp_path: Path) -> None:
    """Invisible text is found, and so is text that is invisible only in the dark scheme."""
    page = tmp_path / "page.html"
    page.write_text(
        '<!DOCTYPE html><html lang="en"><head><title>x</title><meta name="color-scheme" content="light dark"><style>'
        "body{background:#fff;color:#000}@media (prefers-color-scheme: dark){p{color:#eee}}</style></head>"
        "<body><main><h1>x</h1><p>seen</p></main></body></html>"
    )

    by_scheme = {
        scheme: browser.axe_findings(page, axe, tmp_path, f"--blink-settings=preferredColorScheme={value}")
        for scheme, value in SCHEMES.items()
    }

    assert by_scheme["light"] == []
    assert [violation[1] for violation in by_scheme["dark"]] == ["color-contrast"]
