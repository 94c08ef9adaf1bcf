"""Documentation site: built strictly, whole, searchable from files, accessible, and without a network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.reports import browser

pytest.importorskip("sphinx", reason="Sphinx is not installed: tox -e docs builds the site")
needs_chromium = pytest.mark.skipif(browser.CHROMIUM is None, reason="no Chromium is installed")

ROOT = Path(__file__).parents[2]
PAGES = ("README.html", "docs/requirements.html", "docs/target-files.html", "docs/model.html", "search.html")


def build(source: Path, output: Path) -> subprocess.CompletedProcess[str]:
    """Build a site as ``tox -e docs`` does."""
    options = ["-q", "-W", "--keep-going", "-n", "-E", "-c", str(ROOT / "docs"), "-d", str(output / "doctrees")]
    command = [sys.executable, "-m", "sphinx", *options, str(source), str(output / "site")]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site."""
    output = tmp_path_factory.mktemp("documentation")
    done = build(ROOT, output)
    assert (done.returncode, done.stderr) == (0, "")
    return output / "site"


def test_every_page_is_built(site: Path) -> None:
    """All pages of the repository are built, and index.html leads to them."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/*.md"), *ROOT.glob("examples/*/*.md")]

    assert [page for page in pages if not (site / page.relative_to(ROOT)).with_suffix(".html").is_file()] == []
    assert "url=README.html" in (site / "index.html").read_text("utf-8")


def test_no_page_fetches_from_a_network(site: Path) -> None:
    """Other hosts occur only in links that a reader may follow."""
    fetched = re.compile(r"""<(?!a\b)[a-z]+\b[^>]*(?:src|href)\s*=\s*["'](?:https?:)?//|url\(\s*["']?(?:https?:)?//""")
    files = [file for file in site.rglob("*") if file.suffix in {".html", ".css"}]

    assert len(files) > 30
    assert [file.name for file in files if fetched.search(file.read_text("utf-8"))] == []


def test_broken_links_end_the_build(tmp_path: Path) -> None:
    """Missing pages, headings and pictures are errors."""
    (tmp_path / "README.md").write_text("# Here\n[a](missing.md) [b](other.md#nowhere) ![c](missing.png)\n")
    (tmp_path / "other.md").write_text("# Other\n")
    done = build(tmp_path, tmp_path)

    assert done.returncode == 1
    for broken in ("target not found: 'missing.md'", "'nowhere'", "image file not readable: missing.png"):
        assert broken in done.stderr


def test_without_chromium_the_picture_stays(tmp_path: Path) -> None:
    """A site keeps the picture of the repository; the reason is printed."""
    command = [sys.executable, "docs/screenshot.py", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=os.environ | {"PATH": ""})

    assert (done.returncode, list(tmp_path.iterdir())) == (0, [])
    assert done.stdout == "Chromium is not installed: the site keeps the picture of the repository.\n"


@needs_chromium
def test_the_site_is_searchable_from_files(site: Path, tmp_path: Path) -> None:
    """A search in a site without a server lists the pages with a word, and logs no error."""
    shown = browser.rendered(f"{(site / 'search.html').as_uri()}?q=latitude", tmp_path / "profile", budget=10_000)

    assert '<a href="docs/glossary.html" data-score="5">Glossary</a>' in shown
    assert '<a href="docs/waivers.html" data-score' not in shown
    assert "CONSOLE" not in shown


@needs_chromium
@pytest.mark.parametrize("scheme", ["1", "0"], ids=["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_axe_finds_nothing(page: str, scheme: str, site: Path, axe: str) -> None:
    """The rules of WCAG 2.1 A and AA, and the best practice, that a program can judge hold."""
    file = site / page

    found = browser.axe_findings(file, axe, file.parent, f"--blink-settings=preferredColorScheme={scheme}")

    assert found == []


@needs_chromium
@pytest.mark.parametrize("page", [*PAGES, "docs/coverage.html"])
def test_a_page_fits_a_narrow_screen(page: str, site: Path) -> None:
    """No part of a page is wider than 360 px, except tables that scroll."""
    file = site / page

    assert browser.fits(file, file.parent)
