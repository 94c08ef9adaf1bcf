"""Other users of an organization, with engagements of their own that they create, rename and delete."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from conformance.reference.clock import DAY
from conformance.reference.records import Engagement

if TYPE_CHECKING:
    from conformance.reference.base import Core

_MOST_BETWEEN = 12
"""Requests between two deeds, at most."""
_AT_ONCE = 3
"""Engagements that they keep."""
_MANY = {"hundreds": 250, "thousands": 2500}
"""Engagements of those who have been here for long."""
_ARCHIVED = 2
"""Every so manieth of these is archived."""
_TOGETHER = 4
"""How many of these were made at the same moment."""
_MINUTE = 60_000


class BusyNeighbours:
    """The others; they act before the requests of the one who is tested, or between them.

    Args:
        service: Where they are busy.
    """

    def __init__(self, service: Core) -> None:
        self._service = service
        self._requests = 0
        self._next = 1
        self._whim = random.Random(1)  # noqa: S311 - the same deeds in every run
        self._kept: dict[str, list[str]] = {}

    def act(self, organization_id: str) -> None:
        """Do something now and then."""
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

    def seed(self, organization_id: str, many: str) -> None:
        """Have made hundreds or thousands of engagements the day before, more of them archived than a page holds.

        They come in groups of the same moment, whatever the clock ticks.
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
        self._kept[organization_id] = [one.id for one in engagements]

    def _made(self, organization_id: str, number: int, at: int, *, archived: bool = False) -> Engagement:
        """Make an engagement of a time; if it is archived, it has been so since a minute later."""
        identifier, name = self._service.new_id("engagement"), f"Neighbour {number}"
        status, changed = ("archived", at + _MINUTE) if archived else ("active", at)
        return Engagement(identifier, organization_id, name, None, status, at, changed)
