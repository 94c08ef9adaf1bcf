"""Filtered lists: alone, compared with the unfiltered list, and compared with reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from conformance.oracle.lists import filters
from conformance.oracle.lists.listing import CantTellYet, Listing
from conformance.oracle.outcomes import CantTell, Evidence, NonConformity
from conformance.wire.exchange import Exchange
from tests.fakes.exchanges import page
from tests.oracle.failures import described

ALL_NAMES = ("name", "description", "status", "createdAt", "updatedAt")


def of(status: object, *ids: str) -> list[dict[str, Any]]:
    """Return items of a status."""
    return [{"id": identifier, "status": status} for identifier in ids]


def listed(items: Sequence[object], *, number: int = 1, **meta: Any) -> Listing:
    """Return a list in one response."""
    return Listing((page(items, number=number, **meta),))


def found(seen: Listing, wanted: Sequence[str] = (), unwanted: Sequence[str] = ()) -> None:
    """Judge a list of active engagements."""
    filters.expect_found(seen, "status", "active", wanted, unwanted)


# --- items


@pytest.mark.parametrize(
    ("ids", "wanted", "unwanted", "total"),
    [
        ((), (), (), 0),
        (("a", "b"), ("b", "a"), ("c",), 2),
        (("a", "b"), ("a",), ("c",), 2),
        (("a", "b"), ("a",), ("c",), 9),
    ],
)
def test_a_correct_filter(ids: tuple[str, ...], wanted: tuple[str, ...], unwanted: tuple[str, ...], total: int) -> None:
    """Wanted items are listed, unwanted ones are not, and other items are permitted."""
    found(listed(of("active", *ids), total=total), wanted, unwanted)


def test_an_item_that_shows_another_value() -> None:
    """The item's own value is judged before its id."""
    with pytest.raises(NonConformity) as raised:
        found(listed(of("active", "a") + of("archived", "b"), total=9), ["c"], ["b"])
    assert raised.value.pointer == "/data/1/status"


def test_an_item_that_is_known_to_have_another_value() -> None:
    """An unwanted item is wrong even if its own value matches."""
    responses = (page(of("active", "a", "b"), number=1), page(of("active", "c", "d"), number=2))

    with pytest.raises(NonConformity) as raised:
        found(Listing(responses), ["x"], ["e", "d", "b"])
    message = "a list filtered by status active contains another status"
    actual = '2 with another status, the first is "d"'
    assert described(raised.value) == (message, "only items with status active", actual, "/data")
    assert raised.value.exchanges == responses


@pytest.mark.parametrize("total", [1, 0])
def test_an_item_that_is_not_found(total: int) -> None:
    """A list that shows at least as many items as it counts lacks the wanted item."""
    seen = listed(of("active", "b"), total=total)

    with pytest.raises(NonConformity) as raised:
        found(seen, ["c", "b", "a"])
    message, actual = "an item with status active is missing from the list", '2 missing, the first is "a"'
    assert described(raised.value) == (message, "all 3 of them", actual, "/data")
    assert raised.value.exchanges == seen.responses


def test_an_item_beyond_the_shown_ones() -> None:
    """A list that counts more than it shows may hold the item on another page."""
    seen = listed(of("active", "b"), total=2)

    with pytest.raises(CantTellYet, match=r"^the list contains fewer items than its total$") as raised:
        found(seen, ["a", "b"])
    assert raised.value.exchanges == seen.responses


# --- totals


def counts(
    active: Listing, archived: Listing, everything: Listing, known: Mapping[str, Sequence[str]] | None = None
) -> None:
    """Judge the totals of both statuses and of all."""
    usual = {"active": ["a"], "archived": ["z"]}
    filters.expect_counts("status", {"active": active, "archived": archived}, everything, known or usual)


ACTIVE, ARCHIVED = listed(of("active", "a", "b"), number=2), listed(of("archived", "z"), number=3)
EVERYTHING = listed(of("active", "a", "b") + of("archived", "z"), number=1)


@pytest.mark.parametrize("known", [{"active": ["a"], "archived": ["z"]}, {"active": ["a"]}, {"archived": ["z"]}])
def test_totals_that_add_up(known: dict[str, list[str]]) -> None:
    """No value needs known items."""
    counts(ACTIVE, ARCHIVED, EVERYTHING, known)


