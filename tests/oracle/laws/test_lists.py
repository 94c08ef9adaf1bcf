"""Laws of every list response, and the failures of breaches."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from conformance.oracle.laws import lists as list_laws
from conformance.oracle.laws import registry
from conformance.oracle.laws.responses import STATED
from conformance.oracle.laws.shapes import PROMISES
from conformance.oracle.outcomes import NonConformity
from conformance.wire.exchange import Exchange
from tests.fakes.exchanges import make_exchange, page, refusal
from tests.oracle.failures import Described, broken

if TYPE_CHECKING:
    from conformance.oracle.laws.responses import LawFunction

EARLY, MIDDLE, LATE, LATEST = (f"2026-01-02T03:04:0{second}.006Z" for second in (5, 6, 7, 8))
SORTED = list_laws.sorted_by_time("createdAt")


def at(*times: object, field: str = "createdAt", **query: object) -> Exchange:
    """Return a list of engagements with these times, sorted by that field."""
    return page([{"id": "e", field: time} for time in times], query={"sort": field, **query})


def several(count: int) -> list[str]:
    """Return this many items."""
    return [f"e{number}" for number in range(count)]


WRONG = {"data": [{"id": "e"}], "meta": {"total": "x", "page": 7}}
LIST = make_exchange("listEngagements", body=WRONG)
BESIDE = replace(LIST, request=LIST.request.as_probe("GET", "/elsewhere"))
LAWS = {
    identifier: law.judge
    for identifier, law in registry.LAWS.items()
    if {"listEngagements", "listMembers"}.intersection(law.operations)
    and identifier not in {*PROMISES.values(), *STATED.values()}
}


@pytest.mark.parametrize("law", [*LAWS.values(), list_laws.fitting_total_pages], ids=[*LAWS, "fitting-total-pages"])
@pytest.mark.parametrize(
    "exchange",
    [
        refusal(),
        make_exchange("getEngagement", body={"data": {"id": "e"}, "meta": {"total": "x"}}),
        make_exchange("listEngagements", body=[]),
        make_exchange("listEngagements", body={"data": [], "meta": []}),
        make_exchange("listEngagements", body=b"{"),
        make_exchange("listEngagements", 404, WRONG),
        BESIDE,
        page([{"id": "e", "status": "archived"}], query={"status": "active", "unheard-of": "1"}, total=7, page=7),
        page([{"id": "e", "role": "member"}], query={"role": "owner"}, total=7, page=7),
    ],
    ids=[
        "refusal",
        "no list",
        "no object",
        "no meta",
        "no JSON",
        "refusal with a list",
        "beside the interface",
        "unknown parameter",
        "parameter of the other list",
    ],
)
def test_no_law_judges_other_responses(law: LawFunction, exchange: Exchange) -> None:
    """These are errors, other operations, broken envelopes and requests with unknown parameters."""
    assert law(exchange) is False


# --- meta


@pytest.mark.parametrize("name", list_laws.META_FIELDS)
@pytest.mark.parametrize(
    ("value", "actual"),
    [
        ("1", '"1" (string)'),
        (1.5, "1.5 (number)"),
        (True, "true (boolean)"),
        (None, "null (null)"),
        ([1], "[1] (array)"),
        ({}, "{} (object)"),
    ],
)
def test_members_of_meta_are_integers(name: str, value: Any, actual: str) -> None:
    """A text, a fraction, a boolean or null is no integer."""
    exchange = page(["e"], **{name: value})

    assert broken(list_laws.meta_fields, exchange) == (
        f"meta.{name} is not an integer",
        "an integer",
        actual,
        f"/meta/{name}",
    )
    assert list_laws.total_pages(exchange) is False


def test_an_absent_member_of_meta_is_reported_as_absent() -> None:
    """The failure does not show it as null."""
    exchange = make_exchange("listMembers", body={"data": [], "meta": {"total": 0, "page": 1, "totalPages": 0}})

    assert broken(list_laws.meta_fields, exchange) == (
        "meta.perPage is not an integer",
        "an integer",
        "absent",
        "/meta/perPage",
    )


@pytest.mark.parametrize("total", [0, 1, 1.0])
def test_integers_of_every_notation_are_accepted(total: object) -> None:
    """1.0 is the integer 1 in JSON Schema."""
    assert list_laws.meta_fields(page(total=total)) is True


@pytest.mark.parametrize(
    ("total", "size", "pages"),
    [(0, 20, 0), (0, 20, 1), (1, 20, 1), (20, 20, 1), (21, 20, 2), (40, 20, 2), (41, 20, 3), (3, 1, 3)],
)
def test_the_number_of_pages_is_rounded_up(total: int, size: int, pages: int) -> None:
    """An empty list has one page or none."""
    asked = {} if size == 20 else {"perPage": size}

    assert list_laws.total_pages(page(query=asked, total=total, perPage=size, totalPages=pages)) is True


@pytest.mark.parametrize(
    ("total", "pages", "expected"), [(0, 2, "0 or 1"), (0, -1, "0 or 1"), (1, 0, "1"), (21, 1, "2"), (21, 3, "2")]
)
def test_another_number_of_pages_is_wrong(total: int, pages: int, expected: str) -> None:
    """The failure shows the correct number."""
    assert broken(list_laws.total_pages, page(total=total, totalPages=pages)) == (
        f"totalPages does not fit a total of {total} with 20 a page",
        expected,
        str(pages),
        "/meta/totalPages",
    )


@pytest.mark.parametrize(
    "meta", [{"perPage": 0, "totalPages": 9}, {"total": -1, "totalPages": 9}, {"perPage": -20, "totalPages": 9}]
)
def test_impossible_numbers_have_no_number_of_pages(meta: dict[str, Any]) -> None:
    """Other laws judge them."""
    assert list_laws.fitting_total_pages(page(**meta)) is False


@pytest.mark.parametrize(
    ("query", "meta"),
    [
        ({}, {"page": 2}),
        ({}, {"perPage": 10}),
        ({"page": 2}, {"page": 1}),
        ({"page": 0}, {"page": 1}),
        ({"perPage": 101}, {"perPage": 100}),
        ({"perPage": "05"}, {"perPage": 5}),
        ({"perPage": 0}, {"perPage": 20}),
    ],
)
def test_another_page_than_requested_is_not_counted(query: dict[str, object], meta: dict[str, Any]) -> None:
    """Other checks judge a page or size that was not requested, or requested out of bounds."""
    exchange = page(query=query, **{"total": 1, "totalPages": 9, **meta})

    assert list_laws.total_pages(exchange) is False
    assert list_laws.page_length(exchange) is False
    with pytest.raises(NonConformity):
        list_laws.fitting_total_pages(exchange)


@pytest.mark.parametrize(
    ("operation", "others"),
    [("listMembers", {"role": "member"}), ("listEngagements", {"status": "active", "sort": "name", "order": "asc"})],
)
def test_all_parameters_together(operation: str, others: dict[str, object]) -> None:
    """Such a list is judged like others."""
    query = {"page": 2, "perPage": 1} | others
    exchange = page(["e"], operation=operation, query=query, page=2, perPage=1, total=2, totalPages=2)

    assert list_laws.total_pages(exchange) is True


# --- length


@pytest.mark.parametrize(
    ("items", "query", "meta"),
    [
        (2, {"perPage": 2}, {"perPage": 2, "total": 9}),
        (1, {"perPage": 2}, {"perPage": 2, "total": 2}),
        (0, {"perPage": 2, "page": 3}, {"perPage": 2, "page": 3, "total": 5}),
        (1, {"perPage": 2, "page": 2}, {"perPage": 2, "page": 2, "total": 4}),
        (1, {"perPage": 2, "status": "active"}, {"perPage": 2, "total": 9}),
        (20, {}, {"total": 21}),
        (0, {}, {"total": 0}),
        (0, {"status": "active"}, {"total": 1}),
    ],
)
def test_permitted_lengths(items: int, query: dict[str, object], meta: dict[str, Any]) -> None:
    """Only a page before the last must be full, and only without a filter that makes the total uncertain."""
    assert list_laws.page_length(page(several(items), query=query, **meta)) is True


def test_a_page_of_members_of_a_role_may_be_short() -> None:
    """The total of a filtered list is judged separately."""
    query = {"perPage": 2, "role": "member"}

    assert list_laws.page_length(page(["m"], operation="listMembers", query=query, perPage=2, total=9)) is True


@pytest.mark.parametrize(
    ("items", "number", "total", "status", "expected"),
    [
        (3, 1, 3, None, "2 items"),
        (3, 2, 3, None, "at most 2 items"),
        (1, 1, 3, None, "2 items"),
        (0, 2, 5, None, "2 items"),
        (0, 1, 5, None, "2 items"),
        (3, 1, 9, "active", "at most 2 items"),
    ],
)
def test_wrong_lengths(items: int, number: int, total: int, status: str | None, expected: str) -> None:
    """More than the size is wrong, and so is less before the last page."""
    query = {"perPage": 2, "page": number} | ({"status": status} if status else {})
    exchange = page(several(items), query=query, perPage=2, page=number, total=total)

    assert broken(list_laws.page_length, exchange) == (
        f"page {number} of {total} items with 2 per page contains {items}",
        expected,
        f"{items} items",
        "/data",
    )


def test_an_empty_first_page() -> None:
    """The first page of a list with items is not empty; of a filtered list, the total is judged separately."""
    empty = page([], query={"perPage": 2}, perPage=2, total=1)

    assert broken(list_laws.first_page_filled, empty) == (
        "the first page of 1 items is empty", "1 to 2 items", "0 items", "/data"
    )  # fmt: skip
    assert list_laws.first_page_filled(page(["one"], query={"perPage": 2}, perPage=2, total=1))
    for query, total in (({"perPage": 2}, 0), ({"perPage": 2, "status": "active"}, 1)):
        assert not list_laws.first_page_filled(page([], query=query, perPage=2, total=total))
    assert not list_laws.first_page_filled(page([], query={"perPage": 2, "page": 2}, perPage=2, page=2, total=1))


def test_items_that_are_no_objects_are_not_counted() -> None:
    """Another law judges their type."""
    assert list_laws.page_length(page([7] * 21)) is False


# --- requested parameters


def test_defaults_are_those_of_the_interface() -> None:
    """Page 1 and 20 a page are the defaults, each if it was not requested."""
    assert list_laws.defaults(page()) is True
    assert list_laws.defaults(page(query={"page": 3}, page=3)) is True
    assert list_laws.defaults(page(query={"perPage": 3}, perPage=3)) is True
    assert list_laws.defaults(page(query={"page": 3, "perPage": 3}, page=1, perPage=1)) is False


@pytest.mark.parametrize(
    ("meta", "fault"),
    [
        ({"page": 0}, ("meta.page is 0", "1", "0", "/meta/page")),
        ({"perPage": 25}, ("meta.perPage is 25", "20", "25", "/meta/perPage")),
    ],
)
def test_other_defaults_are_wrong(meta: dict[str, Any], fault: Described) -> None:
    """The failure shows the actual default."""
    assert broken(list_laws.defaults, page(**meta)) == fault


def test_meta_repeats_the_requested_page() -> None:
    """It repeats the requested size too."""
    query = {"page": 2, "perPage": 5}

    assert list_laws.paging_honoured(page(query=query, page=2, perPage=5, total=6)) is True
    assert broken(list_laws.paging_honoured, page(query=query, page=1, perPage=5, total=6)) == (
        "meta.page is 1",
        "2",
        "1",
        "/meta/page",
    )
    assert broken(list_laws.paging_honoured, page(query=query, page=2, perPage=3, total=6)) == (
        "meta.perPage is 3",
        "5",
        "3",
        "/meta/perPage",
    )


@pytest.mark.parametrize(
    ("query", "total"),
    [
        ({}, 9),
        ({"page": 3}, 40),
        ({"page": 2}, 0),
        ({"page": 0}, 9),
        ({"page": "x"}, 9),
        ({"page": "1000000"}, 10**9),
        ({"perPage": 101}, 900),
        ({"status": "active"}, 9),
    ],
)
def test_pages_beyond_the_last_and_sizes_out_of_bounds_are_open(query: dict[str, object], total: int) -> None:
    """The interface does not define meta for them."""
    assert list_laws.paging_honoured(page(query=query, page=7, perPage=20, total=total)) is False


def test_an_empty_list_has_a_first_page() -> None:
    """A request may ask for page 1 of an empty list."""
    assert list_laws.paging_honoured(page(query={"page": 1})) is True


def test_the_last_page_of_single_items_exists() -> None:
    """A request may ask for it."""
    assert list_laws.paging_honoured(page(query={"page": 3, "perPage": 1}, page=3, perPage=1, total=3)) is True


def test_a_size_of_zero_is_wrong() -> None:
    """It is not the requested size."""
    assert broken(list_laws.paging_honoured, page(["e"], query={"perPage": 1}, perPage=0))[0] == "meta.perPage is 0"


def test_a_repeated_parameter_is_open() -> None:
    """The interface does not say which value counts."""
    twice = make_exchange(
        "listEngagements",
        body={"data": [{"status": "archived"}], "meta": {"total": 1, "page": 9, "perPage": 20, "totalPages": 1}},
        query=(("page", "1"), ("page", "2"), ("status", "active"), ("status", "archived")),
    )

    assert list_laws.valid_paging(twice) == {}
    assert list_laws.paging_honoured(twice) is False
    assert list_laws.status_filter(twice) is False


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ({"page": 1, "perPage": 100}, {"page": 1, "perPage": 100}),
        ({"page": 999999}, {"page": 999999}),
        ({"page": 1, "perPage": 101}, {}),
        ({"page": 1, "perPage": "many"}, {}),
        ({"page": "01"}, {}),
        ({"page": "+1"}, {}),
        ({"page": "1.0"}, {}),
        ({"page": "1\n"}, {}),
        ({"page": ""}, {}),
        ({"sort": "name"}, {}),
    ],
)
def test_valid_paging_is_plainly_written(query: dict[str, object], asked: dict[str, int]) -> None:
    """Numbers with two readings are not valid paging."""
    assert list_laws.valid_paging(page(query=query)) == asked


# --- items


def test_no_page_has_an_item_twice() -> None:
    """The failure shows the first id that is repeated; items without an id are not compared."""
    assert list_laws.without_repeats(page(["e1", "e2", {}, {}])) is True
    assert list_laws.without_repeats(page(["e1"])) is False
    assert broken(list_laws.without_repeats, page(["e1", "e2", "e2", "e1"])) == (
        "a page has an item twice",
        "every item once",
        '"e2"',
        "/data",
    )


# --- filters


def test_a_filtered_list_holds_no_other_value() -> None:
    """The failure points at the first other value."""
    items = [{"status": "active"}, {"status": "archived"}]

    assert list_laws.status_filter(page(items[:1], query={"status": "active"})) is True
    assert list_laws.status_filter(page(items[1:], query={"status": "archived"})) is True
    assert broken(list_laws.status_filter, page(items, query={"status": "active"})) == (
        "a list filtered by status active contains another status",
        '"active"',
        '"archived"',
        "/data/1/status",
    )


@pytest.mark.parametrize("role", ["owner", "admin", "member"])
def test_a_list_of_a_role_holds_no_other(role: str) -> None:
    """This holds for every role."""
    listed = partial(page, operation="listMembers", query={"role": role})

    assert list_laws.role_filter(listed([{"role": role}])) is True
    assert broken(list_laws.role_filter, listed([{"role": "guest"}]))[2] == '"guest"'


@pytest.mark.parametrize("query", [{}, {"status": "deleted"}, {"status": ""}])
def test_unfiltered_lists_are_not_judged(query: dict[str, object]) -> None:
    """Invalid filters are not judged either."""
    assert list_laws.status_filter(page([{"status": "archived"}], query=query)) is False


def test_an_empty_filtered_list_is_no_evidence() -> None:
    """It does not prove that the filter works."""
    assert list_laws.status_filter(page(query={"status": "active"})) is False


def test_a_status_that_is_no_text_is_not_judged() -> None:
    """The law of fields judges it."""
    assert list_laws.status_filter(page([{"status": 7}, {}], query={"status": "active"})) is True


# --- order


@pytest.mark.parametrize(("order", "times"), [("asc", (EARLY, EARLY, LATE)), ("desc", (LATE, EARLY, EARLY))])
def test_equal_times_are_in_any_order(order: str, times: tuple[str, ...]) -> None:
    """The interface does not order them."""
    assert SORTED(at(*times, order=order)) is True


@pytest.mark.parametrize(
    ("order", "direction", "times"),
    [("asc", "ascending", (EARLY, LATE, MIDDLE)), ("desc", "descending", (LATE, EARLY, MIDDLE))],
)
def test_the_first_item_out_of_order_is_reported(order: str, direction: str, times: tuple[str, ...]) -> None:
    """The failure points at it."""
    assert broken(SORTED, at(*times, order=order)) == (
        "the list is not sorted by createdAt",
        f"createdAt {direction}",
        "item 2 is out of order",
        "/data/2/createdAt",
    )


def test_unreadable_times_are_skipped() -> None:
    """The order of the other times is judged."""
    assert SORTED(at(EARLY, "yesterday", 7, LATE, order="asc")) is True
    assert broken(SORTED, at(LATE, "yesterday", EARLY, order="asc"))[3] == "/data/2/createdAt"


@pytest.mark.parametrize(
    "exchange",
    [
        at(LATE, EARLY, order="sideways"),
        at(EARLY, LATE),
        at(EARLY, LATE, field="updatedAt", order="desc"),
        at(LATE, order="asc"),
        at(order="asc"),
        at(LATE, EARLY, field="name", order="asc"),
    ],
    ids=["no order", "none asked for", "another field", "one item", "none", "no time"],
)
def test_lists_of_another_order_are_not_judged(exchange: Exchange) -> None:
    """A list without comparable items is not judged either."""
    assert SORTED(exchange) is False


def test_a_repeated_sort_parameter_is_open() -> None:
    """The interface does not say which value counts."""
    listed = at(LATE, EARLY, order="asc")
    twice = replace(listed, request=replace(listed.request, query=(("sort", "name"), *listed.request.query)))

    assert SORTED(twice) is False


@pytest.mark.parametrize("field", ["createdAt", "updatedAt"])
def test_a_list_that_ascends_by_default_is_wrong(field: str) -> None:
    """The default is descending."""
    assert broken(list_laws.descending_by_default, at(EARLY, EARLY, MIDDLE, LATE, LATEST, field=field)) == (
        "a list sorted without an order is ascending",
        "a descending list",
        "an ascending list",
        None,
    )
    assert list_laws.descending_by_default(at(LATE, EARLY, EARLY, field=field)) is True


@pytest.mark.parametrize(
    "exchange",
    [
        at(EARLY, LATE, order="asc"),
        at(EARLY, EARLY),
        at(EARLY),
        at(EARLY, LATE, MIDDLE),
        at(EARLY, MIDDLE, LATE),
        page([{"createdAt": EARLY}, {"createdAt": LATE}]),
        at(EARLY, LATE, field="name"),
    ],
    ids=["asked for", "all the same", "one", "in no order", "few", "not sorted", "by name"],
)
def test_other_lists_are_no_breach_of_the_default(exchange: Exchange) -> None:
    """Another requirement judges a list without any order."""
    assert list_laws.descending_by_default(exchange) is False


# --- the total of a filtered list


def test_a_list_counts_no_less_than_it_shows() -> None:
    """Items on a page and before it are part of the list in any order; each counts once."""
    by_name = {"sort": "name", "page": 2, "perPage": 2}
    assert list_laws.covering_total(page(several(2), query=by_name, page=2, perPage=2, total=4)) is True
    assert list_laws.covering_total(page(["e", "e"], query={}, total=1)) is True
    assert broken(list_laws.covering_total, page(several(2), query=by_name, page=2, perPage=2, total=3)) == (
        "page 2 of a list with the total 3 ends with item 4",
        "4 or more",
        "3",
        "/meta/total",
    )


@pytest.mark.parametrize(
    ("items", "query", "meta"),
    [
        (0, {}, {"total": 0}),
        (2, {"status": "active"}, {"total": 1}),
        (2, {"page": 2}, {"page": 1, "total": 1}),
        (3, {"perPage": 2}, {"perPage": 2, "total": 2}),
    ],
    ids=["nothing", "a filter", "another page", "more than a page holds"],
)
def test_lists_without_a_least_total(items: int, query: dict[str, object], meta: dict[str, Any]) -> None:
    """Other laws judge them, or they show no item."""
    assert list_laws.covering_total(page(several(items), query=query, **meta)) is False


def test_members_of_a_role_have_no_least_total() -> None:
    """Their total is judged separately."""
    listed = page(several(2), operation="listMembers", query={"role": "member"}, total=1)
    assert list_laws.covering_total(listed) is False


def test_a_filtered_list_of_other_types_is_not_counted() -> None:
    """Another law judges the type of its items."""
    assert list_laws.filtered_total(page([7], query={"status": "active"}, total=9)) is False


def test_a_short_filtered_list_counts_its_items() -> None:
    """A first page that is not full holds all items."""
    assert list_laws.filtered_total(page([], query={"status": "archived"})) is True
    assert list_laws.filtered_total(page(["e"], operation="listMembers", query={"role": "admin"})) is True
    assert broken(list_laws.filtered_total, page([], query={"status": "archived"}, total=9)) == (
        "a filtered list of 0 items has the total 9",
        "0",
        "9",
        "/meta/total",
    )


@pytest.mark.parametrize(
    ("items", "query", "meta"),
    [
        (1, {}, {"total": 9}),
        (1, {"perPage": 10}, {"perPage": 10, "total": 9}),
        (1, {"status": ""}, {"total": 9}),
        (2, {"status": "active", "perPage": 2}, {"perPage": 2, "total": 9}),
        (1, {"status": "active", "page": 2}, {"page": 2, "total": 9}),
        (1, {"status": "active"}, {"perPage": 10, "total": 9}),
    ],
    ids=["no filter", "only a size", "an empty one", "a full page", "a later page", "another size"],
)
def test_the_total_of_other_lists_is_open(items: int, query: dict[str, object], meta: dict[str, Any]) -> None:
    """There may be more items, or the list is not the requested one."""
    assert list_laws.filtered_total(page(several(items), query=query, **meta)) is False


@pytest.mark.parametrize("query", [{}, {"role": "owner"}])
def test_a_page_behind_the_last_item_is_empty(query: dict[str, object]) -> None:
    """The law is about pages by their own totals, with a filter, too; a page that another one stands for is open."""
    asked = {**query, "page": 2, "perPage": 1}
    for items, meta, right in (
        (0, {"total": 1}, True), (1, {"total": 2}, False), (1, {"total": 1, "page": 1}, False),
    ):  # fmt: skip
        served = page(several(items), operation="listMembers", query=asked, **{"page": 2, "perPage": 1, **meta})
        assert list_laws.empty_past_the_end(served) is right
    wrong = page(several(1), operation="listMembers", query=asked, page=2, perPage=1, total=1)
    assert broken(list_laws.empty_past_the_end, wrong) == (
        "page 2 of a list with the total 1 contains items", "200 with an empty data, or a 4xx", "1 items", "/data"
    )  # fmt: skip
