"""Observations as rows of a table."""

from __future__ import annotations

from inspect import signature
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from conformance.catalogue import CatalogueError
from conformance.checks.conftest import pytest_pycollect_makeitem
from conformance.checks.observations import observing
from tests.fakes.exchanges import make_exchange

if TYPE_CHECKING:
    from conformance.checks.observations import Seen
    from conformance.running.run import Run

POINT = "archive-again"
FIRST, SECOND = make_exchange(status=409, number=1), make_exchange(status=200, number=2)


def archiving(_: Run) -> Seen:
    """Stand for a scenario."""
    raise AssertionError


@pytest.mark.parametrize(
    ("seen", "observed"),
    [
        (FIRST, [(POINT, "409", FIRST)]),
        (("refused", FIRST, SECOND), [(POINT, "refused", FIRST, SECOND)]),
        ([FIRST, SECOND], [(POINT, "409", FIRST), (POINT, "200", SECOND)]),
        ([("refused", FIRST)], [(POINT, "refused", FIRST)]),
        ([], []),
    ],
)
def test_a_row_observes_what_its_scenario_shows(seen: Seen, observed: list[tuple[object, ...]]) -> None:
    """A response is described by its status; other words come with their exchanges; a list may be empty."""
    found: list[tuple[object, ...]] = []
    run = cast("Run", SimpleNamespace(observe=lambda *noted: found.append(noted)))

    observing(POINT, archiving, lambda result: result)(run=run, archiving=seen)

    assert found == observed


def test_a_row_is_a_test_of_its_point_with_its_scenario() -> None:
    """Pytest finds the scenario among the parameters, the point in a mark, and the row in the table."""
    row = observing(POINT, archiving, lambda result: result)

    assert list(signature(row).parameters) == ["run", "archiving"]
    assert [mark.args for mark in getattr(row, "pytestmark", ())] == [(POINT,)]
    assert pytest_pycollect_makeitem(cast("pytest.Module", None), "OTHERS", (row,)) is None


def test_a_row_of_an_unknown_point_is_an_error() -> None:
    """The catalogue must have the point."""
    with pytest.raises(CatalogueError, match="has no 'no-such-point'"):
        observing("no-such-point", archiving, lambda result: result)
