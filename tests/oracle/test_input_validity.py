"""Validity of a request's wire form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.interface.operations import OPERATIONS
from conformance.oracle.input_validity import Validity, validity
from conformance.scenarios.access.invalid_inputs import BODIES, QUERIES, Kind
from conformance.wire.requests import Request

BODIED = [name for name, operation in OPERATIONS.items() if operation.takes_body]


def of_body(operation: str, body: bytes) -> Validity:
    """Return the validity of a request with this body."""
    return validity(Request(operation=OPERATIONS[operation], identifier="x", body=body))


def of_query(operation: str, *query: tuple[str, str]) -> Validity:
    """Return the validity of a list request with these parameters."""
    return validity(Request(operation=OPERATIONS[operation], query=query))


@pytest.mark.parametrize("operation", BODIED)
def test_every_body_of_the_table_is_invalid(operation: str) -> None:
    """Every body that the checks send as invalid is invalid, except values that only their meaning rules out."""
    for body in BODIES[operation]:
        found = of_body(operation, body.wire(label="label", domain="example.com", role="admin"))
        assert found is Validity.INVALID or (body.kind is Kind.VALUE and found is Validity.OPEN), body.what


@pytest.mark.parametrize("operation", list(QUERIES))
def test_every_query_of_the_table_is_invalid_or_open(operation: str) -> None:
    """Values of letters alone could belong to a later version; only their meaning rules the table's values out."""
    for query in QUERIES[operation]:
        assert of_query(operation, *query.query) is not Validity.VALID, query.what


