"""What must hold of a list that was seen in one answer and in pages.

A snapshot is the answer with the largest page, followed by the pages of another size from the first one on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.oracle import list_laws, read
from conformance.oracle.listing import (
    LARGEST_PAGE,
    CantTellYet,
    Listing,
    ensure_one_total,
    expect_all,
    expect_once,
    holds,
)
from conformance.oracle.outcomes import CantTell, NonConformity, evidence

if TYPE_CHECKING:
    from collections.abc import Collection

    from conformance.wire.exchange import Exchange

    Snapshot = tuple[Exchange, ...]

MOST_PAGES: Final = 12
"""Pages that are looked at; of a list with more of them it is judged what these tell."""

_ABOUT: Final = "an item that exists"


def expect_served(snapshot: Snapshot) -> None:
    """Every page that exists is answered with a success."""
    total = read.number(snapshot[0], "total")
    for response in snapshot[1:]:
        evidence(response)
        page, size = _paging(response)
        if not response.succeeded and (page - 1) * size < total:
            raise NonConformity(
                f"page {page} of {total} items with {size} a page was refused",
                response,
                expected="200",
                actual=str(response.status),
            )


def expect_partition(snapshot: Snapshot, owned: Collection[str] = ()) -> None:
    """The pages hold everything, and everything once.

    Args:
        snapshot: The snapshot.
        owned: Ids that must be in the list.

    Raises:
        NonConformity: Something is in them twice, or is missing.
        CantTell: The total does not tell how many pages there are.
    """
    pages = _pages(snapshot)
    ensure_one_total(snapshot)
    known = set(owned) | set(_at_once(snapshot))
    expect_once(pages)
    if _is_part(snapshot):
        return
    if pages.total < len(known):
        raise CantTellYet(f"the list holds {len(known)} at least and counts {pages.total}", *snapshot)
    expect_all(pages, sorted(known), _ABOUT, snapshot[0])


def expect_total(snapshot: Snapshot, owned: Collection[str] = ()) -> None:
    """The total is the same in every answer, and the number of items on all pages."""
    evidence(*snapshot)
    totals = {read.number(response, "total"): response for response in snapshot}
    total = read.number(snapshot[0], "total")
    if len(totals) > 1:
        words = " and ".join(map(str, sorted(totals)))
        raise NonConformity(
            "the total depends on the page", *totals.values(), expected="one total", actual=words, pointer="/meta/total"
        )
    seen = _distinct(snapshot, owned)
    if total >= len(seen) and _is_part(snapshot):
        return
    if total >= len(seen):
        holds(lambda: expect_partition(snapshot, owned), "the pages do not hold everything once", *snapshot)
        holds(lambda: [list_laws.page_length(response) for response in snapshot], "a page is not full", *snapshot)
    if total != len(seen):
        raise NonConformity(
            "the total is not the number of items",
            *snapshot,
            expected=str(len(seen)),
            actual=str(total),
            pointer="/meta/total",
        )


def expect_lengths(snapshot: Snapshot, owned: Collection[str] = ()) -> None:
    """Every page holds as many as its size, and the last one what is left."""
    evidence(*snapshot)
    _pages(snapshot)
    total, seen = read.number(snapshot[0], "total"), _distinct(snapshot, owned)
    if total != len(seen) and not _is_part(snapshot):
        raise CantTellYet(f"the list shows {len(seen)} and counts {total}", *snapshot)
    for response in snapshot:
        page, size = _paging(response)
        right = max(0, min(size, total - (page - 1) * size))
        found = len(read.items(response))
        if found != right:
            raise NonConformity(
                f"page {page} of {total} items with {size} a page holds {found}",
                response,
                expected=f"{right} items",
                actual=f"{found} items",
                pointer="/data",
            )


def expect_in_place(snapshot: Snapshot, whole: int, among: Collection[str]) -> None:
    """Neighbouring pages of an ascending list hold what the places in the descending list say.

    Args:
        snapshot: The descending list in one or several answers, then the pages.
        whole: How many of the answers are of the descending list; where they do not show all of it nothing is said.
        among: The ids of items that no other one shares its place with.
    """
    descending, pages = Listing(snapshot[:whole]), Listing(snapshot[whole:])
    places = {identifier: place for place, identifier in enumerate(reversed(descending.identifiers))}
    if len(places) != descending.total:
        return
    page, size = _paging(snapshot[whole])
    shown = range((page - 1) * size, (page - 1 + len(pages.responses)) * size)
    wanted = [identifier for identifier in among if places.get(identifier) in shown]
    expect_all(pages, wanted, "an engagement that belongs on these pages", *descending.responses)


@dataclass(frozen=True, slots=True)
class Bracket:
    """A snapshot at a list that others were changing, and the list once more, in one answer, after it.

    What it must hold can only be bounded. Who finds it within bounds knows that nothing is wrong; who does not may have
    met the others.

    Attributes:
        snapshot: The snapshot.
        closing: The answer after it, with the largest page like the first one.
        owned: Ids that must be in the list, as nobody but the run changes these.
    """

    snapshot: Snapshot
    closing: Exchange
    owned: frozenset[str] = frozenset()

    @property
    def responses(self) -> Snapshot:
        """All of it."""
        return (*self.snapshot, self.closing)

    @property
    def sure(self) -> frozenset[str]:
        """Ids of what was there all the time: before and after it, or the run's own."""
        return self.owned | {*Listing(self.snapshot[:1]).identifiers} & {*Listing((self.closing,)).identifiers}

    @property
    def bounds(self) -> tuple[int, int]:
        """How many items the list had at least and at most.

        Raises:
            CantTellYet: It is too long for that.
        """
        if max(read.number(response, "total") for response in self.responses) > LARGEST_PAGE:
            raise CantTellYet("the list is too long for one answer", *self.responses)
        return len(self.sure), len(self.owned | {*Listing(self.responses).identifiers})


