"""The checks are run by pytest, undisturbed by anybody's own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from conformance.catalogue import load_catalogue
from conformance.verdicts import plugin, session
from conformance.verdicts.judge import Judge
from tests.verdicts.conftest import SmallRun, Watching


def test_checks_are_listed_by_what_they_cite(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Every requirement and open point has some, each named once, whatever somebody's own pytest is told; silently."""
    monkeypatch.setenv("PYTEST_ADDOPTS", "--no-such-option")
    monkeypatch.setenv("PYTEST_PLUGINS", "no_such_plugin")
    catalogue = load_catalogue()

    checks = session.checks_by_entry()

    assert capfd.readouterr() == ("", "")
    assert checks.keys() == catalogue.requirements.keys() | catalogue.open_points.keys()
    for names in checks.values():
        assert len(set(names)) == len(names) > 0
        assert all(re.fullmatch(r"test_\w+\.py::test_\w+", name) for name in names)


def test_checks_do_not_load_what_lies_around(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A run as a gate of some project leaves the conftest.py of its tests alone."""
    for folder in (tmp_path, tmp_path / "tests"):
        folder.mkdir(exist_ok=True)
        (folder / "conftest.py").write_text("raise RuntimeError\n")
    monkeypatch.chdir(tmp_path)
    judge = Judge(SmallRun(only=("no-such-requirement",)))  # type: ignore[arg-type]

    session.run_checks(judge)

    assert judge.errors == []


def test_the_judge_decides_what_runs(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """The plugin finds it, and opens no run of its own."""
    monkeypatch.setattr(plugin, "_open", lambda _: pytest.fail("a second run"))
    watching = Watching()
    judge = Judge(SmallRun(only=("no-such-requirement",)), watching)  # type: ignore[arg-type]

    session.run_checks(judge)

    assert (judge.errors, judge.results, watching.said) == ([], [], [("planned", "0")])
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("status", "is_error"),
    [
        (pytest.ExitCode.OK, False),
        (pytest.ExitCode.TESTS_FAILED, False),
        (pytest.ExitCode.INTERRUPTED, False),
        (pytest.ExitCode.NO_TESTS_COLLECTED, False),
        (pytest.ExitCode.INTERNAL_ERROR, True),
        (pytest.ExitCode.USAGE_ERROR, True),
    ],
)
def test_a_pytest_that_broke_down_is_told_of(
    monkeypatch: pytest.MonkeyPatch, status: pytest.ExitCode, *, is_error: bool
) -> None:
    """Then not all checks have run, which nothing else would say; failed checks are no such thing."""
    judge = Judge(run=None)  # type: ignore[arg-type]
    given: list[Any] = []

    def main(words: object, plugins: object) -> object:
        given.append(plugins)
        return status

    monkeypatch.setattr(pytest, "main", main)

    session.run_checks(judge)

    assert judge.errors == ([f"pytest ended with status {int(status)}\nNot all checks have run."] if is_error else [])
    assert len(given) == 1
