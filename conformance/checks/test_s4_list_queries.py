"""Section 4: observations of list parameters and values that the interface leaves open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.checks.observations import observing
from conformance.oracle import read
from conformance.oracle.lists.listing import Listing, expect_order, name_among, time_key
from conformance.oracle.observe import describe_response
from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.scenarios.lists.odd_queries import list_queries
from conformance.scenarios.lists.paged import paged_engagements
from conformance.scenarios.lists.sorted import by_name

if TYPE_CHECKING:
    from conformance.checks.observations import Described
    from conformance.oracle.lists.listing import Key
    from conformance.scenarios.lists.odd_queries import ListQueries
    from conformance.scenarios.lists.paged import PagedLists
    from conformance.scenarios.lists.sorted import ListByName
    from conformance.wire.exchange import Exchange


def _collation(order: list[str], capitalized: str) -> str:
    """Describe the place of a capitalized name among names in small letters."""
    if order == sorted(order, key=str.lower):
        return "letter case does not count"
    return {order[0]: "capitals come first", order[-1]: "capitals come last"}.get(capitalized, "otherwise")


def _amount(response: Exchange, plain: Exchange) -> Described:
    """Describe a response, and whether its list holds everything, something or nothing."""
    words = describe_response(response)
    if response.accepted and plain.accepted:
        total = read.number(response, "total")
        words += ", nothing" if total == 0 else ", everything" if total == read.number(plain, "total") else ", some"
    return words, response


def _is_sorted(listing: Listing, field: str, key: Key, *, descending: bool = True) -> bool:
    try:
        return expect_order(listing, field, key, descending=descending) > 1
    except (NonConformity, CantTell):
        return False


def _default_order(seen: PagedLists) -> Described:
    listing = Listing(seen.snapshot[:1])
    fields = {"createdAt": time_key("createdAt"), "updatedAt": time_key("updatedAt"), "name": name_among(seen.names)}
    orders = [
        f"{field} {'descending' if descending else 'ascending'}"
        for field, key in fields.items()
        for descending in (True, False)
        if _is_sorted(listing, field, key, descending=descending)
    ]
    return " or ".join(orders) or "another one", *listing.responses


def _repeated_parameter(seen: ListQueries) -> Described:
    response = seen.odd["repeated-parameter"]
    counts = ""
    if response.accepted:
        counts = {1: ", the first one counts", 2: ", the last one counts"}.get(
            read.number(response, "perPage"), ", neither counts"
        )
    return f"{describe_response(response)}{counts}", response


def _names(seen: ListByName) -> list[Described]:
    capitalized, known = seen.seeded.capitalized, seen.seeded.names
    names = [str(item.value.get("name")) for item in Listing(seen.pages).items]
    order = [name for name in reversed(names) if name in known or (capitalized and name == capitalized.name)]
    if capitalized and capitalized.name in order and _is_sorted(Listing(seen.pages), "name", name_among(known)):
        return [(_collation(order, capitalized.name), *seen.pages)]
    return []


OBSERVATIONS: Final = (
    observing("default-order", paged_engagements, _default_order),
    observing("sort-unlisted-field", list_queries, lambda seen: seen.odd["sort-status"]),
    observing("order-letter-case", list_queries, lambda seen: seen.odd["order-capitals"]),
    observing("role-letter-case", list_queries, lambda seen: _amount(seen.odd["role-capital"], seen.plain["members"])),
    observing("unknown-query-parameter", list_queries, lambda seen: seen.odd["unknown-parameter"]),
    observing("repeated-query-parameter", list_queries, _repeated_parameter),
    observing(
        "empty-status-filter", list_queries, lambda seen: _amount(seen.odd["status-empty"], seen.plain["engagements"])
    ),
    observing("name-collation", by_name, _names),
)
