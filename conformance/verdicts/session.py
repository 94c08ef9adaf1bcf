"""pytest session that collects and runs the checks in this process."""

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
"""pytest's style of tracebacks; they are not shown, and longer styles take 5 % of a run's time."""

_WITHOUT: Final = (
    "cacheprovider", "debugging", "doctest", "faulthandler", "junitxml", "legacypath", "logging", "monkeypatch",
    "pastebin", "recwarn", "setuponly", "setupplan", "skipping", "stepwise", "subtests", "terminal", "threadexception",
    "tmpdir", "unittest", "unraisableexception", "warnings",
)  # fmt: skip
"""Plugins of pytest that no check needs, left out for speed."""

_QUIETLY: Final = (
    "--disable-plugin-autoload", "-p", "conformance.verdicts.plugin",
    *(argument for name in _WITHOUT for argument in ("-p", f"no:{name}")),
    "--assert=plain", "--capture=no", "--import-mode=importlib",
)  # fmt: skip


def run_checks(judge: Judge) -> None:
    """Run the checks without the user's pytest options and plugins.

    No check runs if the target never responded, as there is nothing to judge.
    """
    if judge.run.closed is not None and not any(exchange.judgeable for exchange in judge.run.wire.exchanges):
        return
    status = _start(_Named(judge))
    if status in {pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR}:
        judge.errors.append(f"pytest ended with status {int(status)}\nNot all checks have run.")


class CollectedChecks:
    """The checks, collected but not run yet.

    Args:
        session: pytest's session, between collecting and running.
        errors: Tracebacks of the errors while collecting.
    """

    def __init__(self, session: pytest.Session, errors: list[str]) -> None:
        self._session = session
        self._errors = errors
        for item in session.items:  # fill these caches before processes are forked
            _ = item.location, marks_of(item)
        for needless in ("capturemanager", "assertion"):
            session.config.pluginmanager.unregister(name=needless)

    def run(self, judge: Judge) -> None:
        """Run the checks, or none if some could not be collected; possible once in a process, so fork for each run."""
        if self._errors:
            judge.errors.extend(self._errors)
            return
        config, items = self._session.config, self._session.items
        config.pluginmanager.unregister(name=JUDGE)
        config.pluginmanager.register(judge, JUDGE)
        judge.pytest_collection_modifyitems(config, items)
        judge.pytest_collection_finish(self._session)
        config.hook.pytest_runtestloop(session=self._session)


def with_collected_checks(use: Callable[[CollectedChecks], None]) -> None:
    """Collect the checks once for many forked runs, as collecting takes as long as a few hundred checks.

    Args:
        use: Called with the collected checks.
    """
    _start(_Named(_Prepared(use)))


def checks_by_entry() -> dict[str, list[str]]:
    """Return the names of the checks by the id of their requirement or open point; collect without running."""
    return {entry: list(items) for entry, items in items_by_entry().items()}


def items_by_entry() -> dict[str, dict[str, pytest.Item]]:
    """Return pytest's items by requirement or open point, then by the check's name; the first of its parameters."""
    collector = _Collector()
    _start(collector, "--collect-only")
    return collector.items


def _start(plugin: object, *arguments: str) -> int:
    """Start pytest on the checks with a plugin of the suite and without the user's."""
    os.environ.pop("PYTEST_ADDOPTS", None)
    os.environ.pop("PYTEST_PLUGINS", None)
    # By its folder: for a package, pytest would also load any conftest.py of the working directory.
    checks = str(Path(__file__).parent.parent / "checks")
    return pytest.main([*_QUIETLY, *arguments, "--rootdir", checks, "-c", os.devnull, checks], plugins=[plugin])


class _Collector:
    """A plugin that collects the checks of each catalogue entry."""

    def __init__(self) -> None:
        self.items: dict[str, dict[str, pytest.Item]] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            name = item.nodeid.rpartition("/")[2].partition("[")[0]
            for entry in cited_by(item):
                self.items.setdefault(entry, {}).setdefault(name, item)


class _Named:
    """A plugin that registers the judge under the name that ``plugin`` expects."""

    def __init__(self, judge: object) -> None:
        self._judge = judge

    def pytest_configure(self, config: pytest.Config) -> None:
        config.option.tbstyle = _BRIEF
        config.pluginmanager.register(self._judge, JUDGE)


class _Prepared(CollectErrors):
    """A stand-in for the judge that passes the collected checks on instead of running them."""

    def __init__(self, use: Callable[[CollectedChecks], None]) -> None:
        super().__init__()
        self._use = use

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._use(CollectedChecks(session, self.errors))
        return True
