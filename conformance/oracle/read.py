"""Readers of responses: functions that extract a value on the way to a judgement.

Each returns a value or raises ``CantTell``. Another requirement judges whether the value is present and of its
type, so that one fault does not fail every check that meets it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from conformance.interface.list_parameters import STATUSES
from conformance.json_text import Parsed, text_or_none
from conformance.oracle.outcomes import CantTell
from conformance.oracle.rendering import render
from conformance.oracle.timestamps import parse_timestamp
from conformance.wire.exchange import INVALID

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from conformance.wire.exchange import Exchange

JsonObject = dict[str, Any]
P = ParamSpec("P")
V = TypeVar("V")


def or_none(reader: Callable[P, V], *args: P.args, **kwargs: P.kwargs) -> V | None:
    """Return what a reader returns, or None if it raises ``CantTell``; without a response, ``NoResponse`` is raised."""
    try:
        return reader(*args, **kwargs)
    except CantTell:
        return None


def success(exchange: Exchange) -> Exchange:
    """Return the exchange itself, if its response is a 2xx; the reason quotes why the service holds it for invalid."""
    if exchange.succeeded:
        return exchange
    message = (error_or_none(exchange) or {}).get("message") if exchange.status in INVALID else None
    quoted = f" ({render(message)})" if isinstance(message, str) else ""
    raise CantTell(f"{exchange.operation_id} returned {exchange.status}{quoted}; this check needs a success", exchange)


def body(exchange: Exchange) -> JsonObject:
    """Return the body of a response, a JSON object."""
    response = exchange.response
    reading = response.reading
    if not isinstance(reading, Parsed) or not isinstance(reading.value, dict):
        raise CantTell(f"the body is not a JSON object: {response.outline}", exchange)
    return reading.value


def error_or_none(exchange: Exchange) -> JsonObject | None:
    """Return the ``error`` object of a response; None if it has none."""
    error = (or_none(body, exchange) or {}).get("error")
    return error if isinstance(error, dict) else None


def data(exchange: Exchange) -> JsonObject:
    """Return the ``data`` object of a success."""
    found = body(success(exchange)).get("data")
    if not isinstance(found, dict):
        raise CantTell("the response has no object data", exchange)
    return found


def items(exchange: Exchange) -> list[JsonObject]:
    """Return the ``data`` array of a successful list, every item an object."""
    found = body(success(exchange)).get("data")
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise CantTell("the response has no array data of objects", exchange)
    return found


def id_of(resource: JsonObject) -> str | None:
    """Return the ``id`` of a resource if it is a text; other values identify nothing."""
    return text_or_none(resource.get("id"))


def identifier(exchange: Exchange) -> str:
    """Return the ``id`` of the resource in a success."""
    return text(data(exchange), "id", exchange)


def identifier_or_none(exchange: Exchange) -> str | None:
    """Return the ``id`` of the resource in a success; None if the response shows none."""
    return or_none(identifier, exchange)


def identifiers(exchanges: Iterable[Exchange]) -> list[str]:
    """Return the ``id`` of the resource in each success; responses that show none are left out."""
    return [found for exchange in exchanges if (found := identifier_or_none(exchange)) is not None]


def first_identifier(exchange: Exchange) -> str | None:
    """Return the ``id`` of the first item of a list; None if the response shows none."""
    return next(map(id_of, or_none(items, exchange) or ()), None)


def meta(exchange: Exchange) -> JsonObject:
    """Return the ``meta`` object of a successful list."""
    found = body(success(exchange)).get("meta")
    if not isinstance(found, dict):
        raise CantTell("the response has no object meta", exchange)
    return found


def number(exchange: Exchange, name: str) -> int:
    """Return an integer of the ``meta`` of a list: total, page, perPage or totalPages."""
    return integer(meta(exchange), name, exchange)


def integer(holder: JsonObject, name: str, exchange: Exchange) -> int:
    """Return an integer member of an object."""
    value = integer_or_none(holder.get(name))
    if value is None:
        raise CantTell(f"{name} is not an integer", exchange)
    return value


def integer_or_none(value: object) -> int | None:
    """Return a JSON value as an integer; None for any other value. 3.0 is an integer, as in JSON Schema."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value % 1 != 0:
        return None
    return int(value)


def text(holder: JsonObject, name: str, exchange: Exchange) -> str:
    """Return a string member of an object."""
    value = holder.get(name)
    if not isinstance(value, str):
        raise CantTell(f"{name} is not a string", exchange)
    return value


def is_field(name: str, value: object) -> bool:
    """Whether this field of an engagement can have a value; a description may be absent or null."""
    if not isinstance(value, str):
        return name == "description" and value is None
    if name == "status":
        return value in STATUSES
    return name not in {"createdAt", "updatedAt"} or parse_timestamp(value) is not None


def field(holder: JsonObject, name: str, exchange: Exchange) -> str:
    """Return a field of an engagement as text; an absent description and null equal an empty one."""
    value = holder.get(name)
    if not is_field(name, value):
        raise CantTell(f"{name} has an invalid value", exchange)
    return value or ""


def description(holder: JsonObject) -> str:
    """Return the description of an engagement; absent, null and empty are the same."""
    value = holder.get("description")
    return value if isinstance(value, str) else ""
