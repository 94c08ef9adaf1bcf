"""Symptoms: the part of a response that shows a failure, in a form that a test can look for again."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from conformance.json_text import ABSENT, Malformed, Parsed, read_json, value_at
from conformance.oracle import read
from conformance.oracle.laws.responses import readable_resources
from conformance.oracle.rendering import render

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.wire.exchange import Exchange, Response

TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+[\dA-Za-z:+-]*")
_HEADER: Final = re.compile(r"\b[A-Z][a-zA-Z]*(?:-[A-Z][a-zA-Z]*)+\b")
_CHANGING: Final = re.compile(r"\d{8}")
"""Digits of a time or a counter, which another response does not repeat."""
_NUMBERS: Final = re.compile(r"\b[1-5]\d\d\b")
_REFUSAL: Final = re.compile(r"a 4xx(?: other than ((?:\d{3}(?:, | and | or )?)+))?")
_SUCCESS: Final = re.compile(r"\b(?:any 2xx|a success)\b")


@dataclass(frozen=True, slots=True)
class Symptom:
    """The part of a response that shows a failure.

    Attributes:
        exchange: The exchange.
        kind: What is wrong.
        name: The name of the header, or the pointer of the member.
        value: The wrong value, or the id of the engagement.
    """

    exchange: Exchange
    kind: Literal["status", "body", "header", "member", "missing", "listed", "unknown"]
    name: str = ""
    value: Any = None


def symptom_of(cited: Sequence[Exchange], expected: str, actual: str, pointer: str | None) -> Symptom:
    """Return the symptom of a failure in the last cited exchange that has it."""
    for exchange in reversed(cited):
        response = exchange.received
        for find in (_member, _status, _body, _header, _item):
            if response is not None and (found := find(exchange, response, f"{expected} {actual}", actual, pointer)):
                return found
    return Symptom(cited[-1], "unknown")


def permitted(expected: str) -> Callable[[str], str]:
    """Return a function that makes a Python condition of the name of a status, by a text that names all permitted ones.

    Args:
        expected: For example ``any 2xx or 409``, or ``a 4xx other than 401, 404 and 429``.
    """
    conditions = []
    if refusal := _REFUSAL.search(expected):
        excluded = [f"{{0}} != {number}" for number in _NUMBERS.findall(refusal[1] or "")]
        conditions.append(" and ".join(["400 <= {0} < 500", *excluded]))
    if _SUCCESS.search(expected):
        conditions.append("200 <= {0} < 300")
    if "no 5xx" in expected:
        conditions.append("{0} < 500")
    if numbers := _NUMBERS.findall(_REFUSAL.sub("", expected)):
        conditions.append(f"{{0}} in ({', '.join(dict.fromkeys(numbers))},)")
    return lambda name: " or ".join(f"({condition})" for condition in conditions).format(name)


def _member(exchange: Exchange, response: Response, _: str, actual: str, pointer: str | None) -> Symptom | None:
    if not pointer or not isinstance(response.reading, Parsed):
        return None
    found = value_at(response.reading.value, pointer)
    if (found is ABSENT or found is None) and actual == render(""):  # descriptions may be absent or null
        found = ""
    if found is ABSENT:
        return Symptom(exchange, "member", pointer, ABSENT) if actual == "absent" else None
    fits = actual in (found, render(found)) or actual.startswith((f"{render(found)} (", f"{render(found)};"))
    return Symptom(exchange, "member", pointer, found) if fits else None


def _status(exchange: Exchange, response: Response, _: str, actual: str, pointer: str | None) -> Symptom | None:
    fits = pointer is None and re.match(rf"{response.status}\b", actual) is not None
    return Symptom(exchange, "status", value=response.status) if fits else None


def _body(exchange: Exchange, response: Response, _: str, actual: str, pointer: str | None) -> Symptom | None:
    reading = response.reading
    fits = pointer is None and isinstance(reading, Malformed) and actual.startswith(reading.reason)
    return Symptom(exchange, "body") if fits else None


def _header(exchange: Exchange, response: Response, words: str, actual: str, pointer: str | None) -> Symptom | None:
    for name in dict.fromkeys(_HEADER.findall(words)) if pointer is None else ():
        value = response.header(name)
        if value is None and actual.startswith("no ") and name in actual:
            return Symptom(exchange, "header", name, None)
        if value is not None and actual.startswith((render(value), f"{name}: {value}")) and not _CHANGING.search(value):
            return Symptom(exchange, "header", name, value)
    return None


def _item(exchange: Exchange, _: Response, words: str, actual: str, pointer: str | None) -> Symptom | None:
    """Return the symptom of a list that lacks an engagement, or shows one that it should not."""
    if exchange.operation_id != "listEngagements" or not (pointer or "").startswith("/data"):
        return None
    listed = [read.id_of(item) for item in readable_resources(exchange)]
    if actual in listed:
        return Symptom(exchange, "listed", value=actual)
    named = re.search(r'"([^"]+)"', actual)
    is_whole = not any(name == "status" for name, _ in exchange.request.query)
    return (
        Symptom(exchange, "missing", value=named and named[1]) if "missing" in words and (named or is_whole) else None
    )


def is_success(expected: str) -> bool:
    """Whether a text that names permitted statuses names a success."""
    return _SUCCESS.search(expected) is not None or any(number[0] == "2" for number in _NUMBERS.findall(expected))


def literal_of(expected: str) -> object:
    """Return the value that a text of an expected value names; ``ABSENT`` if it names none."""
    reading = read_json(expected.encode("utf-8", "surrogatepass"))
    if isinstance(reading, Parsed) and not isinstance(reading.value, dict | list):
        return reading.value
    return ABSENT
