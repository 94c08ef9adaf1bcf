"""The Express service of examples/, and the changes that its README proposes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "express-service"
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("CONFORMANCE_", "PYTHONDONTWRITE"))}
KEY = "express-example-key"


@contextmanager
def _serving(folder: Path) -> Iterator[str]:
    """Serve the example in a folder; yield its address."""
    environment = CLEAN | {"PORT": "0"}
    with subprocess.Popen(
        ["node", "server.js"], cwd=folder, stdout=subprocess.PIPE, text=True, env=environment
    ) as node:
        assert node.stdout is not None
        try:
            yield node.stdout.readline().strip()
        finally:
            node.terminate()


def _failed(folder: Path) -> set[str]:
    """Return the requirements that fail in a run as the README describes it."""
    environment = CLEAN | {"CONFORMANCE_API_KEY": KEY}
    command = [sys.executable, "-m", "conformance"]
    with _serving(folder) as address:
        answers = f"{address}\n\n\n\n"
        init = subprocess.run(
            [*command, "init"], cwd=folder, input=answers, capture_output=True, text=True, env=environment, check=False
        )
        assert init.returncode == 0, init.stdout + init.stderr
        run = subprocess.run(
            [*command, "run", "--effort", "quick", "--report", "report"],
            cwd=folder, capture_output=True, text=True, env=environment, check=False,
        )  # fmt: skip
    report = json.loads((folder / "report" / "report.json").read_text("utf-8"))
    failed = {entry["id"] for entry in report["requirements"] if entry["outcome"] == "failed"}
    assert run.returncode == (1 if failed else 0), run.stdout + run.stderr
    return failed


def test_the_first_hour_is_as_described(npm_package: Callable[[str, str], Path], tmp_path: Path) -> None:
    """The service breaks the requirements that the README names; with the changes that it proposes, none."""
    modules = npm_package("express", "5").parent
    for number, name in enumerate(("faulty", "mended")):
        folder = tmp_path / name
        folder.mkdir()
        shutil.copy(EXAMPLE / "package.json", folder)
        text = (EXAMPLE / "server.js").read_text("utf-8")
        (folder / "server.js").write_text(_mended(text) if number else text, "utf-8")
        (folder / "node_modules").symlink_to(modules)
    readme = (EXAMPLE / "README.md").read_text("utf-8")
    with ThreadPoolExecutor() as both:
        broken, left = both.map(_failed, (tmp_path / "faulty", tmp_path / "mended"))

    assert f"is NOT conformant: {len(broken)} requirements broken." in readme
    assert "archived-edit-refused" in broken
    assert all(name.startswith("sort-") for name in broken - {"archived-edit-refused"})
    assert left == set()


def _mended(text: str) -> str:
    """Return the service with the README's changes."""
    active, edit, way, sort = re.findall(
        r"(?m)^    ((?:const|route|return)\b.*)$", (EXAMPLE / "README.md").read_text("utf-8")
    )
    text, edits = re.subn(r"(?m)^// fault: an archived.*\n.*$", lambda _: f"{active}\n{edit}", text)
    text, sorts = re.subn(r"(?m)^.*// fault: order.*$", lambda _: f"  {way}\n  {sort}", text)
    assert (edits, sorts) == (1, 1)
    return text
