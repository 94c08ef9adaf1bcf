"""The checks are run by pytest, undisturbed by anybody's own."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.catalogue import load_catalogue
from conformance.verdicts import plugin, session
from conformance.verdicts.judge import Judge
from tests.verdicts.conftest import SmallRun, Watching, item


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


def test_checks_are_collected_once_and_run_by_whoever_needs_them() -> None:
    """What went wrong while they were collected is told to each judge."""
    watching = Watching()
    judge = Judge(SmallRun(only=("no-such-requirement",)), watching)  # type: ignore[arg-type]
    seen: list[session.CollectedChecks] = []

    def use(collected: session.CollectedChecks) -> None:
        seen.append(collected)
        collected.run(judge)

    session.with_collected_checks(use)

    assert len(seen) == 1
    assert (judge.errors, judge.results, watching.said) == ([], [], [("planned", "0")])


class Told:
    """Stands where pytest's configuration and a judge do, and notes what they are told."""

    def __init__(self) -> None:
        self.requests: list[tuple[Any, ...]] = []
        self.errors = ["an error before"]

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **more: self.requests.append((name, *args, *more.items()))


def test_collected_checks_are_handed_to_the_judge() -> None:
    """In place of who stood there while they were collected, without what no check needs."""
    plugins, judge, hook = Told(), Told(), Told()
    config: Any = SimpleNamespace(pluginmanager=plugins, hook=hook)
    items = [item()]
    opened: Any = SimpleNamespace(config=config, items=items)

    collected = session.CollectedChecks(opened, ["it could not be read"])
    assert plugins.requests == [("unregister", ("name", "capturemanager")), ("unregister", ("name", "assertion"))]
    assert len(items[0].stash) == 1

    plugins.requests.clear()
    collected.run(judge)  # type: ignore[arg-type]
    assert judge.errors == ["an error before", "it could not be read"]
    assert plugins.requests == [("unregister", ("name", plugin.JUDGE)), ("register", judge, plugin.JUDGE)]
    assert judge.requests == [
        ("pytest_collection_modifyitems", config, items), ("pytest_collection_finish", opened),
    ]  # fmt: skip
    assert hook.requests == [("pytest_runtestloop", ("session", opened))]


def test_listing_checks_runs_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does it show tracebacks at length; a check is named without its folder and its parameter."""
    given: list[str] = []
    nodeid = "conformance/checks/test_a.py::test_b[x]"
    check = item(nodeid, requirement=("json-well-formed",))

    def main(words: list[str], plugins: list[Any]) -> int:
        given.extend(words)
        plugins[0].pytest_collection_finish(SimpleNamespace(items=[check, check]))
        return 0

    monkeypatch.setattr(pytest, "main", main)

    assert session.checks_by_entry() == {"json-well-formed": ["test_a.py::test_b"]}
    assert "--collect-only" in given


def test_exceptions_are_told_briefly() -> None:
    """Nobody sees more of them than the judge tells."""
    registered = Told()
    config: Any = SimpleNamespace(option=SimpleNamespace(), pluginmanager=registered)
    session._Named("the judge").pytest_configure(config)

    assert config.option.tbstyle == "value"
    assert registered.requests == [("register", "the judge", plugin.JUDGE)]


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
    judge = Judge(SimpleNamespace(closed=None))  # type: ignore[arg-type]
    given: list[Any] = []

    def main(words: object, plugins: object) -> object:
        given.append(plugins)
        return status

    monkeypatch.setattr(pytest, "main", main)

    session.run_checks(judge)

    assert judge.errors == ([f"pytest ended with status {int(status)}\nNot all checks have run."] if is_error else [])
    assert len(given) == 1
