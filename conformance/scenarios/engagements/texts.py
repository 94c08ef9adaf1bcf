"""Texts of many kinds in creations and edits."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from itertools import cycle
from typing import TYPE_CHECKING, Any, Final

from conformance.oracle import read
from conformance.running.options import Effort
from conformance.running.scenarios import scenario
from conformance.scenarios.basics import field_or_none
from conformance.scenarios.samples import (
    ADDRESSES,
    ALONE,
    AT_THE_END,
    LENGTHS,
    SCRIPTS,
    SYNTAX,
    counted,
    joined,
    shuffled,
)
from conformance.wire import requests
from conformance.wire.gateways import TOO_LARGE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

_TABLES: Final = (SCRIPTS, SYNTAX, ADDRESSES)
_SHORT: Final = ("a short text", "then another")
_PLAIN: Final = ("a text of plain words", "then another of plain words")
_BRIEF: Final = ("é", "ß")
_NONE: Final = ("", "")
_FIRST: Final = ("=", "$")
"""The first characters of a creation's texts and an edit's: those of a formula, and of a reference to a field."""
_EVEN_CHANCE: Final = 0.5
_VERY_LONG: Final = {"name": 5_000, "description": 20_000}
"""Characters that a service may refuse, in a body that every gateway lets pass."""
_LONG: Final = {"name": 280, "description": 3_000}

_ASTRAL: Final = re.compile("([\U00010000-\U0010ffff])([\U00010000-\U0010ffff]?)")
"""A character of two surrogates, and the next one, which stays as it is."""

_Bodies = tuple[dict[str, str], dict[str, str]]
"""The bodies of a creation, and of the edit after it."""


@dataclass(frozen=True, slots=True)
class KeptText:
    """Sent texts, and a read of the engagement that must keep them.

    Attributes:
        sent: The body.
        response: The response.
        after: The read; None if there is nothing to read.
        before: A read before an edit; None for a creation.
    """

    sent: dict[str, str]
    response: Exchange
    after: Exchange | None
    before: Exchange | None = None


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts in creations, and in edits of the created engagements.

    Attributes:
        creations: The creations.
        edits: The edits.
        very_long: The responses to a creation with a very long text, by its field.
    """

    creations: tuple[KeptText, ...]
    edits: tuple[KeptText, ...]
    very_long: dict[str, Exchange]


@scenario
def texts(run: Run) -> Texts:
    """Send texts of many kinds as names and descriptions: all in one and, if that shows more, singly."""
    ends = iter(shuffled(AT_THE_END, run.random("ends of texts")))
    whole = [
        {field: f"{sign}{joined(*_TABLES)} {counted(length)} {next(ends)}" for field, length in _VERY_LONG.items()}
        for sign in _FIRST
    ]
    attempts = _keep(run, (_named(run, whole[0]), _named(run, whole[1])))
    very_long = dict.fromkeys(_VERY_LONG, attempts[0].response)
    if not attempts[0].response.accepted:
        long = [_created(run, _named(run, {field: counted(length)})) for field, length in _VERY_LONG.items()]
        very_long = {field: attempt.response for field, attempt in zip(_VERY_LONG, long, strict=True)}
        attempts += long + _shorter(run)
    for bodies in _singly(run):
        attempts += _keep(run, bodies)
    # Names may be too short for all of them, or plain.
    signs = (joined(SYNTAX), joined(ADDRESSES))
    for names, descriptions in ((_SHORT, signs), (_BRIEF, _SHORT), (_NONE, signs), (_NONE, _PLAIN)):
        if not any(attempt.response.accepted for attempt in attempts if attempt.before is not None):
            attempts += _keep(run, _pair(run, names, descriptions))
    for edited in [attempt for attempt in attempts if attempt.before is not None and attempt.response.accepted][:1]:
        identifier = edited.response.request.identifier or ""
        # For the ledger: the first name must not change the long description, an archive keeps both, lists show them.
        name = None if edited.before is None else field_or_none(edited.before, "name")
        name = name if isinstance(name, str) else run.name("renamed")
        run.send(requests.update_engagement(identifier, {"name": name}))
        run.send(requests.get_engagement(identifier))
        run.send(requests.archive_engagement(identifier))
        run.send(requests.get_engagement(identifier))
    return Texts(
        tuple(attempt for attempt in attempts if attempt.before is None),
        tuple(attempt for attempt in attempts if attempt.before is not None),
        very_long,
    )


def _shorter(run: Run) -> list[KeptText]:
    """Send the texts without the very long ones, and each kind singly if they are refused; then long ones."""
    names = joined(SCRIPTS, SYNTAX), joined(SYNTAX, SCRIPTS)
    attempts = _keep(run, _pair(run, names, (joined(ADDRESSES, SYNTAX, SCRIPTS), joined(SCRIPTS, ADDRESSES, SYNTAX))))
    if not attempts[0].response.accepted:
        kinds = [joined(table) for table in _TABLES]
        for text, other in zip(kinds, [*kinds[1:], *kinds[:1]], strict=True):
            attempts += _keep(run, _pair(run, (text, other), (other, text)))
    name, description = (counted(_LONG[field]) for field in _LONG)
    long = _keep(run, _pair(run, (name, name), (description, f"then {description}")))
    if not long[0].response.accepted:
        long += _keep(run, _pair(run, (name, name), _SHORT))
        long += _keep(run, _pair(run, _SHORT, (description, f"then {description}")))
    return attempts + long


