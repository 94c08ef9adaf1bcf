"""Report of a failed walk as numbered steps."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.oracle.observe import describe_response
from conformance.oracle.rendering import render
from conformance.scenarios.basics import field_or_none

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.oracle.ledger.findings import Finding
    from conformance.oracle.outcomes import NonConformity
    from conformance.scenarios.walks.engagement_walk import TakenStep, Walk
    from conformance.wire.exchange import Exchange

_MOST_STEPS: Final = 15


@dataclass(frozen=True, slots=True)
class FailedWalk:
    """A failed walk.

    Attributes:
        finding: The fault.
        lines: Its steps as sentences, up to the one that shows the fault.
        exchanges: Its exchanges.
    """

    finding: Finding
    lines: tuple[str, ...]
    exchanges: tuple[Exchange, ...]

    def as_fault(self) -> NonConformity:
        """Return the walk as a failure of a check."""
        left_out = len(self.lines) - _MOST_STEPS
        more = f"({left_out} steps before) " if left_out > 0 else ""
        steps = " ".join(f"{number}. {line}." for number, line in list(enumerate(self.lines, 1))[-_MOST_STEPS:])
        cited = () if left_out > 0 else self.exchanges
        return self.finding.as_fault(context=f", after this: {more}{steps}", steps=cited)


def describe_walk(walk: Walk, finding: Finding) -> FailedWalk:
    """Describe a failed walk."""
    letters = _letters(walk.taken)
    lines = tuple(
        f"{_sentence(taken_step, letters)} ({describe_response(taken_step.exchange)})" for taken_step in walk.taken
    )
    return FailedWalk(finding, lines, tuple(taken_step.exchange for taken_step in walk.taken))


def _letters(taken: Sequence[TakenStep]) -> dict[str, str]:
    """Return a letter for every engagement, by id."""
    ids = [made for taken_step in taken if taken_step.step.kind == "create" and (made := taken_step.made)]
    return {identifier: f"{chr(ord('A') + place % 26)}{place // 26 or ''}" for place, identifier in enumerate(ids)}


def _sentence(taken_step: TakenStep, letters: dict[str, str]) -> str:
    sent = taken_step.exchange.request
    body = json.loads(sent.body) if sent.body else {}
    fields = " and ".join(f"the {name} {render(value)}" for name, value in body.items())
    subject = letters.get(sent.identifier or taken_step.made or "", "?")
    asked = " and ".join(f"{name}={value}" for name, value in sent.query) or "no parameters"
    sentences = {
        "createEngagement": f"engagement {subject} is created with {fields}",
        "updateEngagement": f"{subject} gets {fields}",
        "archiveEngagement": f"{subject} is archived",
        "unarchiveEngagement": f"{subject} is unarchived",
        "deleteEngagement": f"{subject} is deleted",
        "getEngagement": f"{subject} is read{_state(taken_step.exchange)}",
        "listEngagements": f"the list is read with {asked}",
    }
    return sentences[sent.operation.id]


def _state(exchange: Exchange) -> str:
    if not exchange.accepted:
        return ""
    return f" and is {field_or_none(exchange, 'status')}, named {render(field_or_none(exchange, 'name'))}"
