"""Faults against the OpenAPI document, with their requirement and place."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.catalogue import load_catalogue
from conformance.scenarios.generated.document import document_faults
from conformance.scenarios.generated.document_rules import RULES
from tests.fakes.exchanges import RATE_LIMIT, make_exchange

NOW = "2025-03-02T11:05:09.120Z"
ENGAGEMENT = {"id": "e", "name": "n", "status": "active", "createdAt": NOW, "updatedAt": NOW}
MEMBER = {"id": "u", "name": "n", "email": "a@b.c", "role": "admin", "joinedAt": NOW, "lastSeenAt": None}
META = {"total": 1, "page": 1, "perPage": 20, "totalPages": 1}


def error(status: int, **members: Any) -> dict[str, Any]:
    """Return an error, some of its members changed."""
    return {"error": {"code": "NOT_FOUND", "message": "", "statusCode": status} | members}


def list_of(*items: object, **meta: Any) -> dict[str, Any]:
    """Return a list, some members of ``meta`` changed."""
    return {"data": list(items), "meta": META | meta}


@pytest.mark.parametrize(
    ("operation", "status", "body", "expected"),
    [
        ("getEngagement", 200, {"data": ENGAGEMENT}, []),
        ("getEngagement", 404, error(404), []),
        ("listMembers", 200, list_of(MEMBER), []),
        ("getEngagement", 201, {"data": ENGAGEMENT}, [("get-engagement-succeeds", None)]),
        ("getEngagement", 302, {}, [("no-redirect", None)]),
        ("createEngagement", 302, {}, [("no-redirect", None)]),
        ("getEngagement", 200, {}, [("success-data-object", "/data")]),
        ("getEngagement", 200, [], [("success-data-object", "")]),
        ("updateEngagement", 200, {"data": 1}, [("success-data-object", "/data")]),
        ("listMembers", 200, {"data": {}, "meta": META}, [("list-data-array", "/data")]),
        ("listMembers", 200, {"data": [], "meta": []}, [("list-meta-object", "/meta")]),
        ("listMembers", 200, {"data": []}, [("list-meta-object", "/meta")]),
        ("listMembers", 200, list_of(total="1"), [("list-meta-fields", "/meta/total")]),
        ("listMembers", 200, list_of(total=-1), [("list-members-total", "/meta/total")]),
        ("listEngagements", 200, list_of(total=-1), [("list-engagements-total", "/meta/total")]),
        ("listEngagements", 200, list_of(totalPages=-1), [("list-engagements-total-pages", "/meta/totalPages")]),
        ("listEngagements", 200, list_of(perPage=101), [("list-paging-limits-truthful", "/meta/perPage")]),
        ("listEngagements", 200, list_of(page=0), [("list-paging-limits-truthful", "/meta/page")]),
        ("listEngagements", 200, list_of(1), [("list-engagements-fields", "/data/0")]),
        ("getEngagement", 200, {"data": ENGAGEMENT | {"name": 1}}, [("get-engagement-fields", "/data/name")]),
        ("getEngagement", 200, {"data": ENGAGEMENT | {"status": "off"}}, [("engagement-status-known", "/data/status")]),
        ("listMembers", 200, list_of(MEMBER | {"role": "king"}), [("member-roles-known", "/data/0/role")]),
        ("listMembers", 200, list_of(MEMBER | {"lastSeenAt": "x"}), [("timestamp-format", "/data/0/lastSeenAt")]),
        ("listMembers", 200, list_of(MEMBER | {"lastSeenAt": 1}), [("list-members-fields", "/data/0/lastSeenAt")]),
        (
            "deleteEngagement",
            200,
            {"data": {"deleted": False, "id": "e"}},
            [("delete-engagement-answers-true", "/data/deleted")],
        ),
        (
            "updateMemberRole",
            200,
            {"data": {"id": "u", "role": "owner", "updatedAt": NOW}},
            [("update-role-answers-what-was-sent", "/data/role")],
        ),
        ("getEngagement", 404, {}, [("error-envelope", "/error")]),
        ("getEngagement", 404, error(404, message=1), [("error-envelope", "/error/message")]),
        ("getEngagement", 404, error(404, code="GONE"), [("error-code-404", "/error/code")]),
        ("getEngagement", 404, error(400), [("error-status-code-agrees", "/error/statusCode")]),
        ("getEngagement", 404, error(404, statusCode="404"), [("error-envelope", "/error/statusCode")]),
        ("getEngagement", 404, error(404, statusCode=True), [("error-envelope", "/error/statusCode")]),
    ],
)
def test_the_place_decides_the_requirement(operation: str, status: int, body: object, expected: list[Any]) -> None:
    """A wrong status, member, field or value gives a fault of its requirement, with its place."""
    faults = document_faults(make_exchange(operation, status, body))

    assert {(fault.requirement, fault.pointer) for fault in faults} == set(expected)
    assert all(
        (fault.pointer or str(status)) in fault.message or fault.message.startswith("the body") for fault in faults
    )


@pytest.mark.parametrize("status", [200, 404, 418])
def test_missing_headers_are_named(status: int) -> None:
    """Missing headers are reported by name, for any status."""
    body = {"data": ENGAGEMENT} if status == 200 else error(status)

    faults = document_faults(make_exchange("getEngagement", status, body, headers=RATE_LIMIT[:1]))

    assert {fault.requirement for fault in faults} == {"rate-limit-headers-present"}
    assert sorted(fault.message for fault in faults) == [
        "the header X-RateLimit-Remaining is missing",
        "the header X-RateLimit-Reset is missing",
    ]


@pytest.mark.parametrize(
    ("name", "value", "requirement"),
    [
        ("X-RateLimit-Limit", "0", "rate-limit-limit-positive"),
        ("X-RateLimit-Limit", "many", "rate-limit-limit-positive"),
        ("X-RateLimit-Remaining", "-1", "rate-limit-remaining-in-range"),
        ("X-RateLimit-Reset", "soon", "rate-limit-reset-is-time"),
    ],
)
def test_a_wrong_header_is_named(name: str, value: str, requirement: str) -> None:
    """A wrong header is a fault of its own requirement."""
    headers = tuple((header, value if header == name else right) for header, right in RATE_LIMIT)

    (fault,) = document_faults(make_exchange("getEngagement", 200, {"data": ENGAGEMENT}, headers=headers))

    assert (fault.requirement, fault.message) == (requirement, f"the header {name} is wrong")


@pytest.mark.parametrize(
    ("operation", "status", "rules"),
    [
        ("listMembers", 200, {"list-data-array"}),
        ("getEngagement", 200, {"success-data-object"}),
        ("getEngagement", 404, set()),
    ],
)
def test_the_responses_of_a_rule(operation: str, status: int, rules: set[str]) -> None:
    """A rule of successes has those of its operations alone."""
    exchange = make_exchange(operation, status, {})

    assert {rule for rule in ("list-data-array", "success-data-object") if RULES[rule](exchange)} == rules


def test_every_rule_is_a_requirement() -> None:
    """Every requirement of the document rules is in the catalogue."""
    assert RULES.keys() <= load_catalogue().requirements.keys()
