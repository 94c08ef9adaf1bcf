"""Texts of a hostile target have no effect in browsers, terminals, XML readers and Markdown."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.reports.text import UNSEEN
from tests.fakes.command_line import Ended, start
from tests.fakes.target import hostile
from tests.hostile.cases import CORE, changed_json, resources
from tests.hostile.difficult_services import NASTY

PATIENCE: Final = 300.0
MARK: Final = "document.title='MARKED'"
ATTACK: Final = (
    f'<script>{MARK}</script><img src=x onerror="{MARK}"><svg onload="{MARK}"></pre></script></style></textarea>'
    f"</title>]]><base href=//127.0.0.1:9> =cmd|'/c calc'!A1 \x1b]8;;http://127.0.0.1:9\x07[x](javascript:{MARK}) "
    f"{NASTY}"
)
CHROMIUM: Final = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)


def _attack(value: Any) -> None:
    """Put the attack into every text that reports show."""
    if "error" in value:
        value["error"] |= {"message": ATTACK, "code": ATTACK}
    for resource in resources(value):
        resource |= {name: ATTACK for name in ("slug", "plan", "status", "role", "email") if name in resource}
        resource[ATTACK] = ATTACK


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ended]:
    """The end of a run against a service whose texts are attacks."""
    folder = tmp_path_factory.mktemp("attacked")
    with hostile(changed_json(_attack)) as target:
        words = ["run", "--base-url", target.url, "--effort", "quick"]
        words += [word for pattern in (*CORE, "list-members-*") for word in ("--only", pattern)]
        yield start(folder / "report", *words, CONFORMANCE_API_KEY=target.api_key).wait(PATIENCE)


def test_the_attack_is_shown(ended: Ended) -> None:
    """The report contains the attack; otherwise the tests below would prove nothing."""
    assert ended.status == 1
    assert "MARKED" in (ended.folder / "report.html").read_text()
    assert "MARKED" in ended.out
    assert "MARKED" in (ended.folder / "summary.md").read_text()
    assert "MARKED" in (ended.folder / "junit.xml").read_text()


def test_no_output_drives_a_terminal(ended: Ended) -> None:
    """Terminal output and text files have no escape sequences, control characters or direction marks."""
    texts = {
        name: (ended.folder / name).read_text() for name in ("summary.md", "junit.xml", "report.html", "badge.svg")
    }
    texts |= {"stdout": ended.out, "stderr": ended.err}

    assert [(name, UNSEEN.findall(text)) for name, text in texts.items() if UNSEEN.search(text)] == []


def test_xml_readers_take_it_as_text(ended: Ended) -> None:
    """The XML files are well-formed and have no element of the target."""
    junit = ET.fromstring((ended.folder / "junit.xml").read_text())  # noqa: S314 - the suite's output
    badge = ET.fromstring((ended.folder / "badge.svg").read_text())  # noqa: S314 - the suite's output

    known = {"testsuites", "testsuite", "testcase", "failure", "skipped", "error", "properties", "property",
             "system-out", "system-err"}  # fmt: skip
    assert {element.tag for element in junit.iter()} <= known
    assert not [element for element in badge.iter() if element.tag.endswith(("script", "image", "a", "foreignObject"))]


def test_markdown_has_no_markup_of_the_targets(ended: Ended) -> None:
    """Markdown has no tag, link or image of the target; within a fence everything is text."""
    text = (ended.folder / "summary.md").read_text()
    outside = re.sub(r"(?ms)^\s*(`{3,}|~{3,}).*?^\s*\1\s*$", "", text)

    assert not re.search(r"(?<!\\)<(script|img|svg|base)", outside)
    assert not re.search(r"(?<!\\)\]\(javascript", outside)


def test_machines_read_what_was_said(ended: Ended) -> None:
    """JSON outputs contain the attack as data."""
    for name in ("report.json", "exchanges.har", "ctrf.json", "earl.jsonld", "report.sarif"):
        json.loads((ended.folder / name).read_text())


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
def test_a_browser_runs_nothing_of_it(ended: Ended, tmp_path: Path) -> None:
    """The page keeps its title, has no element of the target, and its console is empty."""
    assert CHROMIUM is not None
    command = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
        "--disable-dev-shm-usage", "--enable-logging=stderr", "--virtual-time-budget=2000",
        f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", (ended.folder / "report.html").as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, timeout=300, check=True)
    shown = done.stdout.decode()

    assert re.findall(r"<title>(.*?)</title>", shown) == ["Conformance report: not conformant"]
    assert not re.search(r"<(img|iframe|link|base)\b", shown)
    assert b"CONSOLE" not in done.stderr
