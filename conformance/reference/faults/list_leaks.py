"""Faults of isolation: lists that hold other organizations' items where they are asked for in one way or another."""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING

from conformance.reference.faults.list_making import cut, whole
from conformance.reference.faults.looking_up import EVERYTHING
from conformance.reference.faults.making import made
from conformance.reference.records import Page
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.queries import EngagementQuery, MemberQuery
    from conformance.reference.records import Engagement, Member

_KEYS = {"createdAt": "created_at", "updatedAt": "updated_at", "name": "name"}


def _of_everybody(service: Service, query: EngagementQuery) -> Page[Engagement]:
    """Engagements of all organizations that a query matches, in its order."""
    found = [one for other in service.store.organization_ids()
             for one in whole(service, replace(query, organization_id=other))]  # fmt: skip
    key = attrgetter(_KEYS.get(query.sort, "created_at"))
    return cut(query, tuple(sorted(found, key=key, reverse=query.descending)))


def _leaking(way: str, says: str, when: Callable[[EngagementQuery], bool]) -> Fault:
    """A list of engagements that forgets whom it is for."""

    def find_engagements(self: Service, query: EngagementQuery) -> Page[Engagement]:
        return _of_everybody(self, query) if when(query) else Service.find_engagements(self, query)

    title = f"The list of engagements holds those of all organizations where {says}."
    return made(f"leak-list-all-{way}", title, "isolation-lists", find_engagements=find_engagements)


LEAKS = (
    _leaking("by-name", "it is sorted by name", lambda query: query.sort == "name"),
    _leaking("ascending", "it is sorted upwards", lambda query: not query.descending),
    _leaking("active", "active ones are asked for", lambda query: query.status == "active"),
    _leaking("active-by-name", "active ones are sorted by name",
             lambda query: (query.status, query.sort) == ("active", "name")),
)  # fmt: skip


def _find_members(self: Service, query: MemberQuery) -> Page[Member]:
    honest = Service.find_members
    if query.role is None:
        return honest(self, query)
    asked = (replace(query, organization_id=one, offset=0, limit=EVERYTHING) for one in self.store.organization_ids())
    found = tuple(member for each in asked for member in honest(self, each).items)
    return Page(found[query.offset : query.offset + query.limit], len(found))


MEMBERS = (
    made(
        "leak-members-by-role",
        "The list of members holds those of all organizations where a role is asked for.",
        "list-members-role-filter",
        "isolation-lists",
        find_members=_find_members,
    ),
)
