"""Pages of a list, compared with the whole list or with a known part of it."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Final

from conformance.interface.list_parameters import MAX_PER_PAGE
from conformance.oracle import read
from conformance.oracle.lists.listing import (
    CantTellYet,
    Listing,
    ensure_one_total,
    expect_once,
    expect_order,
    name_among,
    time_key,
)
from conformance.oracle.lists.paging import expect_lengths_for, expect_total_for, paging_of
from conformance.oracle.outcomes import NonConformity
from conformance.oracle.rendering import render

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from conformance.oracle.lists.listing import Item, Key, Snapshot

_NO_LETTER: Final = re.compile("[^a-z0-9]")


class Aspect(Enum):
    """A property of a page."""

    TOTAL = auto()
    LENGTH = auto()
    ORDER = auto()
    CONTENTS = auto()


class Deviation(NonConformity):
    """A page that differs from what the list implies.

    Attributes:
        aspect: The first property that differs; the later ones depend on it.
        orders: The orders in which the page would be right, as pairs of texts.
    """

    def __init__(self, aspect: Aspect, fault: NonConformity, orders: frozenset[tuple[str, str]] = frozenset()) -> None:
        super().__init__(
            fault.message, *fault.exchanges, expected=fault.expected, actual=fault.actual, pointer=fault.pointer
        )
        self.aspect = aspect
        self.orders = orders


@dataclass(frozen=True, slots=True)
class Known:
    """The known part of a list.

    Attributes:
        responses: How many responses of a snapshot show the list.
        is_whole: Whether they show all of it, sorted by name. Otherwise they are neighbouring pages in descending
            order, with the filter and the field of the pages to judge.
        names: Names that every collation puts in the same order.
        is_own: Whether an engagement with a name is the run's.
        skipped: The number of items before those pages.
    """

    responses: int
    is_whole: bool
    names: Collection[str]
    is_own: Callable[[object], bool]
    skipped: int = 0


def expect_slice(snapshot: Snapshot, known: Known) -> bool:
    """Require neighbouring pages to be the part of the known list that they were requested for.

    Items of equal keys may be in any order. A list that was requested without a direction may have either.

    Returns:
        Whether the pages show an order.

    Raises:
        Deviation: A page is not what the list implies.
        CantTellYet: Other users changed the list meanwhile.
    """
    shown, pages = Listing(snapshot[: known.responses]), Listing(snapshot[known.responses :])
    asked = dict(pages.responses[0].request.query)
    status, sort = asked.get("status"), asked.get("sort")
    is_whole, items = known.is_whole, [item for item in shown.items if status in {None, item.value.get("status")}]
    if not is_whole:
        ensure_one_total(snapshot)
    elif (known.responses > 1 or shown.total > MAX_PER_PAGE) and {
        read.number(response, "total") for response in shown.responses
    } != {len({*shown.identifiers})}:
        raise CantTellYet("the pages of the whole list do not fit together", *shown.responses)
    total = len(items) if is_whole else shown.total
    _judge(Aspect.TOTAL, lambda: expect_total_for(total, pages.responses))
    _judge(Aspect.LENGTH, lambda: expect_lengths_for(total, pages.responses, "matching items"))
    _judge(Aspect.CONTENTS, lambda: expect_once(pages))
    if is_whole:
        _judge(Aspect.CONTENTS, lambda: _expect_among(pages, items))
    if sort is None:
        return False
    part = _Part(items, known, pages, None if is_whole else total)
    return _expect_some_order(part, sort, asked.get("order", ""))


def _expect_some_order(part: _Part, sort: str, order: str) -> bool:
    """Require the order that was requested, or either one if none was; return whether the pages show an order."""
    faults: list[Deviation] = []
    for descending in {"asc": (False,), "desc": (True,)}.get(order, (True, False)):
        try:
            key = part.key(sort)
            _judge(Aspect.ORDER, partial(expect_order, part.pages, sort, key, descending=descending))
            _judge(Aspect.CONTENTS, partial(part.expect_in_place, sort, descending=descending))
        except Deviation as fault:
            faults.append(Deviation(fault.aspect, fault, frozenset(part.orders(sort, descending=descending))))
        else:
            return len({repr(value) for item in part.pages.items if (value := key(item.value)) is not None}) > 1
    raise faults[0]


@dataclass(frozen=True, slots=True)
class _Part:
    """The known items of a list, and pages of it.

    Attributes:
        items: The items that match the filter: all of them, or neighbouring ones in descending order.
        known: What is known beside them.
        pages: The pages.
        total: The number of all matching items if these are not all; else None.
    """

    items: list[Item]
    known: Known
    pages: Listing
    total: int | None

    def key(self, sort: str) -> Key:
        """Return the key function of an order."""
        return name_among(self.known.names) if sort == "name" else time_key(sort)

    def expect_in_place(self, sort: str, *, descending: bool) -> None:
        """Require each item on the pages to be the one of its place, or another one of the same time."""
        key, items = self.key(sort), self.items
        if self.total is None:
            items = _by_name(items, key) if sort == "name" else _by_time(items, key)
        alone = _alone(items, self.known) if sort == "name" else None

        def mark(item: Item) -> object:
            return key(item.value) if alone is None else item.identifier if item.identifier in alone else None

        after = 0 if self.total is None else self.total - self.known.skipped - len(items)
        page, size = paging_of(self.pages.responses[0])
        ordered = items if descending else items[::-1]
        for place, item in enumerate(
            self.pages.items, (page - 1) * size - (self.known.skipped if descending else after)
        ):
            if 0 <= place < len(ordered) and mark(item) != mark(ordered[place]):
                raise NonConformity(
                    "a page does not contain the items that belong on it",
                    item.at,
                    ordered[place].at,
                    expected=f"{render(ordered[place].value.get('name'))} or one of the same place in the order",
                    actual=render(item.value.get("name")),
                    pointer=item.pointer,
                )

    def orders(self, sort: str, *, descending: bool) -> Iterator[tuple[str, str]]:
        """Yield the orders in which the items are in place, by field and direction or by what they have in common."""
        for other, downwards in product(
            ("createdAt", "updatedAt", "name") if self.total is None else (), (True, False)
        ):
            with suppress(NonConformity, CantTellYet):
                self.expect_in_place(other, descending=downwards)
                fields = (other, "as requested") if other == sort else (other,)
                yield from product(
                    fields, ("down" if downwards else "up", "as requested" if downwards is descending else "opposite")
                )


def _judge(aspect: Aspect, judge: Callable[[], object]) -> None:
    try:
        judge()
    except NonConformity as fault:
        raise Deviation(aspect, fault) from fault


def _expect_among(pages: Listing, items: list[Item]) -> None:
    wanted = {item.identifier for item in items}
    for item in pages.items:
        if item.identifier not in wanted:
            raise NonConformity(
                "a page contains an item that the whole list does not contain",
                item.at,
                expected="only matching items",
                actual=render(item.identifier),
                pointer=item.pointer,
            )


def _by_name(items: list[Item], key: Key) -> list[Item]:
    """Return the items of the list by name in descending order, whichever order they were listed in."""
    known = [value for item in items if (value := key(item.value)) is not None]
    return items[::-1] if len(known) > 1 and known[0] < known[-1] else items


def _by_time(items: list[Item], key: Key) -> list[Item]:
    moments = [(value, item) for item in items if (value := key(item.value)) is not None]
    if len(moments) < len(items):
        raise CantTellYet("the list does not show every time", *{item.at for item in items})
    return [item for _, item in sorted(moments, key=lambda pair: pair[0], reverse=True)]


def _alone(items: list[Item], known: Known) -> frozenset[str]:
    """Return the ids of the run's engagements whose names no collation takes for those of others."""
    names = {item.identifier: str(item.value.get("name")) for item in items}
    letters = {identifier: _NO_LETTER.sub("", name.lower()) for identifier, name in names.items()}
    numbers = Counter(letters.values())
    return frozenset(
        identifier
        for identifier, name in names.items()
        if numbers[letters[identifier]] == 1
        and name.isascii()
        and (known.is_own(name) if known.is_whole else name in known.names)
    )
