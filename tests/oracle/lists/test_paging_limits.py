"""Pages and sizes out of bounds: refused, or served as a page that agrees with its meta."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from conformance.oracle.lists import paging_limits
from conformance.oracle.lists.listing import CantTellYet
from conformance.oracle.outcomes import CantTell, Evidence, NonConformity
from conformance.wire.exchange import Exchange, NoResponse
from tests.fakes.exchanges import make_exchange, no_response, page, refusal
from tests.oracle.failures import described

Judge = Callable[[Exchange], None]
PLAIN = page(["a"], number=9)
REFUSED_PLAIN = refusal(403, number=9)


def past_the_end(response: Exchange) -> None:
    """Judge a page past the end of a list that the key may list."""
    paging_limits.expect_refused_or_empty(response, PLAIN)


JUDGES: dict[str, Judge] = {"out-of-bounds": paging_limits.expect_refused_or_truthful, "past-the-end": past_the_end}
WORDS = {"out-of-bounds": "a list that agrees with its meta", "past-the-end": "200 with an empty data"}


def holding(count: int, **meta: Any) -> Exchange:
    """Return a page of this many items, requested with a size out of bounds."""
    return page([f"e{number}" for number in range(count)], query={"perPage": 1000, "page": 0}, **meta)


# --- refusals


@pytest.mark.parametrize("status", [400, 402, 404, 410, 413, 422, 499])
@pytest.mark.parametrize("judge", JUDGES.values(), ids=JUDGES)
def test_any_refusal_is_permitted(judge: Judge, status: int) -> None:
    """Its status is open; it is evidence."""
    response = refusal(status)

    with Evidence() as evidence:
        judge(response)
    assert evidence.exchanges == [response]


@pytest.mark.parametrize("status", [199, 302, 399, 401])
@pytest.mark.parametrize("kind", JUDGES)
def test_neither_a_list_nor_a_refusal(kind: str, status: int) -> None:
    """Other statuses are wrong."""
    response = refusal(status, "listMembers")

    with pytest.raises(NonConformity) as raised:
        JUDGES[kind](response)
    message, expected = f"listMembers returned {status}", f"{WORDS[kind]}, or a 4xx other than 401, 403 or 429"
    assert described(raised.value) == (message, expected, str(status), None)
    assert raised.value.exchanges == (response,)


@pytest.mark.parametrize("judge", JUDGES.values(), ids=JUDGES)
@pytest.mark.parametrize("status", [500, 501])
def test_a_server_error_is_judged_elsewhere(judge: Judge, status: int) -> None:
    """It breaks the requirement of server errors alone."""
    with pytest.raises(CantTell, match=f"^listMembers returned {status}$"):
        judge(refusal(status, "listMembers"))


@pytest.mark.parametrize("judge", JUDGES.values(), ids=JUDGES)
def test_the_rate_limit_is_no_refusal(judge: Judge) -> None:
    """An expected 429 is wrong; a 429 after the last retry counts as no response."""
    response = refusal(429)

    with pytest.raises(NonConformity, match="returned 429"):
        judge(replace(response, request=replace(response.request, expects_429=True)))
    for lost in (response, refusal(503), no_response()):
        with pytest.raises(NoResponse):
            judge(lost)


@pytest.mark.parametrize("plain", [REFUSED_PLAIN, no_response(), refusal(502)], ids=["403", "lost", "502"])
def test_a_403_without_permission_is_undecided(plain: Exchange) -> None:
    """It proves nothing about pages, unless the key is known to list."""
    response = refusal(403)

    for judge in (
        paging_limits.expect_refused_or_truthful,
        lambda given: paging_limits.expect_refused_or_empty(given, plain),
    ):
        with pytest.raises(CantTell, match=r"^the key is not permitted to list$") as raised:
            judge(response)
        assert raised.value.exchanges == (response,)


def test_a_403_with_permission_is_wrong() -> None:
    """A page past the end needs no other permission."""
    with pytest.raises(NonConformity, match="listEngagements returned 403"):
        past_the_end(refusal(403))


# --- pages that agree with their meta


@pytest.mark.parametrize(
    ("count", "meta"),
    [
        (0, {"total": 0, "page": 1, "perPage": 20}),
        (20, {"total": 55, "page": 1, "perPage": 20}),
        (20, {"total": 40, "page": 2, "perPage": 20}),
        (15, {"total": 55, "page": 3, "perPage": 20}),
        (0, {"total": 55, "page": 4, "perPage": 20}),
        (100, {"total": 250, "page": 1, "perPage": 100}),
        (1, {"total": 2, "page": 2, "perPage": 1}),
        (3, {"total": 3, "page": 1.0, "perPage": 20.0}),
    ],
)
def test_a_page_that_agrees_with_its_meta(count: int, meta: dict[str, object]) -> None:
    """The service may choose any page and size."""
    response = holding(count, **meta)

    with Evidence() as evidence:
        paging_limits.expect_refused_or_truthful(response)
    assert set(evidence.exchanges) == {response}


@pytest.mark.parametrize("size", [-1, 0, 101, 1000])
def test_a_page_of_an_impossible_size(size: int) -> None:
    """A page has from 1 to 100 items, whatever was requested."""
    response = holding(0, total=0, perPage=size)

    with pytest.raises(NonConformity) as raised:
        paging_limits.expect_refused_or_truthful(response)
    message = f"a list requested with perPage=1000, page=0 has the perPage {size}"
    assert described(raised.value) == (message, "a perPage from 1 to 100", str(size), "/meta/perPage")
    assert raised.value.exchanges == (response,)


@pytest.mark.parametrize("number", [0, -1])
def test_a_page_before_the_first(number: int) -> None:
    """There is none, even if it was requested."""
    response = holding(0, total=0, page=number)

    with pytest.raises(NonConformity) as raised:
        paging_limits.expect_refused_or_truthful(response)
    message = f"a list requested with perPage=1000, page=0 has the page {number}"
    assert described(raised.value) == (message, "page 1 or later", str(number), "/meta/page")
    assert raised.value.exchanges == (response,)


@pytest.mark.parametrize(
    ("count", "number", "total", "expected"),
    [
        (19, 1, 55, "20 items"),
        (21, 1, 55, "20 items"),
        (0, 2, 41, "20 items"),
        (19, 2, 40, "20 items"),
        (21, 3, 55, "at most 20 items"),
        (21, 1, 5, "at most 20 items"),
    ],
)
def test_a_page_that_is_longer_or_shorter_than_it_says(count: int, number: int, total: int, expected: str) -> None:
    """A page within the total is full, and none exceeds its size."""
    response = holding(count, total=total, page=number, perPage=20)

    with pytest.raises(NonConformity) as raised:
        paging_limits.expect_refused_or_truthful(response)
    message = f"page {number} with 20 per page contains {count}"
    assert described(raised.value) == (message, expected, f"{count} items", "/data")
    assert raised.value.exchanges == (response,)


@pytest.mark.parametrize("name", ["page", "perPage", "total"])
@pytest.mark.parametrize("value", [None, "1", 1.5, True])
def test_an_unreadable_meta_is_undecided(name: str, value: object) -> None:
    """The page cannot be compared with it."""
    with pytest.raises(CantTell, match=f"{name} is not an integer"):
        paging_limits.expect_refused_or_truthful(holding(1, **{name: value}))


# --- totalPages


@pytest.mark.parametrize("pages", [0, 2, 4])
def test_total_pages_of_a_page_out_of_bounds(pages: int) -> None:
    """It must fit the size in the response."""
    paging_limits.expect_total_pages(holding(20, total=55, totalPages=3), PLAIN)

    response = holding(20, total=55, totalPages=pages)
    with pytest.raises(NonConformity) as raised:
        paging_limits.expect_total_pages(response, PLAIN)
    message = "totalPages does not fit a total of 55 with 20 a page"
    assert described(raised.value) == (message, "3", str(pages), "/meta/totalPages")
    assert raised.value.exchanges == (response,)


def test_total_pages_that_are_always_wrong() -> None:
    """If a plain list has a wrong totalPages too, the parameters are not the cause."""
    plain = page(["a"], totalPages=7, number=9)

    for response in (holding(20, total=55, totalPages=9), holding(20, total=55, totalPages=3)):
        with pytest.raises(CantTellYet) as raised:
            paging_limits.expect_total_pages(response, plain)
        reason = "totalPages is wrong without parameters too"
        assert raised.value.message == f"{reason}: totalPages does not fit a total of 1 with 20 a page"
        assert raised.value.exchanges == (plain,)


def test_total_pages_of_a_refusal() -> None:
    """It is not judged, and a refused plain list excuses nothing."""
    paging_limits.expect_total_pages(refusal(400), page(["a"], totalPages=7))

    with pytest.raises(NonConformity):
        paging_limits.expect_total_pages(holding(1, totalPages=9), REFUSED_PLAIN)
    with pytest.raises(NoResponse):
        paging_limits.expect_total_pages(no_response(), PLAIN)
    with pytest.raises(NoResponse):
        paging_limits.expect_total_pages(holding(1, totalPages=9), no_response())


# --- past the end


@pytest.mark.parametrize("meta", [{}, {"total": 55, "page": 9}, {"page": None}])
def test_an_empty_page_past_the_end(meta: dict[str, object]) -> None:
    """Neither its meta nor the plain list matters here."""
    response = holding(0, **meta)

    with Evidence() as evidence:
        paging_limits.expect_refused_or_empty(response, PLAIN)
        paging_limits.expect_refused_or_empty(response, REFUSED_PLAIN)
    assert set(evidence.exchanges) == {response}


@pytest.mark.parametrize("items", [["a"], ["a", "b", "c"], [None]])
def test_items_past_the_end(items: list[object]) -> None:
    """Such a page must be empty."""
    response = page(items)

    with pytest.raises(NonConformity) as raised:
        past_the_end(response)
    expected = "200 with an empty data, or a 4xx"
    assert described(raised.value) == ("a page past the end contains items", expected, f"{len(items)} items", "/data")
    assert raised.value.exchanges == (response,)


@pytest.mark.parametrize(("body", "kind"), [({}, "null"), ({"data": None}, "null"), ({"data": {}}, "object")])
def test_data_that_is_no_array_past_the_end(body: object, kind: str) -> None:
    """Another requirement judges its type."""
    response = make_exchange("listEngagements", body=body)

    with pytest.raises(CantTell, match=f"^data is {kind}$") as raised:
        past_the_end(response)
    assert raised.value.exchanges == (response,)


@pytest.mark.parametrize("judge", JUDGES.values(), ids=JUDGES)
def test_a_body_that_is_no_object_is_undecided(judge: Judge) -> None:
    """Such a page cannot be judged."""
    with pytest.raises(CantTell, match="the body is not a JSON object"):
        judge(make_exchange("listEngagements", body=[]))


def test_a_page_past_the_end_has_the_first_page_total() -> None:
    """Both pages must be served."""
    response = holding(0, total=2, page=9)

    paging_limits.expect_total_of(holding(0, total=1, page=9), PLAIN)
    paging_limits.expect_total_of(response, REFUSED_PLAIN)
    paging_limits.expect_total_of(refusal(404), PLAIN)
    with pytest.raises(NonConformity) as raised:
        paging_limits.expect_total_of(response, PLAIN)
    assert described(raised.value) == ("the total of a page past the end is not 1", "1", "2", "/meta/total")
    assert raised.value.exchanges == (PLAIN, response)
