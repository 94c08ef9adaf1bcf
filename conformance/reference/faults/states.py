"""Faults of the engagement's life: creation, archive, deletion, and what belongs to it."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from conformance.reference.faults import fault
from conformance.reference.records import SUBORDINATE_KINDS
from conformance.reference.service import Service

if TYPE_CHECKING:
    from conformance.reference.records import Engagement
    from conformance.reference.request_context import Reply, RequestContext


@fault("archived-editable", "archived-edit-refused", "archived-edit-changes-nothing")
class ArchivedEditable(Service):
    """An archived engagement can still be edited."""

    def check_editable(self, engagement: Engagement) -> None:
        """Find nothing wrong with it."""


@fault("created-updated-later", "created-updated-at-equals-created-at")
class CreatedUpdatedLater(Service):
    """A new engagement is said to be updated a moment after its creation."""

    def new_engagement(self, context: RequestContext) -> Engagement:
        """Take the time twice."""
        engagement = super().new_engagement(context)
        return replace(engagement, updated_at=engagement.updated_at + 1)


@fault("archive-keeps-updated-at", "archive-refreshes-updated-at")
class ArchiveKeepsUpdatedAt(Service):
    """Archiving does not refresh updatedAt."""

    def set_status(self, engagement: Engagement, status: str) -> None:
        """Keep the time."""
        self.store.edit_engagement(engagement.id, {"status": status}, engagement.updated_at)


@fault("deleted-still-listed", "deleted-unlisted", "deleted-uncounted")
class DeletedStillListed(Service):
    """A deleted engagement is not found any more, but still listed and counted."""

    @cached_property
    def _deleted(self) -> set[str]:
        return set()

    def find_engagement(self, context: RequestContext) -> Engagement:
        """Hide what was deleted."""
        if context.resource_id in self._deleted:
            raise self.not_found("engagement")
        return super().find_engagement(context)

    def delete_engagement(self, context: RequestContext) -> Reply:
        """Note that it is deleted, for reads only."""
        self._deleted.add(context.engagement.id)
        self.delete_subordinates(context.engagement)
        return self.resource(context, self.view_deleted(context.engagement))


@fault("cascade-leaves-tasks", "subordinate-tasks-go")
class CascadeLeavesTasks(Service):
    """A deleted engagement leaves its tasks behind."""

    def delete_subordinates(self, engagement: Engagement) -> None:
        """Forget one kind."""
        for kind in SUBORDINATE_KINDS:
            if kind != "task":
                self.store.delete_subordinates(engagement.id, kind)
