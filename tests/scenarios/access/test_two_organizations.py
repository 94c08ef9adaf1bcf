"""Identifiers that two organizations use for different resources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.test_s5_isolation import _expect_absent, _expect_not_taken
from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.scenarios.access.two_organizations import _ensure_not_of_other, is_alike, is_same_person
from conformance.wire.requests import OTHER_KEY, Credential
from tests.fakes.exchanges import make_exchange, page
from tests.fakes.runs import FakeRun

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange

OWN = {"id": "7", "name": "ours", "description": "It stays here.", "createdAt": "2026-01-01T00:00:00.000Z"}
THEIRS = {**OWN, "createdAt": "2025-01-01T00:00:00.000Z"}


def shown(data: object, status: int = 200) -> Exchange:
    """Return a read of an engagement."""
    return make_exchange("getEngagement", status, {"data": data})


@pytest.mark.parametrize(
    ("other", "alike"),
    [
        (OWN, True),
        ({"id": "7"}, True),
        ({**OWN, "status": "archived"}, True),
        ({**OWN, "name": "theirs"}, False),
        ({**OWN, "description": None}, False),
        (THEIRS, False),
    ],
)
def test_only_different_values_distinguish_resources(other: dict[str, Any], *, alike: bool) -> None:
    """Only a field that both show with different values distinguishes two resources."""
    assert is_alike(OWN, other) is alike


PERSON = {"id": "7", "name": "Ann", "email": "ann@example.com"}


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        (PERSON, True),
        ({"id": "7", "name": "Ann"}, True),
        ({**PERSON, "email": "bo@example.org"}, False),
        ({"id": "7", "role": "member"}, False),
    ],
)
def test_a_person_is_known_by_name_or_address(other: dict[str, Any], *, is_same: bool) -> None:
    """A member of the other organization that shows neither may be any person, and is left alone."""
    assert is_same_person(PERSON, other) is is_same


def test_no_description_is_an_empty_one() -> None:
    """A missing description equals an empty one: either may stand for an unset one."""
    assert is_alike({**OWN, "description": ""}, {**OWN, "description": None})


def test_an_engagement_of_others_is_left_alone() -> None:
    """Nothing is tried on an engagement of the other organization."""
    with pytest.raises(CantTell, match="an engagement of its own"):
        _ensure_not_of_other(shown(OWN), shown(THEIRS))


@pytest.mark.parametrize(
    "response",
    [shown(OWN), shown(None), shown(THEIRS, 404), shown(THEIRS, 403)],
    ids=["leak", "nothing", "404", "403"],
)
def test_an_own_or_missing_engagement_is_tried(response: Exchange) -> None:
    """The run's engagement, or a missing one, is tried: a leak must be found."""
    _ensure_not_of_other(shown(OWN), response)


def test_another_one_of_that_identifier_may_be_listed() -> None:
    """A different resource with the same identifier may be listed."""
    _expect_absent("ours", OWN, [page([THEIRS])])


def test_an_own_engagement_must_not_be_listed() -> None:
    """The run's engagement must not be listed by the other key, even if it was changed."""
    with pytest.raises(NonConformity, match="gives ours"):
        _expect_absent("ours", OWN, [page([{**OWN, "name": "changed"}])])


def named(name: str, seconds: float, status: int = 200) -> Exchange:
    """Return a read of the other organization, some seconds after the renaming."""
    key = Credential.bearer(OTHER_KEY, "theirs")
    return make_exchange("getCurrentOrganization", status, {"data": {"name": name}}, key=key, at=seconds)


def given(reads: list[Exchange]) -> list[Exchange]:
    """Judge reads of an organization named "Theirs" after another one got the name "Ours"."""
    renaming = make_exchange("updateCurrentOrganization", 200, {"data": {"name": "Ours"}})
    return _expect_not_taken(FakeRun(exchanges=reads), OTHER_KEY, named("Theirs", -1.0), {"Ours": renaming})


def test_a_name_that_comes_over_from_another_organization() -> None:
    """A read that began after the renaming and shows the new name fails."""
    given([named("Theirs", 1.0)])
    with pytest.raises(NonConformity, match="another one's key has given"):
        given([named("Theirs", 1.0), named("Ours", 2.0)])


@pytest.mark.parametrize("reads", [[], [named("Ours", -1.0)], [named("Ours", 0.005)], [named("Ours", 1.0, 500)]])
def test_a_read_before_a_renaming_shows_nothing(reads: list[Exchange]) -> None:
    """A read from before the renaming, or without success, shows nothing."""
    assert given(reads) == []
