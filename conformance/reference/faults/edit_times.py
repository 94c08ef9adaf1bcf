"""Faults of the times of engagements: what edits and archiving make of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.reference.faults import Fault, fault
from conformance.reference.faults.making import made, overwrite
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.records import Engagement
    from conformance.reference.request_context import Reply, RequestContext

_HOUR = 3_600_000

Sent = dict[str, Any]


def _timed(identifier: str, title: str, at: Callable[[Engagement, int], int], *breaks: str) -> Fault:
    """An edit that shows another time of the last change; ``at`` is given the engagement from before and the time."""

    def update_engagement(self: Service, context: RequestContext) -> Reply:
        Service.update_engagement(self, context)
        overwrite(self, "engagements", context.engagement.id, updated_at=at(context.engagement, self.now()))
        return self.resource(context, self.view_edited(self.find_engagement(context)))

    return made(identifier, title, *breaks, update_engagement=update_engagement)


@fault("archive-in-local-time", "timestamps-are-utc")
class ArchiveInLocalTime(Service):
    """Archiving writes the time of Athens as updatedAt, with a Z."""

    def archive_engagement(self, context: RequestContext) -> Reply:
        """Write it."""
        super().archive_engagement(context)
        overwrite(self, "engagements", context.engagement.id, updated_at=self.now() + 2 * _HOUR)
        return self.resource(context, self.view_archived(self.find_engagement(context)))


@fault("clearing-keeps-updated-at", "update-engagement-moves-updated-at")
class ClearingKeepsUpdatedAt(Service):
    """An edit that takes the description away does not move updatedAt."""

    def update_engagement(self, context: RequestContext) -> Reply:
        """Put the time back."""
        reply = super().update_engagement(context)
        if "description" in context.values and not context.values["description"]:
            overwrite(self, "engagements", context.engagement.id, updated_at=context.engagement.updated_at)
        return reply


TIMES = (
    _timed(
        "edit-keeps-updated-at",
        "An edit does not move updatedAt.",
        lambda before, _: before.updated_at,
        "update-engagement-moves-updated-at",
    ),
    _timed(
        "edit-moves-updated-at-back",
        "An edit moves updatedAt back by an hour.",
        lambda before, _: before.updated_at - _HOUR,
        "updated-at-never-goes-back",
        "update-engagement-moves-updated-at",
    ),
    _timed(
        "edit-resets-updated-at",
        "An edit sets updatedAt to createdAt.",
        lambda before, _: before.created_at,
        "update-engagement-moves-updated-at",
        "updated-at-never-goes-back",
    ),
)


@fault("edit-description-keeps-updated-at", "update-engagement-moves-updated-at")
class EditDescriptionKeepsUpdatedAt(Service):
    """An edit of the description alone does not move updatedAt."""

    def changes_something(self, sent: Sent, kept: Sent) -> bool:
        """Write it without the time."""
        if set(sent) == {"description"}:
            for one in self._edited:
                self.store.edit_engagement(one, sent, 0)
            return False
        return super().changes_something(sent, kept)

    _edited: tuple[str, ...] = ()

    def update_engagement(self, context: RequestContext) -> Reply:
        """Say which engagement it is."""
        self._edited = (context.engagement.id,)
        return super().update_engagement(context)


@fault("edit-moves-created-at", "created-at-never-changes", "update-engagement-keeps-the-rest")
class EditMovesCreatedAt(Service):
    """An edit moves createdAt."""

    def update_engagement(self, context: RequestContext) -> Reply:
        """Write both times."""
        Service.update_engagement(self, context)
        overwrite(self, "engagements", context.engagement.id, created_at=self.now())
        return self.resource(context, self.view_edited(self.find_engagement(context)))


@fault("archive-moves-created-at", "created-at-never-changes", "archive-keeps-content")
class ArchiveMovesCreatedAt(Service):
    """Archiving moves createdAt."""

    def set_status(self, engagement: Engagement, status: str) -> None:
        """Write both times."""
        super().set_status(engagement, status)
        overwrite(self, "engagements", engagement.id, created_at=self.now())


@fault("archive-moves-updated-at-back", "updated-at-never-goes-back", "archive-refreshes-updated-at")
class ArchiveMovesUpdatedAtBack(Service):
    """Archiving moves updatedAt back by an hour."""

    def set_status(self, engagement: Engagement, status: str) -> None:
        """Write an earlier time."""
        super().set_status(engagement, status)
        overwrite(self, "engagements", engagement.id, updated_at=engagement.updated_at - _HOUR)
