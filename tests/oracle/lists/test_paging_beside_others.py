"""Pages of a list that other users are changing: items that existed all the time, and bounds of their number."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from conformance.oracle.lists.listing import CantTellYet
from conformance.oracle.lists.paging import (
    Bracket,
    expect_partition_within,
    expect_total_within,
)
from conformance.oracle.outcomes import NonConformity
from conformance.wire.exchange import Exchange
from tests.fakes.exchanges import page

Judge = Callable[[Bracket], None]

SIZE = 3


def whole(ids: str, total: int | None = None) -> Exchange:
    """Return the list in one response; each letter is an engagement."""
    return page([*ids], query={"perPage": 100}, total=len(ids) if total is None else total)


def bracket(before: str, *pages: str, after: str, totals: Sequence[int] = (), owned: str = "") -> Bracket:
    """Return a bracket; each page has the list's earlier total unless another is given."""
    stated = totals or [len(before)] * len(pages)
    snapshot = [
        page([*ids], query={"page": number, "perPage": SIZE}, total=total)
        for number, (ids, total) in enumerate(zip(pages, stated, strict=True), 1)
    ]
    return Bracket((whole(before), *snapshot), whole(after), frozenset(owned))


def test_items_that_existed_all_the_time() -> None:
    """They are listed before and after, or owned by the run; the most are all that any response shows."""
    seen = bracket("abc", "abc", "x", after="bcd", owned="z")

    assert seen.sure == {*"bcz"}
    assert seen.bounds == (3, 6)


@pytest.mark.parametrize("judge", [expect_partition_within, expect_total_within])
@pytest.mark.parametrize(
    "seen",
    [
        bracket("abcd", "abc", "d", after="abcd"),
        bracket("abcdn", "abc", "d", after="abcd", totals=[5, 4]),
        bracket("abcd", "abc", "dn", after="abcdn", totals=[4, 5]),
        bracket("abcdn", "abc", "dm", after="abcdm", totals=[5, 5]),
        bracket("abcd", "abc", "dx", after="abcd", totals=[5, 5]),
    ],
)
def test_pages_within_bounds(judge: Judge, seen: Bracket) -> None:
    """Engagements that other users made or deleted may be listed or not, but only once."""
    judge(seen)


@pytest.mark.parametrize(
    ("seen", "message"),
    [
        (bracket("abcdn", "abc", "", after="abcd"), "an existing item is missing"),
        (bracket("abcdn", "abc", "cd", after="abcd"), "an item is in the list twice"),
        (bracket("abcn", "abc", "", after="abcm", owned="o"), "an existing item is missing"),
    ],
)
def test_pages_that_lack_or_repeat_a_constant_item(seen: Bracket, message: str) -> None:
    """No change by other users explains that."""
    with pytest.raises(NonConformity, match=message):
        expect_partition_within(seen)


def test_pages_that_do_not_cover_a_total_are_undecided() -> None:
    """A missing item may be on the next page."""
    with pytest.raises(CantTellYet, match="more pages"):
        expect_partition_within(bracket("abcd", "abc", after="abcd"))


@pytest.mark.parametrize(
    ("totals", "expected"), [([3, 5], "4 to 6"), ([5, 7], "4 to 6"), ([4, 6], None), ([6, 4], None)]
)
def test_totals_within_bounds(totals: list[int], expected: str | None) -> None:
    """The least is what existed all the time, the most is everything seen."""
    seen = bracket("abcdn", "abc", "dn", after="abcdm", totals=totals)
    if expected is None:
        expect_total_within(seen)
        return

    with pytest.raises(NonConformity, match="the total is") as fault:
        expect_total_within(seen)
    assert fault.value.expected == expected


def test_a_list_longer_than_one_response_has_no_bounds() -> None:
    """Items that the one response does not show may exist or not."""
    seen = Bracket(
        (whole("abc", 101), page([*"abc"], query={"page": 1, "perPage": SIZE}, total=101)), whole("abd", 101)
    )

    with pytest.raises(CantTellYet, match="too long"):
        expect_total_within(seen)
