"""Pages of a list beside the whole list, and beside a part of it."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from conformance.oracle.lists.listing import CantTellYet
from conformance.oracle.lists.slices import Aspect, Deviation, Known, expect_slice
from conformance.wire.exchange import Exchange
from tests.fakes.exchanges import make_exchange
from tests.oracle.failures import Described, described

Items = list[dict[str, Any]]

STOCK: Items = [
    {
        "id": f"e{place}",
        "name": f"own {'abcdefg'[place]}",
        "status": "archived" if place in {1, 4, 5} else "active",
        "createdAt": f"2026-01-01T00:00:0{place // 2}.000Z",
        "updatedAt": f"2026-01-01T00:01:0{place * 3 % 7}.000Z",
    }
    for place in range(7)
]
"""Engagements in the order of their names; pairs of them were created at one time."""

KNOWN = Known(1, True, frozenset(item["name"] for item in STOCK), lambda name: str(name).startswith("own"))


def ordered(sort: str | None, *, descending: bool = True, status: str | None = None) -> Items:
    """Return the matching engagements in an order."""
    items = [item for item in STOCK if status in {None, item["status"]}]
    return sorted(items, key=lambda item: item[sort or "name"], reverse=descending)


def listed(items: Items, total: int, **asked: Any) -> Exchange:
    """Return a response of the list."""
    query = tuple((name, str(value)) for name, value in asked.items())
    return make_exchange("listEngagements", body={"data": items, "meta": {"total": total}}, query=query)


def page(number: int, size: int, items: Items, *, total: int | None = None, **asked: Any) -> Exchange:
    """Return a page of these items."""
    shown = items[(number - 1) * size : number * size]
    return listed(shown, len(items) if total is None else total, **asked, page=number, perPage=size)


WHOLE = listed(ordered("name"), 7, sort="name", perPage=100)


@pytest.mark.parametrize("size", [1, 2, 3, 6, 7, 100])
def test_pages_of_an_honest_list(size: int) -> None:
    """No page of any filter, sort, order and size deviates, also beside a list that ascends."""
    ascending = listed(ordered("name", descending=False), 7, sort="name", perPage=100)
    for status, sort, order in product(
        (None, "active", "archived"), ("createdAt", "updatedAt", "name"), ("asc", "desc")
    ):
        items = ordered(sort, descending=order == "desc", status=status)
        asked: dict[str, Any] = {"sort": sort, "order": order} | ({"status": status} if status else {})
        for number in range(1, -(-len(items) // size) + 1):
            pages = [page(each, size, items, **asked) for each in (number, number + 1)]
            for whole in (WHOLE, ascending):
                expect_slice((whole, pages[0]), KNOWN)
                expect_slice((whole, *pages), KNOWN)


def test_a_response_of_a_longer_list_does_not_show_the_whole_of_it() -> None:
    """If others made a list longer than a response can be, its total says nothing about a page."""
    first = [{"id": f"e{place}", "name": f"own {place}", "status": "active"} for place in range(100)]
    whole = listed(first, 101, sort="name", perPage=100)

    with pytest.raises(CantTellYet):
        expect_slice((whole, listed(first[:1], 101, perPage=1, page=1)), KNOWN)


def test_an_order_shows_between_different_keys() -> None:
    """Items of one key show no order, and neither does a list without a sort."""
    items = ordered("createdAt")

    assert expect_slice((WHOLE, page(1, 7, items, sort="createdAt", order="desc")), KNOWN)
    assert not expect_slice((WHOLE, page(1, 1, items, sort="createdAt", order="desc")), KNOWN)
    assert not expect_slice((WHOLE, page(1, 7, items)), KNOWN)


def test_equal_keys_may_be_in_any_order() -> None:
    """Either of two engagements of one time may come first, but both must come."""
    items = ordered("createdAt", descending=False)
    asked: dict[str, Any] = {"sort": "createdAt", "order": "asc"}
    items[0], items[1] = items[1], items[0]

    expect_slice((WHOLE, page(1, 1, items, **asked)), KNOWN)
    expect_slice((WHOLE, page(1, 1, items, **asked), page(2, 1, items, **asked)), KNOWN)
    with pytest.raises(Deviation, match="twice"):
        expect_slice((WHOLE, page(1, 1, items, **asked), page(2, 1, [items[0]] * 7, **asked)), KNOWN)


def test_a_list_without_an_order_may_have_either_direction() -> None:
    """Another requirement judges whether it descends."""
    for descending in (True, False):
        expect_slice((WHOLE, page(2, 3, ordered("name", descending=descending), sort="name")), KNOWN)


BY_NAME: dict[str, Any] = {"sort": "name", "order": "desc"}
BY_TIME: dict[str, Any] = {"sort": "updatedAt", "order": "asc"}


@pytest.mark.parametrize(
    ("judged", "aspect"),
    [
        (page(1, 3, ordered("name"), total=8, **BY_NAME), Aspect.TOTAL),
        (page(1, 3, ordered("name", status="active"), total=7, status="active", **BY_NAME), Aspect.TOTAL),
        (listed(ordered("name")[:2], 7, page=1, perPage=3, **BY_NAME), Aspect.LENGTH),
        (listed([], 7, page=1, perPage=7), Aspect.LENGTH),
        (listed(ordered("name")[:4], 7, page=1, perPage=3, **BY_NAME), Aspect.LENGTH),
        (page(1, 3, ordered("updatedAt"), **BY_TIME), Aspect.ORDER),
        (page(1, 7, ordered("name", descending=False), **BY_NAME), Aspect.ORDER),
        (page(1, 3, ordered("updatedAt", descending=False)[1:] + STOCK[:1], **BY_TIME), Aspect.CONTENTS),
        (page(2, 3, [STOCK[6], *ordered("name")], total=7, **BY_NAME), Aspect.CONTENTS),
        (page(7, 1, ordered("name", descending=False), **BY_NAME), Aspect.CONTENTS),
        (page(1, 2, [STOCK[0], STOCK[0], *STOCK[2:]]), Aspect.CONTENTS),
        (page(1, 3, STOCK[:3], status="archived"), Aspect.CONTENTS),
    ],
)
def test_pages_that_deviate(judged: Exchange, aspect: Aspect) -> None:
    """The first property that differs is named."""
    with pytest.raises(Deviation) as raised:
        expect_slice((WHOLE, judged), KNOWN)
    assert raised.value.aspect is aspect
    assert judged in raised.value.exchanges


@pytest.mark.parametrize(
    ("judged", "words"),
    [
        (page(1, 3, STOCK, total=8), ("the total is not the number of matching items", "7", "8", "/meta/total")),
        (
            page(1, 3, STOCK[:3], status="archived"),
            (
                "a page contains an item that the whole list does not contain",
                "only matching items", '"e0"', "/data/0",
            ),
        ),
        (
            page(7, 1, STOCK, **BY_NAME),
            (
                "a page does not contain the items that belong on it",
                '"own a" or one of the same place in the order', '"own g"', "/data/0",
            ),
        ),
    ],
)  # fmt: skip
def test_the_texts_of_a_deviation(judged: Exchange, words: Described) -> None:
    """They show what belongs there, and what is there."""
    with pytest.raises(Deviation) as raised:
        expect_slice((WHOLE, judged), KNOWN)
    assert described(raised.value) == words


def test_the_orders_that_explain_a_page() -> None:
    """A page that is right in another order names it, and cites the list that shows the right one."""
    judged = page(2, 2, ordered("updatedAt"), **BY_NAME)

    with pytest.raises(Deviation) as raised:
        expect_slice((WHOLE, judged), KNOWN)
    assert raised.value.orders == {("updatedAt", "down"), ("updatedAt", "as requested")}


def test_own_names_have_a_place_whatever_their_collation() -> None:
    """An own name that differs from all others by letters belongs into the place that the whole list gives it."""
    items = [{"id": str(place), "name": name, "status": "active"} for place, name in enumerate(["own a", "own b"])]
    whole, known = listed(items[::-1], 2, sort="name", perPage=100), Known(1, True, frozenset(), KNOWN.is_own)

    expect_slice((whole, page(1, 1, items, sort="name", order="asc")), known)
    with pytest.raises(Deviation) as raised:
        expect_slice((whole, page(1, 1, items[::-1], sort="name", order="asc")), known)
    assert raised.value.aspect is Aspect.CONTENTS
    assert whole in raised.value.exchanges


def test_names_that_a_collation_may_take_for_others_have_no_place() -> None:
    """Names of other users and names that differ by case and blanks alone may be anywhere."""
    names = ["own a", "ownB", "own b", "theirs"]
    items = [{"id": str(place), "name": name, "status": "active"} for place, name in enumerate(names)]
    whole = listed(items[::-1], 4, sort="name", perPage=100)
    known = Known(1, True, frozenset({"own a"}), KNOWN.is_own)
    asked: dict[str, Any] = {"sort": "name", "order": "asc"}

    expect_slice((whole, page(1, 2, [items[place] for place in (0, 2, 1, 3)], **asked)), known)
    expect_slice((whole, page(2, 2, [items[place] for place in (0, 2, 3, 1)], **asked)), known)
    with pytest.raises(Deviation):
        expect_slice((whole, page(1, 1, items[1:] + items[:1], **asked)), known)


def test_a_part_of_a_long_list() -> None:
    """Only items whose places are known are judged."""
    items = ordered("updatedAt")
    head = listed(items[2:5], 7, sort="updatedAt", order="desc", page=2, perPage=100)
    known = Known(1, False, KNOWN.names, KNOWN.is_own, skipped=2)
    upwards: dict[str, Any] = {"sort": "updatedAt", "order": "asc"}

    for number in (1, 2, 3, 4):
        expect_slice((head, page(number, 2, items, sort="updatedAt", order="desc")), known)
        expect_slice((head, page(number, 2, items[::-1], **upwards)), known)
    with pytest.raises(Deviation) as raised:
        expect_slice((head, page(2, 2, [*items[::-1][1:], items[0]], **upwards)), known)
    assert raised.value.aspect is Aspect.CONTENTS
    with pytest.raises(CantTellYet, match="different totals"):
        expect_slice((head, page(2, 2, items, total=8, sort="updatedAt", order="desc")), known)


def test_a_list_without_times_is_undecided() -> None:
    """Another requirement judges the format of times."""
    whole = listed([{**STOCK[0], "updatedAt": "never"}], 1, sort="name", perPage=100)

    with pytest.raises(CantTellYet, match="does not show every time"):
        expect_slice((whole, page(1, 1, STOCK[:1], **BY_TIME)), KNOWN)
