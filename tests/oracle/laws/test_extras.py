"""Observations of parts beyond the interface, in words that are the same from run to run."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.oracle.laws import extras
from conformance.wire.exchange import Exchange
from tests.fakes.exchanges import make_exchange

PLAIN = {"code": "X", "message": "", "statusCode": 404}
META = {"total": 0, "page": 1, "perPage": 20, "totalPages": 0}
ORGANIZATION = ("id", "name", "slug", "plan", "memberCount", "engagementCount", "createdAt", "settings")


def extra(operation: str, status: int, body: object) -> list[str]:
    """Return the words for one response."""
    return list(extras.extra_members([make_exchange(operation, status, body)]))


def with_header(name: str, value: str, number: int = 1, status: int = 200) -> Exchange:
    """Return a response with this header alone."""
    return make_exchange(headers=((name, value),), body={}, number=number, status=status)


# --- members


@pytest.mark.parametrize(
    ("operation", "status", "body"),
    [
        ("getEngagement", 404, {"error": PLAIN}),
        ("getEngagement", 404, {"error": {}}),
        ("getEngagement", 404, {"error": "gone"}),
        ("getEngagement", 200, {"data": {"id": "a", "description": None, "updatedAt": ""}}),
        ("getCurrentOrganization", 200, {"data": dict.fromkeys(ORGANIZATION)}),
        ("listEngagements", 200, {"data": [{"id": "a"}, {"name": "b"}], "meta": META}),
        ("listMembers", 200, {"data": [{"email": "a"}, {"lastSeenAt": None}], "meta": META}),
        ("updateEngagement", 200, {"data": {"anything": 1}}),
        ("unarchiveEngagement", 200, {"data": {"anything": 1}}),
        ("listEngagements", 200, {"data": None, "meta": None}),
        ("listEngagements", 200, {"data": ["extra", None, 7], "meta": ["extra"]}),
        ("getEngagement", 200, {"data": "extra"}),
        ("getEngagement", 200, ["extra"]),
        ("getEngagement", 200, "extra"),
        ("getEngagement", 200, {}),
    ],
)
def test_responses_with_nothing_beyond_the_interface(operation: str, status: int, body: object) -> None:
    """Documented members, operations without fields, and bodies that are no object yield nothing."""
    assert extra(operation, status, body) == []


@pytest.mark.parametrize(
    ("operation", "body", "words"),
    [
        ("getEngagement", {"error": PLAIN, "data": 1, "traceId": 2}, ["data beside error", "traceId beside error"]),
        ("getEngagement", {"error": PLAIN | {"details": 1, "x-y": 2}}, ["error.details", "error.x-y"]),
        ("getEngagement", {"error": {"hint": 1}, "id": 2}, ["id beside error", "error.hint"]),
        ("getEngagement", {"data": {"id": "a"}, "links": 1, "meta": 2}, ["links beside data"]),
        ("getEngagement", {"data": {"owner": "a", "id": "a"}}, ["getEngagement: owner"]),
        ("listMembers", {"data": [{"tag": 1}, {"city": 1}], "meta": META}, ["listMembers: tag", "listMembers: city"]),
        ("listMembers", {"data": [], "meta": META | {"cursor": 1, "next": 2}}, ["meta.cursor", "meta.next"]),
        ("listMembers", {"data": [None, {"phone": 1}], "meta": None}, ["listMembers: phone"]),
        ("archiveEngagement", {"data": {"id": "a", "name": "n"}}, ["archiveEngagement: name"]),
        ("removeMember", {"data": {"removed": True, "userId": "u", "id": "u"}}, ["removeMember: id"]),
        ("updateEngagement", {"data": {"x": 1}, "links": 1}, ["links beside data"]),
        ("updateCurrentOrganization", {"data": {"plan": "p", "id": "o"}}, ["updateCurrentOrganization: plan"]),
    ],
)
def test_members_that_the_interface_does_not_name(operation: str, body: object, words: list[str]) -> None:
    """The words name their place, and the operation for members of a resource."""
    assert extra(operation, 200, body) == words


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("a" * 40, "a" * 40),
        ("a" * 41, "(odd)"),
        ("$ref.x_y-z@1", "$ref.x_y-z@1"),
        ("", "(odd)"),
        ("a b", "(odd)"),
        ("ä", "(odd)"),
        ("a\n", "(odd)"),
        ("<script>", "(odd)"),
    ],
)
def test_odd_names_are_not_repeated(name: str, word: str) -> None:
    """An odd name cannot break the sentence that names it."""
    assert extra("getEngagement", 200, {name: 1, "data": {name: 1}}) == [
        f"{word} beside data",
        f"getEngagement: {word}",
    ]
    assert extra("getEngagement", 404, {name: 1, "error": {name: 1}}) == [f"{word} beside error", f"error.{word}"]
    assert extra("listMembers", 200, {"data": [], "meta": {name: 1}}) == [f"meta.{word}"]


def test_the_first_response_with_a_member_is_cited() -> None:
    """Responses that are not judged or no JSON are skipped."""
    body: dict[str, Any] = {"data": {"owner": "a"}}
    responses = [
        make_exchange(status=None, number=1),
        make_exchange(status=502, body=body, number=2),
        make_exchange(body=b"{", number=3),
        make_exchange(body=body, number=4),
        make_exchange(body=body, number=5),
        make_exchange(body={"data": {"tags": 1}}, number=6),
    ]

    found = extras.extra_members(responses)
    assert {word: exchange.number for word, exchange in found.items()} == {
        "getEngagement: owner": 4,
        "getEngagement: tags": 6,
    }


def test_outside_the_interface_only_errors_are_described() -> None:
    """A success outside the interface may hold anything."""
    success, error = (
        make_exchange(body={"data": {"owner": 1}, "x": 1}),
        make_exchange(status=404, body={"error": {"x": 1}}),
    )
    beside = [
        Exchange(**{**vars(response), "request": response.request.as_probe("GET", "/other")})
        for response in (success, error)
    ]

    assert list(extras.extra_members(beside)) == ["error.x"]


def test_repeated_names_in_an_object() -> None:
    """A repeated name counts at any depth, once, with the first response that has it."""
    responses = [
        make_exchange(body=b'{"data": {"id": "a", "id": "b", "a b": 1, "a b": 2}}', number=1),
        make_exchange(body=b'{"id": {"id": 1}, "data": 1, "data": 2}', number=2),
        make_exchange(body=b'{"id": 1, "id": 2}', number=3),
        make_exchange(body=b'[{"name": 1, "name": 2}]', number=4),
        make_exchange(body=b'{"name": 1, "name": 2', number=5),
        make_exchange(status=503, body=b'{"name": 1, "name": 2}', number=6),
        make_exchange(status=None, number=7),
    ]

    found = extras.duplicate_names(responses)
    assert {word: exchange.number for word, exchange in found.items()} == {"id": 1, "(odd)": 1, "data": 2}


# --- headers


def test_media_types_with_their_parameters() -> None:
    """Each media type occurs once, as received, with the first response that has it, truncated if long."""
    responses = [
        make_exchange(status=None, number=1),
        with_header("Content-Type", "text/html", 2, status=502),
        with_header("X-Other", "y", 3),
        with_header("content-type", "application/json; charset=utf-8", 4),
        with_header("Content-Type", "application/json; charset=utf-8", 5),
        with_header("Content-Type", "application/json", 6, status=404),
        with_header("Content-Type", "x" * 81, 7),
        with_header("Content-Type", "", 8),
    ]

    found = extras.media_types(responses)
    assert {word: exchange.number for word, exchange in found.items()} == {
        "application/json; charset=utf-8": 4,
        "application/json": 6,
        "x" * 80: 7,
        "": 8,
    }


@pytest.mark.parametrize(
    ("value", "methods"),
    [("GET", ["GET"]), ("get, HEAD ,post", ["GET", "HEAD", "POST"]), ("", []), (" , GET,, ", ["GET"])],
)
def test_methods_that_are_allowed(value: str, methods: list[str]) -> None:
    """Methods are in capitals and in order, without empty elements."""
    assert extras.allowed(with_header("allow", value)) == methods


def test_no_methods_are_allowed() -> None:
    """There are none without the header or without a response."""
    assert extras.allowed(with_header("X-Other", "GET")) == []
    assert extras.allowed(make_exchange(status=None)) == []


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, "unknown, there is no Date header"),
        (0.0, "within 5 seconds of the suite's"),
        (5.0, "within 5 seconds of the suite's"),
        (-5.0, "within 5 seconds of the suite's"),
        (5.1, "within a minute of the suite's"),
        (-60.0, "within a minute of the suite's"),
        (60.5, "within 5 minutes of the suite's"),
        (300.0, "within 5 minutes of the suite's"),
        (301.0, "about 5 minutes ahead"),
        (-301.0, "about 5 minutes behind"),
        (3599.0, "about 60 minutes ahead"),
        (3600.0, "about 1 hours ahead"),
        (-7300.0, "about 2 hours behind"),
        (86399.0, "about 24 hours ahead"),
        (86400.0, "about 1 days ahead"),
        (-864000.0, "about 10 days behind"),
    ],
)
def test_the_clock_offset_of_a_service(seconds: float | None, words: str) -> None:
    """The words are coarse enough to be the same in the next run."""
    assert extras.clock_offset(seconds) == words
