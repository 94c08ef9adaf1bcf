"""Faults of archiving and unarchiving."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.reference.faults import fault
from conformance.reference.faults.making import instead, made, shown
from conformance.reference.queries import EngagementQuery
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from conformance.reference.faults import Fault
    from conformance.reference.records import Engagement
    from conformance.reference.request_context import Reply, RequestContext
    from conformance.reference.routes import Operation
    from conformance.reference.views import View

_A_MOMENT = 0.005


# Archiving

RESPONSES = (
    shown(
        "archive-answers-active",
        "The answer to an archive still says active.",
        "view_archived",
        instead(("status",), lambda _: "active"),
        "archive-sets-status",
    ),
    shown(
        "archive-answers-other-id",
        "The answer to an archive carries another identifier.",
        "view_archived",
        instead(("id",), lambda text: f"{text}0"),
        "archive-engagement-answers-id",
    ),
)


@fault("archive-does-nothing", "archive-sets-status", "archived-edit-refused", "archive-refreshes-updated-at")
class ArchiveDoesNothing(Service):
    """Archiving answers as if it had been done."""

    def set_status(self, engagement: Engagement, status: str) -> None:
        """Keep the status."""

    def view_archived(self, engagement: Engagement) -> View:
        """Show what should be."""
        return super().view_archived(replace(engagement, status="archived", updated_at=self.now()))


@fault("archive-answers-old-time", "archive-engagement-answers-updated-at", "archive-refreshes-updated-at")
class ArchiveSaysOldTime(Service):
    """The answer to an archive carries the updatedAt from before."""

    def archive_engagement(self, context: RequestContext) -> Reply:
        """Write the old time."""
        reply = super().archive_engagement(context)
        reply.content["data"]["updatedAt"] = self.timestamp(context.engagement.updated_at)
        return reply


@fault("archive-marks-name", "archive-keeps-content")
class ArchiveMarksName(Service):
    """Archiving adds a remark to the name."""

    def set_status(self, engagement: Engagement, status: str) -> None:
        """Change the name, too."""
        self.store.edit_engagement(engagement.id, {"name": f"{engagement.name} (archived)"}, self.now())
        super().set_status(engagement, status)


@fault("archive-drops-description", "archive-keeps-content")
class ArchiveDropsDescription(Service):
    """Archiving forgets the description."""

    def set_status(self, engagement: Engagement, status: str) -> None:
        """Empty the description, too."""
        self.store.edit_engagement(engagement.id, {"description": None}, self.now())
        super().set_status(engagement, status)


@fault("archive-takes-neighbour", "archive-spares-others")
class ArchiveTakesNeighbour(Service):
    """Archiving an engagement archives the next one in the order of creation, too."""

    def set_status(self, engagement: Engagement, status: str) -> None:
        """Archive two."""
        super().set_status(engagement, status)
        query = EngagementQuery(engagement.organization_id, 0, 10_000, descending=False, ties="oldest")
        for other in self.store.engagements(query).items:
            if other.created_at > engagement.created_at:
                super().set_status(other, status)
                return


@fault("archive-touches-others", "archive-spares-others")
class ArchiveTouchesOthers(Service):
    """Archiving an engagement moves the updatedAt of all of them."""

    def set_status(self, engagement: Engagement, status: str) -> None:
        """Touch every one."""
        super().set_status(engagement, status)
        for other in self.store.engagements(EngagementQuery(engagement.organization_id, 0, 10_000)).items:
            self.store.edit_engagement(other.id, {}, self.now())


@fault("archive-needs-description", "archive-engagement-succeeds")
class ArchiveNeedsDescription(Service):
    """An engagement without a description cannot be archived."""

    def archive_engagement(self, context: RequestContext) -> Reply:
        """Object to a missing description."""
        if not context.engagement.description:
            raise Refusal(409, "Describe the engagement before you archive it.")
        return super().archive_engagement(context)


@fault("archive-needs-body", "archive-engagement-succeeds")
class ArchiveNeedsBody(Service):
    """Archiving without a body is refused."""

    def archive_engagement(self, context: RequestContext) -> Reply:
        """Object to a missing Content-Type."""
        if not context.request.headers.get("content-type"):
            raise Refusal(400, "Archiving takes a body.")
        return super().archive_engagement(context)


@fault("archive-not-found", "archive-engagement-succeeds")
class ArchiveNotFound(Service):
    """Archiving is not served."""

    def find_operation(self, context: RequestContext) -> Operation:
        """Find no such path."""
        operation = super().find_operation(context)
        if operation.id == "archiveEngagement":
            raise self.not_found("page")
        return operation


@fault("archive-again-unarchives", "archived-again-stays-archived")
class ArchiveAgainUnarchives(Service):
    """Archiving what is archived makes it active again."""

    def archive_engagement(self, context: RequestContext) -> Reply:
        """Toggle."""
        self.set_status(context.engagement, "active" if context.engagement.status == "archived" else "archived")
        return self.resource(context, self.view_archived(self.find_engagement(context)))


@fault("archived-archive-drops-description", "archive-keeps-content")
class ArchivedArchiveDropsDescription(Service):
    """Archiving an archived engagement is accepted, and its description is gone."""

    def archives_again(self) -> bool:
        """Accept it."""
        return True

    def set_status(self, engagement: Engagement, status: str) -> None:
        """Forget the description."""
        super().set_status(engagement, status)
        if engagement.status == status == "archived":
            self.store.edit_engagement(engagement.id, {"description": None}, self.now())


@fault("archived-archive-answers-active", "archive-sets-status")
class ArchivedArchiveSaysActive(Service):
    """Archiving what is archived is answered as if it were active."""

    def archive_engagement(self, context: RequestContext) -> Reply:
        """Show the wrong status, and change nothing."""
        if context.engagement.status == "archived":
            return self.resource(context, {**self.view_archived(context.engagement), "status": "active"})
        return super().archive_engagement(context)


@fault("archive-again-breaks", "no-server-error", "archived-again-stays-archived")
class ArchiveAgainBreaks(Service):
    """Archiving what is archived ends in an unexpected error."""

    def archives_again(self) -> bool:
        """Stumble."""
        raise RuntimeError("there is no transition from archived to archived")


@fault("archive-late", "archive-effective-at-once")
class ArchiveLate(Service):
    """An edit still slips in within 5 ms after the answer to an archive."""

    _archived_at: dict[str, float] | None = None

    def archive_engagement(self, context: RequestContext) -> Reply:
        """Note when it was."""
        self._archived_at = {**(self._archived_at or {}), context.engagement.id: self._clock()}
        return super().archive_engagement(context)

    def check_editable(self, engagement: Engagement) -> None:
        """Look away for a moment."""
        since = self._clock() - (self._archived_at or {}).get(engagement.id, 0)
        if since > _A_MOMENT:
            super().check_editable(engagement)


# What is archived


@fault("archived-description-editable", "archived-edit-refused", "archived-edit-changes-nothing")
class ArchivedDescriptionEditable(Service):
    """The description of an archived engagement can be edited."""

    def update_engagement(self, context: RequestContext) -> Reply:
        """Let edits of it pass."""
        if set(context.values) == {"description"}:
            context.engagement = replace(context.engagement, status="active")
        return super().update_engagement(context)


@fault("archived-name-editable", "archived-edit-refused", "archived-edit-changes-nothing")
class ArchivedNameEditable(Service):
    """The name of an archived engagement can be edited."""

    def update_engagement(self, context: RequestContext) -> Reply:
        """Let edits of it pass."""
        if set(context.values) == {"name"}:
            context.engagement = replace(context.engagement, status="active")
        return super().update_engagement(context)


@fault("archived-edit-ignored", "archived-edit-refused")
class ArchivedEditIgnored(Service):
    """An edit of an archived engagement is answered as done, and not done."""

    def update_engagement(self, context: RequestContext) -> Reply:
        """Do nothing."""
        if context.engagement.status == "archived":
            return self.resource(context, self.view_edited(context.engagement))
        return super().update_engagement(context)


def _refused_with(status: int) -> Fault:
    def check_editable(_: Service, engagement: Engagement) -> None:
        if engagement.status == "archived":
            raise Refusal(status, "An archived engagement is read-only.")

    title = f"An edit of an archived engagement is refused with {status}."
    return made(f"archived-edit-{status}", title, "archived-edit-refused", check_editable=check_editable)


REFUSALS = (_refused_with(404), _refused_with(401))


def _applied_yet_refused(identifier: str, title: str, *, touches_only: bool) -> Fault:
    async def perform(self: Service, context: RequestContext) -> Reply:
        try:
            return await Service.perform(self, context)
        except Refusal:
            found = self.store.engagement(context.resource_id) if context.operation.id == "updateEngagement" else None
            if found and context.values and found.status == "archived":
                self.store.edit_engagement(found.id, {} if touches_only else context.values, self.now())
            raise

    return made(identifier, title, "archived-edit-changes-nothing", perform=perform)


APPLIED = (
    _applied_yet_refused(
        "archived-edit-applied", "An edit of an archived engagement is refused and done.", touches_only=False
    ),
    _applied_yet_refused(
        "archived-edit-touches", "A refused edit of an archived engagement moves its updatedAt.", touches_only=True
    ),
)


@fault("archived-not-deletable", "archived-deletable")
class ArchivedNotDeletable(Service):
    """An archived engagement cannot be deleted."""

    def delete_engagement(self, context: RequestContext) -> Reply:
        """Object to its state."""
        if context.engagement.status == "archived":
            raise Refusal(409, "An archived engagement is read-only.")
        return super().delete_engagement(context)


def _unreadable(status: int) -> Fault:
    def get_engagement(self: Service, context: RequestContext) -> Reply:
        if context.engagement.status == "archived":
            raise Refusal(status, "The engagement is archived.")
        return Service.get_engagement(self, context)

    title = f"Reading an archived engagement gives {status}."
    return made(f"archived-read-{status}", title, "archived-readable", get_engagement=get_engagement)


UNREADABLE = (_unreadable(404), _unreadable(410))
