"""The checks are collected and run by pytest, in this process."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from conformance.verdicts.items import cited_by, marks_of
from conformance.verdicts.judge import CollectErrors
from conformance.verdicts.plugin import JUDGE

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.verdicts.judge import Judge

_BRIEF: Final = "value"
"""How pytest shows exceptions: nobody sees that here, and its longer styles take a twentieth of a run's time."""

_WITHOUT: Final = (
    "cacheprovider", "debugging", "doctest", "faulthandler", "junitxml", "legacypath", "logging", "monkeypatch",
    "pastebin", "recwarn", "setuponly", "setupplan", "skipping", "stepwise", "subtests", "terminal", "threadexception",
    "tmpdir", "unittest", "unraisableexception", "warnings",
)  # fmt: skip
"""Parts of pytest that no check needs, and that would take their time with each."""

_QUIETLY: Final = (
    "--disable-plugin-autoload", "-p", "conformance.verdicts.plugin",
    *(word for name in _WITHOUT for word in ("-p", f"no:{name}")),
    "--assert=plain", "--capture=no", "--import-mode=importlib",
)  # fmt: skip


def run_checks(judge: Judge) -> None:
    """Run the checks, undisturbed by the options and plugins of anybody's own pytest.

    None runs if the target never answered, so that there is nothing to judge.
    """
    if judge.run.closed is not None and not any(one.judgeable for one in judge.run.wire.exchanges):
        return
    status = _start(_Named(judge))
    if status in {pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR}:
        judge.errors.append(f"pytest ended with status {int(status)}\nNot all checks have run.")


class CollectedChecks:
    """The checks, collected and not run yet.

    Args:
        session: pytest's session, between collecting and running.
        errors: What went wrong while they were collected, as tracebacks.
    """

    def __init__(self, session: pytest.Session, errors: list[str]) -> None:
        self._session = session
        self._errors = errors
        for item in session.items:  # what is kept once it was asked for, so that whoever forks need not find it anew
            _ = item.location, marks_of(item)
        for needless in ("capturemanager", "assertion"):
            session.config.pluginmanager.unregister(name=needless)

    def run(self, judge: Judge) -> None:
        """Run them; once in a process, so that whoever needs it more than once forks."""
        judge.errors.extend(self._errors)
        config, items = self._session.config, self._session.items
        config.pluginmanager.unregister(name=JUDGE)
        config.pluginmanager.register(judge, JUDGE)
        judge.pytest_collection_modifyitems(config, items)
        judge.pytest_collection_finish(self._session)
        config.hook.pytest_runtestloop(session=self._session)


def with_collected_checks(use: Callable[[CollectedChecks], None]) -> None:
    """Collect the checks once, which takes as long as a few hundred of them, for many processes to run.

    Args:
        use: What is done with them.
    """
    _start(_Named(_Prepared(use)))


def checks_by_entry() -> dict[str, list[str]]:
    """The checks of every requirement and open point, by its id; collected and not run."""
    collector = _Collector()
    _start(collector, "--collect-only")
    return collector.checks


def _start(plugin: object, *words: str) -> int:
    """Start pytest on the checks, with one plugin of ours and none of anybody else's."""
    os.environ.pop("PYTEST_ADDOPTS", None)
    os.environ.pop("PYTEST_PLUGINS", None)
    # By its folder: for a package, pytest would also load any conftest.py of the working directory.
    checks = str(Path(__file__).parent.parent / "checks")
    return pytest.main([*_QUIETLY, *words, "--rootdir", checks, "-c", os.devnull, checks], plugins=[plugin])


class _Collector:
    """Gathers which check cites which entry."""

    def __init__(self) -> None:
        self.checks: dict[str, list[str]] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            name = item.nodeid.rpartition("/")[2].partition("[")[0]
            for entry in cited_by(item):
                cited = self.checks.setdefault(entry, [])
                if name not in cited:
                    cited.append(name)


class _Named:
    """Registers the judge under the name that the plugin looks for."""

    def __init__(self, judge: object) -> None:
        self._judge = judge

    def pytest_configure(self, config: pytest.Config) -> None:
        config.option.tbstyle = _BRIEF
        config.pluginmanager.register(self._judge, JUDGE)


class _Prepared(CollectErrors):
    """Stands where the judge does, and hands the checks over instead of running them."""

    def __init__(self, use: Callable[[CollectedChecks], None]) -> None:
        super().__init__()
        self._use = use

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._use(CollectedChecks(session, self.errors))
        return True
