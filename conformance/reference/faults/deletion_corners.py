"""Faults of deleting that show only for some engagements, or only to some later requests."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.reference.faults import fault, looking_up
from conformance.reference.faults.making import made
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.queries import EngagementQuery
    from conformance.reference.records import Engagement, Page
    from conformance.reference.request_context import Reply, RequestContext
    from conformance.reference.views import View


# Deletion


def _restoring(operation: str, words: str, *breaks: str) -> Fault:
    """A service that refuses a request for a deleted engagement, and brings it back."""

    def delete_engagement(self: Service, context: RequestContext) -> Reply:
        gone: dict[str, Engagement] = self.memory.get("gone", {})
        self.memory["gone"] = {**gone, context.engagement.id: context.engagement}
        return Service.delete_engagement(self, context)

    async def perform(self: Service, context: RequestContext) -> Reply:
        try:
            return await Service.perform(self, context)
        except Refusal:
            gone: dict[str, Engagement] = self.memory.get("gone", {})
            if context.operation.id == operation and (engagement := gone.pop(context.resource_id, None)):
                with suppress(Exception):
                    self.store.add_engagement(engagement)
            raise

    title = f"{words} a deleted engagement is refused, and brings it back."
    return made(f"deleted-{operation}-restores".lower(), title, *breaks, delete_engagement=delete_engagement,
                perform=perform)  # fmt: skip


RESTORING = (
    _restoring("updateEngagement", "Editing", "deleted-undeletable", "deleted-unlisted", "deleted-unreadable"),
    _restoring("archiveEngagement", "Archiving", "deleted-undeletable", "deleted-unlisted", "deleted-unreadable"),
    _restoring("unarchiveEngagement", "Unarchiving", "deleted-undeletable", "deleted-unlisted", "deleted-unreadable"),
    _restoring("deleteEngagement", "Deleting", "deleted-unlisted", "deleted-unreadable"),
)


def _sparing(identifier: str, title: str, spares: Callable[[Engagement], bool], *breaks: str) -> Fault:
    """A deletion that leaves some engagements where they are."""

    def delete_engagement(self: Service, context: RequestContext) -> Reply:
        if spares(context.engagement):
            return self.resource(context, self.view_deleted(context.engagement))
        return Service.delete_engagement(self, context)

    return made(identifier, title, *breaks, delete_engagement=delete_engagement)


DELETED = ("deleted-unreadable", "deleted-unlisted", "deleted-undeletable", "deleted-uneditable", "deleted-uncounted")

SPARING = (
    _sparing(
        "deletion-spares-archived",
        "The deletion of an archived engagement is answered as done, and not done.",
        lambda engagement: engagement.status == "archived",
        *DELETED,
        "archived-deletable",
    ),
    _sparing(
        "deletion-spares-described",
        "The deletion of an engagement with a description is answered as done, and not done.",
        lambda engagement: bool(engagement.description),
        *DELETED,
    ),
    _sparing(
        "deletion-spares-edited",
        "The deletion of an engagement that was changed is answered as done, and not done.",
        lambda engagement: engagement.updated_at > engagement.created_at,
        *DELETED,
    ),
    _sparing(
        "deletion-spares-untouched",
        "The deletion of an engagement that was never changed is answered as done, and not done.",
        lambda engagement: engagement.updated_at == engagement.created_at,
        *DELETED,
    ),
)


def _taking(identifier: str, title: str, takes: Callable[[Engagement, Engagement], bool], *breaks: str) -> Fault:
    """A deletion that takes others with it."""

    def delete_engagement(self: Service, context: RequestContext) -> Reply:
        for other in looking_up.engagements(self, context.organization_id):
            if other.id != context.engagement.id and takes(context.engagement, other):
                self.store.delete_engagement(other.id)
        return Service.delete_engagement(self, context)

    return made(identifier, title, *breaks, delete_engagement=delete_engagement)


TAKING = (
    _taking(
        "deletion-takes-archived",
        "The deletion of an archived engagement takes all archived ones.",
        lambda gone, other: gone.status == other.status == "archived",
        "delete-spares-others",
    ),
    _taking(
        "deletion-takes-older",
        "A deletion takes what was created within the second before.",
        lambda gone, other: 0 <= gone.created_at - other.created_at < 1000,  # noqa: PLR2004
        "delete-spares-others",
    ),
    _taking(
        "deletion-takes-same-description",
        "A deletion takes every engagement of the same description.",
        lambda gone, other: bool(gone.description) and gone.description == other.description,
        "delete-spares-others",
    ),
)


@fault("deleted-archived-still-listed", "deleted-unlisted")
class DeletedArchivedStillListed(Service):
    """An archived engagement that was deleted stays in the list of archived ones."""

    _gone: tuple[Engagement, ...] = ()

    def delete_engagement(self, context: RequestContext) -> Reply:
        """Keep it."""
        if context.engagement.status == "archived":
            self._gone += (context.engagement,)
        return super().delete_engagement(context)

    def find_engagements(self, query: EngagementQuery) -> Page[Engagement]:
        """Show it."""
        page = super().find_engagements(query)
        gone = tuple(one for one in self._gone if one.organization_id == query.organization_id)
        if query.status != "archived" or query.offset:
            return page
        return replace(page, items=(*page.items, *gone)[: query.limit], total=page.total + len(gone))


@fault("deletion-later", "delete-effective-at-once", "deleted-unreadable")
class DeletionLater(Service):
    """A deletion is done a little after its answer."""

    def delete_engagement(self, context: RequestContext) -> Reply:
        """Put it off."""
        self.later(lambda: self.store.delete_engagement(context.engagement.id))
        return self.resource(context, self.view_deleted(context.engagement))


@fault("deletion-says-yes", "delete-engagement-fields")
class DeletionSaysYes(Service):
    """The answer to a deletion has the number 1 for true."""

    def view_deleted(self, engagement: Engagement) -> View:
        """Write a number."""
        return {**super().view_deleted(engagement), "deleted": 1}


def _undescribed(value: object) -> Fault:
    """A list that shows something odd where there is no description."""

    def view_item(self: Service, engagement: Engagement) -> View:
        view = Service.view_item(self, engagement)
        return view if engagement.description else {**view, "description": value}

    word = type(value).__name__
    return made(
        f"listed-undescribed-{word}",
        f"A listed engagement without a description has a {word} for one.",
        "list-engagements-fields",
        view_item=view_item,
    )


UNDESCRIBED = (_undescribed(value=False), _undescribed({}), _undescribed([]))
