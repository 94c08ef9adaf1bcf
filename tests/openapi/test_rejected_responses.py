"""Rejection of responses whose form breaks the interface, each with its kind of failure."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from schemathesis.core.failures import Failure, FailureGroup

if TYPE_CHECKING:
    import httpx
    from schemathesis.specs.openapi.schemas import OpenApiSchema

RESPONSES = yaml.safe_load(Path(__file__).with_name("responses.yaml").read_text(encoding="utf-8"))
TABLE = {
    400: "BAD_REQUEST",
    401: "UNAUTHORIZED",
    403: "FORBIDDEN",
    404: "NOT_FOUND",
    409: "CONFLICT",
    422: "VALIDATION_ERROR",
    429: "RATE_LIMITED",
}
RATE_LIMIT = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]
ENGAGEMENT = RESPONSES["getEngagement"]["body"]["data"]
SHAPE = {"JsonSchemaError"}
Judge = Callable[..., set[str]]
Pointer = tuple[str | int, ...]


def _members(node: object, path: Pointer = ()) -> Iterator[Pointer]:
    """Yield the path of every promised member; a valid response here has no other members."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield (*path, key)
            yield from _members(value, (*path, key))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from _members(value, (*path, index))


EVERY_MEMBER = [
    pytest.param(name, path, id=f"{name}-{'/'.join(map(str, path))}")
    for name, right in RESPONSES.items()
    for path in _members(right["body"])
]
every_operation = pytest.mark.parametrize("operation_id", RESPONSES)
every_member = pytest.mark.parametrize(("operation_id", "path"), EVERY_MEMBER)


@every_member
def test_a_promised_member_may_not_be_missing(judge: Judge, operation_id: str, path: Pointer) -> None:
    """A response without a listed field is rejected."""
    body, holder, key = _opened(operation_id, path)
    del holder[key]

    assert judge(operation_id, 200, body) == SHAPE


@every_member
def test_a_promised_member_may_not_be_null(judge: Judge, operation_id: str, path: Pointer) -> None:
    """A null field is rejected, unless it may be null."""
    nullable = "/".join(map(str, path)) in RESPONSES[operation_id].get("nullable", [])
    body, holder, key = _opened(operation_id, path)
    holder[key] = None

    assert judge(operation_id, 200, body) == (set() if nullable else SHAPE)


@every_member
def test_a_promised_member_has_its_type(judge: Judge, operation_id: str, path: Pointer) -> None:
    """A field of another type is rejected, such as a number in quotes."""
    body, holder, key = _opened(operation_id, path)
    holder[key] = _of_another_type(holder[key])

    assert judge(operation_id, 200, body) == SHAPE


@every_operation
@pytest.mark.parametrize("body", [[], None, "data", {}, {"data": "text"}, {"data": None}, {"Data": {}}])
def test_a_success_is_an_object_with_data(judge: Judge, operation_id: str, body: object) -> None:
    """A body of another kind, or without `data`, is rejected."""
    assert judge(operation_id, 200, body) == SHAPE


@every_operation
@pytest.mark.parametrize("body", [b"", b"<html></html>", b"{'data': {}}", b'\xef\xbb\xbf{"data": {}}'])
def test_a_success_is_json(judge: Judge, operation_id: str, body: bytes) -> None:
    """Malformed JSON is rejected, including an empty body and a byte order mark."""
    assert judge(operation_id, 200, body) == {"MalformedJson"}


@every_operation
@pytest.mark.parametrize("status", [301, 302, 304, 500, 501, 505])
def test_a_status_that_no_operation_is_given_is_rejected(judge: Judge, operation_id: str, status: int) -> None:
    """Redirects and server errors are rejected, even with a valid envelope."""
    error = {"code": "INTERNAL_ERROR", "message": "no", "statusCode": status}

    assert judge(operation_id, status, {"error": error}) == {"UndefinedStatusCode"}


@pytest.mark.parametrize("operation_id", [name for name, right in RESPONSES.items() if right["statuses"] == [200]])
@pytest.mark.parametrize("status", [201, 202, 203, 206])
def test_200_means_exactly_200(judge: Judge, operation_id: str, status: int) -> None:
    """If the text says 200, another success status is rejected."""
    assert judge(operation_id, status, RESPONSES[operation_id]["body"]) == {"UndefinedStatusCode"}


@pytest.mark.parametrize("operation_id", [name for name, right in RESPONSES.items() if right["statuses"] != [200]])
def test_an_open_success_still_has_a_body(judge: Judge, operation_id: str) -> None:
    """204 without a body is rejected."""
    assert "MissingContentType" in judge(operation_id, 204, b"", media_type=None)


@every_operation
@pytest.mark.parametrize("name", RATE_LIMIT)
def test_a_rate_limit_header_may_not_be_missing(judge: Judge, operation_id: str, name: str) -> None:
    """A response without one of the three headers is rejected, errors included."""
    assert judge(operation_id, 200, RESPONSES[operation_id]["body"], headers={name: None}) == {"MissingHeaders"}
    for status, code in {**TABLE, 405: "ANY"}.items():
        error = {"code": code, "message": "no", "statusCode": status}
        assert judge(operation_id, status, {"error": error}, headers={name: None}) == {"MissingHeaders"}


@every_operation
@pytest.mark.parametrize("name", RATE_LIMIT)
@pytest.mark.parametrize("value", ["", "many", "-1", "nan", "60;w=60"])
def test_a_rate_limit_header_is_a_number(judge: Judge, operation_id: str, name: str, value: str) -> None:
    """A header without a valid number is rejected."""
    assert judge(operation_id, 200, RESPONSES[operation_id]["body"], headers={name: value}) == SHAPE


