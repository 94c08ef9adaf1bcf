"""Looks at lists: one or several answers of a list, read as what they are pages of."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Protocol

from conformance.oracle import read
from conformance.oracle.list_laws import DEFAULT_PER_PAGE, MAX_PER_PAGE
from conformance.oracle.outcomes import CantTell, NonConformity, evidence
from conformance.oracle.rendering import render
from conformance.oracle.timestamps import parse_timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from conformance.wire.exchange import Exchange

    Key = Callable[[Mapping[str, Any]], "Comparable | None"]

LARGEST_PAGE: Final = 100
"""Items on the largest page that a list can be asked for."""


class CantTellYet(CantTell):
    """Answers do not fit together, maybe because others changed something between them: another look may help."""


class Comparable(Protocol):
    """What a list can be in the order of."""

    def __lt__(self, other: Any, /) -> bool:  # noqa: ANN401 - as in the standard library's own protocol
        """Whether it comes before another."""


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a list and where it stands."""

    value: dict[str, Any]
    at: Exchange
    place: int

    @property
    def identifier(self) -> str:
        """The id of the item."""
        return read.text(self.value, "id", self.at)

    @property
    def pointer(self) -> str:
        """Where it stands in its answer."""
        return f"/data/{self.place}"


@dataclass(frozen=True, slots=True)
class Listing:
    """One look at a list.

    Attributes:
        responses: What came, in the order of the pages.
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
        """How many items there are, by the first answer."""
        return read.number(self.responses[0], "total")

    @property
    def may_go_on(self) -> bool:
        """Whether the last page is as full as a page can be, so that there may be another one."""
        return len(read.items(self.responses[-1])) >= LARGEST_PAGE


def ensure_one_total(responses: Sequence[Exchange]) -> None:
    """Pages that are compared with each other were of one list: they tell one total.

    Raises:
        CantTellYet: Others have changed the list between them, or its total is wrong, which is judged by itself.
    """
    if len({read.number(response, "total") for response in responses}) > 1:
        raise CantTellYet("the pages tell different totals", *responses)


def contents(responses: Sequence[Exchange]) -> list[object]:
    """What of some lists must be the same in two looks for the organization to have been at rest."""
    named = ("id", "name", "status", "role", "updatedAt")
    return [
        (
            read.meta(response).get("total"),
            [tuple(repr(item.get(name)) for name in named) for item in read.items(response)],
        )
        for response in responses
        if response.succeeded
    ]


def time_of(field: str) -> Key:
    """The key of lists that are sorted by a time."""

    def key(item: Mapping[str, Any]) -> Comparable | None:
        text = item.get(field)
        return parse_timestamp(text) if isinstance(text, str) else None

    return key


def name_among(names: Collection[str]) -> Key:
    """The key of lists that are sorted by name: names that any collation puts in one order, and no others."""

    def key(item: Mapping[str, Any]) -> Comparable | None:
        name = item.get("name")
        return name if isinstance(name, str) and name in names else None

    return key


def expect_order(listing: Listing, field: str, key: Key, *, descending: bool) -> int:
    """A list is in an order, across its pages; items whose key cannot be told do not count.

    Returns:
        How many different keys were compared.
    """
    evidence(*listing.responses)
    known = [(item, value) for item in listing.items if (value := key(item.value)) is not None]
    for (_, previous), (item, other) in pairwise(known):
        if previous < other if descending else other < previous:
            raise NonConformity(
                f"a list is not in the order of {field}",
                *listing.responses,
                expected=f"{field} {'descending' if descending else 'ascending'}",
                actual=f"{render(item.value.get(field))} after {render(_before(known, item).value.get(field))}",
                pointer=f"{item.pointer}/{field}",
            )
    return len({repr(value) for _, value in known})


def _before(known: Sequence[tuple[Item, Comparable]], item: Item) -> Item:
    place = next(place for place, (other, _) in enumerate(known) if other is item)
    return known[place - 1][0]


def expect_once(listing: Listing, among: Collection[str] | None = None) -> None:
    """Nothing stands in a list twice.

    Args:
        listing: The list.
        among: The ids that count; all where not given.
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
    """A list holds all that it must."""
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


