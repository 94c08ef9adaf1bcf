"""pytest plugin of the suite: ``pytest --pyargs conformance.checks --base-url URL --api-key KEY``.

In a pytest run without this suite's checks it only adds options.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

    from conformance.running.run import Run

JUDGE: Final = "conformance-judge"
"""The name of the judge among pytest's plugins."""

_CHECKS: Final = "conformance.checks"
"""The package of the checks on pytest's command line."""


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(parser: pytest.Parser) -> Generator[None]:
    """Add the options of a run last: a later plugin with an option of the same name would fail."""
    yield
    _add_options(parser)


def _add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("conformance", "contract conformance of a running service")
    _add(group, "--base-url", help="base URL of the target (or $CONFORMANCE_BASE_URL)")
    _add(group, "--api-key", help="a full API key (better: $CONFORMANCE_API_KEY)")
    _add(group, "--embedded", action="store_true", help="test the embedded reference service")
    _add(group, "--target", type=Path, metavar="FILE", help="the target file")
    _add(group, "--read-only", action="store_true", help="send nothing that could change the organization")
    _add(group, "--disposable", action="store_true", help="allow the run to rename the organization and change members")
    _add(group, "--effort", choices=["quick", "standard", "deep"], default="quick", help="thoroughness of the run")
    _add(group, "--seed", type=int, default=1, help="seed of the random choices")
    _add(group, "--report", type=Path, metavar="DIR", help="folder of the outputs")


def _add(group: Any, name: str, **settings: Any) -> None:  # noqa: ANN401 - pytest's option group is not public
    """Add an option; if another plugin has one of the same name, use that."""
    try:
        group.addoption(name, **settings)
    except ValueError:
        return


def pytest_configure(config: pytest.Config) -> None:
    """Register the marks."""
    config.addinivalue_line("markers", "requirement(id): the requirement of the catalogue that a check judges")
    config.addinivalue_line("markers", "observes(id, ...): the open points of the catalogue that a test observes")
    config.addinivalue_line("markers", "least_effort(effort): the lowest effort of a run that includes a check")
    config.addinivalue_line("markers", "stage(stage): the stage of the run in which a check runs")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Open a run if checks were collected and no run is open yet."""
    from conformance.verdicts.items import is_check  # noqa: PLC0415 - other projects' pytest runs stay light
    from conformance.verdicts.judge import Judge  # noqa: PLC0415 - as above

    if config.pluginmanager.has_plugin(JUDGE) or not any(is_check(item) for item in items):
        return
    if config.option.collectonly:
        return
    judge = Judge(_open(config))
    config.pluginmanager.register(judge, JUDGE)
    judge.pytest_collection_modifyitems(config, items)


def current_run(config: pytest.Config) -> Run:
    """Return the run of the checks."""
    judge: Any = config.pluginmanager.get_plugin(JUDGE)
    run: Run = judge.run
    return run


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Test once whether the target can be reached, before pytest-xdist starts its processes.

    pytest-xdist reports a process that ends by itself as an internal error.
    """
    config = session.config
    is_distributed = bool(getattr(config.option, "numprocesses", None)) and not hasattr(config, "workerinput")
    if not is_distributed or config.option.collectonly or not any(_CHECKS in argument for argument in config.args):
        return
    if config.option.report is not None:
        raise pytest.UsageError("--report needs a single process: leave out -n, or use conformance run.")
    with ExitStack() as stack:
        _opened(config, stack)


def _open(config: pytest.Config) -> Run:
    stack = ExitStack()
    config.add_cleanup(stack.close)
    return _opened(config, stack)


def _opened(config: pytest.Config, stack: ExitStack) -> Run:
    """Return a run against a target that can be tested; the stack closes it."""
    from conformance.verdicts.pytest_run import opened_run  # noqa: PLC0415 - other projects' pytest runs stay light

    return opened_run(config, stack)
