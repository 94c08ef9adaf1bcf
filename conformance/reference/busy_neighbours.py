"""Simulated other users of an organization, who change its engagements or a setting."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from conformance.reference.clock import DAY
from conformance.reference.records import Engagement

if TYPE_CHECKING:
    from conformance.reference.base import Core

_MOST_BETWEEN = 12
"""Most requests between two changes."""
_AT_ONCE = 3
"""Engagements that exist at once."""
_MANY = {"hundreds": 250, "thousands": 2500}
"""Engagements to seed, by the value of the open point."""
_ARCHIVED = 2
"""One of this many seeded engagements is archived."""
_TOGETHER = 4
"""Seeded engagements with the same creation time."""
_MINUTE = 60_000
_PER_SWITCH = 400
"""Requests from one change of the setting to the next."""


class BusyNeighbours:
    """Other users; they change engagements or a setting before or between the requests of the suite."""

    def __init__(self, service: Core) -> None:
        self._service = service
        self._requests = 0
        self._next = 1
        self._whim = random.Random(1)  # noqa: S311 - the same changes in every run
        self._kept: dict[str, list[str]] = {}

    def act(self, organization_id: str) -> None:
        """Make a change after some of the requests."""
        self._requests += 1
        if self._requests < self._next:
            return
        self._next += self._whim.randint(1, _MOST_BETWEEN)
        kept = self._kept.setdefault(organization_id, [])
        with self._service.store.transaction():
            if len(kept) < _AT_ONCE:
                engagement = self._made(organization_id, self._requests, self._service.now())
                self._service.store.add_engagement(engagement)
                kept.append(engagement.id)
            else:
                self._service.store.delete_engagement(kept.pop(0))
                changes = {"name": f"Neighbour, renamed {self._requests}"}
                self._service.store.edit_engagement(kept[0], changes, self._service.now())

    def administer(self, organization_id: str) -> None:
        """Switch a setting of the organization after some of the requests."""
        self._requests += 1
        if self._requests % _PER_SWITCH == 0:
            self._service.store.switch_two_factor(organization_id, self._service.now())

    def seed(self, organization_id: str, many: str) -> None:
        """Add hundreds or thousands of engagements of the day before; half of them are archived.

        They come in groups with the same creation time, also if the clock ticks in seconds.
        """
        if organization_id in self._kept:
            return
        began = self._service.now() - DAY
        with self._service.store.transaction():
            engagements = [
                self._made(
                    organization_id, number, began + number // _TOGETHER * _MINUTE, archived=number % _ARCHIVED == 0
                )
                for number in range(_MANY[many])
            ]
            self._service.store.add_engagement(*engagements)
        self._kept[organization_id] = [engagement.id for engagement in engagements]

    def _made(self, organization_id: str, number: int, at: int, *, archived: bool = False) -> Engagement:
        """Return an engagement created at a time; an archived one was archived a minute later."""
        identifier, name = self._service.new_id("engagement"), f"Neighbour {number}"
        status, changed = ("archived", at + _MINUTE) if archived else ("active", at)
        return Engagement(identifier, organization_id, name, None, status, at, changed)
