"""The catalogue and its coverage by checks."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from click.testing import CliRunner

from conformance.catalogue import CatalogueError, load_catalogue
from conformance.catalogue.catalogue import build_catalogue
from conformance.catalogue.entries import OpenPoint, Requirement
from conformance.cli import main
from conformance.interface.operations import OPERATIONS
from conformance.targets.capabilities import UNLOCKS
from conformance.verdicts.session import checks_by_entry

DOCUMENT: dict[str, Any] = {
    "section": "1",
    "title": "A section",
    "statements": {"said": "The service states something."},
    "requirements": [{"id": "one", "title": "It holds.", "of": "said", "operations": "all", "since": "1.0"}],
    "open_points": [{"id": "two", "question": "Does it?", "of": "said", "operations": ["getEngagement"]}],
    "out_of_reach": [
        {"id": "three", "title": "It cannot be tested.", "of": ["said"], "reason": "A test cannot see it."}
    ],
}


@pytest.fixture(scope="module")
def covered() -> dict[str, list[str]]:
    """The checks by the entries that they cite."""
    return checks_by_entry()


def test_every_requirement_has_a_check(covered: dict[str, list[str]]) -> None:
    """Every requirement in the catalogue has a check."""
    assert [name for name in load_catalogue().requirements if name not in covered] == []


def test_every_open_point_is_observed(covered: dict[str, list[str]]) -> None:
    """Every open point in the catalogue is observed by a check."""
    assert [name for name in load_catalogue().open_points if name not in covered] == []


def test_checks_cite_nothing_else(covered: dict[str, list[str]]) -> None:
    """Every cited id is in the catalogue."""
    catalogue = load_catalogue()

    assert set(covered) <= {*catalogue.requirements, *catalogue.open_points}


def test_needs_are_known() -> None:
    """Every need is one that a target can meet."""
    catalogue = load_catalogue()
    entries: list[Requirement | OpenPoint] = [*catalogue.requirements.values(), *catalogue.open_points.values()]

    assert {need for entry in entries for need in entry.needs} <= set(UNLOCKS)


def test_every_operation_is_judged_by_name() -> None:
    """Each operation has requirements of its own, beside those for every response."""
    named = [entry.operations for entry in load_catalogue().requirements.values() if len(entry.operations) < 5]

    assert {name for operations in named for name in operations} == set(OPERATIONS)


def test_open_points_are_many() -> None:
    """The catalogue has at least forty open points."""
    assert len(load_catalogue().open_points) >= 40


def test_every_section_is_there() -> None:
    """The interface has nine sections."""
    assert [section.number for section in load_catalogue().sections] == [str(number) for number in range(1, 10)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda document: document["requirements"][0].update(of="unsaid"), "no statement 'unsaid'"),
        (lambda document: document["requirements"][0].update(operations=["getNothing"]), "no operation 'getNothing'"),
        (lambda document: document["requirements"][0].update({"class": "deluxe"}), "no class 'deluxe'"),
        (lambda document: document["requirements"][0].update(since="0.9"), "since is not one of the releases 1.0"),
        (lambda document: document["requirements"][0].pop("since"), "since is not one of the releases 1.0"),
        (lambda document: document["requirements"][0].update(why="because"), "unknown member 'why'"),
        (lambda document: document["open_points"][0].update(id="one"), "one is the id of two entries"),
        (lambda document: document["statements"].update(more="More is said."), "the statement 'more' has no entry"),
    ],
)
def test_a_contradiction_is_an_error(change: Any, message: str) -> None:
    """The catalogue is loaded strictly."""
    document = copy.deepcopy(DOCUMENT)
    change(document)

    with pytest.raises(CatalogueError, match=message):
        build_catalogue([document])


def test_a_sound_document_is_loaded() -> None:
    """The shorthand for several operations is expanded."""
    catalogue = build_catalogue([DOCUMENT])

    assert len(catalogue.requirements["one"].operations) == 13
    assert catalogue.requirements["one"].conformance_class == "core"


def test_the_command_prints_every_requirement() -> None:
    """The command ``requirements`` prints the catalogue as a table or as JSON."""
    table = CliRunner().invoke(main, ["requirements"], env={"COLUMNS": "200"})
    document = CliRunner().invoke(main, ["requirements", "--json"])

    assert table.exit_code == document.exit_code == 0
    for name in load_catalogue().requirements:
        assert name in table.output
        assert f'"{name}"' in document.output
