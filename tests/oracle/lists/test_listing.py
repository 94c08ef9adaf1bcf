"""Lists of one or several responses, judged as pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from conformance.oracle.lists import listing
from conformance.oracle.lists.listing import CantTellYet, Listing
from conformance.oracle.outcomes import CantTell, Evidence, NonConformity
from conformance.wire.exchange import NoResponse
from tests.fakes.exchanges import make_exchange, no_response, page, refusal
from tests.oracle.failures import described

Judge = Callable[[Listing], object]


def by_creation(item: Mapping[str, Any]) -> listing.Comparable | None:
    """Return the sort key of the time of creation."""
    return listing.time_key("createdAt")(item)


def at(second: int) -> str:
    """Return a timestamp this many seconds into a minute."""
    return f"2026-01-02T03:04:{second:02}.000Z"


def created(*seconds: int | str) -> list[dict[str, Any]]:
    """Return engagements by the second of their creation; a text stands for itself."""
    times = [at(second) if isinstance(second, int) else second for second in seconds]
    return [{"id": f"e{place}", "createdAt": time} for place, time in enumerate(times)]


def one_page(items: list[dict[str, Any]] | list[str], **meta: Any) -> Listing:
    """Return a list in one response."""
    return Listing((page(items, **meta),))


JUDGES: dict[str, Judge] = {
    "order": lambda seen: listing.expect_order(seen, "createdAt", by_creation, descending=True),
    "once": listing.expect_once,
    "all": lambda seen: listing.expect_all(seen, ["a"], "an engagement"),
    "filtered": lambda seen: listing.expect_filtered(seen, "status", "active"),
    "count": listing.expect_count,
}


# --- contents of a listing


def test_items_of_all_pages_are_one_list() -> None:
    """Items come page by page, each with its response and place."""
    first, second = page(["a", "b"], number=1), page(["c"], number=2)
    seen = Listing((first, second))

    assert seen.identifiers == ["a", "b", "c"]
    assert [(item.at, item.place) for item in seen.items] == [(first, 0), (first, 1), (second, 0)]
    assert [item.pointer for item in seen.items] == ["/data/0", "/data/1", "/data/0"]
    assert [item.value for item in seen.items] == [{"id": "a"}, {"id": "b"}, {"id": "c"}]


def test_total_is_that_of_the_first_response() -> None:
    """Later responses do not affect it."""
    assert Listing((page(total=7), page(total=8))).total == 7


@pytest.mark.parametrize(
    ("sizes", "expected"), [((0,), False), ((99,), False), ((100,), True), ((100, 1), False), ((1, 100), True)]
)
def test_another_page_may_only_follow_a_full_one(sizes: tuple[int, ...], *, expected: bool) -> None:
    """A last page of a hundred items may have a successor, a shorter one may not."""
    seen = Listing(tuple(page([f"e{number}" for number in range(size)]) for size in sizes))

    assert seen.may_go_on is expected


@pytest.mark.parametrize("item", [{}, {"id": None}, {"id": 7}])
def test_an_item_without_an_id_is_undecided(item: dict[str, object]) -> None:
    """The items of such a list cannot be distinguished."""
    response = page([item])

    with pytest.raises(CantTell, match="id is not a string") as raised:
        _ = Listing((response,)).identifiers
    assert raised.value.exchanges == (response,)


@pytest.mark.parametrize("data", [None, {}, "a", ["a"], [{"id": "a"}, None]])
@pytest.mark.parametrize("judge", JUDGES.values(), ids=JUDGES)
def test_a_malformed_list_is_undecided(judge: Judge, data: object) -> None:
    """Its data is no array of objects."""
    with pytest.raises(CantTell, match="no array data of objects"):
        judge(Listing((make_exchange("listEngagements", body={"data": data, "meta": {"total": 0}}),)))


@pytest.mark.parametrize("judge", JUDGES.values(), ids=JUDGES)
def test_an_unsuccessful_page_is_undecided(judge: Judge) -> None:
    """A refused page is undecided, and a missing response raises NoResponse."""
    with pytest.raises(CantTell, match="listEngagements returned 404"):
        judge(Listing((page(["a"]), refusal())))
    with pytest.raises(NoResponse):
        judge(Listing((page(["a"]), no_response())))


@pytest.mark.parametrize("judge", JUDGES.values(), ids=JUDGES)
def test_every_judged_page_is_evidence(judge: Judge) -> None:
    """Correct pages are cited too."""
    responses = (page(["a"], number=1, total=2), page(["b"], number=2, total=2))

    with Evidence() as evidence:
        judge(Listing(responses))
    assert evidence.exchanges == list(responses)


# --- rest


ITEM = {"id": "a", "name": "n", "status": "active", "role": "admin", "updatedAt": at(1), "description": "d"}


@pytest.mark.parametrize("name", ["id", "name", "status", "role", "updatedAt"])
def test_a_changed_item_is_a_difference(name: str) -> None:
    """Every field that other users can change distinguishes two snapshots."""
    before = listing.contents([page([ITEM])])

    assert before != listing.contents([page([ITEM | {name: "other"}])])
    assert before != listing.contents([page([{key: value for key, value in ITEM.items() if key != name}])])


def test_another_total_order_or_number_is_a_difference() -> None:
    """New, deleted and moved items are differences too."""
    before = listing.contents([page(["a", "b"])])

    assert before != listing.contents([page(["a", "b"], total=3)])
    assert before != listing.contents([page(["b", "a"])])
    assert before != listing.contents([page(["a"], total=2)])
    assert before != listing.contents([page(["a", "b"]), page(["c"])])


def test_equal_contents_are_rest() -> None:
    """Irrelevant fields, exchange numbers and refused pages make no difference."""
    before = listing.contents([page([ITEM], number=1)])

    assert before == listing.contents([page([ITEM | {"description": "x", "lastSeenAt": at(2)}], number=2)])
    assert before == listing.contents([page([ITEM]), refusal()])
    assert listing.contents([refusal()]) == []


# --- keys


def test_the_key_of_a_time_is_its_moment() -> None:
    """Times are not compared as texts."""
    assert by_creation({"createdAt": at(7)}) == datetime(2026, 1, 2, 3, 4, 7, tzinfo=UTC)


@pytest.mark.parametrize(
    "item", [{}, {"createdAt": None}, {"createdAt": 7}, {"createdAt": "soon"}, {"updatedAt": at(1)}]
)
def test_an_invalid_time_has_no_key(item: dict[str, object]) -> None:
    """This holds for any other value of the field."""
    assert by_creation(item) is None


@pytest.mark.parametrize(("name", "key"), [("b", "b"), ("B", None), (None, None), (7, None)])
def test_only_known_names_can_be_compared(name: object, key: str | None) -> None:
    """Other names may collate in any way."""
    assert listing.name_among(["a", "b"])({"name": name}) == key
    assert listing.name_among(["a", "b"])({}) is None


# --- order


@pytest.mark.parametrize(
    ("seconds", "descending", "keys"),
    [
        ((), True, 0),
        ((5,), False, 1),
        ((3, 2, 1), True, 3),
        ((1, 2, 3), False, 3),
        ((2, 2), True, 1),
        ((2, 2), False, 1),
        ((3, 2, 2, 1), True, 3),
        ((3, "never", 1), True, 2),
        (("never", "sometimes"), True, 0),
    ],
)
def test_a_list_in_order(seconds: tuple[int | str, ...], keys: int, *, descending: bool) -> None:
    """Equal keys may come in any order, items without a key are skipped, and different keys are counted."""
    assert listing.expect_order(one_page(created(*seconds)), "createdAt", by_creation, descending=descending) == keys


@pytest.mark.parametrize(
    ("seconds", "descending", "expected", "actual", "place"),
    [
        ((2, 1, 3), True, "createdAt descending", f'"{at(3)}" after "{at(1)}"', 2),
        ((1, 3, 2), False, "createdAt ascending", f'"{at(2)}" after "{at(3)}"', 2),
        ((1, "never", 2), True, "createdAt descending", f'"{at(2)}" after "{at(1)}"', 2),
        ((1, 2), True, "createdAt descending", f'"{at(2)}" after "{at(1)}"', 1),
    ],
)
def test_a_list_out_of_order(
    seconds: tuple[int | str, ...], expected: str, actual: str, place: int, *, descending: bool
) -> None:
    """The failure names the item out of order and its predecessor."""
    seen = one_page(created(*seconds))

    with pytest.raises(NonConformity) as raised:
        listing.expect_order(seen, "createdAt", by_creation, descending=descending)
    pointer = f"/data/{place}/createdAt"
    assert described(raised.value) == ("a list is not sorted by createdAt", expected, actual, pointer)
    assert raised.value.exchanges == seen.responses


def test_the_order_continues_across_pages() -> None:
    """The last item of a page sorts before the first of the next."""
    responses = (page(created(5, 4), number=1), page(created(6, 3), number=2))

    with pytest.raises(NonConformity) as raised:
        listing.expect_order(Listing(responses), "createdAt", by_creation, descending=True)
    assert raised.value.pointer == "/data/0/createdAt"
    assert raised.value.actual == f'"{at(6)}" after "{at(4)}"'
    assert raised.value.exchanges == responses


def test_equal_items_are_distinguished_by_place() -> None:
    """The predecessor is the preceding item, not an equal one elsewhere."""
    items = [{"id": "a", "createdAt": at(2)}, {"id": "b", "createdAt": at(1)}, {"id": "a", "createdAt": at(2)}]

    with pytest.raises(NonConformity) as raised:
        listing.expect_order(one_page(items), "createdAt", by_creation, descending=True)
    assert raised.value.actual == f'"{at(2)}" after "{at(1)}"'


# --- each item once


@pytest.mark.parametrize("pages", [((),), (("a", "b"),), (("a",), ("b",)), (("a",), ())])
def test_different_items_are_no_repetition(pages: tuple[tuple[str, ...], ...]) -> None:
    """An empty list repeats nothing either."""
    listing.expect_once(Listing(tuple(page(ids) for ids in pages)))


def test_an_item_twice_on_one_page() -> None:
    """The failure points at the second place, and cites the response once."""
    response = page(["a", "b", "a"])

    with pytest.raises(NonConformity) as raised:
        listing.expect_once(Listing((response,)))
    assert described(raised.value) == ("an item is in the list twice", "every item once", '"a" twice', "/data/2")
    assert raised.value.exchanges == (response,)


def test_an_item_on_two_pages() -> None:
    """Both pages are cited, and those between them are not."""
    responses = (page(["a", "b"], number=1), page(["c", "d"], number=2), page(["e", "b"], number=3))

    with pytest.raises(NonConformity) as raised:
        listing.expect_once(Listing(responses))
    assert raised.value.pointer == "/data/1"
    assert raised.value.exchanges == (responses[0], responses[2])


@pytest.mark.parametrize("wanted", [[], ["b"], ["a", "b", "c"], {"a": 1}])
def test_a_list_with_all_wanted_items(wanted: list[str]) -> None:
    """It may hold more items."""
    listing.expect_all(Listing((page(["a", "b"]), page(["c"]))), wanted, "an engagement")


def test_missing_items_are_counted() -> None:
    """The failure names the first missing item and cites all exchanges."""
    responses, other = (page(["b"], number=1), page(["d"], number=2)), refusal(number=3)

    with Evidence() as evidence, pytest.raises(NonConformity) as raised:
        listing.expect_all(Listing(responses), ["a", "b", "c"], "a new engagement", other)
    message, actual = "a new engagement is missing from the list", '2 missing, the first is "a"'
    assert described(raised.value) == (message, "all 3 of them", actual, "/data")
    assert raised.value.exchanges == (*responses, other)
    assert evidence.exchanges == [*responses, other]


# --- filters


@pytest.mark.parametrize("items", [[], [{"status": "active"}], [{}], [{"status": None}], [{"status": 7}]])
def test_a_correct_filtered_list(items: list[dict[str, object]]) -> None:
    """Another requirement judges a missing value or one that is no text."""
    listing.expect_filtered(one_page(items), "status", "active")


def test_a_filtered_list_with_another_value() -> None:
    """The failure names the item and its page."""
    responses = (page([{"status": "active"}], number=1), page([{"status": "active"}, {"status": "archived"}], number=2))

    with pytest.raises(NonConformity) as raised:
        listing.expect_filtered(Listing(responses), "status", "active")
    message = "a list filtered by status active contains another status"
    assert described(raised.value) == (message, '"active"', '"archived"', "/data/1/status")
    assert raised.value.exchanges == (responses[1],)


# --- totals


def ids(count: int) -> list[str]:
    """Return this many ids."""
    return [f"e{number}" for number in range(count)]


@pytest.mark.parametrize(("shown", "total"), [(0, 0), (3, 3), (99, 99), (100, 100), (100, 101), (100, 5000)])
def test_a_correct_total(shown: int, total: int) -> None:
    """It is the number of items, or more if a full page may have a successor."""
    listing.expect_count(one_page(ids(shown), total=total))


@pytest.mark.parametrize(("shown", "total"), [(0, 1), (3, 2), (3, 4), (99, 100), (100, 99), (100, 0)])
def test_a_wrong_total(shown: int, total: int) -> None:
    """Too small is wrong on any page, too large on a page that is not full."""
    seen = one_page(ids(shown), total=total)

    with pytest.raises(NonConformity) as raised:
        listing.expect_count(seen)
    message = "the total is not the number of listed items"
    assert described(raised.value) == (message, str(shown), str(total), "/meta/total")
    assert raised.value.exchanges == seen.responses


def test_items_of_all_pages_are_counted() -> None:
    """The total is that of the list, not of a page."""
    listing.expect_count(Listing((page(["a", "b"], total=3), page(["c"], total=3))))


@pytest.mark.parametrize("meta", [{"total": None}, {"total": "3"}, {"total": 2.5}, {"total": True}])
def test_a_total_that_is_no_integer_is_undecided(meta: dict[str, object]) -> None:
    """Another requirement judges its type."""
    with pytest.raises(CantTell, match="total is not an integer"):
        listing.expect_count(one_page(["a"], **meta))


# --- conditions of other requirements


def test_a_failure_of_another_requirement_is_undecided() -> None:
    """The message has both reasons, and the given responses are cited."""
    cited, evidence = page(number=1), page(number=2)
    fault = NonConformity("it is odd", evidence, expected="even", actual="odd")

    def judge() -> None:
        raise fault

    with pytest.raises(CantTellYet) as raised:
        listing.cant_tell_unless(judge, "nothing follows", cited)
    assert raised.value.message == "nothing follows: it is odd"
    assert raised.value.exchanges == (cited,)
    assert raised.value.__cause__ is fault


@pytest.mark.parametrize("other", [CantTell("open"), NoResponse("no response"), CantTellYet("in motion")])
def test_other_outcomes_pass_through(other: Exception) -> None:
    """Only a failure becomes undecided."""

    def judge() -> None:
        raise other

    listing.cant_tell_unless(lambda: None, "nothing follows")
    with pytest.raises(type(other)) as raised:
        listing.cant_tell_unless(judge, "nothing follows")
    assert raised.value is other


# --- division of a list


@pytest.mark.parametrize(
    ("position", "count", "total", "expected"),
    [
        (0, 0, 30, (1, 19)),
        (0, 0, 300, (2, 100)),
        (0, 0, 90, (1, 60)),
        (0, 0, 1, (1, 1)),
        (0, 0, 0, (1, 1)),
        (0, 9, 500, (1, 6)),
        (250, 30, 400, (3, 90)),
        (7, 0, 30, (1, 19)),
        (1000, 3, 2000, (11, 91)),
        (0, 0, 10**30, (3333333333333333333333333335, 100)),
    ],
)
def test_neighbouring_pages(position: int, count: int, total: int, expected: tuple[int, int]) -> None:
    """The largest possible pages divide a block about in its middle; without a block, the whole list."""
    assert listing.neighbours(position, count, total) == expected


@pytest.mark.parametrize("position", [0, 1, 19, 99, 100, 101, 997])
def test_pages_end_within_the_middle_third(position: int) -> None:
    """Items of any block are before and after the division."""
    for count in range(3, 120):
        number, size = listing.neighbours(position, count, 5000)

        assert (type(number), type(size)) == (int, int)
        assert number >= 1
        assert 1 <= size <= 100
        assert size != 20, "pages of the size that they have unasked look right where perPage is ignored"
        assert position + count // 3 <= number * size <= position + 2 * count // 3


def test_contradicting_responses_are_undecided() -> None:
    """CantTellYet is a kind of CantTell."""
    made = make_exchange()

    assert isinstance(CantTellYet("in motion", made), CantTell)
    assert CantTellYet("in motion", made).exchanges == (made,)


def test_compared_pages_have_one_total() -> None:
    """Otherwise other users changed the list or the total is wrong; all responses are cited."""
    responses = (page(total=5, number=1), page(total=5, number=2), page(total=4, number=3))

    listing.ensure_one_total(())
    listing.ensure_one_total(responses[:2])
    with pytest.raises(CantTellYet, match=r"^the pages have different totals$") as raised:
        listing.ensure_one_total(responses)
    assert raised.value.exchanges == responses
