"""Promised fields: each failure of presence and type."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.oracle.laws import shapes
from conformance.oracle.laws.shapes import SHAPES, Field

TIME = "2026-01-02T03:04:05.006Z"
SETTINGS = {"requireTwoFactor": True, "domainAutoJoin": False, "ssoEnabled": False}
ENGAGEMENT = {"id": "e", "name": "n", "description": "d", "status": "active", "createdAt": TIME, "updatedAt": TIME}
PROMISED: dict[str, dict[str, Any]] = {
    "getCurrentOrganization": {
        "id": "o",
        "name": "n",
        "slug": "s",
        "plan": "p",
        "memberCount": 1,
        "engagementCount": 0,
        "createdAt": TIME,
        "settings": SETTINGS,
    },
    "updateCurrentOrganization": {"id": "o", "name": "n", "slug": "s", "updatedAt": TIME},
    "listMembers": {"id": "u", "name": "n", "email": "a@b", "role": "owner", "joinedAt": TIME, "lastSeenAt": TIME},
    "inviteMember": {
        "id": "i",
        "email": "a@b",
        "role": "admin",
        "status": "pending",
        "expiresAt": TIME,
        "createdAt": TIME,
    },
    "updateMemberRole": {"id": "u", "role": "admin", "updatedAt": TIME},
    "removeMember": {"removed": True, "userId": "u"},
    "listEngagements": ENGAGEMENT,
    "createEngagement": ENGAGEMENT,
    "getEngagement": ENGAGEMENT,
    "archiveEngagement": {"id": "e", "status": "archived", "updatedAt": TIME},
    "deleteEngagement": {"deleted": True, "id": "e"},
}
FIELDS = [(operation, name) for operation, resource in PROMISED.items() for name in resource]
ALL_FIELDS = pytest.mark.parametrize(("operation", "name"), FIELDS)
ARTICLES = {str: "a string", bool: "a boolean", int: "an integer", dict: "an object"}


def found(operation: str, resource: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return the errors of a resource."""
    return [(fault.pointer, fault.expected, fault.actual) for fault in shapes.field_errors(resource, SHAPES[operation])]


@pytest.mark.parametrize("operation", PROMISED)
def test_a_resource_as_promised(operation: str) -> None:
    """More members are permitted."""
    assert found(operation, PROMISED[operation]) == []
    assert found(operation, PROMISED[operation] | {"extra": None}) == []


def test_operations_without_a_stated_response_promise_nothing() -> None:
    """These are updating and unarchiving an engagement."""
    assert set(SHAPES) == set(PROMISED)


@ALL_FIELDS
def test_a_field_that_is_absent(operation: str, name: str) -> None:
    """Only a description may be absent."""
    rest = {key: value for key, value in PROMISED[operation].items() if key != name}
    kind = ARTICLES[type(PROMISED[operation][name])]

    expected = [] if name == "description" else [(f"/data/{name}", kind, "absent")]
    assert found(operation, rest) == expected


@ALL_FIELDS
def test_a_field_that_is_null(operation: str, name: str) -> None:
    """Only a description and lastSeenAt may be null."""
    kind = ARTICLES[type(PROMISED[operation][name])]

    expected = [] if name in {"description", "lastSeenAt"} else [(f"/data/{name}", kind, "null (null)")]
    assert found(operation, PROMISED[operation] | {name: None}) == expected


@ALL_FIELDS
@pytest.mark.parametrize(("value", "actual"), [([], "[] (array)"), (2.5, "2.5 (number)")])
def test_a_field_of_another_type(operation: str, name: str, value: object, actual: str) -> None:
    """No field is promised as an array or a fraction."""
    kind = ARTICLES[type(PROMISED[operation][name])]

    assert found(operation, PROMISED[operation] | {name: value}) == [(f"/data/{name}", kind, actual)]


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize(("value", "actual"), [(..., "absent"), (None, "null (null)"), (1, "1 (number)")])
def test_a_setting_that_is_no_boolean(name: str, value: object, actual: str) -> None:
    """The pointer of a setting is its place within the organization."""
    settings = {key: given for key, given in (SETTINGS | {name: value}).items() if given is not ...}
    resource = PROMISED["getCurrentOrganization"] | {"settings": settings}

    assert found("getCurrentOrganization", resource) == [(f"/data/settings/{name}", "a boolean", actual)]


def test_settings_that_are_no_object_are_one_error() -> None:
    """Their members are not judged."""
    resource = PROMISED["getCurrentOrganization"] | {"settings": "none"}

    assert found("getCurrentOrganization", resource) == [("/data/settings", "an object", '"none" (string)')]


@pytest.mark.parametrize(
    ("value", "right"),
    [(0, True), (-1, True), (3.0, True), (3.5, False), (True, False), ("3", False), (float("inf"), False)],
)
def test_integers(value: object, *, right: bool) -> None:
    """A number without a fraction is an integer in any notation; a boolean is not."""
    resource = PROMISED["getCurrentOrganization"] | {"memberCount": value}

    assert (found("getCurrentOrganization", resource) == []) is right


def test_all_errors_are_in_order() -> None:
    """Each has its pointer in the body."""
    faults = shapes.field_errors({"deleted": "yes"}, SHAPES["deleteEngagement"], "/data/7")

    assert [(fault.pointer, fault.expected, fault.actual) for fault in faults] == [
        ("/data/7/deleted", "a boolean", '"yes" (string)'),
        ("/data/7/id", "a string", "absent"),
    ]


@pytest.mark.parametrize("operation", PROMISED)
def test_times_are_found(operation: str) -> None:
    """Every timestamp of a resource has its pointer."""
    expected = [(f"/{name}", TIME) for name, value in PROMISED[operation].items() if value == TIME]

    assert list(shapes.times(PROMISED[operation], SHAPES[operation])) == expected


@pytest.mark.parametrize("value", [None, 7, ["2026"], ...])
def test_only_texts_are_times(value: object) -> None:
    """Another error covers an absent timestamp or one of another type."""
    resource = {name: given for name, given in (ENGAGEMENT | {"createdAt": value}).items() if given is not ...}

    assert list(shapes.times(resource, SHAPES["getEngagement"])) == [("/updatedAt", TIME)]


def test_times_within_other_objects() -> None:
    """They are found at their place, and not if that is no object."""
    shape = (Field(("a", "b"), time=True),)

    assert list(shapes.times({"a": {"b": "soon"}}, shape)) == [("/a/b", "soon")]
    assert list(shapes.times({"a": ["b"]}, shape)) == []
    assert list(shapes.times({}, shape)) == []


def test_an_error_hides_no_other() -> None:
    """Fields after a wrong type are judged too."""
    faults = shapes.field_errors({"a": 1}, (Field(("a",), "object"), Field(("a", "b")), Field(("c",))))

    assert [(fault.pointer, fault.actual) for fault in faults] == [("/data/a", "1 (number)"), ("/data/c", "absent")]