@every_operation
@pytest.mark.parametrize(("media_type", "kind"), [("text/html", "UndefinedContentType"), (None, "MissingContentType")])
def test_another_media_type_is_rejected(judge: Judge, operation_id: str, media_type: str | None, kind: str) -> None:
    """A response with another media type is rejected, errors included."""
    error = {"code": "NOT_FOUND", "message": "no", "statusCode": 404}

    assert kind in judge(operation_id, 200, RESPONSES[operation_id]["body"], media_type=media_type)
    assert kind in judge(operation_id, 404, {"error": error}, media_type=media_type)


@every_operation
@pytest.mark.parametrize(("status", "code"), TABLE.items())
def test_an_error_of_the_table_keeps_the_envelope(judge: Judge, operation_id: str, status: int, code: str) -> None:
    """An error with another code, another `statusCode` or a missing member is rejected."""
    error = {"code": code, "message": "no", "statusCode": status}
    wrong: list[dict[str, Any]] = [
        {**error, "code": "OOPS"},
        {**error, "code": code.lower()},
        {**error, "code": None},
        {**error, "statusCode": str(status)},
        {**error, "statusCode": status + 1},
        {**error, "message": None},
        *({key: value for key, value in error.items() if key != left_out} for left_out in error),
    ]

    assert [judge(operation_id, status, {"error": body}) for body in wrong] == [SHAPE] * len(wrong)
    assert judge(operation_id, status, error) == SHAPE
    assert judge(operation_id, status, {"error": code, "message": "no"}) == SHAPE


@every_operation
def test_another_client_error_keeps_the_envelope(judge: Judge, operation_id: str) -> None:
    """A code that is not a string, or a `statusCode` outside 4xx, is rejected."""
    error = {"code": "METHOD_NOT_ALLOWED", "message": "no", "statusCode": 405}

    for wrong in ({"code": 405}, {"message": ["no"]}, {"statusCode": "405"}, {"statusCode": 500}):
        assert judge(operation_id, 405, {"error": {**error, **wrong}}) == SHAPE
    assert judge(operation_id, 405, {"detail": "Method Not Allowed"}) == SHAPE


@pytest.mark.parametrize(
    ("operation_id", "path", "value"),
    [
        ("listMembers", ("data", 0, "role"), "guest"),
        ("listMembers", ("data", 0, "role"), "Owner"),
        ("inviteMember", ("data", "role"), "owner"),
        ("updateMemberRole", ("data", "role"), "owner"),
        ("listEngagements", ("data", 0, "status"), "deleted"),
        ("getEngagement", ("data", "status"), "Active"),
        ("createEngagement", ("data", "status"), ""),
        ("archiveEngagement", ("data", "status"), "done"),
        ("deleteEngagement", ("data", "deleted"), False),
        ("removeMember", ("data", "removed"), False),
        ("listMembers", ("meta", "perPage"), 101),
        ("listMembers", ("meta", "page"), 0),
        ("listEngagements", ("meta", "total"), -1),
        ("listEngagements", ("meta", "totalPages"), 0.5),
    ],
)
def test_a_closed_value_stays_within_its_list(judge: Judge, operation_id: str, path: Pointer, value: object) -> None:
    """Roles, statuses, confirmations and numbers of `meta` outside the permitted values are rejected."""
    body, holder, key = _opened(operation_id, path)
    holder[key] = value

    assert judge(operation_id, 200, body) == SHAPE


@pytest.mark.parametrize(
    "moment",
    [
        "2025-01-02T03:04:05Z",
        "2025-01-02T03:04:05.06Z",
        "2025-01-02T03:04:05.006000Z",
        "2025-01-02T03:04:05.006+00:00",
        "2025-01-02t03:04:05.006z",
        "2025-01-02 03:04:05.006Z",
        "2025-01-02T03:04:05,006Z",
        "2025-02-30T03:04:05.006Z",
        "2025-01-02T24:00:00.000Z",
        "2025-01-02T03:04:05.006Z\n",
        "",
        "\u0662025-01-02T03:04:05.006Z",
    ],
)
def test_a_timestamp_has_exactly_one_form(judge: Judge, moment: str) -> None:
    """A timestamp other than a real UTC time with three digits of milliseconds and a Z is rejected."""
    assert judge("getEngagement", 200, {"data": {**ENGAGEMENT, "createdAt": moment}}) == SHAPE


def test_an_operation_rejects_a_wrong_body_on_its_own(
    schema: OpenApiSchema, response: Callable[..., httpx.Response]
) -> None:
    """Schemathesis' check of an operation's response finds faults of the body, without a generated case."""
    operation = schema["/api/v1/engagements/{id}"]["GET"]
    right = response(200, {"data": ENGAGEMENT})
    wrong = response(404, {"error": {"code": "NOT_FOUND", "message": "no", "statusCode": "404"}})

    operation.validate_response(right)
    with pytest.raises((Failure, FailureGroup)):
        operation.validate_response(wrong)


def _opened(operation_id: str, path: Pointer) -> tuple[Any, Any, Any]:
    """Return a copy of the right body, the object that holds the member, and the member's key."""
    body = copy.deepcopy(RESPONSES[operation_id]["body"])
    holder = body
    for key in path[:-1]:
        holder = holder[key]
    return body, holder, path[-1]


def _of_another_type(value: object) -> object:
    """Return the value as a careless serializer would send it."""
    if isinstance(value, dict | list):
        return [value] if isinstance(value, dict) else {"items": value}
    if isinstance(value, str):
        return 7
    return str(value).lower()
