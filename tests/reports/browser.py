"""Chromium for the tests of pages: the document after its scripts ran, and what axe-core says of it."""

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
  const told = document.createElement("pre");
  told.id = "axe-found";
  const nodes = (one) => one.nodes.slice(0, 5).map((node) => `${node.html.slice(0, 300)} ${node.failureSummary}`);
  told.textContent = JSON.stringify(found.violations.map((one) => [one.impact, one.id, nodes(one)]));
  document.body.append(told);
});
"""


def rendered(page: Path, profile: Path, *options: str, budget: int = 2000) -> str:
    """The page's document after its scripts ran, with the browser's console after it; ``budget`` in milliseconds."""
    assert CHROMIUM is not None
    command = [CHROMIUM, *_OPTIONS, f"--virtual-time-budget={budget}", f"--user-data-dir={profile}", *options]
    done = subprocess.run([*command, "--dump-dom", page.as_uri()], capture_output=True, timeout=300, check=True)
    console = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if "CONSOLE" in line]
    return "\n".join([done.stdout.decode("utf-8"), *console])


def printed_pages(page: Path, folder: Path) -> int:
    """How many sheets a page takes when it is printed."""
    assert CHROMIUM is not None
    out = folder / "printed.pdf"
    options = [f"--user-data-dir={folder / 'profile'}", "--no-pdf-header-footer", f"--print-to-pdf={out}"]
    subprocess.run([CHROMIUM, *_OPTIONS, *options, page.as_uri()], capture_output=True, timeout=300, check=True)
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", out.read_bytes()))


def grave_findings(page: Path, axe: str, folder: Path, *options: str) -> list[Any]:
    """What axe-core finds serious or critical in a page with everything unfolded."""
    opened = folder / f"axe-{page.name}"
    script = f"<script>{axe}</script><script>{_RUN}</script></body>".encode()
    opened.write_bytes(_POLICY.sub(b"", page.read_bytes()).replace(b"</body>", script))
    shown = rendered(opened, folder / "profile", *options, budget=60_000)
    found = re.search(r'<pre id="axe-found">(.*?)</pre>', shown, re.DOTALL)
    assert found is not None, "axe-core has not told anything"
    return [violation for violation in json.loads(unescape(found[1])) if violation[0] in {"serious", "critical"}]
