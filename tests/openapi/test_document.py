"""Validity and completeness of the document and its examples."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from conformance.catalogue import load_catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator

RESPONSES = yaml.safe_load(Path(__file__).with_name("responses.yaml").read_text(encoding="utf-8"))
TABLE = ["400", "401", "403", "404", "409", "422", "429"]
SCOPES = {
    "getCurrentOrganization": ["organizations:read"],
    "updateCurrentOrganization": ["organizations:write"],
    "listMembers": ["organizations:read"],
    "inviteMember": ["organizations:write"],
    "updateMemberRole": ["organizations:write"],
    "removeMember": ["organizations:write"],
    "listEngagements": [],
    "createEngagement": ["engagements:write"],
    "getEngagement": ["engagements:read"],
    "updateEngagement": ["engagements:write"],
    "deleteEngagement": ["engagements:delete"],
    "archiveEngagement": ["engagements:write"],
    "unarchiveEngagement": [],
}
DOCUMENT_URI = "urn:document"


def test_the_document_is_valid_openapi(document: dict[str, Any]) -> None:
    """The OpenAPI 3.1 validator finds no error."""
    validate(document)

    assert document["openapi"].startswith("3.1")


def test_every_operation_of_the_interface_is_described(operations: dict[str, dict[str, Any]]) -> None:
    """The document has exactly the 13 operations, with their names, methods and paths."""
    described = {name: (operation["method"], operation["path"]) for name, operation in operations.items()}

    assert described == {name: (right["method"], right["path"]) for name, right in RESPONSES.items()}
    assert len(described) == 13


@pytest.mark.parametrize("operation_id", RESPONSES)
def test_an_operation_names_its_scope_and_requirements(operations: dict[str, Any], operation_id: str) -> None:
    """Each operation needs a bearer key with the listed permission and lists its requirements of the catalogue."""
    operation = operations[operation_id]

    assert operation["security"] == [{"apiKey": SCOPES[operation_id]}]
    assert operation["x-requirements"] == _bearing_on(operation_id)
    assert all(operation[key] for key in ("summary", "description", "tags"))


def test_requirements_on_every_operation_stand_at_the_root(document: dict[str, Any]) -> None:
    """The document lists exactly the requirements of the catalogue (docs/refresh.py)."""
    named = [name for operation_id in RESPONSES for name in _bearing_on(operation_id)]

    assert document["x-requirements"] == _general()
    assert {*named, *_general()} == set(load_catalogue().requirements)


@pytest.mark.parametrize("operation_id", RESPONSES)
def test_an_operation_lists_every_permitted_status(operations: dict[str, Any], operation_id: str) -> None:
    """The exact success status or 2XX, the error table and any other 4xx are described, and no other status."""
    success = "200" if RESPONSES[operation_id]["statuses"] == [200] else "2XX"

    assert list(operations[operation_id]["responses"]) == [success, *TABLE, "4XX"]


@pytest.mark.parametrize("operation_id", RESPONSES)
def test_every_response_requires_the_rate_limit_headers(
    document: dict[str, Any], operations: dict[str, Any], operation_id: str
) -> None:
    """Each described response, errors included, requires the three headers."""
    for described in operations[operation_id]["responses"].values():
        headers = _resolved(document, described)["headers"]

        assert sorted(headers) == ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]
        assert all(_resolved(document, header)["required"] is True for header in headers.values())


def test_links_lead_to_operations_and_their_parameters(document: dict[str, Any], operations: dict[str, Any]) -> None:
    """Each link names an operation and sets exactly its path parameters."""
    links = [link for _, link in _links(document, operations)]

    assert len(links) >= 15
    for link in links:
        path = operations[link["operationId"]]["path"]
        wanted = {part.strip("{}") for part in path.split("/") if part.startswith("{")}
        assert set(link.get("parameters", {})) == wanted


def test_links_take_their_values_from_where_they_are(document: dict[str, Any], operations: dict[str, Any]) -> None:
    """Each value of a link is in a valid response or in the path of the request."""
    taken = [
        (source, value)
        for source, link in _links(document, operations)
        for value in link.get("parameters", {}).values()
    ]

    assert taken
    for source, expression in taken:
        place, _, pointer = expression.partition("#")
        if place == "$response.body":
            assert isinstance(_at(RESPONSES[source]["body"], pointer), str)
        else:
            assert f"{{{place.removeprefix('$request.path.')}}}" in operations[source]["path"]


def test_no_link_leads_from_a_list_to_a_removal(document: dict[str, Any], operations: dict[str, Any]) -> None:
    """No link from a list leads to a removal."""
    destructive = {"removeMember", "deleteEngagement"}

    followed = {(source, link["operationId"]) for source, link in _links(document, operations)}

    assert not {pair for pair in followed if pair[0].startswith("list") and pair[1] in destructive}


def test_every_example_keeps_its_schema(document: dict[str, Any]) -> None:
    """Every example and default in the document is valid under its schema."""
    examples = list(_examples(document, ""))

    assert len(examples) >= 40
    for pointer, value in examples:
        errors = [error.message for error in _validator(document, pointer).iter_errors(value)]
        assert not errors, f"{pointer}: {value!r}: {errors}"


def test_a_timestamp_ends_where_it_ends(document: dict[str, Any]) -> None:
    """A validator whose `$` matches before a line break nevertheless rejects a line break after the Z."""
    timestamp = _validator(document, "/components/schemas/Timestamp")

    assert timestamp.is_valid("2025-01-02T03:04:05.006Z")
    assert not timestamp.is_valid("2025-01-02T03:04:05.006Z\n")


def _general() -> list[str]:
    """Return the requirements of all operations."""
    return [name for name, entry in load_catalogue().requirements.items() if len(entry.operations) == len(RESPONSES)]


def _bearing_on(operation_id: str) -> list[str]:
    """Return the requirements of an operation that are not requirements of all operations."""
    entries = load_catalogue().requirements.items()
    return [name for name, entry in entries if operation_id in entry.operations and name not in _general()]


def _links(document: dict[str, Any], operations: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for source, operation in operations.items():
        for described in operation["responses"].values():
            for link in _resolved(document, described).get("links", {}).values():
                yield source, _resolved(document, link)


def _resolved(document: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    """Return the node, or the target of its local reference."""
    return dict(_at(document, node["$ref"].removeprefix("#"))) if "$ref" in node else node


def _at(node: Any, pointer: str) -> Any:
    """Return the value at a JSON pointer without escapes."""
    for part in pointer.split("/")[1:]:
        node = node[int(part)] if isinstance(node, list) else node[part]
    return node


def _validator(document: dict[str, Any], pointer: str) -> Draft202012Validator:
    resource = Resource.from_contents(document, default_specification=DRAFT202012)
    registry: Registry[Any] = Registry().with_resource(DOCUMENT_URI, resource)
    return Draft202012Validator({"$ref": f"{DOCUMENT_URI}#{pointer}"}, registry=registry)


def _examples(node: object, pointer: str) -> Iterator[tuple[str, object]]:
    """Yield the pointer of each schema with each of its examples and its default."""
    if isinstance(node, dict):
        yield from _examples_beside(node, pointer)
        for key, value in node.items():
            yield from _examples(value, f"{pointer}/{_escaped(key)}")
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from _examples(value, f"{pointer}/{index}")


def _examples_beside(node: dict[str, Any], pointer: str) -> Iterator[tuple[str, object]]:
    schema = f"{pointer}/schema" if "schema" in node else pointer
    if "example" in node:
        yield schema, node["example"]
    if isinstance(node.get("examples"), dict):
        yield from ((schema, named["value"]) for named in node["examples"].values())
    if isinstance(node.get("examples"), list):
        yield from ((schema, value) for value in node["examples"])
    if "default" in node and "type" in node:
        yield schema, node["default"]


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1").replace("{", "%7B").replace("}", "%7D")
