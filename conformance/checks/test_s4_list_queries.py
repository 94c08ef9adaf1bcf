"""Section 4: observations of list parameters and values that the interface leaves open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.checks.markers import observes
from conformance.oracle import read
from conformance.oracle.effects import accepted
from conformance.oracle.lists.listing import Listing, expect_order, name_among, time_of
from conformance.oracle.observe import describe_response
from conformance.oracle.outcomes import CantTell, NonConformity

if TYPE_CHECKING:
    from conformance.oracle.lists.listing import Key
    from conformance.running.run import Run
    from conformance.scenarios.lists.odd_queries import ListQueries
    from conformance.scenarios.lists.paged import PagedLists
    from conformance.scenarios.lists.sorted import SortedLists
    from conformance.wire.exchange import Exchange


@observes("default-order")
def test_default_order(run: Run, paged_engagements: PagedLists) -> None:
    """Observe the order of a list without sort."""
    listing = Listing(paged_engagements.snapshot[:1])
    fields: dict[str, Key] = {"createdAt": time_of("createdAt"), "updatedAt": time_of("updatedAt")}
    fields["name"] = name_among(paged_engagements.names)
    orders = [
        f"{field} {'descending' if descending else 'ascending'}"
        for field, key in fields.items()
        for descending in (True, False)
        if _is_sorted(listing, field, key, descending=descending)
    ]

    run.observe("default-order", " or ".join(orders) or "another one", *listing.responses)


@observes("sort-unlisted-field")
def test_sort_by_status(run: Run, list_queries: ListQueries) -> None:
    """Observe sort=status."""
    response = list_queries.odd["sort-status"]

    run.observe("sort-unlisted-field", describe_response(response), response)


@observes("order-letter-case")
def test_order_in_capitals(run: Run, list_queries: ListQueries) -> None:
    """Observe order=DESC."""
    response = list_queries.odd["order-capitals"]

    run.observe("order-letter-case", describe_response(response), response)


@observes("role-letter-case")
def test_role_with_a_capital(run: Run, list_queries: ListQueries) -> None:
    """Observe role=Admin as a filter."""
    response = list_queries.odd["role-capital"]

    run.observe(
        "role-letter-case", f"{describe_response(response)}{_amount(response, list_queries.plain['members'])}", response
    )


@observes("unknown-query-parameter")
def test_unknown_parameter(run: Run, list_queries: ListQueries) -> None:
    """Observe an unknown query parameter."""
    response = list_queries.odd["unknown-parameter"]

    run.observe("unknown-query-parameter", describe_response(response), response)


@observes("repeated-query-parameter")
def test_repeated_parameter(run: Run, list_queries: ListQueries) -> None:
    """Observe a repeated query parameter."""
    response = list_queries.odd["repeated-parameter"]
    counts = ""
    if accepted(response):
        counts = {1: ", the first one counts", 2: ", the last one counts"}.get(
            read.number(response, "perPage"), ", neither counts"
        )

    run.observe("repeated-query-parameter", f"{describe_response(response)}{counts}", response)


@observes("empty-status-filter")
def test_empty_status(run: Run, list_queries: ListQueries) -> None:
    """Observe an empty status=."""
    response = list_queries.odd["status-empty"]

    run.observe(
        "empty-status-filter",
        f"{describe_response(response)}{_amount(response, list_queries.plain['engagements'])}",
        response,
    )


@observes("name-collation")
def test_name_collation(run: Run, by_name: SortedLists) -> None:
    """Observe the collation of names that differ in letter case."""
    capitalized = by_name.seeded.capitalized
    names = [str(item.value.get("name")) for item in Listing(by_name.default).items]
    order = [
        name for name in reversed(names) if name in by_name.seeded.names or (capitalized and name == capitalized.name)
    ]

    if (
        capitalized
        and capitalized.name in order
        and _is_sorted(Listing(by_name.default), "name", name_among(by_name.seeded.names))
    ):
        run.observe("name-collation", _collation(order, capitalized.name), *by_name.default)


def _collation(order: list[str], capitalized: str) -> str:
    """Describe the place of a capitalized name among names in small letters."""
    if order == sorted(order, key=str.lower):
        return "letter case does not count"
    return {order[0]: "capitals come first", order[-1]: "capitals come last"}.get(capitalized, "otherwise")


def _amount(response: Exchange, plain: Exchange) -> str:
    """Describe whether a list holds everything, something or nothing."""
    if not (accepted(response) and accepted(plain)):
        return ""
    total = read.number(response, "total")
    return ", nothing" if total == 0 else ", everything" if total == read.number(plain, "total") else ", some"


def _is_sorted(listing: Listing, field: str, key: Key, *, descending: bool = True) -> bool:
    try:
        return expect_order(listing, field, key, descending=descending) > 1
    except (NonConformity, CantTell):
        return False
