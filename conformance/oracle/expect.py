"""Assertions of checks: each passes, or raises ``NonConformity`` with the expected and the actual value.

Assertions are total: for any response they return, or raise ``NonConformity``, ``CantTell`` or, if there is
no response that can be judged, ``NoResponse``.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from conformance.oracle import read
from conformance.oracle.outcomes import CantTell, NonConformity, evidence
from conformance.oracle.rendering import one_of, render
from conformance.oracle.timestamps import parse_timestamp
from conformance.wire.exchange import REFUSALS, SUCCESSES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from datetime import datetime

    from conformance.wire.exchange import Exchange


def status(exchange: Exchange, permitted: Callable[[int], bool], expected: str) -> Exchange:
    """Require a permitted status; ``expected`` names them all."""
    given = exchange.status
    evidence(exchange, expected=expected)
    if not permitted(given):
        raise NonConformity(
            f"{exchange.operation_id} returned {given}",
            exchange,
            expected=expected,
            actual=f"{given}{_code(exchange)}",
        )
    return exchange


def status_in(exchange: Exchange, *permitted: int) -> Exchange:
    """Require one of these statuses."""
    return status(exchange, lambda given: given in permitted, one_of(*permitted))


def success(exchange: Exchange) -> Exchange:
    """Require the success of the operation: exactly 200 if the interface says so, else any 2xx."""
    exact = exchange.request.operation.status
    return status(exchange, lambda given: given == exact if exact else given in SUCCESSES, str(exact or "any 2xx"))


def refused(exchange: Exchange, *, but: Iterable[int] = (401, 404, 429)) -> Exchange:
    """Require a 4xx other than some."""
    excluded = frozenset(but)
    words = f"a 4xx other than {one_of(*sorted(excluded))}"
    return status(exchange, lambda given: given in REFUSALS and given not in excluded, words)


def equal(what: str, actual: object, expected: object, *at: Exchange, pointer: str | None = None) -> None:
    """Require a value."""
    evidence(*at, expected=f"{what} is {render(expected)}")
    if actual != expected or isinstance(actual, bool) is not isinstance(expected, bool):
        raise NonConformity(
            f"{what} is not {render(expected)}", *at, expected=render(expected), actual=render(actual), pointer=pointer
        )


def field(name: str, value: object, *at: Exchange) -> None:
    """Require the value of a text field of the resource in the last of these responses.

    Raises:
        NonConformity: It is another text.
        CantTell: The response has no such text.
    """
    shown = at[-1]
    equal(name, read.text(read.data(shown), name, shown), value, *at, pointer=f"/data/{name}")


def other_than(name: str, value: object, message: str, *at: Exchange) -> None:
    """Require any other value of a field of the resource in the last of these responses."""
    actual = read.data(at[-1]).get(name)
    expected = f"another {name} than {render(value)}"
    holds(actual != value, message, *at, expected=expected, actual=actual, pointer=f"/data/{name}")


def found(exchange: Exchange, what: str) -> Exchange:
    """Require any status but 404 from a request for an existing resource."""
    return status(exchange, lambda given: given != HTTPStatus.NOT_FOUND, what)


def success_or_conflict(exchange: Exchange) -> Exchange:
    """Require a 2xx, or 409."""
    return status(exchange, lambda given: given in SUCCESSES or given == HTTPStatus.CONFLICT, "any 2xx or 409")


def exists(what: str, shown: object, *at: Exchange) -> None:
    """Require that a resource is still shown."""
    holds(shown, f"{what} is gone", *at, expected=f"{what}, as before", actual="none")


def not_listed(what: str, listed: Collection[str], *at: Exchange) -> None:
    """Require that none of a kind is on these pages of a list."""
    holds(
        not listed,
        f"{what} is in the list",
        *at,
        expected=f"a list without {what}",
        actual=f"{len(listed)} in the list",
        pointer="/data",
    )


def distinct_ids(what: str, ids: Sequence[str], *at: Exchange) -> None:
    """Require that resources have different identifiers."""
    shared = sorted({identifier for identifier in ids if ids.count(identifier) > 1})
    expected = "a separate identifier for each"
    holds(not shared, f"{what} have the same id", *at, expected=expected, actual=", ".join(shared), pointer="/data/id")


def holds(
    condition: object, message: str, *at: Exchange, expected: str, actual: object, pointer: str | None = None
) -> None:
    """Require a condition over judged exchanges."""
    evidence(*at, expected=f"at {pointer}: {expected}" if pointer else expected)
    if not condition:
        words = actual if isinstance(actual, str) else render(actual)
        raise NonConformity(message, *at, expected=expected, actual=words, pointer=pointer)


def unchanged(what: str, before: dict[str, Any], after: dict[str, Any], fields: Iterable[str], *at: Exchange) -> None:
    """Require the same values in these fields of an object as before; a null description equals an absent one."""
    fields = tuple(fields)
    evidence(*at, expected=f"{what} as before: {', '.join(fields)}")
    for name in fields:
        was, now = before.get(name), after.get(name)
        if name == "description":
            was, now = was or "", now or ""
        if was != now:
            raise NonConformity(
                f"{name} of {what} has changed", *at, expected=render(was), actual=render(now), pointer=f"/data/{name}"
            )


def later(what: str, actual: str, than: str, *at: Exchange) -> None:
    """Require that a timestamp is later than another."""
    evidence(*at, expected=f"{what} later than {than}")
    if not moment(actual, *at) > moment(than, *at):
        raise NonConformity(f"{what} has not increased", *at, expected=f"later than {than}", actual=actual)


def moment(text: object, *at: Exchange) -> datetime:
    """Return the time of a timestamp; another requirement judges its format."""
    parsed = parse_timestamp(text)
    if parsed is None:
        raise CantTell(f"{render(text)} is not a timestamp of the interface's format", *at)
    return parsed


def _code(exchange: Exchange) -> str:
    """Return a space and the error code of a response, if it has one."""
    code = (read.error_or_none(exchange) or {}).get("code")
    return f" {code}" if isinstance(code, str) else ""
