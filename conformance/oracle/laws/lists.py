"""Laws of every list response: its meta, its length, its filter and its order."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from conformance.interface.list_parameters import (
    DEFAULT_PER_PAGE,
    MAX_PER_PAGE,
    ORDERS,
    PARAMETERS,
    ROLES,
    STATUSES,
    page_count,
)
from conformance.json_text import Parsed
from conformance.oracle import read
from conformance.oracle.outcomes import NonConformity
from conformance.oracle.rendering import kind_of, one_of, render
from conformance.oracle.timestamps import parse_timestamp

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from conformance.oracle.laws.responses import LawFunction
    from conformance.wire.exchange import Exchange

META_FIELDS: Final = ("total", "page", "perPage", "totalPages")
_NOT_BY_CHANCE: Final = 4
"""The different times of a list that no longer ascend by chance if it is not sorted."""


def meta_fields(exchange: Exchange) -> bool:
    """Require the four members of meta, each an integer."""
    meta = _meta(exchange)
    if meta is None:
        return False
    for name in META_FIELDS:
        if read.integer_or_none(meta.get(name)) is None:
            actual = f"{render(meta[name])} ({kind_of(meta[name])})" if name in meta else "absent"
            raise NonConformity(
                f"meta.{name} is not an integer",
                exchange,
                expected="an integer",
                actual=actual,
                pointer=f"/meta/{name}",
            )
    return True


def total_pages(exchange: Exchange) -> bool:
    """Require totalPages to be the total divided by the page size, rounded up; 0 or 1 for an empty list."""
    return _as_asked(exchange) and fitting_total_pages(exchange)


def fitting_total_pages(exchange: Exchange) -> bool:
    """Require a totalPages that fits total and perPage, even if they are not the requested page and size."""
    numbers = _numbers(exchange)
    if numbers is None or numbers["perPage"] < 1 or numbers["total"] < 0:
        return False
    right = {0, 1} if numbers["total"] == 0 else {page_count(numbers["total"], numbers["perPage"])}
    if numbers["totalPages"] not in right:
        raise NonConformity(
            f"totalPages does not fit a total of {numbers['total']} with {numbers['perPage']} a page",
            exchange,
            expected=one_of(*sorted(right)),
            actual=str(numbers["totalPages"]),
            pointer="/meta/totalPages",
        )
    return True


def page_length(exchange: Exchange) -> bool:
    """Require that no page exceeds its size, and that a page before the last is full.

    The length of the last page depends on a correct total, which one response cannot prove. The total of a filtered
    list is judged separately.
    """
    numbers, items = _numbers(exchange), _items(exchange)
    if numbers is None or items is None or not _as_asked(exchange):
        return False
    is_full = numbers["page"] * numbers["perPage"] < numbers["total"] and not _is_filtered(exchange)
    if len(items) > numbers["perPage"] or (is_full and len(items) < numbers["perPage"]):
        raise NonConformity(
            f"page {numbers['page']} of {numbers['total']} items with {numbers['perPage']} per page "
            f"contains {len(items)}",
            exchange,
            expected=f"{'' if is_full else 'at most '}{numbers['perPage']} items",
            actual=f"{len(items)} items",
            pointer="/data",
        )
    return True


def first_page_filled(exchange: Exchange) -> bool:
    """Require items on the first page of an unfiltered list whose total is not 0."""
    numbers, items = _numbers(exchange), _items(exchange)
    if numbers is None or items is None or not _as_asked(exchange) or _is_filtered(exchange):
        return False
    if numbers["page"] != 1 or numbers["total"] < 1:
        return False
    if not items:
        raise NonConformity(
            f"the first page of {numbers['total']} items is empty",
            exchange,
            expected=f"1 to {numbers['perPage']} items",
            actual="0 items",
            pointer="/data",
        )
    return True


def filtered_total(exchange: Exchange) -> bool:
    """Require that a filtered list whose first page is not full counts the items of that page."""
    numbers, items = _numbers(exchange), _items(exchange)
    filtered = any(name in {"status", "role"} and value for name, value in exchange.request.query)
    if numbers is None or items is None or not filtered or not _as_asked(exchange) or numbers["page"] != 1:
        return False
    if len(items) < numbers["perPage"] and numbers["total"] != len(items):
        raise NonConformity(
            f"a filtered list of {len(items)} items has the total {numbers['total']}",
            exchange,
            expected=str(len(items)),
            actual=str(numbers["total"]),
            pointer="/meta/total",
        )
    return len(items) < numbers["perPage"]


def without_repeats(exchange: Exchange) -> bool:
    """Require that no page has an item twice."""
    ids = [item["id"] for item in _items(exchange) or [] if isinstance(item.get("id"), str)]
    twice = next((place for place, identifier in enumerate(ids) if identifier in ids[:place]), None)
    if twice is not None:
        raise NonConformity(
            "a page has an item twice", exchange, expected="every item once", actual=render(ids[twice]), pointer="/data"
        )
    return len(ids) > 1


def covering_total(exchange: Exchange) -> bool:
    """Require the total of an unfiltered list to cover every item up to the end of a page."""
    numbers, items = _numbers(exchange), _items(exchange)
    if numbers is None or not items or not _as_asked(exchange) or len(items) > numbers["perPage"]:
        return False
    if _is_filtered(exchange):
        return False
    least = (numbers["page"] - 1) * numbers["perPage"] + len({repr(item.get("id")) for item in items})
    if numbers["total"] < least:
        raise NonConformity(
            f"page {numbers['page']} of a list with the total {numbers['total']} ends with item {least}",
            exchange,
            expected=f"{least} or more",
            actual=str(numbers["total"]),
            pointer="/meta/total",
        )
    return True


def empty_past_the_end(exchange: Exchange) -> bool:
    """Require that a page that begins behind the last item, by its total, is empty."""
    numbers, items = _numbers(exchange), _items(exchange)
    if numbers is None or items is None or not _as_asked(exchange) or numbers["page"] <= 1:
        return False
    if (numbers["page"] - 1) * numbers["perPage"] < numbers["total"]:
        return False
    if items:
        raise NonConformity(
            f"page {numbers['page']} of a list with the total {numbers['total']} contains items",
            exchange,
            expected="200 with an empty data, or a 4xx",
            actual=f"{len(items)} items",
            pointer="/data",
        )
    return True


def defaults(exchange: Exchange) -> bool:
    """Require page 1 and 20 items a page unless the request says otherwise."""
    numbers = _numbers(exchange)
    if numbers is None:
        return False
    asked = {name for name, _ in exchange.request.query}
    expected = {name: value for name, value in (("page", 1), ("perPage", DEFAULT_PER_PAGE)) if name not in asked}
    for name, default in expected.items():
        _agree(exchange, name, numbers[name], default)
    return bool(expected)


def paging_honoured(exchange: Exchange) -> bool:
    """Require the requested page and size in meta, if they are valid."""
    numbers = _numbers(exchange)
    asked = valid_paging(exchange)
    if (
        numbers is None
        or not asked
        or asked.get("page", 1) > max(1, page_count(numbers["total"], max(1, numbers["perPage"])))
    ):
        return False
    for name, value in asked.items():
        _agree(exchange, name, numbers[name], value)
    return True


def status_filter(exchange: Exchange) -> bool:
    """Require that a list filtered by status holds no other status."""
    return _only(exchange, "status", STATUSES)


def role_filter(exchange: Exchange) -> bool:
    """Require that a list filtered by role holds no other role."""
    return _only(exchange, "role", ROLES)


def sorted_by_time(field: str) -> LawFunction:
    """Return the law that lists have the requested order by a time, ascending or descending."""

    def law(exchange: Exchange) -> bool:
        order = dict(exchange.request.query).get("order")
        known = _moments(exchange, field)
        if order not in ORDERS:
            return False
        for (_, previous), (place, other) in pairwise(known):
            if (previous > other) if order == "asc" else (previous < other):
                raise NonConformity(
                    f"the list is not sorted by {field}",
                    exchange,
                    expected=f"{field} {'ascending' if order == 'asc' else 'descending'}",
                    actual=f"item {place} is out of order",
                    pointer=f"/data/{place}/{field}",
                )
        return len(known) > 1

    law.__doc__ = f"Require the requested order of a list sorted by {field}."
    return law


def descending_by_default(exchange: Exchange) -> bool:
    """Require that a list sorted by a time without an order is not ascending.

    A few items may be ascending by chance if the list is not sorted at all.
    """
    asked = dict(exchange.request.query)
    known = [moment for _, moment in _moments(exchange, asked.get("sort", ""))]
    return "order" not in asked and not_ascending(known, exchange, _NOT_BY_CHANCE)


def not_ascending(known: Sequence[Any], exchange: Exchange, least: int = 2) -> bool:
    """Require that the values of a list do not ascend, if enough of them differ; return whether they descend."""
    different = len(set(known))
    if different >= least and known == sorted(known):
        raise NonConformity(
            "a list sorted without an order is ascending",
            exchange,
            expected="a descending list",
            actual="an ascending list",
        )
    return different > 1 and known == sorted(known, reverse=True)


def _moments(exchange: Exchange, field: str) -> list[tuple[int, datetime]]:
    """Return place and time of each item of a list that was requested sorted by a time."""
    items = _items(exchange)
    asked = dict(exchange.request.query)
    if (
        items is None
        or not is_unrepeated(exchange)
        or asked.get("sort") != field
        or field not in {"createdAt", "updatedAt"}
    ):
        return []
    moments = enumerate(parse_timestamp(item.get(field)) for item in items)
    return [(place, moment) for place, moment in moments if moment is not None]


def is_list(exchange: Exchange) -> bool:
    """Whether a list was requested with no other parameters than the interface names; others are open."""
    known = PARAMETERS.get(exchange.operation_id)
    return known is not None and exchange.request.is_proper and {name for name, _ in exchange.request.query} <= known


def valid_paging(exchange: Exchange) -> dict[str, int]:
    """Return the page and perPage of a request if they are valid and plainly written; else nothing."""
    if not is_unrepeated(exchange):
        return {}
    asked = {name: value for name, value in exchange.request.query if name in {"page", "perPage"}}
    if not all(re.fullmatch(r"[1-9][0-9]{0,5}", value) for value in asked.values()):
        return {}
    numbers = {name: int(value) for name, value in asked.items()}
    return numbers if numbers.get("perPage", 1) <= MAX_PER_PAGE else {}


def is_unrepeated(exchange: Exchange) -> bool:
    """Whether no query parameter occurs twice."""
    names = [name for name, _ in exchange.request.query]
    return len(names) == len(set(names))


def _as_asked(exchange: Exchange) -> bool:
    """Whether page and size are the requested ones, within bounds; other checks judge those out of bounds."""
    numbers = _numbers(exchange)
    right = {"page": 1, "perPage": DEFAULT_PER_PAGE} | valid_paging(exchange)
    asked = {name for name, _ in exchange.request.query} & {"page", "perPage"}
    valid = not asked or bool(valid_paging(exchange))
    return numbers is not None and valid and all(numbers[name] == value for name, value in right.items())


def _is_filtered(exchange: Exchange) -> bool:
    return any(name in {"status", "role"} for name, _ in exchange.request.query)


def _agree(exchange: Exchange, name: str, actual: int, right: int) -> None:
    if actual != right:
        raise NonConformity(
            f"meta.{name} is {actual}", exchange, expected=str(right), actual=str(actual), pointer=f"/meta/{name}"
        )


def _only(exchange: Exchange, name: str, closed: tuple[str, ...]) -> bool:
    asked = dict(exchange.request.query).get(name)
    items = _items(exchange)
    if asked not in closed or not is_unrepeated(exchange) or not items:
        return False
    for place, item in enumerate(items):
        value = item.get(name)
        if isinstance(value, str) and value != asked:
            raise NonConformity(
                f"a list filtered by {name} {asked} contains another {name}",
                exchange,
                expected=render(asked),
                actual=render(value),
                pointer=f"/data/{place}/{name}",
            )
    return True


def _body(exchange: Exchange) -> dict[str, Any] | None:
    reading = exchange.response.reading
    if not (exchange.succeeded and is_list(exchange) and isinstance(reading, Parsed)):
        return None
    return reading.value if isinstance(reading.value, dict) else None


def _meta(exchange: Exchange) -> dict[str, Any] | None:
    meta = (_body(exchange) or {}).get("meta")
    return meta if isinstance(meta, dict) else None


def _items(exchange: Exchange) -> list[dict[str, Any]] | None:
    data = (_body(exchange) or {}).get("data")
    return data if isinstance(data, list) and all(isinstance(item, dict) for item in data) else None


def _numbers(exchange: Exchange) -> dict[str, int] | None:
    meta = _meta(exchange)
    numbers = {name: read.integer_or_none((meta or {}).get(name)) for name in META_FIELDS}
    known = {name: value for name, value in numbers.items() if value is not None}
    return known if len(known) == len(META_FIELDS) else None
