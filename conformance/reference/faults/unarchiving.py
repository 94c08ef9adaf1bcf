"""Faults of unarchiving, whose result is open, but not everything about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference.faults import fault
from conformance.reference.faults.making import made
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from conformance.reference.faults import Fault
    from conformance.reference.records import Engagement
    from conformance.reference.request_context import Reply, RequestContext
    from conformance.reference.views import View


def _unserved(status: int, words: str, *breaks: str) -> Fault:
    def unarchive_engagement(_: Service, __: RequestContext) -> Reply:
        raise Refusal(status, "Engagements cannot be unarchived.")

    title = f"Unarchiving an existing engagement gives {status}, {words}."
    return made(f"unarchive-{status}", title, *breaks, unarchive_engagement=unarchive_engagement)


UNSERVED = (
    _unserved(404, "as if there were no such operation", "unarchive-served"),
    _unserved(405, "as if the path were known for something else", "unarchive-served"),
    _unserved(401, "as if the key were bad", "unarchive-served"),
    _unserved(500, "which no request is promised", "no-server-error", "unarchive-served"),
)


@fault("unarchived-not-editable", "unarchived-editable")
class UnarchivedNotEditable(Service):
    """An unarchived engagement reads active, but edits of it are refused."""

    _unarchived: frozenset[str] = frozenset()

    def unarchive_engagement(self, context: RequestContext) -> Reply:
        """Note it."""
        self._unarchived |= {context.engagement.id}
        return super().unarchive_engagement(context)

    def check_editable(self, engagement: Engagement) -> None:
        """Object to what was ever archived."""
        if engagement.id in self._unarchived:
            raise Refusal(409, "The engagement was archived.")
        super().check_editable(engagement)


@fault("unarchived-not-archivable", "unarchived-archivable")
class UnarchivedNotArchivable(Service):
    """An unarchived engagement reads active, but cannot be archived again."""

    _unarchived: frozenset[str] = frozenset()

    def unarchive_engagement(self, context: RequestContext) -> Reply:
        """Note it."""
        self._unarchived |= {context.engagement.id}
        return super().unarchive_engagement(context)

    def archive_engagement(self, context: RequestContext) -> Reply:
        """Object to a second time."""
        if context.engagement.id in self._unarchived:
            raise Refusal(409, "The engagement was archived before.")
        return super().archive_engagement(context)


@fault("unarchive-only-looks-so", "unarchived-editable", "unarchived-archivable")
class UnarchiveOnlyLooksSo(Service):
    """An unarchived engagement reads active, but stays archived within."""

    _unarchived: frozenset[str] = frozenset()

    def unarchive_engagement(self, context: RequestContext) -> Reply:
        """Note it, and nothing else."""
        self._unarchived |= {context.engagement.id}
        return self.resource(context, self.view_unarchived(context.engagement))

    def view_engagement(self, engagement: Engagement) -> View:
        """Show it as active."""
        view = super().view_engagement(engagement)
        return {**view, "status": "active"} if engagement.id in self._unarchived else view


@fault("unarchive-deleted-succeeds", "deleted-not-unarchived")
class UnarchiveDeletedSucceeds(Service):
    """Unarchiving a deleted engagement gives a success."""

    def find(self, context: RequestContext) -> None:
        """Do without the engagement."""
        if context.operation.id != "unarchiveEngagement" or self.store.engagement(context.resource_id):
            super().find(context)

    def unarchive_engagement(self, context: RequestContext) -> Reply:
        """Answer with nothing much."""
        if self.store.engagement(context.resource_id) is None:
            return self.resource(context, {"id": context.resource_id, "status": "active"})
        return super().unarchive_engagement(context)


@fault("unarchive-deleted-conflict", "deleted-not-unarchived")
class UnarchiveDeletedConflict(Service):
    """Unarchiving a deleted engagement gives 409."""

    def find(self, context: RequestContext) -> None:
        """Object to its state instead of its absence."""
        if context.operation.id == "unarchiveEngagement" and self.store.engagement(context.resource_id) is None:
            raise Refusal(409, "The engagement is not archived.")
        super().find(context)


@fault("unarchive-moves-created-at", "created-at-never-changes")
class UnarchiveMovesCreatedAt(Service):
    """An unarchived engagement shows the time of its unarchiving as createdAt."""

    _unarchived: dict[str, int] | None = None

    def unarchive_engagement(self, context: RequestContext) -> Reply:
        """Note the time."""
        self._unarchived = {**(self._unarchived or {}), context.engagement.id: self.now()}
        return super().unarchive_engagement(context)

    def view_engagement(self, engagement: Engagement) -> View:
        """Show the time as that of its creation."""
        view = super().view_engagement(engagement)
        since = (self._unarchived or {}).get(engagement.id)
        return view if since is None else {**view, "createdAt": self.timestamp(since)}
