"""Rules of a service for names and descriptions, which the interface does not state and texts of a run may break."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Final

from conformance.oracle import read
from conformance.oracle.ledger.accepted_texts import AcceptedTexts
from conformance.oracle.outcomes import CantTell
from conformance.wire import requests

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_PLAIN_DESCRIPTIONS: Final = (
    "Audit",
    "Audit of the public web application.",
    "Audit of the public web application and of all its interfaces",
)


def plain_names(run: Run) -> tuple[str, ...]:
    """Return names that naming rules should allow: short, of letters, of letters and a blank, long."""
    random = run.random("plain names")
    word = "".join(random.choices(string.ascii_lowercase, k=6))
    return (f"Audit {word}", f"Audit{word}", f"Audit {word} of the public web application")


def ensure_no_rule_for_engagements(run: Run, refused: str | None = None) -> None:
    """Ensure that a service that refused a new engagement for its name refuses plain and brief names, too.

    A plain name does not show the owner of the engagement, so its description does: a brief one, and one that has more
    words, because descriptions may have a rule as well. If the refused name is accepted beside a description, the name
    was not the reason.

    Args:
        run: The run.
        refused: The name that was refused; by default one of the run.

    Raises:
        CantTell: It accepts plain names, so it has naming rules.
    """
    brief = {"name": f"{run.names.beginning}{run.random('brief name').choice(string.ascii_lowercase)}"}
    mark = run.name("described")
    texts = (mark, *(f"{mark} {text}" for text in _PLAIN_DESCRIPTIONS[1:]))
    plain = [{"name": name, "description": text} for text in texts for name in plain_names(run)]
    own = {"name": run.name("own") if refused is None else refused}
    for body in (*plain, brief):
        response = _tried(run, body)
        if response.accepted and not _tried(run, body | own).accepted:
            ensure_no_rule_of_names(response)


def ensure_no_rule_for_texts(run: Run, exchange: Exchange) -> None:
    """Ensure that a request was not refused for its name or its description, if it was refused as invalid.

    If nothing that was accepted is like the description, creations with plain ones are tried.

    Raises:
        CantTell: The service accepts other names, or a plain description, so it may have rules for them.
    """
    names = AcceptedTexts.of("name", run.wire.exchanges)
    if names.lengths and names.may_refuse(exchange):
        raise CantTell("the service accepts names, but a rule of the service may forbid this one", exchange)
    if not AcceptedTexts.of("description", run.wire.exchanges).may_refuse(exchange):
        return
    for description in _PLAIN_DESCRIPTIONS:
        response = _tried(run, {"name": run.name("described"), "description": description})
        if response.accepted:
            message = "the service accepts descriptions, but a rule of the service may forbid this one"
            raise CantTell(message, exchange, response)


def _tried(run: Run, body: dict[str, str]) -> Exchange:
    """Return the response to a creation; delete the engagement that it created."""
    response = run.send(requests.create_engagement(body))
    if (identifier := read.identifier_or_none(response)) is not None:
        run.send(requests.delete_engagement(identifier))
    return response


def ensure_no_rule_of_names(response: Exchange) -> None:
    """Ensure that a plain name, sent because names of the run were refused, is refused as well.

    Raises:
        CantTell: It was accepted, so the service has naming rules.
    """
    if response.accepted:
        raise CantTell("the service accepts names, but a rule of the service forbids those of the run", response)
