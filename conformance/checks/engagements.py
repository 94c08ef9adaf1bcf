"""Engagements that the run makes, and what checks of several modules ask about them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from conformance.oracle import expect, read
from conformance.oracle.outcomes import CantTell
from conformance.oracle.timestamps import parse_timestamp
from conformance.wire import requests

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Mapping

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

FIELDS: Final = ("id", "name", "description", "status", "createdAt", "updatedAt")
"""What an engagement consists of, as far as the interface names it."""

ONE_SECOND_TICK: Final = 1.1
"""Seconds in which a clock that ticks in whole seconds surely ticks."""

_A_SHORT_TICK: Final = 0.25
"""Seconds in which a clock that shows fractions of seconds has most likely ticked."""

A_LONG_TICK: Final = 2.5
"""Seconds after which a clock that has not ticked does not tick at all."""

QUOTED: Final = """it's "so" said"""
"""Text that a service spoils which escapes whatever it saves once more."""

_SURELY_UNLIKE: Final = 12


def create_engagements(run: Run, *labels: str) -> list[dict[str, Any]]:
    """New engagements with a name and a description, as the answers to their creation show them.

    Returns:
        The ``data`` of each answer; its id is a string.

    Raises:
        CantTell: One was not created, its answer cannot be read, or two were given one id: what deletes both would
            delete twice what that id stands for.
    """
    bodies = [{"name": run.name(label), "description": f"about {run.names.name(label)}"} for label in labels]
    responses = run.send_all([requests.create_engagement(body) for body in bodies])
    made = [{**read.data(response), "id": read.text(read.data(response), "id", response)} for response in responses]
    if len({one["id"] for one in made}) < len(made):
        raise CantTell("several creations were answered with one id", *responses)
    return made


def ensure_responses(exchanges: Iterable[Exchange]) -> None:
    """Give a journey up that lacks an answer; one that makes all that it uses is begun anew then.

    Raises:
        NoResponse: Something has no answer.
    """
    for exchange in exchanges:
        _ = exchange.response


def read_engagement(exchange: Exchange) -> dict[str, Any]:
    """The engagement that an answer shows.

    Raises:
        CantTell: It shows none, or another one than was asked for.
    """
    data = read.data(exchange)
    identifier = data.get("id")
    if isinstance(identifier, str) and exchange.request.identifier not in {None, identifier}:
        raise CantTell("the answer shows another engagement than was asked for", exchange)
    return data


def require_active(exchange: Exchange) -> dict[str, Any]:
    """The engagement that a read shows before something is done to it that needs it to be active."""
    data = read_engagement(exchange)
    if data.get("status") != "active":
        raise CantTell("the engagement is not active", exchange)
    return data


def field_or_none(exchange: Exchange, field: str) -> object:
    """A field of the engagement that an answer shows; None where it shows none."""
    try:
        return read.data(exchange).get(field)
    except CantTell:
        return None


def tick_of(engagements: Iterable[Mapping[str, Any]]) -> float:
    """Seconds after which the service's clock has ticked, going by the times that it gave to engagements.

    A clock that ticks more slowly than it seems has not ticked then: who needs that it has looks again after
    ``A_LONG_TICK``.
    """
    times = [one.get(name) for one in engagements for name in ("createdAt", "updatedAt")]
    moments = [parse_timestamp(time) for time in times if isinstance(time, str)]
    return _A_SHORT_TICK if any(moment is not None and moment.microsecond for moment in moments) else ONE_SECOND_TICK


def identifier_of(response: Exchange) -> str | None:
    """The identifier that an answer gives, if it can be read."""
    identifier = field_or_none(response, "id")
    return identifier if isinstance(identifier, str) else None


def time_of(exchange: Exchange, field: str) -> str:
    """A time of the engagement that an answer shows."""
    return read.text(read_engagement(exchange), field, exchange)


def expect_not_honoured(sent: dict[str, Any], exchange: Exchange) -> None:
    """None of the values that are the service's to give is the one that a client sent."""
    data = read.data(exchange)  # not ``seen``: the identifier is judged as well
    for field in ("id", "status", "createdAt", "updatedAt"):
        if field in sent:
            value = read.text(data, field, exchange)
            expected, pointer = f"not the {field} that the client sent", f"/data/{field}"
            expect.holds(
                value != sent[field], f"{field} is as sent", exchange, expected=expected, actual=value, pointer=pointer
            )


def expect_missing(response: Exchange) -> None:
    """An engagement was not found whose identifier is of a shape that the service may never have issued."""
    expect.status_in(response, 404, 400, 422)


def missing_identifier(run: Run) -> str:
    """An identifier that no engagement has; checks share it, so that it is looked up once before they write to it."""
    return run.names.name("missing")


def another_identifier(known: str, choices: random.Random, otherwise: str) -> str:
    """An identifier that looks like a known one and is surely nobody's.

    Args:
        known: An identifier of the service.
        choices: Where the new part comes from.
        otherwise: What to take where the known one is too short to tell nobody's from somebody's.
    """
    if known.isascii() and known.isdigit():
        return str(choices.randrange(10**14, 10**15))
    places = [place for place, sign in enumerate(known) if re.fullmatch("[0-9A-Za-z]", sign)][-_SURELY_UNLIKE:]
    if len(places) < _SURELY_UNLIKE:
        return otherwise
    signs = list(known)
    for place in places:
        alphabet = "0123456789" if signs[place].isdigit() else "ABCDEF" if signs[place].isupper() else "abcdef"
        signs[place] = choices.choice(alphabet)
    return "".join(signs)
