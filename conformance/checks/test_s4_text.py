"""Section 4, text: the name and the description of an engagement read back as sent."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from conformance.checks.engagements import field_or_none, identifier_of, read_engagement, require_active
from conformance.checks.markers import observes, requirement, scenario
from conformance.checks.text_samples import ADDRESSES, SCRIPTS, SIGNS, joined
from conformance.oracle import expect, observe, read
from conformance.oracle.effects import sent_object
from conformance.oracle.outcomes import CantTell, Inapplicable, NonConformity, evidence
from conformance.oracle.rendering import render as in_words
from conformance.running.options import Effort
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_REFUSALS: Final = frozenset({400, 413, 422})
_VERY_LONG: Final = {"name-very-long": "name", "description-very-long": "description"}
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
    identifier = identifier_of(response)
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


texts_scenario = scenario(texts)
text_samples_scenario = scenario(text_samples)


@requirement("create-engagement-keeps-text")
def test_creation_keeps_text(texts: Texts) -> None:
    """The name and the description of a created engagement read back exactly as sent."""
    _expect_kept(texts.creations)


@requirement("create-engagement-keeps-text")
def test_creation_cuts_no_text(text_samples: dict[str, Exchange]) -> None:
    """A very long name or description is refused, or the response to the creation shows it uncut."""
    taken = [(name, field) for name, field in _VERY_LONG.items() if text_samples[name].succeeded]
    if not taken:
        raise Inapplicable("very long texts were refused")

    for name, field in taken:
        response = text_samples[name]
        if not isinstance(field_or_none(response, field), str):
            raise CantTell(f"the response to the creation shows no {field}", response)
        _expect_same(field, str((sent_object(response) or {}).get(field)), field_or_none(response, field), response)


@requirement("update-engagement-keeps-text")
def test_update_keeps_text(texts: Texts) -> None:
    """The name and the description of an updated engagement read back exactly as sent."""
    if not texts.edits and all(creation.response.status in _REFUSALS for creation in texts.creations):
        raise Inapplicable("Every text was refused on creation, so there is none to edit")
    if not texts.edits:
        raise CantTell(
            "no engagement was created that could be edited", *(creation.response for creation in texts.creations)
        )
    for edit in texts.edits:
        if edit.before is not None:
            require_active(edit.before)

    _expect_kept(texts.edits)


def _expect_kept(attempts: Sequence[KeptText]) -> None:
    """Expect that accepted texts read back exactly, and that the others were refused as odd or long texts may be."""
    accepted = [attempt for attempt in attempts if attempt.response.succeeded]
    for attempt in attempts:
        if attempt not in accepted:
            if attempt.before is not None and attempt.response.attempt > 1:
                raise CantTell("a response was lost, and the retried request was refused", attempt.response)
            _expect_permitted_refusal(attempt.response)
    for attempt in accepted:
        if attempt.after is None:
            raise CantTell("a created engagement cannot be read", attempt.response)
        now, exchanges = read_engagement(attempt.after), (attempt.response, attempt.after)
        for field, text in attempt.sent.items():
            if attempt.before is not None and now.get(field) == field_or_none(attempt.before, field) != text:
                raise CantTell(f"the update of {field} took no effect at all", *exchanges)
            _expect_same(field, text, read.field(now, field, attempt.after), *exchanges)
    if not accepted:
        raise Inapplicable("every text was refused", *(attempt.response for attempt in attempts))


def _expect_permitted_refusal(response: Exchange) -> None:
    if response.status >= 500:  # noqa: PLR2004
        raise CantTell(f"the service returned {response.status}", response)
    expect.status(response, lambda status: status in _REFUSALS, "any 2xx, 400, 413 or 422")


def _expect_same(field: str, sent: str, got: object, *at: Exchange) -> None:
    """Expect a text as sent; excerpts of both begin shortly before the first difference."""
    evidence(*at)
    if got == sent:
        return
    text = got if isinstance(got, str) else ""
    place = next((place for place, (own, other) in enumerate(zip(sent, text, strict=False)) if own != other), len(text))
    start = max(0, min(place, len(sent)) - 10)
    raise NonConformity(
        f"{field} does not read back as sent, from its character {place + 1} on",
        *at,
        expected=in_words(sent[start : start + 80]),
        actual=in_words(text[start : start + 80]) if isinstance(got, str) else in_words(got),
        pointer=f"/data/{field}",
    )


@observes("name-empty", "name-blank", "name-very-long", "description-very-long", "unknown-body-fields")
def test_observe_odd_creations(run: Run, text_samples: dict[str, Exchange]) -> None:
    """Observe empty, blank and very long texts, and unknown fields."""
    for point in ("name-empty", "name-blank", "name-very-long", "description-very-long", "unknown-body-fields"):
        run.observe(point, observe.describe_response(text_samples[point]), text_samples[point])


@observes("description-null", "description-empty")
def test_observe_descriptions_that_say_nothing(run: Run, text_samples: dict[str, Exchange]) -> None:
    """Observe a description that is null or empty."""
    for point in ("description-null", "description-empty"):
        response = text_samples[point]
        reads = f", reads {observe.reads(read.data(response), 'description')}" if response.succeeded else ""
        run.observe(point, observe.describe_response(response) + reads, response)


@observes("text-blanks", "text-normalization", "text-control-characters")
def test_observe_changes_of_text(run: Run, text_samples: dict[str, Exchange]) -> None:
    """Observe blanks, control characters and text that is not in normal form C."""
    for point, field in (
        ("text-blanks", "name"),
        ("text-normalization", "description"),
        ("text-control-characters", "name"),
    ):
        response = text_samples.get(point, text_samples["text"])
        sent = json.loads(response.request.body or b"{}")[field]
        became = f", {observe.recorded_change(sent, field_or_none(response, field))}" if response.succeeded else ""
        run.observe(point, observe.describe_response(response) + became, response)
