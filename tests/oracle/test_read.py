"""Readers of responses: they return a value or raise CantTell."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.oracle import read
from conformance.oracle.outcomes import CantTell
from conformance.wire.exchange import Exchange, NoResponse
from tests.fakes.exchanges import make_exchange, no_response, refusal

Word = Callable[[Exchange], object]

OF_SUCCESS: dict[str, Word] = {
    "success": read.success,
    "data": read.data,
    "items": read.items,
    "meta": read.meta,
    "number": lambda made: read.number(made, "total"),
}
BODY = {"data": {"id": "a"}, "meta": {"total": 3}}


def undecided(word: Word, made: Exchange) -> str:
    """Return the reason of CantTell, which must cite the response."""
    with pytest.raises(CantTell) as raised:
        word(made)
    assert raised.value.exchanges == (made,)
    return raised.value.message


@pytest.mark.parametrize("status", [200, 201, 299])
def test_the_data_of_a_success(status: int) -> None:
    """Every 2xx is a success."""
    made = make_exchange(status=status, body=BODY)

    assert read.success(made) is made
    assert read.body(made) == BODY
    assert read.data(made) == {"id": "a"}
    assert read.meta(made) == {"total": 3}
    assert read.number(made, "total") == 3


@pytest.mark.parametrize(
    ("resource", "found"), [({"id": "a"}, "a"), ({"id": {"a": 1}}, None), ({"id": 7}, None), ({}, None)]
)
def test_the_id_of_a_resource(resource: dict[str, object], found: str | None) -> None:
    """Only a text is an id, so that ids are hashable."""
    assert read.id_of(resource) == found


@pytest.mark.parametrize("items", [[], [{"id": "a"}, {}]])
def test_the_items_of_a_list(items: list[object]) -> None:
    """An empty list has none."""
    assert read.items(make_exchange("listEngagements", body={"data": items})) == items


@pytest.mark.parametrize("status", [199, 300, 404, 500])
@pytest.mark.parametrize("word", OF_SUCCESS.values(), ids=OF_SUCCESS)
def test_other_statuses_are_undecided(word: Word, status: int) -> None:
    """Another requirement judges the status."""
    made = make_exchange("listMembers", status, BODY)

    assert undecided(word, made) == f"listMembers returned {status}; this check needs a success"


@pytest.mark.parametrize(
    ("status", "message", "quoted"),
    [
        (422, "name must have at most 24 characters", ' ("name must have at most 24 characters")'),
        (400, None, ""),
        (404, "no engagement 7", ""),
    ],
)
def test_the_reason_quotes_why_a_request_is_invalid(status: int, message: str | None, quoted: str) -> None:
    """Other messages may differ from response to response, so that their reasons could not be grouped."""
    made = make_exchange("createEngagement", status, {"error": {"code": "X", "message": message}})

    assert undecided(read.data, made) == f"createEngagement returned {status}{quoted}; this check needs a success"


def test_the_body_of_an_error_can_be_read() -> None:
    """It is an object too."""
    assert set(read.body(refusal(409))) == {"error"}


@pytest.mark.parametrize("word", [read.body, *OF_SUCCESS.values()], ids=["body", *OF_SUCCESS])
def test_a_missing_response_is_not_read(word: Word) -> None:
    """A gateway's response is not read either."""
    for made in (no_response(), refusal(503), refusal(429)):
        with pytest.raises(NoResponse):
            word(made)


@pytest.mark.parametrize("raw", [b"", b"[]", b"1", b"null", b'"data"', b"{", b"[" * 200])
@pytest.mark.parametrize("word", [read.body, read.data, read.items, read.meta])
def test_a_body_that_is_no_object(word: Word, raw: bytes) -> None:
    """Every other type is undecided, and the message has the status and the length."""
    reason = undecided(word, make_exchange(body=raw))
    assert reason == f"the body is not a JSON object: status 200, {len(raw)} bytes"


