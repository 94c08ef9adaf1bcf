"""Summary of a run on terminals of several widths."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cli.summary import print_summary

if TYPE_CHECKING:
    from conformance.reports.model import Report

CURL = "curl -i 'http://127.0.0.1:8080/api/v1/engagements?" + "x" * 200 + "'"
LINE = "subordinates: [{kind: target, create: {method: POST, path: PATH}}], or a provisioner with create_subordinate"


@pytest.fixture
def report() -> Report:
    """Return a report with a failure, an undecided requirement, and a class that several lines unlock."""
    common: Any = {"section": "3", "operations": [], "class": "core", "waived": False, "failures": []}
    failure = {"check": "c", "message": "word " * 60, "expected": "a 4xx " * 30, "actual": "200", "exchanges": [1, 2]}
    made: Any = {
        "target": {"name": "staging", "base_url": "http://x"},
        "run": {"requests": 12, "seconds": 3.21, "seed": 7},
        "verdict": "non-conformant",
        "classes": [
            {"id": "core", "title": "Core", "outcome": "failed", "requirements": 2, "unlock": []},
            {"id": "cascade", "title": "C", "outcome": "untested", "requirements": 0, "unlock": [LINE, "b", "c"]},
        ],
        "requirements": [
            common | {"id": "one", "title": "One holds.", "outcome": "failed", "failures": [failure | {"curl": CURL}]},
            common | {"id": "two", "title": "Two holds.", "outcome": "cantTell", "reason": "because " * 30},
        ],
    }
    return made  # type: ignore[no-any-return]


@pytest.mark.parametrize("columns", [60, 80, 100, 160])
def test_lines_fit_the_window(
    report: Report, columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Words stay whole, and lines are wrapped with indent; only text to copy is not wrapped."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")

    print_summary(report, Path("reports/" + "y" * 150), (), quiet=False, is_tested=True)

    lines = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()
    long = [line for line in lines if len(line.rstrip()) > columns]
    assert [line.split()[0] for line in long] == ["curl", "Report:"]
    assert CURL in long[0]
    assert not [word for line in lines for word in line.split() if word in {"provisio", "subordin", "becau"}]
    assert any(line.startswith("    expected  a 4xx") for line in lines)
    assert any(line.startswith((" " * 14 + "a 4xx", " " * 14 + "4xx")) for line in lines)
    assert "(and 2 more)" in " ".join(" ".join(lines).split())
    assert "  conformance explain one" in lines
    assert "staging is NOT conformant: 1 requirement broken." in lines


def test_lines_of_a_pipe_are_whole(report: Report, capsys: pytest.CaptureFixture[str]) -> None:
    """No line is wrapped or ends with spaces."""
    print_summary(report, Path("reports/run"), (), quiet=False, is_tested=True)

    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line != line.rstrip()] == []
    assert any("word " * 59 in line for line in lines)


def test_the_table_has_headings_and_titles(report: Report, capsys: pytest.CaptureFixture[str]) -> None:
    """The first column says what it contains; a blank line separates classes from sections, which have titles."""
    print_summary(report, None, (), quiet=False, is_tested=True)

    heading, *rows = capsys.readouterr().out.partition("\n\nNot tested.")[0].splitlines()[:5]
    assert re.split(r" {2,}", heading) == [
        "class or section", "outcome", "failed", "undecided", "not tested", "n/a", "passed",
    ]  # fmt: skip
    assert [re.split(r" {2,}", row)[:2] for row in rows[:2]] == [["core", "failed"], ["cascade", "not tested"]]
    assert rows[2] == ""
    assert rows[3].startswith("3 States and transitions  ")


@pytest.mark.parametrize(
    ("verdict", "line"),
    [
        ("non-conformant", "staging is NOT conformant: 2 requirements broken, 1 of them waived."),
        ("conformant", "staging is conformant except for waived failures."),
        ("inconclusive", "staging fails only waived requirements, and could not be judged in full: inconclusive."),
    ],
)
def test_waived_failures_are_shown(
    report: Report, verdict: Any, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A waived failure is shown with its owner, and the verdict mentions it."""
    monkeypatch.setenv("COLUMNS", "160")
    failed = report["requirements"][0]
    report["verdict"] = verdict
    waived: Any = failed | {"id": "zero", "waived": True, "reason": "Waived by somebody until 2026-12-31: it is known"}
    report["requirements"] = [waived, *([failed] if verdict == "non-conformant" else [])]

    print_summary(report, None, (), quiet=True, is_tested=True)

    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == line
    assert sum("Waived by somebody until 2026-12-31: it is known" in line for line in lines) == 1


@pytest.mark.parametrize("quiet", [True, False])
def test_a_failure_comes_with_the_path_of_the_report(
    report: Report, capsys: pytest.CaptureFixture[str], *, quiet: bool
) -> None:
    """After a failure the path is printed, also with --quiet; without a failure --quiet prints no path."""
    print_summary(report, Path("some/report"), (), quiet=quiet, is_tested=True)
    assert capsys.readouterr().out.splitlines()[-1] == "Report: some/report/report.html"

    report["requirements"] = report["requirements"][1:]
    print_summary(report, Path("some/report"), (), quiet=quiet, is_tested=True)
    assert ("Report:" in capsys.readouterr().out) is not quiet


def test_a_target_that_never_answered_has_no_table(report: Report, capsys: pytest.CaptureFixture[str]) -> None:
    """The reason is only in the last line of the run, not in the summary."""
    report["run"]["warnings"] = ["The run ended early: nothing responds.", "http sends the keys unencrypted."]
    report["requirements"] = []

    print_summary(report, None, (), quiet=False, is_tested=False)

    assert capsys.readouterr().out.splitlines() == [
        "! http sends the keys unencrypted.",
        "12 requests in 3.2 s, seed 7.",
    ]
