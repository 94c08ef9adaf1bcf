"""Library of faults: common properties, and the visibility of each fault."""

from __future__ import annotations

import importlib
import importlib.util
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conformance.catalogue import load_catalogue
from conformance.reference.faults import all_faults
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reference.conftest import Visitor


def _load_lives() -> Any:
    """Load the module ``lives``; test folders are not packages."""
    spec = importlib.util.spec_from_file_location("reference_lives", Path(__file__).with_name("lives.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


lives = _load_lives()
LIBRARY = all_faults()
REQUIREMENTS = load_catalogue().requirements

MEANT_TO_BREAK = {
    "archive-again-breaks",
    "throttled-500",
    "unarchive-500",
    *(identifier for identifier in LIBRARY if "breaks-on" in identifier or "stumbles-over" in identifier),
    *(identifier for identifier in LIBRARY if identifier.startswith("ends-at-")),
    "archived-edit-500",
    "duplicate-name-create-500",
    "invitation-in-other-letters-500",
    "key-empty-header-stumbles",
    "name-of-deleted-update-500",
    "owner-role-500",
    "parallel-creations-break",
    "parallel-edits-break",
    "parallel-renamings-and-invitations-break",
}
"""Faults that return 500 on purpose."""

LIVES = {
    "headers": lives.limits,
    "invitations": lives.people,
    "isolation": lives.keys,
    "keys": lives.keys,
    "lists": lives.corners,
    "members": lives.people,
    "organization": lives.people,
    "paging": lives.corners,
    "refusals": lives.mistakes,
    "validation": lives.mistakes,
}
"""The life that shows the faults of a module; the default is ``engagements``."""


def test_every_requirement_is_broken_by_a_fault() -> None:
    """Every requirement is the first that some fault breaks."""
    named = {fault.breaks[0] for fault in LIBRARY.values()}

    assert len(LIBRARY) >= 250
    assert set(REQUIREMENTS) - named == set()


def test_faults_break_what_the_catalogue_knows() -> None:
    """A fault breaks requirements of the catalogue, each once."""
    for fault in LIBRARY.values():
        assert set(fault.breaks) <= set(REQUIREMENTS), fault.id
        assert max(Counter(fault.breaks).values()) == 1, fault.id


def test_titles_are_sentences_of_their_own() -> None:
    """No two faults have the same title."""
    titles = Counter(fault.title for fault in LIBRARY.values())

    assert [title for title, number in titles.items() if number > 1] == []
    assert [title for title in titles if not title.endswith(".")] == []


def test_faults_change_methods_that_exist() -> None:
    """A fault overrides at least one method of the service."""
    for fault in LIBRARY.values():
        ancestors = [ancestor for ancestor in fault.service.__mro__ if ancestor not in Service.__mro__]
        members = {name for ancestor in ancestors for name in vars(ancestor) if not name.startswith("__")}
        assert [name for name in members if hasattr(Service, name)], fault.id


HONEST: dict[object, list[object]] = {}
"""The responses of an honest service in each life."""


@pytest.mark.parametrize("identifier", sorted(LIBRARY))
def test_fault_shows(visit: Callable[..., Visitor], identifier: str) -> None:
    """A faulty service responds differently in some life, and with an unintended 500 only if it is meant to break."""
    first = LIVES.get(LIBRARY[identifier].module, lives.engagements)
    differs = False
    others = (
        lives.mistakes,
        lives.keys,
        lives.limits,
        lives.corners,
        lives.late,
        lives.meetings,
        lives.aftermath,
        lives.twice,
        lives.mixed,
    )
    for lead in dict.fromkeys((first, lives.engagements, lives.people, *others)):
        if lead not in HONEST:
            HONEST[lead] = lead(lives.Life(visit(identifier_shape="integer")))
        responses = lead(lives.Life(visit(identifier_shape="integer", fault=LIBRARY[identifier])))
        assert identifier in MEANT_TO_BREAK or not [response for response in responses if lives.is_unexpected(response)]
        if differs := responses != HONEST[lead]:
            break
    assert differs, f"{identifier} responds as an honest service in all lives"
