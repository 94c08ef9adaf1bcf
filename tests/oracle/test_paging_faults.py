"""A list in one answer and in pages: each fault that they can show together, and what leaves it open."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.oracle import paging
from conformance.oracle.listing import CantTellYet
from conformance.oracle.outcomes import CantTell, Evidence, NonConformity
from conformance.wire.exchange import Exchange, NoResponse
from tests.conftest import make_exchange
from tests.oracle.pages import page, told

Look = tuple[Exchange, ...]
Judge = Callable[[Look], None]

WHOLE: dict[str, Judge] = {
    "partition": paging.expect_partition,
    "total": paging.expect_total,
    "lengths": paging.expect_lengths,
}
EVERY = WHOLE | {"served": paging.expect_served}


def response(number: int, size: int, ids: list[str], total: int, *, place: int = 1) -> Exchange:
    """A page of a list with this total."""
    query = {"page": number, "perPage": size}
    return page(ids, number=place, query=query, total=total, page=number, perPage=size, totalPages=-(-total // size))


def refused(number: int, size: int, status: int = 404) -> Exchange:
    """A page that was refused."""
    query = (("page", str(number)), ("perPage", str(size)))
    return make_exchange("listEngagements", status, {}, query=query, number=number + 1)


def names(first: int, last: int) -> list[str]:
    """Ids from one number to another."""
    return [f"e{number:04}" for number in range(first, last + 1)]


def looked_at(*pages: list[str], total: int, whole: list[str] | None = None, size: int = 2) -> Look:
    """An answer of 100 and pages; without ``whole`` the answer shows what the pages do."""
    everything = [identifier for ids in pages for identifier in ids][:100] if whole is None else whole
    first = response(1, 100, everything, total)
    return (first, *(response(number, size, ids, total, place=number + 1) for number, ids in enumerate(pages, 1)))


MANY = tuple(names(2 * number - 1, 2 * number) for number in range(1, 13))
HONEST = {
    "three-pages": looked_at(names(1, 2), names(3, 4), names(5, 5), total=5),
    "full-last-page": looked_at(names(1, 2), names(3, 4), total=4),
    "one-page": looked_at(names(1, 1), total=1),
    "nothing": looked_at([], total=0),
    "past-the-end": looked_at(names(1, 2), [], total=2),
    "exactly-a-hundred": looked_at(names(1, 50), names(51, 100), total=100, size=50),
    "more-than-one-answer-shows": looked_at(names(1, 60), names(61, 120), names(121, 150), total=150, size=60),
    "more-pages-than-are-looked-at": looked_at(*MANY, total=99, whole=names(1, 99)),
    "twelve-pages": looked_at(*MANY, total=24),
}


@pytest.mark.parametrize("look", HONEST.values(), ids=HONEST)
@pytest.mark.parametrize("judge", EVERY.values(), ids=EVERY)
def test_honest_pages(judge: Judge, look: Look) -> None:
    """Nothing is wrong with them."""
    judge(look)


@pytest.mark.parametrize("kind", EVERY)
def test_what_is_judged_is_evidence(kind: str) -> None:
    """Every page is cited, also where nothing is wrong."""
    look = HONEST["three-pages"]

    with Evidence() as evidence:
        EVERY[kind](look)
    assert set(evidence.exchanges) >= set(look[1:])
    assert (look[0] in evidence.exchanges) is (kind != "served")


@pytest.mark.parametrize("judge", EVERY.values(), ids=EVERY)
def test_what_has_no_response_decides_nothing(judge: Judge) -> None:
    """Neither the one answer nor a page."""
    lost = make_exchange("listEngagements", None, query=(("page", "2"), ("perPage", "2")))

    with pytest.raises(NoResponse):
        judge((*HONEST["full-last-page"][:2], lost))
    with pytest.raises(NoResponse):
        judge((lost, *HONEST["full-last-page"][1:]))


@pytest.mark.parametrize("judge", WHOLE.values(), ids=WHOLE)
def test_a_page_that_was_refused_is_judged_elsewhere(judge: Judge) -> None:
    """What is not shown cannot be counted."""
    with pytest.raises(CantTell, match="returned 404"):
        judge((*HONEST["full-last-page"][:2], refused(2, 2)))


# --- pages that exist


@pytest.mark.parametrize(("number", "total"), [(1, 1), (2, 3), (3, 5), (3, 9)])
@pytest.mark.parametrize("status", [400, 404, 403, 500])
def test_a_page_that_exists_is_served(number: int, total: int, status: int) -> None:
    """One that the total tells of is no page past the end."""
    wrong = refused(number, 2, status)
    look = (response(1, 100, names(1, total), total), response(1, 2, names(1, 2), total), wrong)

    with pytest.raises(NonConformity) as raised:
        paging.expect_served(look)
    message = f"page {number} of {total} items with 2 a page was refused"
    assert told(raised.value) == (message, "200", str(status), None)
    assert raised.value.exchanges == (wrong,)


@pytest.mark.parametrize(("number", "total"), [(1, 0), (2, 2), (2, 1), (9, 5)])
def test_a_page_past_the_end_may_be_refused(number: int, total: int) -> None:
    """The total tells that there is nothing on it."""
    paging.expect_served((response(1, 100, names(1, total), total), refused(number, 2)))


def test_the_first_page_is_asked_for_without_a_number() -> None:
    """A page that is not told is the first."""
    wrong = make_exchange("listEngagements", 404, {}, query=(("perPage", "2"),))

    with pytest.raises(NonConformity, match="page 1 of 3 items with 2 a page"):
        paging.expect_served((response(1, 100, names(1, 3), 3), wrong))


# --- a partition


def test_an_item_on_two_pages() -> None:
    """Nothing stands in a list twice."""
    look = looked_at(names(1, 2), names(2, 3), total=4, whole=names(1, 4))

    with pytest.raises(NonConformity) as raised:
        paging.expect_partition(look)
    assert told(raised.value)[2:] == ('"e0002" twice', "/data/0")
    assert raised.value.exchanges == look[1:]


def test_an_item_that_the_one_response_shows_is_on_a_page() -> None:
    """What is missing is named, and all answers are cited."""
    look = looked_at(names(1, 2), names(4, 4), total=4, whole=names(1, 4))

    with pytest.raises(NonConformity) as raised:
        paging.expect_partition(look)
    message, actual = "an existing item is missing from the list", '1 missing, the first is "e0003"'
    assert told(raised.value) == (message, "all 4 of them", actual, "/data")
    assert raised.value.exchanges == (*look[1:], look[0])


def test_an_item_that_is_known_to_exist_is_on_a_page() -> None:
    """Even where the one answer does not show it, or cannot show all."""
    short = looked_at(names(1, 2), [], total=3)
    long = looked_at(names(1, 60), names(61, 119), total=120, whole=["elsewhere"], size=60)

    for look in (short, long):
        paging.expect_partition(look)
        with pytest.raises(NonConformity, match="an existing item is missing") as raised:
            paging.expect_partition(look, ["e0002", "x"])
        assert raised.value.actual == '1 missing, the first is "x"'


def test_a_list_that_counts_less_than_is_known() -> None:
    """Something has come meanwhile, or the total is wrong, which is judged by itself."""
    look = looked_at(names(1, 2), total=2, whole=names(1, 3))

    with pytest.raises(CantTellYet, match=r"^the list holds at least 3 items but has the total 2$") as raised:
        paging.expect_partition(look)
    assert raised.value.exchanges == look
    with pytest.raises(CantTellYet, match=r"^the list holds at least 4 items but has the total 2$"):
        paging.expect_partition(look, ["x"])


def test_what_is_missing_from_pages_that_are_not_all() -> None:
    """It may be on one that was not looked at; where twelve pages are all of them it is not."""
    paging.expect_partition(looked_at(*MANY, total=25, whole=names(1, 25)), ["x"])
    paging.expect_partition(looked_at(*MANY, total=25, whole=names(1, 26)))
    with pytest.raises(NonConformity, match="an existing item is missing"):
        paging.expect_partition(looked_at(*MANY, total=24, whole=["x", *names(1, 23)]))


@pytest.mark.parametrize("judge", [paging.expect_partition, paging.expect_lengths])
def test_pages_that_do_not_reach_the_total(judge: Judge) -> None:
    """Something has come meanwhile; the one answer and the first page are cited."""
    for look in (
        looked_at(names(1, 2), names(3, 4), total=5, whole=names(1, 5)),
        looked_at(*MANY[:11], total=23, whole=names(1, 23)),
    ):
        with pytest.raises(CantTellYet, match=r"^there are more pages than the suite read$") as raised:
            judge(look)
        assert raised.value.exchanges == look[:2]


@pytest.mark.parametrize("judge", [paging.expect_partition, paging.expect_lengths])
def test_a_response_without_pages(judge: Judge) -> None:
    """Where it did not tell how many there are, none was asked for."""
    look = (response(1, 100, names(1, 2), 2),)

    with pytest.raises(CantTell, match=r"^the first response did not say how many pages there are$") as raised:
        judge(look)
    assert raised.value.exchanges == look


# --- the total


def test_a_total_that_depends_on_the_page() -> None:
    """An answer of each total is cited."""
    look = (
        response(1, 100, names(1, 3), 3, place=1),
        response(1, 2, names(1, 2), 3, place=2),
        response(2, 2, names(3, 3), 2, place=3),
    )

    with pytest.raises(NonConformity) as raised:
        paging.expect_total(look)
    assert told(raised.value) == ("the total depends on the page", "one total", "2 and 3", "/meta/total")
    assert raised.value.exchanges == look[1:]


@pytest.mark.parametrize(
    ("look", "owned", "seen", "total"),
    [
        (looked_at(names(1, 2), names(3, 3), total=4), [], 3, 4),
        (looked_at(names(1, 2), names(3, 3), total=2), [], 3, 2),
        (looked_at(names(1, 2), total=2), ["x"], 3, 2),
        (looked_at(names(1, 2), total=2, whole=names(1, 3)), [], 3, 2),
        (looked_at([], total=1), [], 0, 1),
        (looked_at(*MANY, total=25, whole=names(1, 30)), [], 30, 25),
    ],
    ids=["too-many", "too-few", "known", "shown", "one-of-nothing", "long"],
)
def test_a_total_that_is_not_the_number_of_items(look: Look, owned: list[str], seen: int, total: int) -> None:
    """All that was seen and all that is known to be there is counted; every answer is cited."""
    with pytest.raises(NonConformity) as raised:
        paging.expect_total(look, owned)
    message = "the total is not the number of items"
    assert told(raised.value) == (message, str(seen), str(total), "/meta/total")
    assert raised.value.exchanges == look


def test_a_total_of_more_pages_than_are_looked_at() -> None:
    """It may count what was not looked at."""
    paging.expect_total(looked_at(*MANY, total=25), ["x"])
    with pytest.raises(NonConformity):
        paging.expect_total(looked_at(*MANY, total=24), ["x"])


@pytest.mark.parametrize(
    ("look", "owned", "reason"),
    [
        (looked_at(names(1, 2), names(2, 3), total=4), [], "the pages do not hold every item once: an item is in the"),
        (looked_at(names(1, 2), names(2, 3), total=3), [], "the pages do not hold every item once: an item is in the"),
        (looked_at(names(1, 2), [], total=4), ["x"], "the pages do not hold every item once: an existing item"),
        (looked_at(names(1, 1), names(2, 3), total=4), [], "a page is not full: page 1 of 4 items with 2 a page holds"),
    ],
    ids=["twice", "twice-of-all", "missing", "short"],
)
def test_a_total_of_pages_that_are_wrong_themselves(look: Look, owned: list[str], reason: str) -> None:
    """Nothing is said of it where another requirement has its say first; every answer is cited."""
    with pytest.raises(CantTellYet, match=f"^{reason}") as raised:
        paging.expect_total(look, owned)
    assert raised.value.exchanges == look


# --- lengths


@pytest.mark.parametrize(
    ("pages", "number", "right", "found"),
    [
        ((names(1, 1), names(2, 4), names(5, 5)), 1, 2, 1),
        ((names(1, 3), names(4, 4), names(5, 5)), 1, 2, 3),
        ((names(1, 2), names(3, 3), names(4, 5)), 2, 2, 1),
        ((names(1, 2), names(3, 4), []), 3, 1, 0),
        ((names(1, 2), names(3, 4), names(5, 5), names(5, 5)), 4, 0, 1),
    ],
)
def test_a_page_of_another_length(pages: tuple[list[str], ...], number: int, right: int, found: int) -> None:
    """Each is full, the last one holds what is left, and what comes behind it is empty."""
    look = looked_at(*pages, total=5, whole=names(1, 5))

    with pytest.raises(NonConformity) as raised:
        paging.expect_lengths(look)
    message = f"page {number} of 5 items with 2 a page holds {found}"
    assert told(raised.value) == (message, f"{right} items", f"{found} items", "/data")
    assert raised.value.exchanges == (look[number],)


def test_the_one_response_has_a_length_too() -> None:
    """It is a page of a hundred."""
    look = looked_at(names(1, 2), names(3, 3), total=3, whole=names(1, 2))

    with pytest.raises(NonConformity, match="page 1 of 3 items with 100 a page holds 2") as raised:
        paging.expect_lengths(look)
    assert raised.value.exchanges == (look[0],)


@pytest.mark.parametrize(
    ("look", "owned", "seen", "total"),
    [
        (looked_at(names(1, 2), names(3, 3), total=4), [], 3, 4),
        (looked_at(names(1, 2), names(3, 3), total=2), [], 3, 2),
        (looked_at(names(1, 2), names(3, 4), total=4), ["x"], 5, 4),
    ],
)
def test_lengths_by_a_total_that_does_not_count(look: Look, owned: list[str], seen: int, total: int) -> None:
    """What a page should hold is then not known."""
    with pytest.raises(CantTellYet, match=f"^the list shows {seen} items but has the total {total}$") as raised:
        paging.expect_lengths(look, owned)
    assert raised.value.exchanges == look


def test_lengths_of_pages_that_are_not_all() -> None:
    """They are judged by the total alone."""
    paging.expect_lengths(looked_at(*MANY, total=25, whole=names(1, 25)), ["x"])
    with pytest.raises(NonConformity, match="page 1 of 25 items with 100 a page holds 24"):
        paging.expect_lengths(looked_at(*MANY, total=25, whole=names(1, 24)))


def test_the_one_response_tells_the_total() -> None:
    """That a page tells another one is judged by itself."""
    first = response(1, 100, names(1, 3), 3)
    pages = (response(1, 2, names(1, 2), 9, place=2), response(2, 2, names(3, 3), 9, place=3))

    paging.expect_lengths((first, *pages))


def test_what_one_response_of_a_hundred_shows_is_on_a_page() -> None:
    """A list of just as many is shown as a whole, whatever else the pages hold."""
    with pytest.raises(NonConformity, match="an existing item is missing") as raised:
        paging.expect_partition(looked_at(names(1, 50), names(51, 99), total=100, whole=names(1, 100), size=50))
    assert raised.value.actual == '1 missing, the first is "e0100"'
    with pytest.raises(NonConformity, match="an existing item is missing") as raised:
        paging.expect_partition(looked_at(names(3, 4), total=2, whole=names(1, 2)))
    assert raised.value.actual == '2 missing, the first is "e0001"'
