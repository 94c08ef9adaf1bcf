"""The certificate in a browser."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), ""
)


@pytest.mark.skipif(not CHROMIUM, reason="no Chromium is installed")
def test_certificate_prints_on_one_page(signed_run: Path, tmp_path: Path) -> None:
    """All classes and facts fit on one sheet."""
    subprocess.run(
        [
            CHROMIUM,
            *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-pdf-header-footer"),
            f"--user-data-dir={tmp_path / 'profile'}",
            f"--print-to-pdf={tmp_path / 'page.pdf'}",
            (signed_run / "certificate.html").as_uri(),
        ],
        check=True,
        capture_output=True,
    )

    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", (tmp_path / "page.pdf").read_bytes())) == 1
