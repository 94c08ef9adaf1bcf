"""What must hold of a list that was seen in one answer and in pages.

A look is the answer with the largest page, followed by the pages of another size from the first one on.
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

    Look = tuple[Exchange, ...]

MOST_PAGES: Final = 12
"""Pages that are looked at; of a list with more of them it is judged what these tell."""

_ABOUT: Final = "an item that exists"


def expect_served(look: Look) -> None:
    """Every page that exists is answered with a success."""
    total = read.number(look[0], "total")
    for response in look[1:]:
        evidence(response)
        page, size = _paging(response)
        if not response.succeeded and (page - 1) * size < total:
            raise NonConformity(
                f"page {page} of {total} items with {size} a page was refused",
                response,
                expected="200",
                actual=str(response.status),
            )


def expect_partition(look: Look, owned: Collection[str] = ()) -> None:
    """The pages hold everything, and everything once.

    Args:
        look: The look.
        owned: Ids that must be in the list.

    Raises:
        NonConformity: Something is in them twice, or is missing.
        CantTell: The total does not tell how many pages there are.
    """
    pages = _pages(look)
    ensure_one_total(look)
    known = set(owned) | set(_at_once(look))
    expect_once(pages)
    if _is_part(look):
        return
    if pages.total < len(known):
        raise CantTellYet(f"the list holds {len(known)} at least and counts {pages.total}", *look)
    expect_all(pages, sorted(known), _ABOUT, look[0])


def expect_total(look: Look, owned: Collection[str] = ()) -> None:
    """The total is the same in every answer, and the number of items on all pages."""
    evidence(*look)
    totals = {read.number(response, "total"): response for response in look}
    total = read.number(look[0], "total")
    if len(totals) > 1:
        words = " and ".join(map(str, sorted(totals)))
        raise NonConformity(
            "the total depends on the page", *totals.values(), expected="one total", actual=words, pointer="/meta/total"
        )
    seen = _distinct(look, owned)
    if total >= len(seen) and _is_part(look):
        return
    if total >= len(seen):
        holds(lambda: expect_partition(look, owned), "the pages do not hold everything once", *look)
        holds(lambda: [list_laws.page_length(response) for response in look], "a page is not full", *look)
    if total != len(seen):
        raise NonConformity(
            "the total is not the number of items",
            *look,
            expected=str(len(seen)),
            actual=str(total),
            pointer="/meta/total",
        )


def expect_lengths(look: Look, owned: Collection[str] = ()) -> None:
    """Every page holds as many as its size, and the last one what is left."""
    evidence(*look)
    _pages(look)
    total, seen = read.number(look[0], "total"), _distinct(look, owned)
    if total != len(seen) and not _is_part(look):
        raise CantTellYet(f"the list shows {len(seen)} and counts {total}", *look)
    for response in look:
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


def expect_in_place(look: Look, whole: int, among: Collection[str]) -> None:
    """Neighbouring pages of an ascending list hold what the places in the descending list say.

    Args:
        look: The descending list in one or several answers, then the pages.
        whole: How many of the answers are of the descending list; where they do not show all of it nothing is said.
        among: The ids of items that no other one shares its place with.
    """
    descending, pages = Listing(look[:whole]), Listing(look[whole:])
    places = {identifier: place for place, identifier in enumerate(reversed(descending.identifiers))}
    if len(places) != descending.total:
        return
    page, size = _paging(look[whole])
    shown = range((page - 1) * size, (page - 1 + len(pages.responses)) * size)
    wanted = [identifier for identifier in among if places.get(identifier) in shown]
    expect_all(pages, wanted, "an engagement that belongs on these pages", *descending.responses)


@dataclass(frozen=True, slots=True)
class Bracket:
    """A look at a list that others were changing, and the list once more, in one answer, after it.

    What it must hold can only be bounded. Who finds it within bounds knows that nothing is wrong; who does not may have
    met the others.

    Attributes:
        look: The look.
        closing: The answer after it, with the largest page like the first one.
        owned: Ids that must be in the list, as nobody but the run changes these.
    """

    look: Look
    closing: Exchange
    owned: frozenset[str] = frozenset()

    @property
    def responses(self) -> Look:
        """All of it."""
        return (*self.look, self.closing)

    @property
    def sure(self) -> frozenset[str]:
        """Ids of what was there all the time: before and after it, or the run's own."""
        return self.owned | {*Listing(self.look[:1]).identifiers} & {*Listing((self.closing,)).identifiers}

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
    page, size = _paging(bracket.look[-1])
    if page * size < max(read.number(response, "total") for response in bracket.responses):
        raise CantTellYet("there are more pages than were looked at", *bracket.responses)
    pages, sure = Listing(bracket.look[1:]), bracket.sure
    expect_once(pages, sure)
    expect_all(pages, sorted(sure), _ABOUT, bracket.look[0], bracket.closing)


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


def _is_part(look: Look) -> bool:
    """Whether a list has more pages than are ever looked at."""
    page, size = _paging(look[-1])
    return page >= MOST_PAGES and page * size < read.number(look[0], "total")


def _pages(look: Look) -> Listing:
    """The pages, if they reach as far as the total, or are as many as are looked at."""
    if len(look) == 1:
        raise CantTell("the first answer did not tell how many pages there are", look[0])
    page, size = _paging(look[-1])
    if page * size < read.number(look[0], "total") and not _is_part(look):
        raise CantTellYet("there are more pages than were looked at", *look[:2])
    return Listing(look[1:])


def _paging(response: Exchange) -> tuple[int, int]:
    """The page and the size that were asked for; whether meta names them is judged by itself."""
    asked = dict(response.request.query)
    return int(asked.get("page", 1)), int(asked.get("perPage", list_laws.DEFAULT_PER_PAGE))


def _at_once(look: Look) -> list[str]:
    """The ids of the one answer, where it can hold everything; else none."""
    return Listing(look[:1]).identifiers if read.number(look[0], "total") <= LARGEST_PAGE else []


def _distinct(look: Look, owned: Collection[str]) -> set[str]:
    return set(owned) | set(Listing(look).identifiers)
