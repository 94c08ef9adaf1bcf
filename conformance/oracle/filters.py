"""What must hold of lists with a filter, beside the list without one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from conformance.oracle import read
from conformance.oracle.judgement import NonConformity, Undecided, judged
from conformance.oracle.listing import Listing, expect_all, expect_count, expect_filtered, holds
from conformance.oracle.words import shown

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from conformance.wire.exchange import Exchange

FULL: Final = 100
"""Items on the pages that are compared; a full one may have others behind it."""


def expect_found(answer: Exchange, name: str, value: str, wanted: Collection[str], unwanted: Collection[str]) -> None:
    """A filtered list holds what it must, and nothing else.

    Args:
        answer: The list with the filter.
        name: The field that is filtered by.
        value: Its value.
        wanted: Ids that must be in the list.
        unwanted: Ids that must not.
    """
    listing = Listing((answer,))
    expect_filtered(listing, name, value)
    seen = set(listing.identifiers)
    wrong = [identifier for identifier in unwanted if identifier in seen]
    if wrong:
        raise NonConformity(
            f"a list of {name} {value} holds another one",
            answer,
            expected=f"none of {name} other than {value}",
            actual=f"{len(wrong)} of another {name}, the first is {shown(wrong[0])}",
            pointer="/data",
        )
    if not seen.issuperset(wanted) and listing.total > len(listing.items):
        raise Undecided("the page does not hold all that is counted", answer)
    expect_all(listing, sorted(wanted), f"an item of {name} {value}")


def expect_counts(
    name: str, filtered: Mapping[str, Exchange], everything: Exchange, known: Mapping[str, Collection[str]]
) -> None:
    """Each total counts what matches, and together they count everything.

    Args:
        name: The field that is filtered by.
        filtered: The list of each value.
        everything: The list without a filter.
        known: For each value, ids of items that have it.

    Raises:
        NonConformity: A total is wrong.
        Undecided: The lists themselves are not what they must be, so that nothing can be said of their totals.
    """
    holds(lambda: expect_count(Listing((everything,)), full=FULL), "the total without a filter is wrong", everything)
    holds(lambda: expect_both(everything, known), "the list is not complete", everything)
    for value, answer in filtered.items():
        found = partial(expect_found, answer, name, value, known.get(value, ()), ())
        holds(found, "the filter does not hold", answer)
        expect_count(Listing((answer,)), full=FULL)
    parts = {value: read.number(answer, "total") for value, answer in filtered.items()}
    total = read.number(everything, "total")
    if sum(parts.values()) != total:
        raise NonConformity(
            f"the totals of each {name} do not add up to the total of all",
            everything,
            *filtered.values(),
            expected=str(total),
            actual=" + ".join(f"{count} {value}" for value, count in parts.items()),
            pointer="/meta/total",
        )


def expect_same_as_all(name: str, filtered: Mapping[str, Exchange], everything: Exchange) -> None:
    """Each filtered list holds just the items of its value that the list without a filter holds."""
    items = Listing((everything,)).items
    judged(everything)
    for value, answer in filtered.items():
        wanted = [item.identifier for item in items if item.value.get(name) == value]
        others = [item.identifier for item in items if item.value.get(name) != value]
        expect_found(answer, name, value, wanted, others)


def expect_both(everything: Exchange, values: Mapping[str, Collection[str]]) -> None:
    """The list without a filter holds items of every value.

    Args:
        everything: The list.
        values: For each value, the ids of items that have it; one of them at least must be there.
    """
    judged(everything)
    seen = set(Listing((everything,)).identifiers)
    missing = [value for value, identifiers in values.items() if identifiers and not seen.intersection(identifiers)]
    if missing and (len(missing) == len(values) or len(seen) >= FULL):
        raise Undecided("the list holds nothing of what must be in it", everything)
    if missing:
        raise NonConformity(
            f"the list without a filter holds nothing that is {missing[0]}",
            everything,
            expected=f"items that are {' and '.join(values)}",
            actual=f"none of {len(values[missing[0]])} that are {missing[0]}",
            pointer="/data",
        )


def expect_as_read(read_one: Exchange, lists: Sequence[Exchange], names: Collection[str]) -> int:
    """An item is in every list as a read of it gives it.

    Returns:
        In how many lists it was.
    """
    resource = read.data(read_one)
    found = [
        item
        for answer in lists
        for item in Listing((answer,)).items
        if item.value.get("id") == resource.get("id") == read_one.call.identifier
    ]
    for item in found:
        judged(item.at, read_one)
        for name in names:
            listed, given = _comparable(item.value, name, item.at), _comparable(resource, name, read_one)
            if listed != given:
                raise NonConformity(
                    f"{name} of an engagement is another one in the list",
                    item.at,
                    read_one,
                    expected=shown(given),
                    actual=shown(listed),
                    pointer=f"{item.pointer}/{name}",
                )
    return len(found)


def _comparable(holder: dict[str, object], name: str, at: Exchange) -> str:
    return read.description(holder) if name == "description" else read.text(holder, name, at)
