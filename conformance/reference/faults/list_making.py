"""Factories of faults of the engagement list, by its request or by its items."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.reference.faults.looking_up import EVERYTHING
from conformance.reference.faults.making import made
from conformance.reference.records import Engagement, Page
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.queries import EngagementQuery
    from conformance.reference.request_context import RequestContext

    Asked = dict[str, Any]
    """The parameters as they were read: page, perPage, status, sort and order."""


def asking(
    identifier: str, says: str, change: Callable[[Asked, EngagementQuery], EngagementQuery], *breaks: str
) -> Fault:
    """A list that asks for something else; ``change`` is given what was asked for, and the honest query."""

    def engagement_query(self: Service, context: RequestContext) -> EngagementQuery:
        return change(context.values, Service.engagement_query(self, context))

    return made(identifier, f"The list of engagements {says}.", *breaks, engagement_query=engagement_query)


def finding(
    identifier: str, says: str, find: Callable[[Service, EngagementQuery], Page[Engagement]], *breaks: str
) -> Fault:
    """A list that finds something else."""
    return made(identifier, f"The list of engagements {says}.", *breaks, find_engagements=find)


def whole(service: Service, query: EngagementQuery) -> tuple[Engagement, ...]:
    """Everything that a query matches, on whichever page."""
    return Service.find_engagements(service, replace(query, offset=0, limit=EVERYTHING)).items


def cut(query: EngagementQuery, items: tuple[Engagement, ...]) -> Page[Engagement]:
    """The page of these items that a query asks for."""
    return Page(items[query.offset : query.offset + query.limit], len(items))
