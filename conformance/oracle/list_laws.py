"""Laws of every list answer: its meta, its length, and that filter and order hold within it."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from conformance.oracle.json_text import Parsed
from conformance.oracle.judgement import NonConformity
from conformance.oracle.timestamps import parse_timestamp
from conformance.oracle.words import kind_of, one_of, shown

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange

META_FIELDS: Final = ("total", "page", "perPage", "totalPages")
DEFAULT_PER_PAGE: Final = 20
MAX_PER_PAGE: Final = 100


def meta_fields(exchange: Exchange) -> bool:
    """The four members of meta are there and integers."""
    meta = _meta(exchange)
    if meta is None:
        return False
    for name in META_FIELDS:
        if _whole(meta.get(name)) is None:
            actual = f"{shown(meta[name])} ({kind_of(meta[name])})" if name in meta else "absent"
            raise NonConformity(
                f"meta.{name} is no integer", exchange, expected="an integer", actual=actual, pointer=f"/meta/{name}"
            )
    return True


def total_pages(exchange: Exchange) -> bool:
    """The number of pages is the total divided by the size of a page, rounded up; 0 or 1 for nothing at all."""
    told = _numbers(exchange)
    if told is None or told["perPage"] < 1 or told["total"] < 0:
        return False
    right = {0, 1} if told["total"] == 0 else {-(-told["total"] // told["perPage"])}
    if told["totalPages"] not in right:
        raise NonConformity(
            f"totalPages does not fit a total of {told['total']} with {told['perPage']} a page",
            exchange,
            expected=one_of(*sorted(right)),
            actual=str(told["totalPages"]),
            pointer="/meta/totalPages",
        )
    return True


def page_length(exchange: Exchange) -> bool:
    """A page holds as many items as its meta says."""
    told, items = _numbers(exchange), _items(exchange)
    if told is None or items is None or told["page"] < 1 or told["perPage"] < 1:
        return False
    right = max(0, min(told["perPage"], told["total"] - (told["page"] - 1) * told["perPage"]))
    if len(items) != right:
        raise NonConformity(
            f"page {told['page']} of {told['total']} items with {told['perPage']} a page holds {len(items)}",
            exchange,
            expected=f"{right} items",
            actual=f"{len(items)} items",
            pointer="/data",
        )
    return True


def defaults(exchange: Exchange) -> bool:
    """What is not asked for is page 1, and 20 a page."""
    told = _numbers(exchange)
    if told is None:
        return False
    asked = {name for name, _ in exchange.call.query}
    judged = False
    for name, default in (("page", 1), ("perPage", DEFAULT_PER_PAGE)):
        if name not in asked:
            judged = True
            _agree(exchange, name, told[name], default)
    return judged


def paging_honoured(exchange: Exchange) -> bool:
    """A valid page and size are the ones that meta names."""
    told = _numbers(exchange)
    asked = valid_paging(exchange)
    if told is None or not asked or asked.get("page", 1) > max(1, told["totalPages"]):
        return False
    for name, value in asked.items():
        _agree(exchange, name, told[name], value)
    return True


def status_filter(exchange: Exchange) -> bool:
    """A list that was asked for one status holds no other."""
    return _only(exchange, "listEngagements", "status", ("active", "archived"))


def role_filter(exchange: Exchange) -> bool:
    """A list that was asked for one role holds no other."""
    return _only(exchange, "listMembers", "role", ("owner", "admin", "member"))


def sorted_by_time(field: str, exchange: Exchange) -> bool:
    """A list that was asked to be sorted by a time is; without an order it is descending."""
    asked = dict(exchange.call.query)
    items = _items(exchange)
    if items is None or not _clean(exchange) or asked.get("sort") != field or asked.get("order", "desc") not in {"asc", "desc"}:
        return False
    order = asked.get("order", "desc")
    moments = [parse_timestamp(item[field]) if isinstance(item.get(field), str) else None for item in items]
    known = [(place, moment) for place, moment in enumerate(moments) if moment is not None]
    for (_, one), (place, other) in pairwise(known):
        if (one > other) if order == "asc" else (one < other):
            raise NonConformity(
                f"the list is not sorted by {field}",
                exchange,
                expected=f"{field} {'ascending' if order == 'asc' else 'descending'}",
                actual=f"item {place} has {items[place][field]}, against the order",
                pointer=f"/data/{place}/{field}",
            )
    return len(known) > 1


def valid_paging(exchange: Exchange) -> dict[str, int]:
    """The page and perPage of a request that asked for valid ones, as plainly written numbers; else nothing."""
    if not _clean(exchange):
        return {}
    asked = {name: value for name, value in exchange.call.query if name in {"page", "perPage"}}
    if not all(re.fullmatch(r"[1-9][0-9]{0,5}", value) for value in asked.values()):
        return {}
    numbers = {name: int(value) for name, value in asked.items()}
    return numbers if numbers.get("perPage", 1) <= MAX_PER_PAGE else {}


def _clean(exchange: Exchange) -> bool:
    """Whether no query parameter occurs twice."""
    names = [name for name, _ in exchange.call.query]
    return len(names) == len(set(names))


def _agree(exchange: Exchange, name: str, told: int, right: int) -> None:
    if told != right:
        raise NonConformity(
            f"meta.{name} is {told}", exchange, expected=str(right), actual=str(told), pointer=f"/meta/{name}"
        )


def _only(exchange: Exchange, operation: str, name: str, closed: tuple[str, ...]) -> bool:
    asked = dict(exchange.call.query).get(name)
    items = _items(exchange)
    if exchange.call.operation.id != operation or asked not in closed or not _clean(exchange) or not items:
        return False
    for place, item in enumerate(items):
        value = item.get(name)
        if isinstance(value, str) and value != asked:
            raise NonConformity(
                f"a list of {name} {asked} holds another one",
                exchange,
                expected=shown(asked),
                actual=shown(value),
                pointer=f"/data/{place}/{name}",
            )
    return True


def _body(exchange: Exchange) -> dict[str, Any] | None:
    reading = exchange.answer.reading
    operation = exchange.call.operation
    if not (exchange.succeeded and exchange.call.is_proper and operation.answer == "list" and isinstance(reading, Parsed)):
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
    numbers = {name: _whole((meta or {}).get(name)) for name in META_FIELDS}
    known = {name: value for name, value in numbers.items() if value is not None}
    return known if len(known) == len(META_FIELDS) else None


def _whole(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or value % 1 != 0:
        return None
    return int(value)
