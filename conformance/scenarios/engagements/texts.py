"""Texts of many kinds in creations and edits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from conformance.oracle import read
from conformance.running.options import Effort
from conformance.running.scenarios import scenario
from conformance.scenarios.organization.text_samples import ADDRESSES, SCRIPTS, SIGNS, joined
from conformance.wire import requests

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_LONG_NAME: Final = 280
_LONG_DESCRIPTION: Final = 3_000


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
    """Texts in creations, and in edits of the created engagements."""

    creations: tuple[KeptText, ...]
    edits: tuple[KeptText, ...]


@scenario
def texts(run: Run) -> Texts:
    """Send texts of many kinds as names and descriptions, together and, if that shows more, singly."""
    name, description = _long(_LONG_NAME), _long(_LONG_DESCRIPTION)
    names = joined(SCRIPTS, SIGNS), joined(SIGNS, SCRIPTS)
    together = _keep(run, names, (joined(ADDRESSES, SIGNS, SCRIPTS), joined(SCRIPTS, ADDRESSES, SIGNS)))
    long = _keep(run, (name, name), (description, f"then {description}"))
    attempts = [*together, *long]
    if run.effort is not Effort.QUICK:
        some = [text for texts in (SCRIPTS, SIGNS, ADDRESSES) for text in texts.values()]
    else:
        some = [] if together[0].response.succeeded else [joined(texts) for texts in (SCRIPTS, SIGNS, ADDRESSES)]
    for text, other in zip(some, [*some[1:], *some[:1]], strict=True):
        attempts += _keep(run, (text, other), (other, text))
    if not long[0].response.succeeded:
        attempts += _keep(run, (name, name), ("short", "then short"))
        attempts += _keep(run, ("short", "then short"), (description, f"then {description}"))
    # Names may be too short for all of them.
    if not any(attempt.response.succeeded for attempt in attempts if attempt.before is None):
        attempts += _keep(run, ("short", "then short"), (joined(SIGNS), joined(ADDRESSES)))
    return Texts(
        tuple(attempt for attempt in attempts if attempt.before is None),
        tuple(attempt for attempt in attempts if attempt.before is not None),
    )


def _keep(run: Run, names: tuple[str, str], descriptions: tuple[str, str]) -> list[KeptText]:
    """Create an engagement with two texts, read it, edit it with others and read it again.

    Args:
        run: The run.
        names: The ends of its first and its second name.
        descriptions: Its first and its second description.
    """
    sent, edited = (
        {"name": f"{run.name('t')} {name}", "description": description}
        for name, description in zip(names, descriptions, strict=True)
    )
    response = run.send(requests.create_engagement(sent))
    identifier = read.identifier_or_none(response)
    if identifier is None:
        return [KeptText(sent, response, None)]
    before = run.send(requests.get_engagement(identifier))
    edit = run.send(replace(requests.update_engagement(identifier, edited), repeatable=True))
    return [
        KeptText(sent, response, before),
        KeptText(edited, edit, run.send(requests.get_engagement(identifier)), before),
    ]


def _long(length: int) -> str:
    """Return a text of about that length, in which every place is different."""
    return " ".join(f"{number:04}" for number in range(length // 5))


@scenario
def text_samples(run: Run) -> dict[str, Exchange]:
    """Send names and descriptions that may be refused; return the exchanges by their purpose.

    Some share a creation, and get a separate one only if that is refused.
    """
    long = _long(20_000)
    # If a name does not show that the engagement is the run's, its description does.
    groups: tuple[dict[str, dict[str, Any]], ...] = (
        {"name-empty": {"name": "", "description": run.name("name-empty")}},
        {"name-blank": {"name": "   ", "description": run.name("name-blank")}},
        {"text": {"name": f"  {run.name('blanks')}  two  blanks ", "description": "e\u0301 \u212b \u1100\u1161"}},
        {
            "name-very-long": {"name": f"{run.name('very-long')} {long}"[:5_000].rstrip()},
            "description-very-long": {"description": long},
        },
        {
            "text-control-characters": {"name": f"{run.name('controls')} a\tb\nc\u0007d\u200de\u202ef"},
            "description-empty": {"description": ""},
        },
        {
            "unknown-body-fields": {"name": run.name("unknown-field"), "colour": "green"},
            "description-null": {"description": None},
        },
    )
    responses: dict[str, Exchange] = {}
    together = run.send_all([requests.create_engagement(_merged(*group.values())) for group in groups])
    for group, response in zip(groups, together, strict=True):
        responses |= dict.fromkeys(group, response)
        if len(group) > 1 and not response.succeeded:
            bodies = [_merged({"name": run.name(point)}, fields) for point, fields in group.items()]
            responses |= zip(group, run.send_all([requests.create_engagement(body) for body in bodies]), strict=True)
    return responses


def _merged(*fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for texts in fields for name, value in texts.items()}
