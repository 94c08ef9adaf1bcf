"""Assertions about filtered lists, compared with the unfiltered list."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from conformance.interface.list_parameters import MAX_PER_PAGE
from conformance.oracle import read
from conformance.oracle.lists.listing import (
    CantTellYet,
    Listing,
    cant_tell_unless,
    expect_all,
    expect_count,
    expect_filtered,
)
from conformance.oracle.lists.paging import expect_lengths_for, expect_total_for
from conformance.oracle.outcomes import CantTell, NonConformity, evidence
from conformance.oracle.rendering import render

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from conformance.oracle.lists.listing import Snapshot
    from conformance.wire.exchange import Exchange


def expect_found(listing: Listing, name: str, value: str, wanted: Collection[str], unwanted: Collection[str]) -> None:
    """Require that a filtered list holds the wanted items and no unwanted one.

    Args:
        listing: The list with the filter.
        name: The field of the filter.
        value: The value of the filter.
        wanted: Ids that must be in the list.
        unwanted: Ids that must not be in it.
    """
    expect_filtered(listing, name, value)
    seen = set(listing.identifiers)
    wrong = [identifier for identifier in unwanted if identifier in seen]
    if wrong:
        raise NonConformity(
            f"a list filtered by {name} {value} contains another {name}",
            *listing.responses,
            expected=f"only items with {name} {value}",
            actual=f"{len(wrong)} with another {name}, the first is {render(wrong[0])}",
            pointer="/data",
        )
    if not seen.issuperset(wanted) and listing.total > len(listing.items):
        raise CantTellYet("the list contains fewer items than its total", *listing.responses)
    expect_all(listing, sorted(wanted), f"an item with {name} {value}")


def expect_counts(
    name: str, filtered: Mapping[str, Listing], everything: Listing, known: Mapping[str, Collection[str]]
) -> None:
    """Require that each total counts the matching items and that the totals add up to the unfiltered total.

    Args:
        name: The field of the filter.
        filtered: The list of each value.
        everything: The unfiltered list.
        known: For each value, ids of items that have it.

    Raises:
        NonConformity: A total is wrong.
        CantTell: A list itself is wrong, so that its total proves nothing.
    """
    cant_tell_unless(lambda: expect_count(everything), "the unfiltered total is wrong", *everything.responses)
    cant_tell_unless(lambda: expect_both(everything, known), "the list is incomplete", *everything.responses)
    for value, listing in filtered.items():
        found = partial(expect_found, listing, name, value, known.get(value, ()), ())
        cant_tell_unless(found, "the filtered list is wrong", *listing.responses)
        expect_count(listing)
    parts = {value: listing.total for value, listing in filtered.items()}
    if sum(parts.values()) != everything.total:
        raise NonConformity(
            f"the totals by {name} do not add up to the unfiltered total",
            *everything.responses[:1],
            *(listing.responses[0] for listing in filtered.values()),
            expected=str(everything.total),
            actual=" + ".join(f"{count} {value}" for value, count in parts.items()),
            pointer="/meta/total",
        )


def expect_same_as_all(name: str, filtered: Mapping[str, Listing], everything: Listing) -> None:
    """Require that each filtered list holds exactly the items of its value in the unfiltered list."""
    items = everything.items
    evidence(*everything.responses)
    for value, listing in filtered.items():
        wanted = [item.identifier for item in items if item.value.get(name) == value]
        others = [item.identifier for item in items if item.value.get(name) != value]
        expect_found(listing, name, value, wanted, others)


def expect_both(everything: Listing, values: Mapping[str, Collection[str]]) -> None:
    """Require that the unfiltered list holds items of every value.

    Args:
        everything: The list.
        values: For each value, the ids of items that have it; at least one of them must be listed.
    """
    evidence(*everything.responses)
    seen = set(everything.identifiers)
    missing = [value for value, identifiers in values.items() if identifiers and not seen.intersection(identifiers)]
    if missing and (len(missing) == len(values) or everything.may_go_on):
        raise CantTell("the list lacks items that must be in it", *everything.responses)
    if missing:
        raise NonConformity(
            f"the unfiltered list contains no {missing[0]} item",
            *everything.responses,
            expected=f"{' and '.join(values)} items",
            actual=f"none of {len(values[missing[0]])} {missing[0]} items",
            pointer="/data",
        )


def expect_full_pages(snapshot: Snapshot) -> None:
    """Require that pages of a filtered list are as long as the same list in one response demands.

    Args:
        snapshot: The list in one response, then pages of it.

    Raises:
        CantTellYet: The one response does not show all of the list.
    """
    evidence(*snapshot)
    whole, *pages = snapshot
    total = _shown_total(whole)
    expect_total_for(total, pages, whole)
    expect_lengths_for(total, pages, "filtered items", whole)


def _shown_total(whole: Exchange) -> int:
    """Return the total of a list in one response, if the response shows as many items."""
    total = read.number(whole, "total")
    if len(read.items(whole)) != min(total, MAX_PER_PAGE):
        raise CantTellYet("the total is not the number of items in one response", whole)
    return total
