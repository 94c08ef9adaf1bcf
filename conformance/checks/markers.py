"""Markers for what a check judges or observes, and fixtures for scenarios."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.catalogue import CatalogueError, load_catalogue
from conformance.catalogue.selection import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from conformance.running.run import Run


def requirement(identifier: str) -> pytest.MarkDecorator:
    """Mark a check with the requirement that it judges.

    Raises:
        CatalogueError: The catalogue has no such requirement.
    """
    return pytest.mark.requirement(_known(identifier, load_catalogue().requirements))


def observes(*identifiers: str) -> pytest.MarkDecorator:
    """Mark a test with the open points that it observes; it judges nothing.

    Raises:
        CatalogueError: The catalogue has no such open point.
    """
    points = load_catalogue().open_points
    return pytest.mark.observes(*[_known(identifier, points) for identifier in identifiers])


def _known(identifier: str, entries: Collection[str]) -> str:
    if identifier not in entries:
        raise CatalogueError(f"conformance/catalogue/data has no {identifier!r}{did_you_mean(identifier, entries)}")
    return identifier


def scenario_fixture(function: Callable[[Run], Any], *, alone: bool = False) -> Any:  # noqa: ANN401 - pytest's fixture type is not public
    """Return a fixture with the result of a scenario.

    Args:
        function: The scenario; a run sends it once, whichever checks use it.
        alone: Whether the run may send nothing else during it.
    """

    def fetch(run: Run) -> Any:  # noqa: ANN401 - the scenario's result
        if alone:
            run.scenarios.narrow()
        return run.scenarios.result(function)

    fetch.__doc__, fetch.__module__ = function.__doc__, function.__module__
    fetch.background = None if alone else function  # type: ignore[attr-defined]  # the judge reads it
    return pytest.fixture(scope="session", name=function.__name__)(fetch)
