"""Lists: one or several responses, read as pages of one list, and assertions about them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

from conformance.interface.list_parameters import DEFAULT_PER_PAGE, MAX_PER_PAGE
from conformance.oracle import read
from conformance.oracle.outcomes import CantTell, NonConformity, evidence
from conformance.oracle.rendering import render
from conformance.oracle.timestamps import parse_timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from conformance.wire.exchange import Exchange

    Key = Callable[[Mapping[str, Any]], "Comparable | None"]

Snapshot = tuple["Exchange", ...]
"""Responses to requests for a list that belong together."""


class CantTellYet(CantTell):
    """Responses contradict each other, maybe because other users changed something between them: a retry may help."""


class Comparable(Protocol):
    """A value that a list can be sorted by."""

    def __lt__(self, other: Any, /) -> bool:  # noqa: ANN401 - as in the standard library's own protocol
        """Whether it sorts before another."""


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a list and its place."""

    value: dict[str, Any]
    at: Exchange
    place: int

    @property
    def identifier(self) -> str:
        """The id of the item."""
        return read.text(self.value, "id", self.at)

    @property
    def pointer(self) -> str:
        """The JSON pointer of the item in its response."""
        return f"/data/{self.place}"


@dataclass(frozen=True, slots=True)
class Listing:
    """One snapshot of a list.

    Attributes:
        responses: The responses, in the order of the pages.
    """

    responses: tuple[Exchange, ...]

    @property
    def items(self) -> list[Item]:
        """All items, page by page."""
        return [
            Item(value, response, place)
            for response in self.responses
            for place, value in enumerate(read.items(response))
        ]

    @property
    def identifiers(self) -> list[str]:
        """The ids of all items, in their order."""
        return [item.identifier for item in self.items]

    @property
    def total(self) -> int:
        """The total of the first response."""
        return read.number(self.responses[0], "total")

    @property
    def may_go_on(self) -> bool:
        """Whether the last page is as full as a page can be, so that another may follow."""
        return len(read.items(self.responses[-1])) >= MAX_PER_PAGE


def ensure_one_total(responses: Sequence[Exchange]) -> None:
    """Ensure that pages that are compared have one total.

    Raises:
        CantTellYet: Other users changed the list between the pages, or its total is wrong, which another check judges.
    """
    if len({read.number(response, "total") for response in responses}) > 1:
        raise CantTellYet("the pages have different totals", *responses)


def contents(responses: Sequence[Exchange]) -> list[object]:
    """Return the contents of lists, which are equal in two snapshots unless the organization changed in between."""
    named = ("id", "name", "status", "role", "updatedAt")
    return [
        (
            read.meta(response).get("total"),
            [tuple(repr(item.get(name)) for name in named) for item in read.items(response)],
        )
        for response in responses
        if response.succeeded
    ]


def time_key(field: str) -> Key:
    """Return the key function of lists that are sorted by a time."""
    return lambda item: parse_timestamp(item.get(field))


def name_among(names: Collection[str]) -> Key:
    """Return the key function of lists sorted by name, for names that every collation sorts in one order."""

    def key(item: Mapping[str, Any]) -> Comparable | None:
        name = item.get("name")
        return name if isinstance(name, str) and name in names else None

    return key


def expect_order(listing: Listing, field: str, key: Key, *, descending: bool) -> int:
    """Require an order of a list across its pages; items without a key do not count.

    Returns:
        The number of different keys compared.
    """
    evidence(*listing.responses)
    known = [(item, value) for item in listing.items if (value := key(item.value)) is not None]
    for (before, previous), (item, other) in pairwise(known):
        if previous < other if descending else other < previous:
            raise NonConformity(
                f"a list is not sorted by {field}",
                *listing.responses,
                expected=f"{field} {'descending' if descending else 'ascending'}",
                actual=f"{render(item.value.get(field))} after {render(before.value.get(field))}",
                pointer=f"{item.pointer}/{field}",
            )
    return len({repr(value) for _, value in known})


def expect_once(listing: Listing, among: Collection[str] | None = None) -> None:
    """Require that no item is in a list twice.

    Args:
        listing: The list.
        among: The ids that count; all by default.
    """
    evidence(*listing.responses)
    places: dict[str, Item] = {}
    for item in (candidate for candidate in listing.items if among is None or candidate.identifier in among):
        first = places.setdefault(item.identifier, item)
        if first is not item:
            raise NonConformity(
                "an item is in the list twice",
                *dict.fromkeys((first.at, item.at)),
                expected="every item once",
                actual=f"{render(item.identifier)} twice",
                pointer=item.pointer,
            )


def expect_all(listing: Listing, wanted: Collection[str], of: str, *others: Exchange) -> None:
    """Require that a list holds all wanted items."""
    evidence(*listing.responses, *others)
    seen = set(listing.identifiers)
    missing = [identifier for identifier in wanted if identifier not in seen]
    if missing:
        raise NonConformity(
            f"{of} is missing from the list",
            *listing.responses,
            *others,
            expected=f"all {len(wanted)} of them",
            actual=f"{len(missing)} missing, the first is {render(missing[0])}",
            pointer="/data",
        )


def expect_filtered(listing: Listing, name: str, value: str) -> None:
    """Require that a filtered list holds no other value."""
    evidence(*listing.responses)
    for item in listing.items:
        given = item.value.get(name)
        if isinstance(given, str) and given != value:
            raise NonConformity(
                f"a list filtered by {name} {value} contains another {name}",
                item.at,
                expected=render(value),
                actual=render(given),
                pointer=f"{item.pointer}/{name}",
            )


def expect_count(listing: Listing) -> None:
    """Require that the total of a list is the number of its items; if the last page is full there may be more."""
    evidence(*listing.responses)
    found, total = len(listing.items), listing.total
    if total != found and not (listing.may_go_on and total > found):
        raise NonConformity(
            "the total is not the number of listed items",
            *listing.responses,
            expected=str(found),
            actual=str(total),
            pointer="/meta/total",
        )


def cant_tell_unless(judge: Callable[[], object], why: str, *at: Exchange) -> None:
    """Ensure what another requirement judges; if that fails, this check is undecided."""
    try:
        judge()
    except NonConformity as fault:
        raise CantTellYet(f"{why}: {fault.message}", *at) from fault


def neighbours(position: int, count: int, total: int) -> tuple[int, int]:
    """Return a page and a page size with which the page's end divides a block of items about in the middle.

    Args:
        position: The number of items before the block.
        count: The number of items in the block; 0 for the whole list.
        total: The number of all items.

    Returns:
        The page before the division, and the page size: 1 to 100, but not the default.
    """
    start, length = (position, count) if count else (0, total)
    first = max(1, start + length // 3)
    # This many successive numbers contain a multiple of every size, regardless of the total that the service reports.
    wanted = range(first, min(max(2, start + 2 * length // 3 + 1), first + 2 * MAX_PER_PAGE))
    found = max(_divisions(wanted), default=(1, wanted[0]))
    return found[1] // found[0], found[0]


def _divisions(wanted: range) -> Iterator[tuple[int, int]]:
    """Yield page sizes of which a multiple is a wanted place, with that place.

    The default size is left out: it would not show that the service ignores the requested size.
    """
    for size in range(1, MAX_PER_PAGE + 1):
        for end in wanted:
            if size != DEFAULT_PER_PAGE and end % size == 0:
                yield size, end
