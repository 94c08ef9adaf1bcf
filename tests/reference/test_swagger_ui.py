"""Swagger UI of the extra ``sandbox`` in Chromium."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.reports import browser


@pytest.mark.skipif(browser.CHROMIUM is None, reason="no Chromium is installed")
@pytest.mark.skipif(importlib.util.find_spec("swagger_ui") is None, reason="the extra 'sandbox' is not installed")
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
