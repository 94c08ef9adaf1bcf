"""Scenario of the list of engagements in the order of names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.confirm.pages import total_of
from conformance.oracle import read
from conformance.running.scenarios import scenario
from conformance.scenarios.lists.bounded_finding import find_seeded
from conformance.scenarios.lists.filtered import readable, until_seen
from conformance.scenarios.lists.seeded_engagements import SeededEngagements, seeded_engagements

if TYPE_CHECKING:
    from conformance.oracle.lists.listing import Snapshot
    from conformance.running.run import Run


@dataclass(frozen=True, slots=True)
class ListByName:
    """The list sorted by name, without an order.

    Attributes:
        pages: Pages of 100 until the seeded engagements were seen, or the pages that hold them.
        seeded: The seeded engagements, which must be in them.
        skipped: Number of items before those pages.
    """

    pages: Snapshot
    seeded: SeededEngagements
    skipped: int = 0


@scenario(alone=True)
def by_name(run: Run) -> ListByName:
    """List engagements in the order of their names."""
    seeded = run.scenarios.result(seeded_engagements)
    owned = {engagement.identifier for engagement in seeded.engagements}
    pages = until_seen(run, owned, sort="name")
    items = readable(pages)
    total = total_of(pages[0])
    if total > len(items) and not any(read.id_of(item) in owned for item in items):
        found = find_seeded(run, seeded.engagements, total)
        return ListByName(found.snapshot or pages, seeded, found.skipped)
    return ListByName(pages, seeded)