def test_totals_that_do_not_add_up() -> None:
    """The first response of the unfiltered list and of each filtered list is cited."""
    everything = (page(of("active", "a", "b"), total=4, number=1), page(of("archived", "z", "y"), total=4, number=4))

    with pytest.raises(NonConformity) as raised:
        counts(ACTIVE, ARCHIVED, Listing(everything))
    message = "the totals by status do not add up to the unfiltered total"
    assert described(raised.value) == (message, "4", "2 active + 1 archived", "/meta/total")
    assert raised.value.exchanges == (everything[0], ACTIVE.responses[0], ARCHIVED.responses[0])


def test_a_filtered_list_that_counts_wrongly() -> None:
    """Each filtered total is judged, even if the totals add up."""
    active, archived = listed(of("active", "a", "b"), total=1), listed(of("archived", "z"), total=2)

    with pytest.raises(NonConformity) as raised:
        counts(active, archived, EVERYTHING)
    assert described(raised.value) == ("the total is not the number of listed items", "2", "1", "/meta/total")
    with pytest.raises(NonConformity) as raised:
        counts(ACTIVE, archived, EVERYTHING)
    assert described(raised.value)[1:3] == ("1", "2")


@pytest.mark.parametrize(
    ("active", "everything", "reason"),
    [
        (ACTIVE, listed(of("active", "a", "b") + of("archived", "z"), total=4), "the unfiltered total is wrong"),
        (ACTIVE, listed(of("active", "a", "b"), total=2), "the list is incomplete"),
        (listed(of("archived", "a", "b")), EVERYTHING, "the filtered list is wrong"),
        (listed(of("active", "b", "c")), EVERYTHING, "the filtered list is wrong"),
    ],
    ids=["wrong-total", "no-archived", "wrong-status", "nothing-known"],
)
def test_totals_of_lists_that_are_wrong_themselves(active: Listing, everything: Listing, reason: str) -> None:
    """A list that breaks another requirement makes its total undecided; the list is cited."""
    with pytest.raises(CantTellYet, match=f"{reason}: ") as raised:
        counts(active, ARCHIVED, everything)
    assert raised.value.exchanges == (active if everything is EVERYTHING else everything).responses


def test_totals_of_a_list_without_known_items() -> None:
    """An unfiltered list without any known item is undecided."""
    with pytest.raises(CantTell, match=r"^the list lacks items that must be in it$"):
        counts(ACTIVE, ARCHIVED, listed(of("active", "b", "c")))


# --- filtered and unfiltered lists


def same(active: Listing, archived: Listing, everything: Listing) -> None:
    """Judge both statuses by the unfiltered list."""
    filters.expect_same_as_all("status", {"active": active, "archived": archived}, everything)


def test_filtered_lists_that_match_the_unfiltered_list() -> None:
    """Any order and empty lists are permitted."""
    same(listed(of("active", "b", "a")), ARCHIVED, EVERYTHING)
    same(ACTIVE, listed([]), listed(of("active", "b", "a")))
    with Evidence() as evidence:
        filters.expect_same_as_all("status", {}, EVERYTHING)
    assert evidence.exchanges == list(EVERYTHING.responses)


def test_a_filtered_list_that_lacks_an_item() -> None:
    """Every filtered list is judged, not only the first."""
    with pytest.raises(NonConformity, match="an item with status active is missing from the list"):
        same(listed(of("active", "a")), ARCHIVED, EVERYTHING)
    with pytest.raises(NonConformity, match="an item with status archived is missing from the list"):
        same(ACTIVE, listed([]), EVERYTHING)


@pytest.mark.parametrize("status", ["archived", None, 7])
def test_a_filtered_list_with_an_item_of_another_value(status: object) -> None:
    """An item that the unfiltered list shows with another value, or none, is wrong."""
    with pytest.raises(NonConformity) as raised:
        same(ACTIVE, ARCHIVED, listed(of("active", "a") + of(status, "b") + of("archived", "z")))
    assert raised.value.actual == '1 with another status, the first is "b"'


# --- the unfiltered list


KNOWN = {"active": ["a", "b"], "archived": ["y", "z"]}


@pytest.mark.parametrize(
    ("ids", "known"),
    [
        (("a", "b", "y", "z"), KNOWN),
        (("b", "x", "z"), KNOWN),
        (("a",), {"active": ["a"], "archived": []}),
        (("a",), {}),
        ((), {"active": [], "archived": []}),
    ],
)
def test_an_unfiltered_list_with_every_value(ids: tuple[str, ...], known: dict[str, list[str]]) -> None:
    """One item of each value suffices; a value without known items needs none."""
    filters.expect_both(listed(ids), known)


