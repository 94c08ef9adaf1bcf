"""Chromium for the tests of pages: the document after its scripts ran, and the findings of axe-core."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)

_OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--enable-logging=stderr",
]
_POLICY = re.compile(rb'<meta http-equiv="Content-Security-Policy"[^>]*>')
_RUN = """
for (const details of document.querySelectorAll("details")) details.open = true;
axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}).then((found) => {
  const output = document.createElement("pre");
  output.id = "axe-found";
  const shown = (node) => `${node.html.slice(0, 300)} ${node.failureSummary}`;
  const nodes = (violation) => violation.nodes.slice(0, 5).map(shown);
  const rows = found.violations.map((violation) => [violation.impact, violation.id, nodes(violation)]);
  output.textContent = JSON.stringify(rows);
  document.body.append(output);
});
"""


def rendered(page: Path | str, profile: Path, *options: str, budget: int = 2000) -> str:
    """Return the document of a file or URL after its scripts ran, and the browser's console.

    ``budget`` is in milliseconds.
    """
    assert CHROMIUM is not None
    command = [CHROMIUM, *_OPTIONS, f"--virtual-time-budget={budget}", f"--user-data-dir={profile}", *options]
    done = subprocess.run(
        [*command, "--dump-dom", page if isinstance(page, str) else page.as_uri()],
        capture_output=True,
        timeout=300,
        check=True,
    )
    console = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if "CONSOLE" in line]
    return "\n".join([done.stdout.decode("utf-8"), *console])


def printed_pages(page: Path, folder: Path) -> int:
    """Return the number of printed sheets of a page."""
    assert CHROMIUM is not None
    out = folder / "printed.pdf"
    options = [f"--user-data-dir={folder / 'profile'}", "--no-pdf-header-footer", f"--print-to-pdf={out}"]
    subprocess.run([CHROMIUM, *_OPTIONS, *options, page.as_uri()], capture_output=True, timeout=300, check=True)
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", out.read_bytes()))


def fits(page: Path, folder: Path) -> bool:
    """Whether no part of a page overflows at 360 px."""
    probe = (
        "<script>const page = document.documentElement;"
        "document.title = page.scrollWidth <= page.clientWidth ? 'fits' : 'sticks out'</script></body>"
    )
    narrow = folder / f"narrow-{page.name}"
    frame = folder / "frame.html"
    narrow.write_bytes(_POLICY.sub(b"", page.read_bytes()).replace(b"</body>", probe.encode()))
    # Headless windows are at least 500 px wide; a frame can be narrower.
    tell = "document.title = this.contentDocument.title"
    frame.write_text(f'<iframe width=360 height=800 src="{narrow.as_uri()}" onload="{tell}"></iframe>')
    shown = rendered(frame, folder / "profile", "--allow-file-access-from-files")
    return "<title>fits</title>" in shown


def axe_findings(page: Path, axe: str, folder: Path, *options: str) -> list[Any]:
    """Return the findings of axe-core in a page with all details open."""
    opened = folder / f"axe-{page.name}"
    script = f"<script>{axe}</script><script>{_RUN}</script></body>".encode()
    opened.write_bytes(_POLICY.sub(b"", page.read_bytes()).replace(b"</body>", script))
    shown = rendered(opened, folder / "profile", *options, budget=60_000)
    found = re.search(r'<pre id="axe-found">(.*?)</pre>', shown, re.DOTALL)
    assert found is not None, "axe-core has reported nothing"
    return list(json.loads(unescape(found[1])))