@pytest.mark.parametrize("value", [..., None, "a", 7, True, [[]], [None], [{}, "a"]])
def test_members_of_another_type(value: object) -> None:
    """An object is no array, and an array of other types is no list of resources."""
    body = {} if value is ... else {"data": value, "meta": value}
    made = make_exchange("listEngagements", body=body)

    assert undecided(read.data, made) == "the response has no object data"
    assert undecided(read.items, made) == "the response has no array data of objects"
    assert undecided(read.meta, made) == "the response has no object meta"
    assert undecided(lambda exchange: read.number(exchange, "total"), made) == "the response has no object meta"
    assert undecided(read.items, make_exchange(body=BODY)) == "the response has no array data of objects"


@pytest.mark.parametrize(("value", "number"), [(0, 0), (-1, -1), (3, 3), (3.0, 3), (10**20, 10**20)])
def test_integers(value: float, number: int) -> None:
    """A number without a fraction is an integer in any notation."""
    made = make_exchange()

    found = read.integer({"total": value}, "total", made)
    assert found == number
    assert type(found) is int


@pytest.mark.parametrize(
    "holder", [{}, {"n": None}, {"n": "3"}, {"n": 3.5}, {"n": True}, {"n": False}, {"n": float("inf")}]
)
def test_other_values_are_no_integer(holder: dict[str, object]) -> None:
    """A boolean is no integer either."""
    assert undecided(lambda made: read.integer(holder, "n", made), make_exchange()) == "n is not an integer"


@pytest.mark.parametrize("text", ["a", ""])
def test_texts(text: str) -> None:
    """An empty text is a text."""
    assert read.text({"id": text}, "id", make_exchange()) == text


@pytest.mark.parametrize("holder", [{}, {"id": None}, {"id": 7}, {"id": ["a"]}, {"name": "a"}])
def test_other_values_are_no_text(holder: dict[str, object]) -> None:
    """Every other type is undecided."""
    assert undecided(lambda made: read.text(holder, "id", made), make_exchange()) == "id is not a string"


@pytest.mark.parametrize(
    ("holder", "text"),
    [
        ({"description": "d"}, "d"),
        ({"description": ""}, ""),
        ({"description": None}, ""),
        ({}, ""),
        ({"name": "n"}, ""),
    ],
)
def test_no_description_is_an_empty_one(holder: dict[str, object], text: str) -> None:
    """It may be absent, null or empty."""
    assert read.description(holder) == text


@pytest.mark.parametrize("meta", [{}, {"total": None}, {"total": "3"}])
def test_an_invalid_number_cites_the_list(meta: dict[str, object]) -> None:
    """The list is the response at fault."""
    made = make_exchange("listMembers", body={"data": [], "meta": meta})

    assert undecided(lambda exchange: read.number(exchange, "total"), made) == "total is not an integer"


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("id", "a", "a"),
        ("name", "", ""),
        ("name", None, None),
        ("name", 5, None),
        ("description", "d", "d"),
        ("description", None, ""),
        ("description", ..., ""),
        ("description", False, None),
        ("status", "active", "active"),
        ("status", "archived", "archived"),
        ("status", "Active", None),
        ("status", ..., None),
        ("createdAt", "2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00.000Z"),
        ("createdAt", "2026-01-01T00:00:00Z", None),
        ("updatedAt", 1_767_225_600, None),
        ("updatedAt", "2026-01-01T00:00:00Z", None),
    ],
)
def test_a_field_of_an_engagement(name: str, value: object, text: str | None) -> None:
    """It must be a possible value; only a description may be missing."""
    made, holder = make_exchange(), {} if value is ... else {name: value}

    assert read.is_field(name, holder.get(name)) is (text is not None)
    if text is None:
        assert undecided(lambda exchange: read.field(holder, name, exchange), made) == f"{name} has an invalid value"
    else:
        assert read.field(holder, name, made) == text
