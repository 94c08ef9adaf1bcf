"""Request bodies and parameters: acceptance of valid ones, and rejection of certainly invalid ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

if TYPE_CHECKING:
    from schemathesis.specs.openapi.schemas import OpenApiSchema

RIGHT = [
    ("updateCurrentOrganization", {"name": "Acme"}),
    ("updateCurrentOrganization", {}),
    ("updateCurrentOrganization", {"name": "Acme", "slug": "x", "unknown": None}),
    ("inviteMember", {"email": "a@b", "role": "member"}),
    ("inviteMember", {"email": "a@example.com", "role": "admin", "note": "hello"}),
    ("updateMemberRole", {"role": "admin"}),
    ("updateMemberRole", {"role": "member", "reason": None}),
    ("createEngagement", {"name": "First"}),
    ("createEngagement", {"name": "\U0001f512", "description": "", "status": "archived"}),
    ("updateEngagement", {"name": "Second"}),
    ("updateEngagement", {"description": "text"}),
    ("updateEngagement", {}),
]
WRONG = [
    ("updateCurrentOrganization", {"name": 7}),
    ("inviteMember", {"email": "a@b"}),
    ("inviteMember", {"role": "member"}),
    ("inviteMember", {"email": "nobody", "role": "member"}),
    ("inviteMember", {"email": None, "role": "member"}),
    ("inviteMember", {"email": "a@b", "role": "owner"}),
    ("updateMemberRole", {}),
    ("updateMemberRole", {"role": None}),
    ("updateMemberRole", {"role": "guest"}),
    ("createEngagement", {}),
    ("createEngagement", {"description": "text"}),
    ("createEngagement", {"name": None}),
    ("createEngagement", {"name": "x", "description": ["text"]}),
    ("updateEngagement", {"name": False}),
]
WITH_BODY = ["updateCurrentOrganization", "inviteMember", "updateMemberRole", "createEngagement", "updateEngagement"]
PARAMETERS = {
    "listMembers": {"role", "page", "perPage"},
    "listEngagements": {"status", "page", "perPage", "sort", "order"},
}


@pytest.mark.parametrize(("operation_id", "body"), RIGHT)
def test_a_right_body_fits(
    document: dict[str, Any], operations: dict[str, Any], operation_id: str, body: object
) -> None:
    """A body with the required fields, the documented types and further fields is valid."""
    assert _body_schema(document, operations, operation_id).is_valid(body)


@pytest.mark.parametrize(("operation_id", "body"), WRONG)
def test_a_wrong_body_does_not_fit(
    document: dict[str, Any], operations: dict[str, Any], operation_id: str, body: object
) -> None:
    """A body with a missing field, another type or a value outside a closed list is invalid."""
    assert not _body_schema(document, operations, operation_id).is_valid(body)


@pytest.mark.parametrize("operation_id", WITH_BODY)
@pytest.mark.parametrize("body", [None, [], "text", 7])
def test_a_body_is_an_object(
    document: dict[str, Any], operations: dict[str, Any], operation_id: str, body: object
) -> None:
    """Every operation that takes a body requires an object."""
    assert operations[operation_id]["requestBody"]["required"] is True
    assert not _body_schema(document, operations, operation_id).is_valid(body)


def test_only_the_operations_that_take_a_body_have_one(operations: dict[str, Any]) -> None:
    """Unarchiving may take any body or none; the other operations without a body take none."""
    described = {name for name, operation in operations.items() if "requestBody" in operation}

    assert described == {*WITH_BODY, "unarchiveEngagement"}
    assert operations["unarchiveEngagement"]["requestBody"]["required"] is False
    assert operations["unarchiveEngagement"]["requestBody"]["content"] == {"application/json": {"schema": {}}}


def test_the_query_parameters_are_those_of_the_text(schema: OpenApiSchema, operations: dict[str, Any]) -> None:
    """The two lists have their parameters, all optional; other operations have none."""
    for name, operation in operations.items():
        query = schema[operation["path"]][operation["method"]].query

        assert {parameter.name for parameter in query} == PARAMETERS.get(name, set())
        assert not any(parameter.is_required for parameter in query)


def test_defaults_and_bounds_of_the_parameters(document: dict[str, Any], operations: dict[str, Any]) -> None:
    """Pages start at 1, have 20 items by default and 100 at most, and sorting is descending by default."""
    shared = document["components"]["parameters"]
    of_list = {
        parameter["name"]: parameter["schema"]
        for parameter in operations["listEngagements"]["parameters"]
        if "name" in parameter
    }

    assert shared["Page"]["schema"]["default"] == 1
    assert shared["PerPage"]["schema"]["default"] == 20
    assert shared["PerPage"]["schema"]["maximum"] == 100
    assert of_list["order"]["default"] == "desc"
    assert of_list["sort"]["enum"] == ["createdAt", "updatedAt", "name"]


@pytest.mark.parametrize("operation_id", [*WITH_BODY, *PARAMETERS, "getEngagement", "unarchiveEngagement"])
@settings(
    max_examples=5,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_requests_are_generated_from_the_document(
    schema: OpenApiSchema, document: dict[str, Any], operations: dict[str, Any], operation_id: str, data: st.DataObject
) -> None:
    """A body that Schemathesis generates as valid for an operation is valid under its schema."""
    operation = operations[operation_id]

    case = data.draw(schema[operation["path"]][operation["method"]].as_strategy())

    if operation_id in WITH_BODY:
        assert _body_schema(document, operations, operation_id).is_valid(case.body)


def _body_schema(document: dict[str, Any], operations: dict[str, Any], operation_id: str) -> Draft202012Validator:
    """Return the validator of an operation's request body."""
    reference = operations[operation_id]["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    resource = Resource.from_contents(document, default_specification=DRAFT202012)
    registry: Registry[Any] = Registry().with_resource("urn:document", resource)
    return Draft202012Validator({"$ref": f"urn:document{reference}"}, registry=registry)
