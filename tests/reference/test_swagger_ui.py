"""Swagger UI of the extra ``sandbox`` in Chromium."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import httpx
import pytest

from tests.reports import browser

pytestmark = [
    pytest.mark.skipif(browser.CHROMIUM is None, reason="no Chromium is installed"),
    pytest.mark.skipif(importlib.util.find_spec("swagger_ui") is None, reason="the extra 'sandbox' is not installed"),
]
_SCRIPTS = re.compile(r"<script.*?</script>", re.DOTALL)
_STYLES = '<link rel="stylesheet" href="docs/swagger-ui.css">'


def test_swagger_ui_shows_every_operation_without_a_network(sandbox: dict[str, str], tmp_path: Path) -> None:
    """All operations are shown, the sandbox is the chosen server, and nothing is refused or missing."""
    offline = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    address = f"{sandbox['CONFORMANCE_BASE_URL']}/docs"

    shown = browser.rendered(address, tmp_path / "profile", offline, budget=20_000)

    assert shown.count('class="opblock-summary-path"') == 13
    assert "/ - This sandbox." in shown
    assert "CONSOLE" not in shown
    assert 'class="errors-wrapper"' not in shown
    assert "are currently not supported" not in shown


def test_axe_finds_nothing(sandbox: dict[str, str], tmp_path: Path, axe: str) -> None:
    """The rules of WCAG 2.1 A and AA that a program can judge hold for the page with its operations and schemas."""
    address = f"{sandbox['CONFORMANCE_BASE_URL']}/docs"
    shown = _SCRIPTS.sub("", browser.rendered(address, tmp_path / "profile", budget=20_000))
    page = shown.replace(_STYLES, f"<style>{httpx.get(f'{address}/swagger-ui.css').text}</style>")
    file = tmp_path / "operations.html"
    file.write_text(page, "utf-8")

    assert page != shown
    assert browser.axe_findings(file, axe, tmp_path) == []
