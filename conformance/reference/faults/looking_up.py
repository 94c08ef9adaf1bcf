"""Lookups in the store for faults, past the limits of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference.queries import EngagementQuery, MemberQuery

if TYPE_CHECKING:
    from conformance.reference.records import Engagement, Member
    from conformance.reference.request_context import RequestContext
    from conformance.reference.service import Service

EVERYTHING = 10_000
"""More items than any organization of a test has."""


def engagements(service: Service, organization_id: str) -> tuple[Engagement, ...]:
    """All engagements of an organization, the oldest first."""
    query = EngagementQuery(organization_id, 0, EVERYTHING, descending=False, ties="oldest")
    return service.store.engagements(query).items


def members(service: Service, organization_id: str) -> tuple[Member, ...]:
    """All members of an organization."""
    return service.store.members(MemberQuery(organization_id, 0, EVERYTHING)).items


def other_people(service: Service, context: RequestContext) -> list[Member]:
    """All members of a call's organization but the one that it names and the owners."""
    everybody = members(service, context.organization_id)
    return [one for one in everybody if one.user_id != context.resource_id and one.role != "owner"]