@pytest.mark.parametrize(
    ("operation", "body", "expected"),
    [
        ("createEngagement", b'{"name": "Quarterly audit 7"}', "valid"),
        ("createEngagement", b'{"name": "Audit 7"}', "open"),
        ("createEngagement", b'{"name": "Quarterly audit", "description": "Some more text!"}', "open"),
        ("createEngagement", b'{"name": "Quarterly audit", "description": "Some more text."}', "valid"),
        ("createEngagement", b'{"name": "Quarterly audit", "description": "0"}', "open"),
        (
            "createEngagement",
            b'{"name": "an engagement whose name is longer than every service must take"}',
            "open",
        ),
        ("createEngagement", b'{"name": "Audit", "description": null}', "open"),
        ("createEngagement", b'{"name": ""}', "open"),
        ("createEngagement", b'{"name": " Audit"}', "open"),
        ("createEngagement", '{"name": "Prüfung"}'.encode(), "open"),
        ("createEngagement", b'{"name": "Audit", "other": 1}', "open"),
        ("createEngagement", b'{"name": "a", "name": 1}', "open"),
        ("createEngagement", b'{"name": 1}', "invalid"),
        ("createEngagement", b'{"name": 1, "other": 1}', "invalid"),
        ("createEngagement", b'{"name": "a", "x": NaN}', "open"),
        ("createEngagement", b'\xef\xbb\xbf{"name": "a"}', "open"),
        ("createEngagement", b"{", "invalid"),
        ("createEngagement", b"", "invalid"),
        ("updateMemberRole", b"", "invalid"),
        ("updateEngagement", b"", "open"),
        ("updateCurrentOrganization", b" \n", "open"),
        ("createEngagement", b'{"name": }', "invalid"),
        ("createEngagement", b'{"name": "a", "x": -Infinity}', "open"),
        ("createEngagement", '{"name": "Quarterly audit"}'.encode("utf-16-le"), "open"),
        ("createEngagement", b'{"name": "Quarterly audit"}\x00', "open"),
        ("createEngagement", b'{"name": "\xff"}', "open"),
        ("createEngagement", b'{"name": "Quarterly audit", "x": ' + b"[" * 200 + b"]" * 200 + b"}", "open"),
        ("createEngagement", b"[" * 200 + b"]" * 200, "open"),
        ("createEngagement", b'{"description": "Some more text."}', "invalid"),
        ("createEngagement", b'["name"]', "invalid"),
        ("createEngagement", b"null", "invalid"),
        ("updateEngagement", b"{}", "open"),
        ("updateEngagement", b'{"name": null}', "open"),
        ("updateEngagement", b'{"description": "Some more text"}', "valid"),
        ("updateCurrentOrganization", b'{"name": []}', "invalid"),
        ("inviteMember", b'{"email": "a@example.com", "role": "member"}', "valid"),
        ("inviteMember", b'{"email": "@", "role": "member"}', "open"),
        ("inviteMember", b'{"email": "a@example.com", "role": "Member"}', "open"),
        ("inviteMember", b'{"email": "a@example.com", "role": "viewer"}', "open"),
        ("inviteMember", '{"email": "a@example.com", "role": "\u00ff"}'.encode(), "invalid"),
        ("inviteMember", b'{"email": "a@example.com", "role": "owner"}', "invalid"),
        ("inviteMember", b'{"email": "a@example.com", "role": "admin"}', "valid"),
        ("updateMemberRole", b'{"role": "admin"}', "valid"),
        ("updateMemberRole", b'{"role": "owner"}', "open"),
        ("updateMemberRole", b'{"role": true}', "invalid"),
    ],
)
def test_bodies(operation: str, body: bytes, expected: str) -> None:
    """A body is invalid if no service may accept it, and valid if every service must."""
    assert of_body(operation, body) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ((), "valid"),
        ((("page", "1"), ("perPage", "100"), ("sort", "name"), ("order", "asc"), ("status", "active")), "valid"),
        ((("page", "2"),), "open"),
        ((("perPage", "101"),), "open"),
        ((("perPage", "0"),), "open"),
        ((("page", ""),), "open"),
        ((("page", "01"),), "open"),
        ((("page", "1e3"),), "open"),
        ((("page", "\u0661"),), "open"),
        ((("page", "\u00bd"),), "open"),
        ((("page", "null"),), "invalid"),
        ((("page", "abc"), ("page", "1")), "open"),
        ((("status", "Active"),), "open"),
        ((("status", ""),), "open"),
        ((("sort", "-name"),), "open"),
        ((("sort", "\u00e9{"),), "invalid"),
        ((("cursor", "x"),), "open"),
        ((("cursor", "x"), ("page", "abc")), "invalid"),
    ],
)
def test_queries(query: tuple[tuple[str, str], ...], expected: str) -> None:
    """Pages after the first may be past the end, and values of a later version are open."""
    assert of_query("listEngagements", *query) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ((("role", "owner"), ("page", "1"), ("perPage", "1")), "valid"),
        ((("role", "admin"),), "valid"),
        ((("role", "viewer"),), "open"),
        ((("role", ""),), "open"),
        ((("role", "{}"),), "invalid"),
        ((("perPage", "abc"),), "invalid"),
        ((("perPage", "100"),), "valid"),
        ((("perPage", "1000"),), "open"),
        ((("status", "active"),), "open"),
        ((("sort", "{}"),), "open"),
    ],
)
def test_queries_of_members(query: tuple[tuple[str, str], ...], expected: str) -> None:
    """Parameters of the other list are unknown here, with any value."""
    assert of_query("listMembers", *query) == expected


@pytest.mark.parametrize("operation", ["getEngagement", "deleteEngagement", "archiveEngagement"])
def test_operations_without_body_or_parameters_are_open(operation: str) -> None:
    """A body or parameters that are sent anyway are open."""
    assert of_body(operation, b"{") == "open"


def test_a_query_of_an_operation_without_parameters_is_open() -> None:
    """It is open even if the body is invalid."""
    creation = Request(operation=OPERATIONS["createEngagement"], body=b"{", query=(("x", "1"),))

    assert validity(creation) == "open"


@given(body=st.binary(max_size=60), operation=st.sampled_from(BODIED))
def test_any_bytes_have_a_validity(body: bytes, operation: str) -> None:
    """No body raises an exception, and bytes that are no JSON are never valid."""
    assert of_body(operation, body) in Validity


@given(value=st.text(max_size=20), name=st.sampled_from(["page", "perPage", "status", "sort", "order", "x"]))
def test_any_query_has_a_validity(value: str, name: str) -> None:
    """No parameter raises an exception."""
    assert of_query("listEngagements", (name, value)) in Validity
