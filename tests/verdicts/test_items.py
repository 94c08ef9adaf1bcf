"""Metadata of checks, from pytest's items."""

from __future__ import annotations

import pytest

from conformance.running.options import Effort
from conformance.verdicts.items import Marks, cited_by, marks_of, name_of, requirement_of, stage_of
from conformance.verdicts.stages import Stage
from tests.verdicts.conftest import item

JUDGED = "json-well-formed"


@pytest.mark.parametrize(
    ("nodeid", "name"),
    [
        ("test_a.py::test_b", "test_a::test_b"),
        ("checks/test_a.py::test_b[x]", "test_a::test_b[x]"),
        ("conformance/checks/test_a.py::test_b", "test_a::test_b"),
    ],
)
def test_a_check_has_the_name_of_its_module_and_function(nodeid: str, name: str) -> None:
    """The name does not depend on the folder."""
    assert name_of(item(nodeid)) == name


def test_a_foreign_test_judges_and_cites_nothing() -> None:
    """Another project's test judges and cites nothing, and runs in the default stage."""
    other = item(stage=(Stage.EVERY_RESPONSE,))

    assert marks_of(other) is None
    assert (requirement_of(other), cited_by(other), stage_of(other)) == (None, (), Stage.SCENARIOS)


def test_a_check_says_all() -> None:
    """A check has a requirement, open points, a stage and a least effort."""
    check = item(requirement=(JUDGED,), observes=("a", "b"), stage=(Stage.EVERY_RESPONSE,), least_effort=("deep",))

    assert marks_of(check) == Marks(JUDGED, ("a", "b"), Stage.EVERY_RESPONSE, Effort.DEEP)
    assert marks_of(check) is marks_of(check)
    assert (requirement_of(check), cited_by(check), stage_of(check)) == (
        JUDGED,
        (JUDGED, "a", "b"),
        Stage.EVERY_RESPONSE,
    )


def test_an_observation_judges_nothing() -> None:
    """An observation cites its open points."""
    observation = item(observes=("a",))

    assert marks_of(observation) == Marks(None, ("a",), Stage.SCENARIOS, Effort.QUICK)
    assert (requirement_of(observation), cited_by(observation)) == (None, ("a",))
