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
    "--assert=plain", "--capture=no", "--import-mode=importlib",
)  # fmt: skip


def run_checks(judge: Judge) -> None:
    """Run the checks, undisturbed by the options and plugins of anybody's own pytest."""
    os.environ.pop("PYTEST_ADDOPTS", None)
    os.environ.pop("PYTEST_PLUGINS", None)
    checks = Path(__file__).parent.parent / "checks"
    status = pytest.main([*_QUIETLY, "--rootdir", str(checks), "-c", os.devnull], plugins=[_Named(judge)])
    if status in {pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR}:
        judge.errors.append(f"pytest ended with status {int(status)}\nNot all checks have run.")


class _Named:
    """Registers the judge under the name that the plugin looks for."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    def pytest_configure(self, config: pytest.Config) -> None:
        config.option.tbstyle = "native"  # pytest's own styles parse sources for every check that ends with an exception
        config.pluginmanager.register(self._judge, "conformance-judge")
