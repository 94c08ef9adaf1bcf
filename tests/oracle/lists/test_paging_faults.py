"""A list in one response and in pages: each failure that they can show together, and undecided cases."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.oracle.lists import paging
from conformance.oracle.lists.listing import CantTellYet
from conformance.oracle.outcomes import CantTell, Evidence, NonConformity
from conformance.wire.exchange import Exchange, NoResponse
from tests.fakes.exchanges import make_exchange, page
from tests.oracle.failures import described

Snapshot = tuple[Exchange, ...]
Judge = Callable[[Snapshot], None]

EVERY: dict[str, Judge] = {
    "partition": paging.expect_partition,
    "total": paging.expect_total,
    "lengths": paging.expect_lengths,
    "served": paging.expect_served,
}


def response(number: int, size: int, ids: list[str], total: int, *, place: int = 1) -> Exchange:
    """Return a page of a list with this total."""
    query = {"page": number, "perPage": size}
    return page(ids, number=place, query=query, total=total, page=number, perPage=size, totalPages=-(-total // size))


def refused(number: int, size: int, status: int = 404) -> Exchange:
    """Return a refused page."""
    query = (("page", str(number)), ("perPage", str(size)))
    return make_exchange("listEngagements", status, {}, query=query, number=number + 1)


def names(first: int, last: int) -> list[str]:
    """Return ids from one number to another."""
    return [f"e{number:04}" for number in range(first, last + 1)]


def snapshot_of(*pages: list[str], total: int, whole: list[str] | None = None, size: int = 2) -> Snapshot:
    """Return a response of 100 items and pages; without ``whole`` the response shows the pages' items."""
    everything = [identifier for ids in pages for identifier in ids][:100] if whole is None else whole
    first = response(1, 100, everything, total)
    return (first, *(response(number, size, ids, total, place=number + 1) for number, ids in enumerate(pages, 1)))


MANY = tuple(names(2 * number - 1, 2 * number) for number in range(1, 13))
HONEST = {
    "three-pages": snapshot_of(names(1, 2), names(3, 4), names(5, 5), total=5),
    "full-last-page": snapshot_of(names(1, 2), names(3, 4), total=4),
    "one-page": snapshot_of(names(1, 1), total=1),
    "nothing": snapshot_of([], total=0),
    "past-the-end": snapshot_of(names(1, 2), [], total=2),
    "exactly-a-hundred": snapshot_of(names(1, 50), names(51, 100), total=100, size=50),
    "more-than-one-response-shows": snapshot_of(names(1, 60), names(61, 120), names(121, 150), total=150, size=60),
    "more-pages-than-are-looked-at": snapshot_of(*MANY, total=99, whole=names(1, 99)),
    "twelve-pages": snapshot_of(*MANY, total=24),
}


@pytest.mark.parametrize("snapshot", HONEST.values(), ids=HONEST)
@pytest.mark.parametrize("judge", EVERY.values(), ids=EVERY)
def test_correct_pages(judge: Judge, snapshot: Snapshot) -> None:
    """No assertion fails."""
    judge(snapshot)


@pytest.mark.parametrize("kind", EVERY)
def test_judged_pages_are_evidence(kind: str) -> None:
    """Correct pages are cited too."""
    snapshot = HONEST["three-pages"]

    with Evidence() as evidence:
        EVERY[kind](snapshot)
    assert set(evidence.exchanges) >= set(snapshot[1:])
    assert (snapshot[0] in evidence.exchanges) is (kind != "served")


@pytest.mark.parametrize("judge", EVERY.values(), ids=EVERY)
def test_a_missing_response_is_undecided(judge: Judge) -> None:
    """It may be the one response or a page."""
    lost = make_exchange("listEngagements", None, query=(("page", "2"), ("perPage", "2")))

    with pytest.raises(NoResponse):
        judge((*HONEST["full-last-page"][:2], lost))
    with pytest.raises(NoResponse):
        judge((lost, *HONEST["full-last-page"][1:]))


# --- existing pages


@pytest.mark.parametrize(("number", "total"), [(1, 1), (2, 3), (3, 5), (3, 9)])
@pytest.mark.parametrize("status", [400, 404, 403, 500])
def test_a_page_that_exists_is_served(number: int, total: int, status: int) -> None:
    """A page within the total is not past the end."""
    wrong = refused(number, 2, status)
    snapshot = (response(1, 100, names(1, total), total), response(1, 2, names(1, 2), total), wrong)

    with pytest.raises(NonConformity) as raised:
        paging.expect_served(snapshot)
    message = f"page {number} of {total} items with 2 a page was refused"
    assert described(raised.value) == (message, "200", str(status), None)
    assert raised.value.exchanges == (wrong,)


@pytest.mark.parametrize(("number", "total"), [(1, 0), (2, 2), (2, 1), (9, 5)])
def test_a_page_past_the_end_may_be_refused(number: int, total: int) -> None:
    """The total shows that it has no items."""
    paging.expect_served((response(1, 100, names(1, total), total), refused(number, 2)))


