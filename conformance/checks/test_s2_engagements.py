"""Section 2, engagements: identifiers and times, in every answer of the run that shows an engagement of its own."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.checks.engagements import identifier_of
from conformance.checks.marks import journey, requirement
from conformance.checks.test_s4_create_engagement import Creating, creating
from conformance.checks.test_s4_update_engagement import Editing, editing
from conformance.oracle import expect, read
from conformance.oracle.judgement import NonConformity, Undecided, judged
from conformance.oracle.timestamps import parse_timestamp

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

pytestmark = pytest.mark.stage(1)

_SHOWING: Final = frozenset({"createEngagement", "getEngagement", "archiveEngagement"})

creating_journey = journey(creating)
editing_journey = journey(editing)


@dataclass(frozen=True, slots=True)
class Sight:
    """One time of an engagement as an answer shows it.

    Attributes:
        identifier: The engagement's.
        time: The time as it was written.
        moment: The moment that it names.
        exchange: The exchange.
        pointer: The place in the body.
    """

    identifier: str
    time: str
    moment: datetime
    exchange: Exchange
    pointer: str


def successes(run: Run) -> list[Exchange]:
    """All successes of the run so far that its own checks asked for properly."""
    return [one for one in run.wire.exchanges if one.judgeable and one.call.is_proper and one.received_success]


@requirement("engagement-ids-distinct")
def test_engagements_have_identifiers_of_their_own(run: Run, creating: Creating) -> None:
    """No two engagements that exist at the same time have one identifier."""
    read.success(creating.bare.answer)
    exchanges = _answered(run)
    living: dict[str, Exchange] = {}

    for exchange in exchanges:
        identifier = identifier_of(exchange) if exchange.call.operation.id == "createEngagement" else None
        if exchange.call.operation.id == "deleteEngagement":
            living.pop(exchange.call.identifier or "", None)
        elif identifier is not None:
            other = living.setdefault(identifier, exchange)
            _distinct(other is exchange, identifier, other, exchange)
