"""pytest session of the checks, independent of the user's pytest settings."""

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
    """Every entry has checks, each listed once; the user's pytest variables have no effect."""
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
    """A run does not load the conftest.py of the current folder."""
    for folder in (tmp_path, tmp_path / "tests"):
        folder.mkdir(exist_ok=True)
        (folder / "conftest.py").write_text("raise RuntimeError\n")
    monkeypatch.chdir(tmp_path)
    judge = Judge(SmallRun(only=("no-such-requirement",)))  # type: ignore[arg-type]

    session.run_checks(judge)

    assert judge.errors == []


def test_the_judge_decides_what_runs(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """The plugin finds the judge and opens no run."""
    monkeypatch.setattr(plugin, "_open", lambda _: pytest.fail("a second run"))
    watching = Watching()
    judge = Judge(SmallRun(only=("no-such-requirement",)), watching)  # type: ignore[arg-type]

    session.run_checks(judge)

    assert (judge.errors, judge.results, watching.events) == ([], [], [("planned", "0")])
    assert capfd.readouterr() == ("", "")


def test_checks_are_collected_once_and_run_under_a_judge() -> None:
    """The checks are collected once and run under a judge."""
    watching = Watching()
    judge = Judge(SmallRun(only=("no-such-requirement",)), watching)  # type: ignore[arg-type]
    seen: list[session.CollectedChecks] = []

    def use(collected: session.CollectedChecks) -> None:
        seen.append(collected)
        collected.run(judge)

    session.with_collected_checks(use)

    assert len(seen) == 1
    assert (judge.errors, judge.results, watching.events) == ([], [], [("planned", "0")])


class Recorder:
    """A stand-in for pytest's configuration and a judge that records calls."""

    def __init__(self) -> None:
        self.requests: list[tuple[Any, ...]] = []
        self.errors = ["an error before"]

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **more: self.requests.append((name, *args, *more.items()))


def test_collected_checks_are_handed_to_the_judge() -> None:
    """The judge replaces the plugin that collected, and unneeded plugins are removed."""
    plugins, judge, hook = Recorder(), Recorder(), Recorder()
    config: Any = SimpleNamespace(pluginmanager=plugins, hook=hook)
    items = [item()]
    opened: Any = SimpleNamespace(config=config, items=items)

    collected = session.CollectedChecks(opened, [])
    assert plugins.requests == [("unregister", ("name", "capturemanager")), ("unregister", ("name", "assertion"))]
    assert len(items[0].stash) == 1

    plugins.requests.clear()
    collected.run(judge)  # type: ignore[arg-type]
    assert judge.errors == ["an error before"]
    assert plugins.requests == [("unregister", ("name", plugin.JUDGE)), ("register", judge, plugin.JUDGE)]
    assert judge.requests == [
        ("pytest_collection_modifyitems", config, items), ("pytest_collection_finish", opened),
    ]  # fmt: skip
    assert hook.requests == [("pytest_runtestloop", ("session", opened))]


def test_no_check_runs_if_some_could_not_be_collected() -> None:
    """The judge gets the errors only; pytest would end the process of a trial otherwise."""
    opened: Any = SimpleNamespace(config=SimpleNamespace(pluginmanager=Recorder()), items=[])
    judge = Recorder()

    session.CollectedChecks(opened, ["it could not be read"]).run(judge)  # type: ignore[arg-type]

    assert judge.errors == ["an error before", "it could not be read"]
    assert judge.requests == []


def test_listing_checks_runs_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Listing collects only; a check is named without its folder and parameter."""
    given: list[str] = []
    nodeid = "conformance/checks/test_a.py::test_b[x]"
    check = item(nodeid, requirement=("json-well-formed",))

    def main(arguments: list[str], plugins: list[Any]) -> int:
        given.extend(arguments)
        plugins[0].pytest_collection_finish(SimpleNamespace(items=[check, check]))
        return 0

    monkeypatch.setattr(pytest, "main", main)

    assert session.checks_by_entry() == {"json-well-formed": ["test_a.py::test_b"]}
    assert "--collect-only" in given


def test_exceptions_are_reported_briefly() -> None:
    """The style of tracebacks is pytest's shortest."""
    registered = Recorder()
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
def test_an_error_of_pytest_is_reported(
    monkeypatch: pytest.MonkeyPatch, status: pytest.ExitCode, *, is_error: bool
) -> None:
    """An internal or usage error of pytest is an error of the suite; failed checks are not."""
    judge = Judge(SimpleNamespace(closed=None))  # type: ignore[arg-type]
    given: list[Any] = []

    def main(arguments: object, plugins: object) -> object:
        given.append(plugins)
        return status

    monkeypatch.setattr(pytest, "main", main)

    session.run_checks(judge)

    assert judge.errors == ([f"pytest ended with status {int(status)}\nNot all checks have run."] if is_error else [])
    assert len(given) == 1