def test_the_first_page_needs_no_number() -> None:
    """A request without a page parameter asks for the first."""
    wrong = make_exchange("listEngagements", 404, {}, query=(("perPage", "2"),))

    with pytest.raises(NonConformity, match="page 1 of 3 items with 2 a page"):
        paging.expect_served((response(1, 100, names(1, 3), 3), wrong))


# --- a partition


def test_an_item_on_two_pages() -> None:
    """No item may be listed twice."""
    snapshot = snapshot_of(names(1, 2), names(2, 3), total=4, whole=names(1, 4))

    with pytest.raises(NonConformity) as raised:
        paging.expect_partition(snapshot)
    assert described(raised.value)[2:] == ('"e0002" twice', "/data/0")
    assert raised.value.exchanges == snapshot[1:]


def test_an_item_that_the_one_response_shows_is_on_a_page() -> None:
    """The failure names the missing item and cites all responses."""
    snapshot = snapshot_of(names(1, 2), names(4, 4), total=4, whole=names(1, 4))

    with pytest.raises(NonConformity) as raised:
        paging.expect_partition(snapshot)
    message, actual = "an existing item is missing from the list", '1 missing, the first is "e0003"'
    assert described(raised.value) == (message, "all 4 of them", actual, "/data")
    assert raised.value.exchanges == (*snapshot[1:], snapshot[0])


def test_an_item_that_is_known_to_exist_is_on_a_page() -> None:
    """This holds even if the one response lacks it, or cannot show the whole list."""
    short = snapshot_of(names(1, 2), [], total=3)
    long = snapshot_of(names(1, 60), names(61, 119), total=120, whole=["elsewhere"], size=60)

    for snapshot in (short, long):
        paging.expect_partition(snapshot)
        with pytest.raises(NonConformity, match="an existing item is missing") as raised:
            paging.expect_partition(snapshot, ["e0002", "x"])
        assert raised.value.actual == '1 missing, the first is "x"'


def test_a_total_below_the_known_items_is_undecided() -> None:
    """Items were added meanwhile, or the total is wrong, which another check judges."""
    snapshot = snapshot_of(names(1, 2), total=2, whole=names(1, 3))

    with pytest.raises(CantTellYet, match=r"^the list contains at least 3 items but has the total 2$") as raised:
        paging.expect_partition(snapshot)
    assert raised.value.exchanges == snapshot
    with pytest.raises(CantTellYet, match=r"^the list contains at least 4 items but has the total 2$"):
        paging.expect_partition(snapshot, ["x"])


def test_an_item_missing_from_some_pages() -> None:
    """It may be on a page that was not read, unless twelve pages are all of them."""
    paging.expect_partition(snapshot_of(*MANY, total=25, whole=names(1, 25)))
    paging.expect_partition(snapshot_of(*MANY, total=25, whole=names(1, 26)))
    with pytest.raises(NonConformity, match="an existing item is missing"):
        paging.expect_partition(snapshot_of(*MANY, total=24, whole=["x", *names(1, 23)]))


@pytest.mark.parametrize("judge", [paging.expect_partition, paging.expect_lengths])
def test_pages_that_do_not_cover_the_total(judge: Judge) -> None:
    """Items were added meanwhile; the one response and the first page are cited."""
    for snapshot in (
        snapshot_of(names(1, 2), names(3, 4), total=5, whole=names(1, 5)),
        snapshot_of(*MANY[:11], total=23, whole=names(1, 23)),
    ):
        with pytest.raises(CantTellYet, match=r"^there are more pages than the suite read$") as raised:
            judge(snapshot)
        assert raised.value.exchanges == snapshot[:2]


@pytest.mark.parametrize("judge", [paging.expect_partition, paging.expect_lengths])
def test_a_response_without_pages(judge: Judge) -> None:
    """If it does not say how many pages there are, none was requested."""
    snapshot = (response(1, 100, names(1, 2), 2),)

    with pytest.raises(CantTell, match=r"^the first response did not say how many pages there are$") as raised:
        judge(snapshot)
    assert raised.value.exchanges == snapshot


# --- the total


def test_a_total_that_depends_on_the_page() -> None:
    """One response of each total is cited."""
    snapshot = (
        response(1, 100, names(1, 3), 3, place=1),
        response(1, 2, names(1, 2), 3, place=2),
        response(2, 2, names(3, 3), 2, place=3),
    )

    with pytest.raises(NonConformity) as raised:
        paging.expect_total(snapshot)
    assert described(raised.value) == ("the total depends on the page", "one total", "2 and 3", "/meta/total")
    assert raised.value.exchanges == snapshot[1:]


