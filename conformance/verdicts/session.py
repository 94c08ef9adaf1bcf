"""The checks are run by pytest, in this process."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from conformance.verdicts.judge import Judge

_QUIETLY: Final = (
    "--pyargs", "conformance.checks", "--disable-plugin-autoload", "-p", "conformance.verdicts.plugin",
    "-p", "no:terminal", "-p", "no:cacheprovider", "-p", "no:logging", "-p", "no:faulthandler", "-p", "no:warnings",
    "-p", "no:unraisableexception", "-p", "no:threadexception",
    "--assert=plain", "--capture=no", "--import-mode=importlib",
)  # fmt: skip


def run_checks(judge: Judge) -> None:
    """Run the checks, undisturbed by the options and plugins of anybody's own pytest."""
    status = _start(_Named(judge))
    if status in {pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR}:
        judge.errors.append(f"pytest ended with status {int(status)}\nNot all checks have run.")


def checks_by_entry() -> dict[str, list[str]]:
    """The checks of every requirement and open point, by its id; collected and not run."""
    collector = _Collector()
    _start(collector, "--collect-only")
    return collector.checks


def _start(plugin: object, *words: str) -> int:
    """Start pytest on the checks, with one plugin of ours and none of anybody else's."""
    os.environ.pop("PYTEST_ADDOPTS", None)
    os.environ.pop("PYTEST_PLUGINS", None)
    checks = Path(__file__).parent.parent / "checks"
    return pytest.main([*_QUIETLY, *words, "--rootdir", str(checks), "-c", os.devnull], plugins=[plugin])


class _Collector:
    """Gathers which check cites which entry."""

    def __init__(self) -> None:
        self.checks: dict[str, list[str]] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            name = item.nodeid.rpartition("/")[2].partition("[")[0]
            for mark in item.iter_markers():
                for entry in mark.args if mark.name in {"requirement", "observes"} else ():
                    cited = self.checks.setdefault(entry, [])
                    if name not in cited:
                        cited.append(name)


class _Named:
    """Registers the judge under the name that the plugin looks for."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    def pytest_configure(self, config: pytest.Config) -> None:
        config.option.tbstyle = "native"  # pytest's own styles parse sources for every exception
        config.pluginmanager.register(self._judge, "conformance-judge")
