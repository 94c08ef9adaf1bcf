"""Output without workflow commands: no line is a command to a pipeline."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from conformance.cli import main
from conformance.cli.workflow_commands import WithoutCommands
from conformance.reports.model import report_bytes
from tests.conftest import RecordedRun

COMMAND = "::add-mask::secret"
OBEYED = re.compile(r"(?:\A|[\r\n])\s*::|##\w*\[")
"""Commands of GitHub, Azure and TeamCity, as their runners match them."""

Conformance = Callable[..., Any]


def shown(*pieces: bytes) -> bytes:
    """Return the output of consecutive writes."""
    below = io.BytesIO()
    written = WithoutCommands(below)
    for piece in pieces:
        assert written.write(piece) == len(piece)
    return below.getvalue()


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([b"::a\n"], rb":\:a" + b"\n"),
        ([b"a\r  ::b"], b"a\r" + rb"  :\:b"),
        ([b" ", b":", b":a"], rb" :\:a"),
        ([b"a\n", b"::b"], b"a\n" + rb":\:b"),
        (["\u3000\u00a0::a".encode()], "\u3000\u00a0:\\:a".encode()),
        ([b"a ##[b]c"], rb"a ##\[b]c"),
        ([b"##vso[task.x]"], rb"##vso\[task.x]"),
        ([b"##", b"[b]"], rb"##\[b]"),
        ([b"a::b ## c [::1]"], b"a::b ## c [::1]"),
        ([b"::", b"a::b", b"\n"], rb":\:a::b" + b"\n"),
    ],
)
def test_a_mark_stands_in_what_would_be_obeyed(pieces: list[bytes], expected: bytes) -> None:
    """The mark is between the first two colons of a line and before the bracket, nowhere else."""
    assert shown(*pieces) == expected


@given(st.lists(st.text(alphabet=":#[]a \t\r\n\u00a0", max_size=12), max_size=8))
def test_nothing_that_is_written_is_obeyed(pieces: list[str]) -> None:
    """No split of the text forms a command; without the marks the output is the input."""
    output = shown(*(piece.encode() for piece in pieces)).decode()

    assert not OBEYED.search(output)
    assert output.replace("\\", "") == "".join(pieces)


def test_no_command_of_a_pipeline_is_printed(conformance: Conformance, tmp_path: Path) -> None:
    """The target's name, waivers and a report's ids form no command in any output."""
    target, waivers = tmp_path / "target.yaml", tmp_path / "waivers.yaml"
    target.write_text(f'name: "{COMMAND}\\n{COMMAND}"\nbase_url: http://127.0.0.1:9\napi_key: k-0123456789\n')
    target.chmod(0o600)
    waivers.write_text(json.dumps([{"requirement": f"\x1b[31m\n{COMMAND}", "reason": "r", "owner": "o"}]))

    ended = conformance("run", "--target", str(target), "--only", "json-well-formed")
    named = ended.report
    for entry in (*named["requirements"], *named["classes"]):
        entry["title"] = f"{COMMAND}\n{COMMAND}"
    changed = deepcopy(named)
    changed["requirements"][0] |= {"id": COMMAND, "outcome": "cantTell", "reason": f"##[x]\n{COMMAND}"}
    for name, report in (("old", named), ("new", changed)):
        (tmp_path / f"{name}.json").write_bytes(report_bytes(report))
    done = [
        ended,
        conformance("doctor", "--target", str(target)),
        conformance("run", "--embedded", "--waivers", str(waivers)),
    ]
    files = [str(tmp_path / "old.json"), str(tmp_path / "new.json")]
    done += [conformance("diff", *files), conformance("diff", *files, "--format", "markdown")]

    for result in done:
        assert not OBEYED.search(result.out)
        assert not OBEYED.search(result.err)
    assert "add-mask" in done[0].out + done[1].out
    assert done[2].status == 2
    assert "there is no requirement" in done[2].err
    assert "\x1b" not in done[2].err


def test_rendered_formats_are_not_marked(conformance: Conformance, recorded_run: RecordedRun, tmp_path: Path) -> None:
    """A rendered format is the same on stdout and in a file."""
    report = json.loads((recorded_run("--only", "get-organization-*") / "report.json").read_text("utf-8"))
    report["target"]["name"] = "::a ##[b]"
    path = tmp_path / "report.json"
    path.write_bytes(report_bytes(report))

    for form in ("json", "junit", "markdown", "ctrf", "html", "sarif", "metrics", "annotations"):
        printed = conformance("render", str(path), "--format", form).out
        written = ["render", str(path), "--format", form, "--output", str(tmp_path / "file")]
        assert CliRunner().invoke(main, written).exit_code == 0
        assert printed == (tmp_path / "file").read_text("utf-8")
