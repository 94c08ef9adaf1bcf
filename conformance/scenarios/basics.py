"""Engagements that the run creates, and helpers that several scenarios and checks share."""

from __future__ import annotations

import re
from itertools import cycle
from typing import TYPE_CHECKING, Any, Final

from conformance.confirm.clock_ticks import A_SHORT_TICK, ONE_SECOND_TICK
from conformance.oracle import expect, read
from conformance.oracle.outcomes import CantTell
from conformance.oracle.timestamps import parse_timestamp
from conformance.scenarios.samples import ALONE, shuffled
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

FIELDS: Final = ("id", "name", "description", "status", "createdAt", "updatedAt")
"""The fields of an engagement that the interface names."""

QUOTED: Final = """it's "so" said & done"""
"""Text that a service spoils if it escapes stored text again at each update."""

_OTHERWISE: Final = {"active": "the engagement is not active", "archived": "the engagement did not become archived"}
_PLAIN: Final = re.compile("[A-Za-z0-9-]*[A-Za-z0-9]")
_SENTENCE: Final = "This is what it is about"


def create_engagements(run: Run, *labels: str, known: Collection[str] = ()) -> list[dict[str, Any]]:
    """Create engagements with a name and, if the service accepts it, a description that it may misread.

    Returns:
        The ``data`` of each response, which shows the engagement; its id is a string.

    Raises:
        CantTell: A creation failed, its response cannot be read, or two got the same id or one a known id, so that
            deleting both would delete one engagement twice.
    """
    texts = cycle(shuffled(ALONE, run.random(f"descriptions of {', '.join(labels)}")))
    bodies = [{"name": run.name(label), "description": next(texts)} for label in labels]
    responses = send_creations(run, bodies)
    made = [{**read.data(response), "id": read.identifier(response)} for response in responses]
    if len({*known, *(engagement["id"] for engagement in made)}) < len(known) + len(made):
        raise CantTell("several creations got the same id", *responses)
    return made


def send_creations(run: Run, bodies: Sequence[Mapping[str, object]]) -> list[Exchange]:
    """Create engagements at once; those refused as invalid again with plain texts."""
    responses = run.send_all([requests.create_engagement(body) for body in bodies])
    return [or_with_plain_texts(run, response) for response in responses]


def or_with_plain_texts(run: Run, exchange: Exchange) -> Exchange:
    """Return an exchange, or its repetition if rules of the service may forbid its texts.

    It is repeated without special characters at the end of the name, then also with a sentence as its description, and
    at last without a description.
    """
    body = exchange.sent_fields
    name, described = body.get("name"), body.get("description") is not None
    plain = _PLAIN.match(name) if isinstance(name, str) else None
    sentence = {"description": _SENTENCE} if described else {}
    return _or_changed(run, exchange, {} if plain is None else {"name": plain[0]}, sentence, {"description": None})


def or_with_long_description(run: Run, exchange: Exchange) -> Exchange:
    """Return an exchange, or its repetition with a longer description, and then with a sentence, if those may help."""
    brief = exchange.sent_fields.get("description")
    longer = () if brief is None else (f"{brief} and no more than that", f"{_SENTENCE}.")
    return _or_changed(run, exchange, *({"description": description} for description in longer))


def _or_changed(run: Run, exchange: Exchange, *changes: Mapping[str, str | None]) -> Exchange:
    """Return an exchange, or its repetitions while it is refused as invalid, each with a further change of the body."""
    body = exchange.sent_fields
    for change in changes:
        changed = {field: value for field, value in {**body, **change}.items() if value is not None}
        if exchange.refused_as_invalid and changed != body:
            exchange, body = run.send(exchange.request.with_body(requests.encode(changed))), changed
    return exchange


def ensure_responses(exchanges: Iterable[Exchange]) -> None:
    """Give up a scenario that lacks a response; a scenario that creates all that it uses then starts again.

    Raises:
        NoResponse: An exchange has no response.
    """
    for exchange in exchanges:
        _ = exchange.response


def read_engagement(exchange: Exchange) -> dict[str, Any]:
    """Return the engagement in a response.

    Raises:
        CantTell: The response shows none, or another engagement than requested.
    """
    data = read.data(exchange)
    identifier = data.get("id")
    if isinstance(identifier, str) and exchange.request.identifier not in {None, identifier}:
        raise CantTell("the response shows another engagement than was requested", exchange)
    return data


def require_status(exchange: Exchange, status: str) -> None:
    """Ensure that a read shows an engagement with the status that a check needs, active or archived."""
    if read_engagement(exchange).get("status") != status:
        raise CantTell(_OTHERWISE[status], exchange)


def field_or_none(exchange: Exchange, field: str) -> object:
    """Return a field of the engagement in a response; None if the response shows none."""
    return (read.or_none(read.data, exchange) or {}).get(field)


def tick_of(engagements: Iterable[Mapping[str, Any]]) -> float:
    """Return the seconds after which the service's clock has ticked, judged by the times of engagements.

    A clock may tick more slowly than that. A check that needs a tick waits ``A_LONG_TICK`` the second time.
    """
    times = (engagement.get(name) for engagement in engagements for name in ("createdAt", "updatedAt"))
    moments = map(parse_timestamp, times)
    return A_SHORT_TICK if any(moment is not None and moment.microsecond for moment in moments) else ONE_SECOND_TICK


def time_of(exchange: Exchange, field: str) -> str:
    """Return a time of the engagement in a response."""
    return read.text(read_engagement(exchange), field, exchange)


def expect_not_honoured(sent: dict[str, Any], exchange: Exchange) -> None:
    """Expect that no value of a field that the service sets is the one that the client sent."""
    data = read.data(exchange)  # not ``read_engagement``: the identifier is judged as well
    for field in ("id", "status", "createdAt", "updatedAt"):
        if field in sent:
            read.text(data, field, exchange)
            expect.other_than(field, sent[field], f"{field} is as sent", exchange)


def expect_missing(response: Exchange) -> None:
    """Expect that nothing was found for an identifier, which may have a shape that the service never issues."""
    expect.status_in(response, 404, 400, 422)


def missing_identifier(run: Run) -> str:
    """Return an identifier that no engagement has; checks share it, so that it is read once before they write to it."""
    return run.names.name("missing")
