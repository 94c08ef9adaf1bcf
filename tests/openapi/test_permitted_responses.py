"""Acceptance of conforming responses: every permitted variation of every operation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

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
ENGAGEMENT = RESPONSES["getEngagement"]["body"]["data"]
MEMBER = RESPONSES["listMembers"]["body"]["data"][0]
META = RESPONSES["listMembers"]["body"]["meta"]
Judge = Callable[..., set[str]]

every_operation = pytest.mark.parametrize("operation_id", RESPONSES)


@every_operation
def test_each_permitted_success_status_is_right(judge: Judge, operation_id: str) -> None:
    """The status is 200 if the text states it; else any 2xx is accepted."""
    right = RESPONSES[operation_id]

    assert {status: judge(operation_id, status, right["body"]) for status in right["statuses"]} == {
        status: set() for status in right["statuses"]
    }


@every_operation
def test_members_that_the_text_does_not_name_are_right(judge: Judge, operation_id: str) -> None:
    """Unknown members may appear in every object, with any value."""
    assert judge(operation_id, 200, _with_extras(RESPONSES[operation_id]["body"])) == set()


@every_operation
@pytest.mark.parametrize(
    "media_type",
    [
        "application/json; charset=utf-8",
        'application/json;charset=UTF-8;profile="a;b"',
        "Application/JSON",
    ],
)
def test_parameters_and_letter_case_of_the_media_type_are_free(
    judge: Judge, operation_id: str, media_type: str
) -> None:
    """The media type application/json may have parameters and any letter case."""
    assert judge(operation_id, 200, RESPONSES[operation_id]["body"], media_type=media_type) == set()


@every_operation
@pytest.mark.parametrize("media_type", ["text/json", "application/vnd.service.v1+json"])
def test_the_shape_check_leaves_other_json_types_alone(judge: Judge, operation_id: str, media_type: str) -> None:
    """Only the media type check rejects an open media type, so a conformance run must not use that check."""
    found = judge(operation_id, 200, RESPONSES[operation_id]["body"], media_type=media_type)

    assert found == {"UndefinedContentType"}


@every_operation
@pytest.mark.parametrize(
    "headers",
    [
        {"X-RateLimit-Reset": "1740913560.25"},
        {"X-RateLimit-Remaining": "0"},
        {"X-RateLimit-Limit": "1"},
        {"X-Request-Id": "a1", "Cache-Control": "no-store"},
    ],
)
def test_rate_limit_headers_take_every_permitted_form(judge: Judge, operation_id: str, headers: dict[str, str]) -> None:
    """Reset is whole or decimal, Remaining may be used up, and further headers are free."""
    assert judge(operation_id, 200, RESPONSES[operation_id]["body"], headers=headers) == set()


@every_operation
@pytest.mark.parametrize(("status", "code"), TABLE.items())
def test_every_operation_may_respond_with_every_error_of_the_table(
    judge: Judge, operation_id: str, status: int, code: str
) -> None:
    """An error of the table is accepted with any message and with further members."""
    error = {"code": code, "message": "", "statusCode": status}

    assert judge(operation_id, status, {"error": error}) == set()
    assert judge(operation_id, status, {"error": {**error, "details": [None]}, "traceId": "t"}) == set()


@every_operation
@pytest.mark.parametrize("status", [402, 405, 406, 408, 410, 413, 414, 415, 418, 423, 431, 451, 499])
def test_any_other_client_error_has_a_free_code(judge: Judge, operation_id: str, status: int) -> None:
    """A 4xx outside the table is accepted with the envelope and any code."""
    error = {"code": "ANYTHING_AT_ALL", "message": "no", "statusCode": status}

    assert judge(operation_id, status, {"error": error}, media_type="application/json; charset=utf-8") == set()


@pytest.mark.parametrize("operation_id", ["getEngagement", "createEngagement"])
@pytest.mark.parametrize(
    "description", [{}, {"description": None}, {"description": ""}, {"description": "text \U0001f512"}]
)
def test_a_description_may_be_absent_null_or_empty(
    judge: Judge, operation_id: str, description: dict[str, Any]
) -> None:
    """Without a description from a client, each of its empty forms is accepted."""
    assert judge(operation_id, 200, {"data": {**ENGAGEMENT, **description}}) == set()
    assert judge("listEngagements", 200, {"data": [{**ENGAGEMENT, **description}], "meta": META}) == set()


@pytest.mark.parametrize("role", ["owner", "admin", "member"])
def test_a_member_may_never_have_been_active(judge: Judge, role: str) -> None:
    """The last activity of a member of any role may be null."""
    members = [{**MEMBER, "role": role, "lastSeenAt": None}, MEMBER]

    assert judge("listMembers", 200, {"data": members, "meta": META}) == set()


@pytest.mark.parametrize("operation_id", ["listMembers", "listEngagements"])
@pytest.mark.parametrize("total_pages", [0, 1])
def test_an_empty_list_has_no_page_or_one(judge: Judge, operation_id: str, total_pages: int) -> None:
    """A total of 0 goes with 0 pages or with 1, and a page past the end may be empty."""
    meta = {"total": 0, "page": 1, "perPage": 1, "totalPages": total_pages}

    assert judge(operation_id, 200, {"data": [], "meta": meta}) == set()
    assert judge(operation_id, 200, {"data": [], "meta": {**META, "page": 99, "perPage": 100}}) == set()


@pytest.mark.parametrize("operation_id", ["updateEngagement", "unarchiveEngagement"])
@pytest.mark.parametrize("data", [{}, ENGAGEMENT, {"id": None}, {"status": "draft", "updatedAt": 7}, {"ok": True}])
def test_a_response_of_unspecified_shape_is_any_object(judge: Judge, operation_id: str, data: dict[str, Any]) -> None:
    """Editing and unarchiving promise an object in `data` with any members."""
    assert judge(operation_id, 200, {"data": data}) == set()
    assert judge(operation_id, 202, {"data": data, "meta": None}) == set()


@pytest.mark.parametrize("operation_id", ["getCurrentOrganization", "updateCurrentOrganization"])
def test_fields_that_an_endpoint_does_not_list_are_free(judge: Judge, operation_id: str) -> None:
    """Fields that only the other organization operation lists are accepted in any form."""
    data = RESPONSES[operation_id]["body"]["data"]
    unlisted = {"updatedAt", "settings", "memberCount", "createdAt"} - set(data)

    assert judge(operation_id, 200, {"data": {**data, **dict.fromkeys(unlisted)}}) == set()


@pytest.mark.parametrize("size", [1, 100, 101])
def test_a_list_may_be_of_any_length(judge: Judge, size: int) -> None:
    """The length of a page is not part of the schema."""
    assert judge("listEngagements", 200, {"data": [ENGAGEMENT] * size, "meta": META}) == set()


@pytest.mark.parametrize(
    "moment",
    ["1970-01-01T00:00:00.000Z", "2024-02-29T12:00:00.001Z", "9999-12-31T23:59:59.999Z", "2016-12-31T23:59:60.000Z"],
)
def test_every_real_moment_is_right(judge: Judge, moment: str) -> None:
    """Leap days, leap seconds and the ends of the calendar are accepted."""
    assert judge("getEngagement", 200, {"data": {**ENGAGEMENT, "createdAt": moment, "updatedAt": moment}}) == set()


def test_an_integer_may_be_written_with_a_fraction_of_zero(judge: Judge) -> None:
    """JSON does not distinguish 1.0 from 1."""
    body = {"data": [], "meta": {"total": 0.0, "page": 1.0, "perPage": 20.0, "totalPages": 0.0}}
    error = {"code": "NOT_FOUND", "message": "no", "statusCode": 404.0}

    assert judge("listMembers", 200, body) == set()
    assert judge("getEngagement", 404, {"error": error}) == set()


def test_an_invitation_may_have_any_text_as_address(judge: Judge) -> None:
    """The letter case of the address and the values of a later status are free in form."""
    data = {**RESPONSES["inviteMember"]["body"]["data"], "email": "Bob+X@EXAMPLE.com", "role": "member"}

    assert judge("inviteMember", 201, {"data": data}) == set()


def _with_extras(node: object) -> object:
    """Return the body with unknown members in each of its objects."""
    if isinstance(node, dict):
        extras: dict[str, object] = {"xNull": None, "xNested": {"status": 1, "createdAt": "soon"}, "x-list": [[], {}]}
        return {**{key: _with_extras(value) for key, value in node.items()}, **extras}
    if isinstance(node, list):
        return [_with_extras(value) for value in node]
    return node