@pytest.mark.parametrize(
    ("snapshot", "owned", "seen", "total"),
    [
        (snapshot_of(names(1, 2), names(3, 3), total=4), [], 3, 4),
        (snapshot_of(names(1, 2), names(3, 3), total=2), [], 3, 2),
        (snapshot_of(names(1, 2), total=2), ["x"], 3, 2),
        (snapshot_of(names(1, 2), total=2, whole=names(1, 3)), [], 3, 2),
        (snapshot_of([], total=1), [], 0, 1),
        (snapshot_of(*MANY, total=25, whole=names(1, 30)), [], 30, 25),
    ],
    ids=["too-many", "too-few", "known", "shown", "one-of-nothing", "long"],
)
def test_a_total_that_is_not_the_number_of_items(snapshot: Snapshot, owned: list[str], seen: int, total: int) -> None:
    """Listed and known items count; every response is cited."""
    with pytest.raises(NonConformity) as raised:
        paging.expect_total(snapshot, owned)
    message = "the total is not the number of items"
    assert described(raised.value) == (message, str(seen), str(total), "/meta/total")
    assert raised.value.exchanges == snapshot


def test_a_total_of_more_pages_than_the_suite_reads() -> None:
    """It may count items that were not read."""
    paging.expect_total(snapshot_of(*MANY, total=25), ["x"])
    with pytest.raises(NonConformity):
        paging.expect_total(snapshot_of(*MANY, total=24), ["x"])


@pytest.mark.parametrize(
    ("snapshot", "owned", "reason"),
    [
        (
            snapshot_of(names(1, 2), names(2, 3), total=4),
            [],
            "the pages do not contain every item once: an item is in the",
        ),
        (
            snapshot_of(names(1, 2), names(2, 3), total=3),
            [],
            "the pages do not contain every item once: an item is in the",
        ),
        (snapshot_of(names(1, 2), [], total=4), ["x"], "the pages do not contain every item once: an existing item"),
        (
            snapshot_of(names(1, 1), names(2, 3), total=4),
            [],
            "a page is not full: page 1 of 4 items with 2 per page contains",
        ),
    ],
    ids=["twice", "twice-of-all", "missing", "short"],
)
def test_a_total_of_pages_that_are_wrong_themselves(snapshot: Snapshot, owned: list[str], reason: str) -> None:
    """Pages that break another requirement make it undecided; every response is cited."""
    with pytest.raises(CantTellYet, match=f"^{reason}") as raised:
        paging.expect_total(snapshot, owned)
    assert raised.value.exchanges == snapshot


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
    """Pages are full, the last one holds the remainder, and later ones are empty."""
    snapshot = snapshot_of(*pages, total=5, whole=names(1, 5))

    with pytest.raises(NonConformity) as raised:
        paging.expect_lengths(snapshot)
    message = f"page {number} of 5 items with 2 per page contains {found}"
    assert described(raised.value) == (message, f"{right} items", f"{found} items", "/data")
    assert raised.value.exchanges == (snapshot[number],)


def test_the_one_response_has_a_length_too() -> None:
    """It is a page of a hundred."""
    snapshot = snapshot_of(names(1, 2), names(3, 3), total=3, whole=names(1, 2))

    with pytest.raises(NonConformity, match="page 1 of 3 items with 100 per page contains 2") as raised:
        paging.expect_lengths(snapshot)
    assert raised.value.exchanges == (snapshot[0],)


@pytest.mark.parametrize(
    "total",
    [2, 4],
)
def test_lengths_with_a_wrong_total_are_undecided(total: int) -> None:
    """The correct length of a page is unknown then."""
    snapshot = snapshot_of(names(1, 2), names(3, 3), total=total)
    with pytest.raises(CantTellYet, match=f"^the list shows 3 items but has the total {total}$") as raised:
        paging.expect_lengths(snapshot)
    assert raised.value.exchanges == snapshot


def test_lengths_of_some_pages() -> None:
    """The total alone decides."""
    paging.expect_lengths(snapshot_of(*MANY, total=25, whole=names(1, 25)))
    with pytest.raises(NonConformity, match="page 1 of 25 items with 100 per page contains 24"):
        paging.expect_lengths(snapshot_of(*MANY, total=25, whole=names(1, 24)))


def test_lengths_use_the_total_of_the_one_response() -> None:
    """Another assertion judges a page with another total."""
    first = response(1, 100, names(1, 3), 3)
    pages = (response(1, 2, names(1, 2), 9, place=2), response(2, 2, names(3, 3), 9, place=3))

    paging.expect_lengths((first, *pages))


def test_a_list_of_a_hundred_is_shown_as_a_whole() -> None:
    """Each of its items must be on a page."""
    with pytest.raises(NonConformity, match="an existing item is missing") as raised:
        paging.expect_partition(snapshot_of(names(1, 50), names(51, 99), total=100, whole=names(1, 100), size=50))
    assert raised.value.actual == '1 missing, the first is "e0100"'
    with pytest.raises(NonConformity, match="an existing item is missing") as raised:
        paging.expect_partition(snapshot_of(names(3, 4), total=2, whole=names(1, 2)))
    assert raised.value.actual == '2 missing, the first is "e0001"'