def expect_partition_within(bracket: Bracket) -> None:
    """The pages hold everything once that was there all the time.

    Raises:
        NonConformity: They do not, which others may have brought about.
        CantTellYet: There are more pages than were looked at.
    """
    evidence(*bracket.responses)
    page, size = _paging(bracket.snapshot[-1])
    if page * size < max(read.number(response, "total") for response in bracket.responses):
        raise CantTellYet("there are more pages than were looked at", *bracket.responses)
    pages, sure = Listing(bracket.snapshot[1:]), bracket.sure
    expect_once(pages, sure)
    expect_all(pages, sorted(sure), _ABOUT, bracket.snapshot[0], bracket.closing)


def expect_total_within(bracket: Bracket) -> None:
    """Each total lies between the least and the most that there can have been.

    Raises:
        NonConformity: It does not, which others may have brought about.
        CantTellYet: The list is too long to tell.
    """
    least, most = bracket.bounds
    for response in bracket.responses:
        evidence(response)
        total = read.number(response, "total")
        _expect_between(f"the total is {total}", total, (least, most), response, "/meta/total")


def expect_lengths_within(bracket: Bracket) -> None:
    """Each page holds as many as its size, or what can have been left.

    Raises:
        NonConformity: It does not, which others may have brought about.
        CantTellYet: The list is too long to tell.
    """
    counts = bracket.bounds
    for response in bracket.responses:
        evidence(response)
        page, size = _paging(response)
        least, most = (max(0, min(size, count - (page - 1) * size)) for count in counts)
        found = len(read.items(response))
        _expect_between(f"page {page} with {size} a page holds {found}", found, (least, most), response, "/data")


def _expect_between(message: str, found: int, bounds: tuple[int, int], response: Exchange, pointer: str) -> None:
    least, most = bounds
    if not least <= found <= most:
        raise NonConformity(message, response, expected=f"{least} to {most}", actual=str(found), pointer=pointer)


def _is_part(snapshot: Snapshot) -> bool:
    """Whether a list has more pages than are ever looked at."""
    page, size = _paging(snapshot[-1])
    return page >= MOST_PAGES and page * size < read.number(snapshot[0], "total")


def _pages(snapshot: Snapshot) -> Listing:
    """The pages, if they reach as far as the total, or are as many as are looked at."""
    if len(snapshot) == 1:
        raise CantTell("the first answer did not tell how many pages there are", snapshot[0])
    page, size = _paging(snapshot[-1])
    if page * size < read.number(snapshot[0], "total") and not _is_part(snapshot):
        raise CantTellYet("there are more pages than were looked at", *snapshot[:2])
    return Listing(snapshot[1:])


def _paging(response: Exchange) -> tuple[int, int]:
    """The page and the size that were asked for; whether meta names them is judged by itself."""
    asked = dict(response.request.query)
    return int(asked.get("page", 1)), int(asked.get("perPage", list_laws.DEFAULT_PER_PAGE))


def _at_once(snapshot: Snapshot) -> list[str]:
    """The ids of the one answer, where it can hold everything; else none."""
    return Listing(snapshot[:1]).identifiers if read.number(snapshot[0], "total") <= LARGEST_PAGE else []


def _distinct(snapshot: Snapshot, owned: Collection[str]) -> set[str]:
    return set(owned) | set(Listing(snapshot).identifiers)
