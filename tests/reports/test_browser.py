"""report.html in a browser: no script of the target runs, and nothing is loaded."""

from __future__ import annotations

import re
import socketserver
import threading
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from conformance.cli import main
from conformance.reports.html import html_bytes
from conformance.reports.model import report_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

    from conformance.reports.model import Report
    from conformance.wire.exchange import Exchange


class Listener(socketserver.ThreadingTCPServer):
    """Handler that counts and refuses the connections of a page."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), socketserver.BaseRequestHandler)
        self.connections = 0

    def verify_request(self, request: object, client_address: object) -> bool:
        """Count the connection and refuse it."""
        self.connections += 1
        return False


@pytest.fixture
def listener() -> Iterator[Listener]:
    """A server on loopback that pages must not reach."""
    with Listener() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_nothing_of_the_targets_runs_and_nothing_is_loaded(
    samples: ModuleType, browser: ModuleType, listener: Listener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Markup from names, messages, headers and bodies sets no marker, makes no element, and reaches no server."""
    address = f"http://127.0.0.1:{listener.server_address[1]}"
    mark = "document.title='MARKED'"
    attack = (
        f'<script>{mark}</script><img src=\'{address}/a\' onerror="{mark}"><svg onload="{mark}">'
        f"<link rel=stylesheet href={address}/b><iframe src={address}/c></iframe>"
        f"<style>@import '{address}/d'; body {{ background: url({address}/e) }}</style>"
        f"<meta http-equiv=refresh content='0;{address}/f'></pre></script></style></textarea></title><base href=//x>"
    )
    monkeypatch.setattr(samples, "HOSTILE", attack + samples.HOSTILE)
    page = tmp_path / "report.html"
    page.write_bytes(html_bytes(*samples.hostile()))

    shown = browser.rendered(page, tmp_path / "profile")

    assert re.findall(r"<title>(.*?)</title>", shown) == ["Conformance report: not conformant"]
    assert not re.search(r"<(img|iframe|link|base)\b", shown)
    assert listener.connections == 0
    assert "CONSOLE" not in shown


def test_the_guard_itself_works(browser: ModuleType, listener: Listener, tmp_path: Path) -> None:
    """An unprotected page sets the marker and reaches the server, so the previous test can fail."""
    address = f"http://127.0.0.1:{listener.server_address[1]}"
    page = tmp_path / "page.html"
    page.write_text(f"<title>x</title><script>document.title='MARKED'</script><img src='{address}/a'>")

    shown = browser.rendered(page, tmp_path / "profile")

    assert "<title>MARKED</title>" in shown
    assert listener.connections > 0


def test_our_own_script_and_style_are_allowed_to_run(
    failing: tuple[Report, list[Exchange]], browser: ModuleType, tmp_path: Path
) -> None:
    """The filter appears, no policy is violated, and a link to an exchange opens it."""
    page = tmp_path / "report.html"
    page.write_bytes(html_bytes(*failing))

    shown = browser.rendered(page, tmp_path / "profile")

    assert re.search(r'<form class="filter" role="search"', shown)
    assert "CONSOLE" not in shown


def test_the_page_fits_a_narrow_screen(
    hostile: tuple[Report, list[Exchange]], browser: ModuleType, tmp_path: Path
) -> None:
    """No part of the report overflows, including unbroken text of a target."""
    page = tmp_path / "report.html"
    page.write_bytes(html_bytes(*hostile))

    assert browser.fits(page, tmp_path)


@pytest.fixture(scope="module")
def site(samples: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site over a hostile run and a faulty run, whose targets have hostile names."""
    folder = tmp_path_factory.mktemp("site")
    for name in ("failing", "hostile"):
        (folder / name).mkdir()
        report = getattr(samples, name)()[0]
        target = {"name": samples.HOSTILE + name, "base_url": "http://x"}
        (folder / name / "report.json").write_bytes(report_bytes(report | {"target": target}))
    made = CliRunner().invoke(
        main, ["site", str(folder / "failing"), str(folder / "hostile"), "--output", str(folder / "site")]
    )
    assert made.exit_code == 0
    return folder / "site"


@pytest.mark.parametrize("page", ["index", "requirements", "observations", "implementations/001", "runs/001"])
def test_the_site_opens_from_a_file(page: str, site: Path, browser: ModuleType, tmp_path: Path) -> None:
    """No policy is violated, no script of a target runs, and nothing overflows a narrow screen."""
    shown = browser.rendered((site / page).with_suffix(".html"), tmp_path / "profile")

    assert "CONSOLE" not in shown
    assert not re.search(r"<(img|iframe|link|base)\b", shown)
    assert browser.fits((site / page).with_suffix(".html"), tmp_path)


def test_the_choices_of_a_matrix_need_no_script(site: Path, browser: ModuleType, tmp_path: Path) -> None:
    """With the box checked, rows without a failure are hidden."""
    heights: list[float] = []
    for ticked in (b"", b" checked"):
        page = tmp_path / f"page{len(heights)}.html"
        text = (site / "requirements.html").read_bytes().replace(b'id="only-failed"', b'id="only-failed"' + ticked)
        text = re.sub(rb'<meta http-equiv="Content-Security-Policy"[^>]*>', b"", text)
        probe = b"<script>document.title = document.querySelector('table').offsetHeight</script></body>"
        page.write_bytes(text.replace(b"</body>", probe))
        heights.append(int(re.findall(r"<title>(\d+)</title>", browser.rendered(page, tmp_path / "profile"))[0]))

    assert 0 < heights[1] < heights[0] / 2


def test_the_report_prints_on_a_few_sheets(
    failing: tuple[Report, list[Exchange]], browser: ModuleType, tmp_path: Path
) -> None:
    """The print contains failures with their evidence, without the details of all exchanges."""
    page = tmp_path / "report.html"
    page.write_bytes(html_bytes(*failing))

    pages = browser.printed_pages(page, tmp_path)

    assert 2 <= pages <= 12
