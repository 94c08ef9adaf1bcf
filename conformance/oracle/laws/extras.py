"""Parts of responses beyond what the interface describes, in words for observations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from conformance.json_text import Parsed
from conformance.oracle.laws import shapes
from conformance.oracle.laws.lists import META_FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.wire.exchange import Exchange

_NAME: Final = re.compile(r"[A-Za-z0-9_.$@-]{1,40}")
_STEPS: Final = (
    (5, "within 5 seconds of the suite's"),
    (60, "within a minute of the suite's"),
    (300, "within 5 minutes of the suite's"),
)


def extra_members(exchanges: Iterable[Exchange]) -> dict[str, Exchange]:
    """Return members of responses that the interface does not name, by operation, each with a response that has it."""
    found: dict[str, Exchange] = {}
    for exchange in _read(exchanges):
        for name in _beyond(exchange):
            found.setdefault(name, exchange)
    return found


def duplicate_names(exchanges: Iterable[Exchange]) -> dict[str, Exchange]:
    """Return the names that occur twice in one object, each with a response that has it."""
    found: dict[str, Exchange] = {}
    for exchange in _read(exchanges):
        for name in _parsed(exchange).duplicates:
            found.setdefault(_word(name), exchange)
    return found


def media_types(exchanges: Iterable[Exchange]) -> dict[str, Exchange]:
    """Return the media types of responses with their parameters, each with a response that has it."""
    found: dict[str, Exchange] = {}
    for exchange in exchanges:
        announced = exchange.received.header("Content-Type") if exchange.received and exchange.judgeable else None
        if announced is not None:
            found.setdefault(announced[:80], exchange)
    return found


def allowed(exchange: Exchange) -> list[str]:
    """Return the methods that a response's Allow header lists."""
    listed = exchange.received.header("Allow") if exchange.received is not None else None
    return [method.strip().upper() for method in (listed or "").split(",") if method.strip()]


def clock_offset(seconds: float | None) -> str:
    """Describe how far the service's clock is ahead of the suite's, in words that do not change from run to run."""
    if seconds is None:
        return "unknown, there is no Date header"
    direction = "ahead" if seconds > 0 else "behind"
    return next((words for most, words in _STEPS if abs(seconds) <= most), f"{_about(abs(seconds))} {direction}")


def _about(seconds: float) -> str:
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= size:
            return f"about {round(seconds / size)} {unit}"
    return f"about {round(seconds)} seconds"


def _read(exchanges: Iterable[Exchange]) -> Iterator[Exchange]:
    """Yield the exchanges whose response body is a JSON object."""
    for exchange in exchanges:
        if exchange.received is not None and exchange.judgeable and isinstance(_parsed(exchange).value, dict):
            yield exchange


def _parsed(exchange: Exchange) -> Parsed:
    reading = exchange.received.reading if exchange.received is not None else None
    return reading if isinstance(reading, Parsed) else Parsed(None)


def _beyond(exchange: Exchange) -> Iterator[str]:
    body: Any = _parsed(exchange).value
    operation = exchange.request.operation
    if "error" in body:
        yield from (f"{_word(name)} beside error" for name in body if name != "error")
        error = body["error"] if isinstance(body["error"], dict) else {}
        yield from (f"error.{_word(name)}" for name in error if name not in {"code", "message", "statusCode"})
        return
    if not exchange.request.is_proper:
        return
    yield from (f"{_word(name)} beside data" for name in body if name not in {"data", "meta"})
    meta = body.get("meta")
    yield from (f"meta.{_word(name)}" for name in (meta if isinstance(meta, dict) else ()) if name not in META_FIELDS)
    known = {field.path[0] for field in shapes.SHAPES.get(operation.id, ())}
    if known:
        yield from (f"{operation.id}: {_word(name)}" for name in _names(body.get("data")) if name not in known)


def _names(data: object) -> Iterator[str]:
    """Yield the members of a resource, or of all resources of a list."""
    for resource in data if isinstance(data, list) else [data]:
        if isinstance(resource, dict):
            yield from resource


def _word(name: str) -> str:
    return name if _NAME.fullmatch(name) else "(odd)"