def expect_no_gap(listing: Listing, keys: Mapping[str, Comparable], of: Key) -> int:
    """What belongs between two items of neighbouring pages is there.

    Args:
        listing: Neighbouring pages of a sorted list.
        keys: The keys of items that exist, by id.
        of: The key by which the list is sorted.

    Returns:
        How many of those items belong there.
    """
    shown_keys = [value for item in listing.items if (value := of(item.value)) is not None]
    if not shown_keys:
        return 0
    first, last = min(shown_keys, key=_ordered), max(shown_keys, key=_ordered)
    wanted = [identifier for identifier, value in keys.items() if first < value < last]
    expect_all(listing, wanted, "an engagement that belongs on these pages")
    return len(wanted)


def _ordered(value: Comparable) -> Any:  # noqa: ANN401 - min and max ask for no more than an order
    return value


def expect_filtered(listing: Listing, name: str, value: str) -> None:
    """A filtered list holds nothing else."""
    evidence(*listing.responses)
    for item in listing.items:
        given = item.value.get(name)
        if isinstance(given, str) and given != value:
            raise NonConformity(
                f"a list filtered by {name} {value} holds something else",
                item.at,
                expected=render(value),
                actual=render(given),
                pointer=f"{item.pointer}/{name}",
            )


def expect_count(listing: Listing) -> None:
    """The total of a list is the number of its items; where the last page is full there may be more."""
    evidence(*listing.responses)
    found, total = len(listing.items), listing.total
    if total != found and not (listing.may_go_on and total > found):
        raise NonConformity(
            "the total does not count what the list holds",
            *listing.responses,
            expected=str(found),
            actual=str(total),
            pointer="/meta/total",
        )


def holds(judge: Callable[[], object], why: str, *at: Exchange) -> None:
    """Something that another requirement judges holds; else nothing can be said here."""
    try:
        judge()
    except NonConformity as fault:
        raise CantTellYet(f"{why}: {fault.message}", *at) from fault


def neighbours(position: int, count: int, total: int) -> tuple[int, int]:
    """A page and a size of pages such that its end divides a block of items about in the middle.

    Args:
        position: How many items stand before the block.
        count: How many items the block has; 0 for the whole list.
        total: How many items there are.

    Returns:
        The page before the division, and the size of pages, 1 to 100 but not the one that they have unasked.
    """
    start, length = (position, count) if count else (0, total)
    first = max(1, start + length // 3)
    # Among so many successive numbers there is a multiple of every size, whatever total a service tells.
    wanted = range(first, min(max(2, start + 2 * length // 3 + 1), first + 2 * MAX_PER_PAGE))
    found = max(_divisions(wanted), default=(1, wanted[0]))
    return found[1] // found[0], found[0]


def unasked_neighbours(position: int, count: int) -> int | None:
    """A page of the size that a list has unasked, whose end divides a block of items, two on each side at least.

    Args:
        position: How many items stand before the block.
        count: How many items the block has.

    Returns:
        The page before the division; None where no page ends within the block.
    """
    ends = range(-(-(position + 2) // DEFAULT_PER_PAGE) * DEFAULT_PER_PAGE, position + count - 1, DEFAULT_PER_PAGE)
    middle = position + count / 2
    return min(ends, key=lambda end: abs(end - middle)) // DEFAULT_PER_PAGE if ends else None


def _divisions(wanted: range) -> Iterator[tuple[int, int]]:
    """Sizes of pages of which some number ends at a wanted place, with that place.

    The size that pages have unasked is none of them: it would not show that the size that was asked for is ignored.
    """
    for size in range(1, MAX_PER_PAGE + 1):
        for end in wanted:
            if size != DEFAULT_PER_PAGE and end % size == 0:
                yield size, end
