"""Markers for what a check judges or observes, and fixtures for scenarios."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.catalogue import CatalogueError, load_catalogue
from conformance.spelling import suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from conformance.running.run import Run

_NAMES: Final = {
    "getCurrentOrganization": "get-organization",
    "updateCurrentOrganization": "update-organization",
    "listMembers": "list-members",
    "inviteMember": "invite",
    "updateMemberRole": "update-role",
    "removeMember": "remove-member",
    "createEngagement": "create-engagement",
    "getEngagement": "get-engagement",
    "updateEngagement": "update-engagement",
    "deleteEngagement": "delete-engagement",
    "archiveEngagement": "archive-engagement",
    "unarchiveEngagement": "unarchive-engagement",
}
"""Names of operations in requirements."""


def requirement(identifier: str) -> pytest.MarkDecorator:
    """Mark a check with the requirement that it judges.

    Raises:
        CatalogueError: The catalogue has no such requirement.
    """
    return pytest.mark.requirement(_known(identifier, load_catalogue().requirements))


def for_each(operations: Collection[str], prefix: str) -> pytest.MarkDecorator:
    """Mark a check that judges a requirement for each of some operations: the prefix and the operation's name."""
    named = ((operation, name) for operation, name in _NAMES.items() if operation in operations)
    cases = [pytest.param(operation, marks=requirement(f"{prefix}-{name}"), id=name) for operation, name in named]
    return pytest.mark.parametrize("operation", cases)


def observes(*identifiers: str) -> pytest.MarkDecorator:
    """Mark a test with the open points that it observes; it judges nothing.

    Raises:
        CatalogueError: The catalogue has no such open point.
    """
    points = load_catalogue().open_points
    return pytest.mark.observes(*[_known(identifier, points) for identifier in identifiers])


def _known(identifier: str, entries: Collection[str]) -> str:
    if identifier not in entries:
        raise CatalogueError(f"conformance/catalogue/data has no {identifier!r}{suggestion(identifier, entries)}")
    return identifier


def scenario_fixture(function: Callable[[Run], Any], *, alone: bool = False) -> Any:  # noqa: ANN401 - pytest's fixture type is not public
    """Return a fixture with the result of a scenario.

    Args:
        function: The scenario; a run sends it once, whichever checks use it.
        alone: Whether the run may send nothing else during it.
    """

    def fetch(run: Run) -> Any:  # noqa: ANN401 - the scenario's result
        if alone:
            run.scenarios.finish_background()
        return run.scenarios.result(function)

    fetch.__doc__, fetch.__module__ = function.__doc__, function.__module__
    fetch.background = None if alone else function  # type: ignore[attr-defined]  # the judge reads it
    return pytest.fixture(scope="session", name=function.__name__)(fetch)