def _singly(run: Run) -> Iterator[_Bodies]:
    """Yield bodies in which a field is nothing but a text that may be misread, and the other has the run's prefix.

    A quick run draws two of these texts, a standard run sends each in one place, and a deep run in every place.
    """
    random, deep = run.random("texts"), run.effort is Effort.DEEP
    alone = shuffled(ALONE, random)
    marked = cycle(shuffled([*AT_THE_END, *(text for table in _TABLES for text in table.values())], random))
    pairs = [*zip(alone, alone[1:] + alone[:1], strict=True)]
    if deep:
        chosen = [(pair, swap) for swap in (False, True) for pair in pairs]
    else:
        chosen = [(pair, random.random() < _EVEN_CHANCE) for pair in pairs[::2]]
    for pair, swap in chosen[:1] if run.effort is Effort.QUICK else chosen:
        fields = ("description", "name") if swap else ("name", "description")
        created, edited = (
            {field: text, other: f"{run.name('t')} {next(marked)}"}
            for field, other, text in zip(fields, reversed(fields), pair, strict=True)
        )
        yield created, edited
    if run.effort is not Effort.QUICK:
        for most, length in LENGTHS:
            named = [f"{run.name('t')}.{counted(most)}"[:most] for _ in range(2)]
            yield {"name": named[0], "description": counted(length)}, {"name": named[1], "description": "." * length}


def _pair(run: Run, names: tuple[str, str], descriptions: tuple[str, str]) -> _Bodies:
    created, edited = (
        _named(run, {"name": name, "description": description})
        for name, description in zip(names, descriptions, strict=True)
    )
    return created, edited


def _named(run: Run, texts: dict[str, str]) -> dict[str, str]:
    """Return a body with these texts, in which the name begins with the run's prefix."""
    return texts | {"name": f"{run.name('t')} {texts.get('name', '')}".rstrip()}


def _keep(run: Run, bodies: _Bodies) -> list[KeptText]:
    """Create an engagement with some texts, read it, edit it with others and read it again."""
    creation, edited = _created(run, bodies[0]), bodies[1]
    if creation.after is None:
        return [creation]
    identifier = creation.after.request.identifier or ""
    edit = run.send(replace(_respelled(requests.update_engagement(identifier, edited)), repeatable=True))
    return [creation, KeptText(edited, edit, run.send(creation.after.request), creation.after)]


def _respelled(request: Request) -> Request:
    """Return a request with another spelling of the same JSON: slashes and some pairs of surrogates are escaped."""
    text = (request.body or b"").decode("utf-8", "surrogatepass").replace("/", r"\/")
    spelled = _ASTRAL.sub(lambda found: json.dumps(found[1])[1:-1] + found[2], text)
    return request.with_body(spelled.encode("utf-8", "surrogatepass"))


def _created(run: Run, sent: dict[str, str]) -> KeptText:
    response = run.send(_respelled(requests.create_engagement(sent)))
    identifier = None if is_too_large(response) else read.identifier_or_none(response)
    return KeptText(sent, response, None if identifier is None else run.send(requests.get_engagement(identifier)))


def is_too_large(response: Exchange) -> bool:
    """Whether a body was refused for its size, possibly by a gateway."""
    return response.received is not None and response.received.status == TOO_LARGE


@scenario
def text_samples(run: Run) -> dict[str, Exchange]:
    """Send names and descriptions that may be refused; return the exchanges by their purpose.

    Some share a creation, and get a separate one only if that is refused.
    """
    # If a name does not show that the engagement is the run's, its description does.
    groups: tuple[dict[str, dict[str, Any]], ...] = (
        {"name-empty": {"name": "", "description": run.name("name-empty")}},
        {"name-blank": {"name": "   ", "description": run.name("name-blank")}},
        {"text": {"name": f"  {run.name('blanks')}  two  blanks ", "description": "e\u0301 \u212b \u1100\u1161"}},
        {
            "text-control-characters": {"name": f"{run.name('controls')} a\tb\nc\u0007d\u200de\u202ef"},
            "description-empty": {"description": ""},
        },
        {
            "unknown-body-fields": {"name": run.name("unknown-field"), "colour": "green"},
            "description-null": {"description": None},
        },
    )
    responses = {f"{field}-very-long": sent for field, sent in run.scenarios.result(texts).very_long.items()}
    together = run.send_all([requests.create_engagement(_merged(*group.values())) for group in groups])
    for group, response in zip(groups, together, strict=True):
        responses |= dict.fromkeys(group, response)
        if len(group) > 1 and not response.succeeded:
            bodies = [_merged({"name": run.name(point)}, fields) for point, fields in group.items()]
            responses |= zip(group, run.send_all([requests.create_engagement(body) for body in bodies]), strict=True)
    if (blank := read.identifier_or_none(responses["text"])) is not None:
        run.send(requests.get_engagement(blank))  # for the ledger, as lists must show the same
    return responses


def _merged(*fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for texts in fields for name, value in texts.items()}
