"""Section 4, text: the name and the description of an engagement read back as sent."""

from __future__ import annotations

import json
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from conformance.checks.markers import requirement
from conformance.checks.observations import observing
from conformance.oracle import expect, read
from conformance.oracle.observe import describe_response, reads, recorded_change
from conformance.oracle.outcomes import CantTell, Inapplicable, NonConformity, evidence
from conformance.oracle.rendering import render
from conformance.scenarios.basics import field_or_none, read_engagement, require_status
from conformance.scenarios.engagements.texts import is_too_large, text_samples
from conformance.scenarios.samples import ALONE
from conformance.wire.exchange import INVALID
from conformance.wire.statuses import SERVER_ERRORS_FROM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.checks.observations import Described
    from conformance.scenarios.engagements.texts import KeptText, Texts
    from conformance.wire.exchange import Exchange


@requirement("create-engagement-keeps-text")
def test_creation_keeps_text(texts: Texts) -> None:
    """The name and the description of a created engagement read back exactly as sent."""
    _expect_kept(texts.creations)


@requirement("update-engagement-keeps-text")
def test_update_keeps_text(texts: Texts) -> None:
    """The name and the description of an updated engagement read back exactly as sent."""
    if not texts.edits and all(creation.response.status in INVALID for creation in texts.creations):
        raise Inapplicable("every text was refused on creation, so there is none to edit")
    if not texts.edits:
        raise CantTell(
            "no engagement was created that could be edited", *(creation.response for creation in texts.creations)
        )
    for edit in texts.edits:
        if edit.before is not None:
            require_status(edit.before, "active")

    _expect_kept(texts.edits)


def _expect_kept(attempts: Sequence[KeptText]) -> None:
    """Expect that accepted texts read back exactly, and that the others were refused as odd or long texts may be."""
    attempts = [attempt for attempt in attempts if not is_too_large(attempt.response)]
    accepted = [attempt for attempt in attempts if attempt.response.succeeded]
    for attempt in attempts:
        if attempt not in accepted:
            _expect_permitted_refusal(attempt)
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


def _expect_permitted_refusal(attempt: KeptText) -> None:
    if attempt.response.status >= SERVER_ERRORS_FROM:
        raise CantTell(f"the service returned {attempt.response.status}", attempt.response)
    # A name without the run's prefix may be in use.
    permitted = INVALID | ({409} if attempt.sent["name"] in ALONE else set())
    if attempt.before is not None and attempt.response.attempt > 1 and attempt.response.status not in permitted:
        raise CantTell("a response was lost, and the retried request was refused", attempt.response)
    expect.status(attempt.response, lambda status: status in permitted, "any 2xx, 400, 413 or 422")


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
        expected=render(sent[start : start + 80]),
        actual=render(text[start : start + 80]) if isinstance(got, str) else render(got),
        pointer=f"/data/{field}",
    )


def _description(point: str, seen: dict[str, Exchange]) -> Described:
    response = seen[point]
    stated = f", reads {reads(read.data(response), 'description')}" if response.succeeded else ""
    return describe_response(response) + stated, response


def _change(point: str, field: str, seen: dict[str, Exchange]) -> Described:
    response = seen.get(point, seen["text"])
    sent = json.loads(response.request.body or b"{}")[field]
    became = f", {recorded_change(sent, field_or_none(response, field))}" if response.succeeded else ""
    return describe_response(response) + became, response


OBSERVATIONS: Final = (
    *(
        observing(point, text_samples, itemgetter(point))
        for point in ("name-empty", "name-blank", "name-very-long", "description-very-long", "unknown-body-fields")
    ),
    observing("description-null", text_samples, partial(_description, "description-null")),
    observing("description-empty", text_samples, partial(_description, "description-empty")),
    observing("text-blanks", text_samples, partial(_change, "text-blanks", "name")),
    observing("text-normalization", text_samples, partial(_change, "text-normalization", "description")),
    observing("text-control-characters", text_samples, partial(_change, "text-control-characters", "name")),
)
