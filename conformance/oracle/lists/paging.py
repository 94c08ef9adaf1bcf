"""Assertions about a list that was read in one response and in pages.

A snapshot is the response with the largest page, followed by the pages of another size from the first one on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.interface.list_parameters import DEFAULT_PER_PAGE, MAX_PER_PAGE
from conformance.oracle import read
from conformance.oracle.laws import lists as list_laws
from conformance.oracle.lists.listing import (
    CantTellYet,
    Listing,
    cant_tell_unless,
    ensure_one_total,
    expect_all,
    expect_once,
)
from conformance.oracle.outcomes import CantTell, NonConformity, evidence

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from conformance.oracle.lists.listing import Snapshot
    from conformance.wire.exchange import Exchange

MOST_PAGES: Final = 12
"""The number of pages that are read; a longer list is judged by these."""

_ABOUT: Final = "an existing item"


def expect_served(snapshot: Snapshot) -> None:
    """Require a success for every page that exists."""
    total = read.number(snapshot[0], "total")
    for response in snapshot[1:]:
        evidence(response)
        page, size = paging_of(response)
        if not response.succeeded and (page - 1) * size < total:
            raise NonConformity(
                f"page {page} of {total} items with {size} a page was refused",
                response,
                expected="200",
                actual=str(response.status),
            )


def expect_partition(snapshot: Snapshot, owned: Collection[str] = ()) -> None:
    """Require that the pages hold every item exactly once.

    Args:
        snapshot: The snapshot.
        owned: Ids that must be in the list.

    Raises:
        NonConformity: An item is in the pages twice, or is missing.
        CantTell: The total does not say how many pages there are.
    """
    pages = _pages(snapshot)
    ensure_one_total(snapshot)
    is_at_once = read.number(snapshot[0], "total") <= MAX_PER_PAGE
    known = {*owned, *(Listing(snapshot[:1]).identifiers if is_at_once else ())}
    expect_once(pages)
    if _is_part(snapshot):
        return
    if pages.total < len(known):
        raise CantTellYet(f"the list contains at least {len(known)} items but has the total {pages.total}", *snapshot)
    expect_all(pages, sorted(known), _ABOUT, snapshot[0])


def expect_total(snapshot: Snapshot, owned: Collection[str] = ()) -> None:
    """Require the same total in every response, equal to the number of items on all pages."""
    evidence(*snapshot)
    totals = {read.number(response, "total"): response for response in snapshot}
    total = read.number(snapshot[0], "total")
    if len(totals) > 1:
        words = " and ".join(map(str, sorted(totals)))
        raise NonConformity(
            "the total depends on the page", *totals.values(), expected="one total", actual=words, pointer="/meta/total"
        )
    seen = {*owned, *Listing(snapshot).identifiers}
    if total >= len(seen) and _is_part(snapshot):
        return
    if total >= len(seen):
        message = "the pages do not contain every item once"
        cant_tell_unless(lambda: expect_partition(snapshot, owned), message, *snapshot)
        cant_tell_unless(lambda: list(map(list_laws.page_length, snapshot)), "a page is not full", *snapshot)
    if total != len(seen):
        raise NonConformity(
            "the total is not the number of items",
            *snapshot,
            expected=str(len(seen)),
            actual=str(total),
            pointer="/meta/total",
        )


def expect_lengths(snapshot: Snapshot) -> None:
    """Require full pages, and the remainder on the last page."""
    evidence(*snapshot)
    _pages(snapshot)
    total, seen = read.number(snapshot[0], "total"), set(Listing(snapshot).identifiers)
    if total != len(seen) and not _is_part(snapshot):
        raise CantTellYet(f"the list shows {len(seen)} items but has the total {total}", *snapshot)
    expect_lengths_for(total, snapshot, "items")


def expect_total_for(total: int, pages: Sequence[Exchange], *because: Exchange) -> None:
    """Require that pages state the number of all items; ``because`` are the exchanges that show it."""
    for response in pages:
        stated = read.number(response, "total")
        if stated != total:
            raise NonConformity(
                "the total is not the number of matching items",
                *because,
                response,
                expected=str(total),
                actual=str(stated),
                pointer="/meta/total",
            )


def expect_lengths_for(total: int, pages: Sequence[Exchange], what: str, *because: Exchange) -> None:
    """Require as many items on each page as its place gives it.

    Args:
        total: The number of items on all pages of the list.
        pages: Some of its pages.
        what: The items in words.
        because: The exchanges that show the total.
    """
    for response in pages:
        page, size = paging_of(response)
        right, found = max(0, min(size, total - (page - 1) * size)), len(read.items(response))
        if found != right:
            raise NonConformity(
                f"page {page} of {total} {what} with {size} per page contains {found}",
                *because,
                response,
                expected=f"{right} items",
                actual=f"{found} items",
                pointer="/data",
            )


@dataclass(frozen=True, slots=True)
class Bracket:
    """A snapshot of a list that other users were changing, with the list in one response after it.

    The contents of such a list can only be bounded. A snapshot within the bounds is correct; one outside them may be
    other users' doing.

    Attributes:
        snapshot: The snapshot.
        closing: The response after it, with the largest page like the first one.
        owned: Ids that must be in the list, as only the run changes them.
    """

    snapshot: Snapshot
    closing: Exchange
    owned: frozenset[str] = frozenset()

    @property
    def responses(self) -> Snapshot:
        """All of its responses."""
        return (*self.snapshot, self.closing)

    @property
    def sure(self) -> frozenset[str]:
        """Ids of the items that existed all the time: those listed before and after, and the run's own."""
        return self.owned | {*Listing(self.snapshot[:1]).identifiers} & {*Listing((self.closing,)).identifiers}

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the greatest number of items that the list had.

        Raises:
            CantTellYet: The list is too long for one response.
        """
        if max(read.number(response, "total") for response in self.responses) > MAX_PER_PAGE:
            raise CantTellYet("the list is too long for one response", *self.responses)
        return len(self.sure), len(self.owned | {*Listing(self.responses).identifiers})


def expect_partition_within(bracket: Bracket) -> None:
    """Require that the pages hold every item once that existed all the time.

    Raises:
        NonConformity: They do not, which other users may have caused.
        CantTellYet: There are more pages than were read.
    """
    evidence(*bracket.responses)
    page, size = paging_of(bracket.snapshot[-1])
    if page * size < max(read.number(response, "total") for response in bracket.responses):
        raise CantTellYet("there are more pages than the suite read", *bracket.responses)
    pages, sure = Listing(bracket.snapshot[1:]), bracket.sure
    expect_once(pages, sure)
    expect_all(pages, sorted(sure), _ABOUT, bracket.snapshot[0], bracket.closing)


def expect_total_within(bracket: Bracket) -> None:
    """Require each total to be between the least and the greatest possible number of items.

    Raises:
        NonConformity: A total is not, which other users may have caused.
        CantTellYet: The list is too long for one response.
    """
    least, most = bracket.bounds
    for response in bracket.responses:
        evidence(response)
        total = read.number(response, "total")
        if not least <= total <= most:
            message, expected = f"the total is {total}", f"{least} to {most}"
            raise NonConformity(message, response, expected=expected, actual=str(total), pointer="/meta/total")


def _is_part(snapshot: Snapshot) -> bool:
    """Whether a list has more pages than the suite reads."""
    page, size = paging_of(snapshot[-1])
    return page >= MOST_PAGES and page * size < read.number(snapshot[0], "total")


def _pages(snapshot: Snapshot) -> Listing:
    """Return the pages, if they cover the total or are as many as the suite reads."""
    if len(snapshot) == 1:
        raise CantTell("the first response did not say how many pages there are", snapshot[0])
    page, size = paging_of(snapshot[-1])
    if page * size < read.number(snapshot[0], "total") and not _is_part(snapshot):
        raise CantTellYet("there are more pages than the suite read", *snapshot[:2])
    return Listing(snapshot[1:])


def paging_of(response: Exchange) -> tuple[int, int]:
    """Return the requested page and size; another check judges whether meta repeats them."""
    asked = dict(response.request.query)
    return int(asked.get("page", 1)), int(asked.get("perPage", DEFAULT_PER_PAGE))
