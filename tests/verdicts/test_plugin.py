"""pytest plugin: its options beside those of other plugins, and the opening of a run."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import pytest

from conformance.catalogue import SelectionError
from conformance.reports.folder import FolderError
from conformance.running.embedded import EmbeddedError
from conformance.targets.journal_file import JournalError
from conformance.targets.yaml_entries import TargetFileError
from conformance.verdicts import plugin
from tests.verdicts.conftest import SmallRun, item

CHECK = "conformance.checks.test_every_response::test_version_prefix_served"
OTHER = """
def pytest_addoption(parser):
    group = parser.getgroup("other")
    group.addoption("--base-url", default="http://from.other.test", help="another plugin's")
    group.addoption("--report", default="theirs", help="another plugin's")
"""
TEST = """
def test_options(pytestconfig):
    option = pytestconfig.option
    print(option.base_url, option.report, option.seed, option.effort, option.read_only, option.target)
"""


def options(folder: Path, *arguments: str, **variables: str) -> list[str]:
    """Return the options that a test sees beside another plugin with some of the same names."""
    (folder / "other_plugin.py").write_text(OTHER)
    (folder / "test_options.py").write_text(TEST)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "test_options.py", *arguments],
        check=False, capture_output=True, text=True, cwd=folder, timeout=300,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), *sys.path])} | variables,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()[0].removesuffix(".").split()


REQUIRING, OBSERVING, STAGED = ({name: ("x",)} for name in ("requirement", "observes", "stage"))


@pytest.mark.parametrize(
    ("items", "is_judged", "collects", "opens"),
    [
        ([item(), item(**REQUIRING)], False, False, True),
        ([item(**OBSERVING), item()], False, False, True),
        ([item(), item(**STAGED)], False, False, False),
        ([], False, False, False),
        ([item(**REQUIRING)], True, False, False),
        ([item(**REQUIRING)], False, True, False),
    ],
)
def test_a_run_is_opened_where_there_are_checks(
    monkeypatch: pytest.MonkeyPatch, items: list[Any], *, is_judged: bool, collects: bool, opens: bool
) -> None:
    """A run is opened if there are checks, no judge is registered and tests are not only listed."""
    opened: list[object] = []

    def open_one(_: object) -> SmallRun:
        opened.append(1)
        return SmallRun()

    monkeypatch.setattr(plugin, "_open", open_one)
    registered: dict[str, object] = {}
    config: Any = SimpleNamespace(
        pluginmanager=SimpleNamespace(
            has_plugin=lambda name: is_judged and name == plugin.JUDGE,
            register=lambda judge, name: registered.update({name: judge}),
            get_plugin=registered.get,
        ),
        option=SimpleNamespace(collectonly=collects),
        hook=SimpleNamespace(pytest_deselected=lambda items: None),
    )

    plugin.pytest_collection_modifyitems(config, items)

    assert bool(opened) is opens
    assert list(registered) == ([plugin.JUDGE] if opens else [])
    if opens:
        assert isinstance(plugin.current_run(config), SmallRun)


class Opened:
    """A session that reaches its target."""

    asked: ClassVar[list[Any]] = []
    ended: ClassVar[list[str]] = []
    run = "the run"

    def __init__(self, options: Any) -> None:
        self.asked.append(options)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.append("ended")

    def reach(self) -> str | None:
        """Return None, as the target can be tested."""
        return None


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> type[Opened]:
    """Replace the session, and clear the environment variables."""
    for name in ("CONFORMANCE_BASE_URL", "CONFORMANCE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("conformance.verdicts.pytest_run.RunSession", Opened)
    monkeypatch.setattr(Opened, "asked", [])
    monkeypatch.setattr(Opened, "ended", [])
    return Opened


def configured(**options: object) -> tuple[Any, list[Callable[[], None]]]:
    """Return a configuration with these options, and its cleanup functions."""
    given = {"base_url": None, "api_key": None, "embedded": False, "target": None, "read_only": False,
             "disposable": False, "effort": "quick", "seed": 1, "report": None} | options  # fmt: skip
    cleanups: list[Callable[[], None]] = []
    return SimpleNamespace(option=SimpleNamespace(**given), add_cleanup=cleanups.append), cleanups


@pytest.mark.parametrize(
    ("given", "environment", "asked"),
    [
        ({}, {}, {"base_url": None, "api_key": None, "mode": None, "effort": "quick", "seed": 1}),
        ({"base_url": "http://a", "api_key": "k"}, {}, {"base_url": "http://a", "api_key": "k"}),
        ({}, {"BASE_URL": "http://b", "API_KEY": "e"}, {"base_url": "http://b", "api_key": "e"}),
        ({"base_url": "http://a", "api_key": "k"}, {"BASE_URL": "http://b", "API_KEY": "e"},
         {"base_url": "http://a", "api_key": "k"}),
        ({"read_only": True, "base_url": "http://a"}, {}, {"mode": "read-only"}),
        ({"disposable": True, "embedded": True}, {"BASE_URL": "http://b"}, {"mode": "disposable", "base_url": None}),
        ({"effort": "deep", "seed": 7, "target": Path("t"), "report": Path("r")}, {},
         {"effort": "deep", "seed": 7, "target": Path("t"), "report": Path("r")}),
    ],
)  # fmt: skip
def test_a_run_is_what_was_asked_for(
    monkeypatch: pytest.MonkeyPatch, opened: type[Opened], given: Any, environment: dict[str, str], asked: Any
) -> None:
    """Options override the environment; the run ends with pytest."""
    for name, value in environment.items():
        monkeypatch.setenv(f"CONFORMANCE_{name}", value)
    config, cleanups = configured(**given)

    run: object = plugin._open(config)
    assert run == "the run"

    (options,) = opened.asked
    assert {name: getattr(options, name) for name in asked} == asked
    assert opened.ended == []
    for cleanup in cleanups:
        cleanup()
    assert opened.ended == ["ended"]


def reached(raised: Exception | None) -> Callable[[Opened], str]:
    """Return a method that raises an error, or says why the target cannot be tested."""

    def reach(_: Opened) -> str:
        if raised is not None:
            raise raised
        return "Nothing responds."

    return reach


@pytest.mark.parametrize(
    ("raised", "reason"),
    [(None, "Nothing responds."), (EmbeddedError("The service did not start."), "The service did not start.")],
)
def test_a_target_that_cannot_be_tested_ends_pytest(
    monkeypatch: pytest.MonkeyPatch, opened: type[Opened], raised: Exception | None, reason: str
) -> None:
    """The exit status is that of the command line."""
    monkeypatch.setattr(opened, "reach", reached(raised))
    config, _ = configured()

    with pytest.raises(pytest.exit.Exception, match=f"^{re.escape(reason)}$") as ended:
        plugin._open(config)
    assert ended.value.returncode == 3


class Taking(argparse.ArgumentParser):
    """A parser that takes options like a group of pytest."""

    groups: ClassVar[list[tuple[str, str]]] = []
    taken: tuple[str, ...] = ()

    def getgroup(self, name: str, description: str) -> Self:
        """Return this parser as the group."""
        self.groups.append((name, description))
        return self

    def addoption(self, name: str, **settings: Any) -> None:
        """Add an option, unless it is taken."""
        if name in self.taken:
            raise ValueError(name)
        self.add_argument(name, **settings)


@pytest.mark.parametrize(
    ("arguments", "others"),
    [
        ((), {}),
        (("--base-url", "http://a", "--api-key", "k"), {"base_url": "http://a", "api_key": "k"}),
        (("--target", "t", "--report", "r"), {"target": Path("t"), "report": Path("r")}),
        (("--read-only",), {"read_only": True}),
        (("--disposable",), {"disposable": True}),
        (("--effort", "standard", "--seed", "7"), {"effort": "standard", "seed": 7}),
        (("--effort", "deep"), {"effort": "deep"}),
    ],
)
def test_options_have_defaults(arguments: tuple[str, ...], others: dict[str, object]) -> None:
    """The options are added last and have the right types."""
    parser = Taking()
    loading: Any = plugin.pytest_load_initial_conftests(parser)  # type: ignore[arg-type]
    next(loading)
    assert "--effort" not in parser.format_help()
    with pytest.raises(StopIteration):
        next(loading)

    usual = dict.fromkeys(("base_url", "api_key", "target", "report"))
    usual |= {"embedded": False, "read_only": False, "disposable": False, "effort": "quick", "seed": 1}
    assert vars(parser.parse_args(arguments)) == usual | others
    assert parser.groups[-1] == ("conformance", "contract conformance of a running service")


def test_an_option_that_is_taken_takes_no_other_away() -> None:
    """The options after it are still added and in the help."""
    parser = Taking()
    parser.taken = ("--base-url",)
    plugin._add_options(parser)  # type: ignore[arg-type]

    assert "--base-url" not in parser.format_help()
    assert "--effort" in parser.format_help()


def test_each_option_has_a_description() -> None:
    """The help of pytest describes each option."""
    parser = Taking(add_help=False)
    plugin._add_options(parser)  # type: ignore[arg-type]
    lines = [" ".join(line.split()) for line in re.split(r"\n  (?=-)", parser.format_help())]

    assert lines[1:] == [
        "--base-url BASE_URL base URL of the target (or $CONFORMANCE_BASE_URL)",
        "--api-key API_KEY a full API key (better: $CONFORMANCE_API_KEY)",
        "--embedded test the embedded reference service",
        "--target FILE the target file",
        "--read-only send nothing that could change the organization",
        "--disposable allow the run to rename the organization and change members",
        "--effort {quick,standard,deep} thoroughness of the run",
        "--seed SEED seed of the random choices",
        "--report DIR folder of the outputs",
    ]


def test_each_mark_has_a_description() -> None:
    """Each mark is registered with a description."""
    lines: list[tuple[str, str]] = []
    config: Any = SimpleNamespace(addinivalue_line=lambda name, line: lines.append((name, line)))
    plugin.pytest_configure(config)

    assert {name for name, _ in lines} == {"markers"}
    assert [line for _, line in lines] == [
        "requirement(id): the requirement of the catalogue that a check judges",
        "observes(id, ...): the open points of the catalogue that a test observes",
        "least_effort(effort): the lowest effort of a run that includes a check",
        "stage(stage): the stage of the run in which a check runs",
    ]


@pytest.mark.parametrize(
    "raised", [kind("A sentence.") for kind in (TargetFileError, SelectionError, JournalError, FolderError)]
)
def test_options_that_cannot_be_used_are_a_usage_error(
    monkeypatch: pytest.MonkeyPatch, opened: type[Opened], raised: Exception
) -> None:
    """The usage error has the message of the error."""
    monkeypatch.setattr(opened, "reach", reached(raised))
    config, _ = configured()

    with pytest.raises(pytest.UsageError, match=r"^A sentence\.$"):
        plugin._open(config)


@pytest.mark.parametrize("later", [True, False])
def test_options_of_other_plugins_stay_theirs(tmp_path: Path, *, later: bool) -> None:
    """In any order of loading both plugins work; a shared option belongs to the other plugin."""
    arguments = () if later else ("-p", "other_plugin")
    found = options(tmp_path, *arguments, **({"PYTEST_PLUGINS": "other_plugin"} if later else {}))

    assert found == ["http://from.other.test", "theirs", "1", "quick", "False", "None"]


def test_options_are_read(tmp_path: Path) -> None:
    """The options of both plugins are read."""
    found = options(
        tmp_path, "-p", "other_plugin", "--base-url", "http://x.test", "--seed", "7", "--effort", "deep", "--read-only",
        "--target", "target.yaml",
    )  # fmt: skip

    assert found == ["http://x.test", "theirs", "7", "deep", "True", "target.yaml"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--embedded", "--read-only", "--disposable"), "--read-only and --disposable exclude each other"),
        (("--target", "absent.yaml"), "absent.yaml"),
        (("--api-key", "k"), "--embedded to test the embedded reference service"),
    ],
)
def test_an_impossible_run_is_a_usage_error(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    """The error is a sentence without a traceback, with pytest's usage status."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--pyargs", CHECK, *arguments],
        check=False, capture_output=True, text=True, cwd=tmp_path, timeout=300,
    )  # fmt: skip

    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert message in done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_collecting_alone_opens_no_run(tmp_path: Path) -> None:
    """The checks can be listed without a target."""
    arguments = ("--pyargs", CHECK, "--collect-only", "-q")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments, "--base-url", "http://127.0.0.1:9", "--api-key", "k"],
        check=False, capture_output=True, text=True, cwd=tmp_path, timeout=300,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    assert "::test_" in done.stdout


def test_all_marks_are_known(tmp_path: Path) -> None:
    """A check outside the suite is no error under strict marks."""
    (tmp_path / "test_marked.py").write_text(
        "import pytest\n\n@pytest.mark.requirement('json-well-formed')\n@pytest.mark.observes('x')\n"
        "@pytest.mark.least_effort('deep')\n@pytest.mark.stage(2)\ndef test_one():\n    pass\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--strict-markers", "--collect-only", "-q", "test_marked.py"],
        check=False, capture_output=True, text=True, cwd=tmp_path, timeout=300,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
