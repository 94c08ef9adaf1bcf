"""Rules for names that the interface does not tell, and that the names of a run may not keep."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Final

from conformance.checks.engagements import identifier_of
from conformance.oracle.effects import accepted
from conformance.oracle.outcomes import CantTell
from conformance.wire import requests

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

REFUSED_AS_INVALID: Final = frozenset({400, 413, 422})
"""Statuses with which a name may be refused for its length or its form."""

_LETTERS: Final = 6


def plain_names(run: Run) -> tuple[str, ...]:
    """Names that a service with any rule for names should take: short, of letters, of letters and a blank."""
    random = run.random("plain names")
    word = "".join(random.choices(string.ascii_lowercase, k=_LETTERS))
    return (f"Audit {word}", f"Audit{word}")


def ensure_no_rule_for_engagements(run: Run) -> None:
    """A service that refused a new engagement for its name refuses plain names too.

    A plain name does not tell whose the engagement is, so its description does; where the run's own names are taken
    beside a description, it was not for the name that one was refused.

    Raises:
        CantTell: It takes them, so that it has rules for names.
    """
    described = {"description": run.name("described")}
    for name in plain_names(run):
        response = _tried(run, {"name": name, **described})
        if accepted(response) and not accepted(_tried(run, {"name": run.name("own"), **described})):
            ensure_no_rule_of_names(response)


def _tried(run: Run, body: dict[str, str]) -> Exchange:
    """The answer to a creation; what came of it is deleted again."""
    response = run.send(requests.create_engagement(body))
    if (identifier := identifier_of(response)) is not None:
        run.send(requests.delete_engagement(identifier))
    return response


def ensure_no_rule_of_names(response: Exchange) -> None:
    """A name that was sent because the run's own were refused is refused as well.

    Raises:
        CantTell: It was taken, so that the service has rules for names.
    """
    if accepted(response):
        raise CantTell("the service takes names, and has a rule for them that those of the run do not keep", response)