def test_an_unfiltered_list_without_one_value() -> None:
    """The list is wrong and is cited."""
    responses = (page(["a"], number=1, total=2), page(["b"], number=2, total=2))

    with Evidence() as evidence, pytest.raises(NonConformity) as raised:
        filters.expect_both(Listing(responses), KNOWN)
    message, expected = "the unfiltered list contains no archived item", "active and archived items"
    assert described(raised.value) == (message, expected, "none of 2 archived items", "/data")
    assert raised.value.exchanges == responses
    assert evidence.exchanges == list(responses)


@pytest.mark.parametrize(
    ("ids", "known"),
    [
        (["x"], KNOWN),
        ([], KNOWN),
        (["a"], {"archived": ["z"]}),
        (["a", *(f"e{number}" for number in range(99))], KNOWN),
    ],
    ids=["others-alone", "nothing", "one-value-known", "full-page"],
)
def test_an_unfiltered_list_that_may_continue(ids: list[str], known: dict[str, list[str]]) -> None:
    """It is undecided if no known item is shown, or if another page may follow."""
    seen = listed(ids)

    with pytest.raises(CantTell, match=r"^the list lacks items that must be in it$") as raised:
        filters.expect_both(seen, known)
    assert raised.value.exchanges == seen.responses


# --- items and reads


TIMES = ("2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z")
ENGAGEMENT = {
    "id": "eng_1", "name": "n", "description": "d", "status": "active", "createdAt": TIMES[0], "updatedAt": TIMES[1],
}  # fmt: skip
# --- pages of a filtered list


def ids(count: int) -> list[str]:
    """Return this many ids."""
    return [f"e{number}" for number in range(count)]


def paged(count: int, *, number: int, size: int = 2, total: int = 5, place: int = 2) -> Exchange:
    """Return a page with this many items."""
    asked = {"page": number, "perPage": size}
    return page(ids(count), query=asked, total=total, page=number, perPage=size, number=place)


WHOLE = page(ids(5), number=1)


def test_correct_pages_of_a_filtered_list() -> None:
    """Full, last and empty pages are correct, also of a list that is longer than one response."""
    filters.expect_full_pages((WHOLE,))
    filters.expect_full_pages(
        (WHOLE, *(paged(count, number=number) for number, count in ((1, 2), (2, 2), (3, 1), (4, 0), (9, 0))))
    )
    filters.expect_full_pages((page([]), paged(0, number=1, total=0)))
    filters.expect_full_pages((page(ids(100), total=250), paged(100, number=2, size=100, total=250)))
    filters.expect_full_pages((page(ids(100), total=250), paged(50, number=3, size=100, total=250)))


@pytest.mark.parametrize(("shown", "total"), [(5, 6), (5, 4), (100, 99), (99, 250), (0, 1)])
def test_pages_beside_an_incomplete_response(shown: int, total: int) -> None:
    """A retry may help."""
    whole = page(ids(shown), total=total)

    with pytest.raises(CantTellYet, match=r"^the total is not the number of items in one response$") as raised:
        filters.expect_full_pages((whole, paged(2, number=1, total=total)))
    assert raised.value.exchanges == (whole,)


@pytest.mark.parametrize(
    ("number", "count", "right"), [(1, 1, 2), (1, 3, 2), (3, 2, 1), (3, 0, 1), (4, 1, 0), (9, 2, 0), (2, 0, 2)]
)
def test_a_page_that_is_too_short_or_too_long(number: int, count: int, right: int) -> None:
    """Every page has its due length; the whole list and the page are cited."""
    honest, wrong = paged(2, number=1), paged(count, number=number, place=3)

    with Evidence() as evidence, pytest.raises(NonConformity) as raised:
        filters.expect_full_pages((WHOLE, honest, wrong))
    message = f"page {number} of 5 filtered items with 2 per page contains {count}"
    assert described(raised.value) == (message, f"{right} items", f"{count} items", "/data")
    assert raised.value.exchanges == (WHOLE, wrong)
    assert evidence.exchanges == [WHOLE, honest, wrong]


@pytest.mark.parametrize("total", [4, 6])
def test_pages_that_do_not_agree_about_the_total(total: int) -> None:
    """A page has the total of the whole list; both are cited."""
    wrong = paged(1, number=2, total=total, place=3)

    with pytest.raises(NonConformity) as raised:
        filters.expect_full_pages((WHOLE, paged(2, number=1), wrong))
    message = "the total is not the number of matching items"
    assert described(raised.value) == (message, "5", str(total), "/meta/total")
    assert raised.value.exchanges == (WHOLE, wrong)
