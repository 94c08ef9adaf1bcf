"""Faults of deletion: what stays of a deleted engagement, what else goes, and what belonged to it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from conformance.reference.faults import Fault, fault
from conformance.reference.faults.making import instead, made, shown
from conformance.reference.queries import EngagementQuery
from conformance.reference.records import SUBORDINATE_KINDS, Engagement
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from conformance.reference.request_context import Reply, RequestContext

_A_MOMENT = 0.005


class _Remembering(Service):
    """A service that still knows what was deleted, for what a fault makes of it."""

    forgets_after = float("inf")
    """Seconds for which a deleted engagement is known."""

    @cached_property
    def _deleted(self) -> dict[str, tuple[Engagement, float]]:
        return {}

    def delete_engagement(self, context: RequestContext) -> Reply:
        """Remember it."""
        self._deleted[context.engagement.id] = (context.engagement, self._clock())
        return super().delete_engagement(context)

    def find_engagement(self, context: RequestContext) -> Engagement:
        """Find what is there."""
        found, at = self._deleted.get(context.resource_id, (None, 0.0))
        if found and self.still_finds(context) and self._clock() - at < self.forgets_after:
            return found
        return super().find_engagement(context)

    def still_finds(self, context: RequestContext) -> bool:
        """Tell whether an operation finds deleted engagements."""
        return context.operation.id in self.blind

    blind: tuple[str, ...] = ()
    """The operations that find deleted engagements."""


def _remembering(identifier: str, title: str, operation: str, *breaks: str, **members: Any) -> Fault:  # noqa: ANN401 - of any type
    """Make a service one of whose operations works on deleted engagements."""
    service = type("Remembering", (_Remembering,), {"__doc__": title, "blind": (operation,), **members})
    return Fault(identifier, title, breaks, service)


def _archive_as_if(self: Service, context: RequestContext) -> Reply:
    """Archive what is there; say so of what is not."""
    if self.store.engagement(context.resource_id):
        return Service.archive_engagement(self, context)
    return self.resource(context, {**self.view_archived(context.engagement), "status": "archived"})


SOFT = (
    _remembering(
        "deleted-readable",
        "A deleted engagement can still be read.",
        "getEngagement",
        "deleted-unreadable",
        "delete-effective-at-once",
    ),
    _remembering(
        "deleted-editable", "A deleted engagement can still be edited.", "updateEngagement", "deleted-uneditable"
    ),
    _remembering(
        "deleted-deletable", "A deleted engagement can be deleted again.", "deleteEngagement", "deleted-undeletable"
    ),
    _remembering(
        "deleted-archivable",
        "A deleted engagement can be archived.",
        "archiveEngagement",
        "deleted-unarchivable",
        archive_engagement=_archive_as_if,
    ),
    _remembering(
        "deletion-late",
        "A deleted engagement can still be read within 5 ms after the answer.",
        "getEngagement",
        "delete-effective-at-once",
        "deleted-unreadable",
        forgets_after=_A_MOMENT,
    ),
)


def _refused_with(identifier: str, operation: str, status: int, requirement: str) -> Fault:
    def find(self: Service, context: RequestContext) -> None:
        if context.operation.id == operation and self.store.engagement(context.resource_id) is None:
            raise Refusal(status, "The engagement is gone.")
        Service.find(self, context)

    title = f"A missing engagement gives {status} instead of 404 for {operation}."
    return made(identifier, title, *requirement.split(), find=find)


OTHER_STATUSES = (
    _refused_with("deleted-read-410", "getEngagement", 410, "deleted-unreadable get-unknown-engagement"),
    _refused_with("deleted-edit-409", "updateEngagement", 409, "deleted-uneditable update-unknown-engagement"),
    _refused_with("deleted-delete-400", "deleteEngagement", 400, "deleted-undeletable"),
    _refused_with("deleted-archive-409", "archiveEngagement", 409, "deleted-unarchivable archive-unknown-engagement"),
)


@fault("deleted-counted", "deleted-uncounted", "engagement-count-agrees")
class DeletedCounted(Service):
    """The organization still counts deleted engagements."""

    _deletions = 0

    def delete_engagement(self, context: RequestContext) -> Reply:
        """Note one more."""
        self._deletions += 1
        return super().delete_engagement(context)

    def count_engagements(self, organization: Any) -> int:  # noqa: ANN401 - as the parent's
        """Count them, too."""
        return super().count_engagements(organization) + self._deletions


@fault("delete-does-nothing", "deleted-unreadable", "deleted-unlisted", "deleted-undeletable", "deleted-uneditable")
class DeleteDoesNothing(Service):
    """A deletion answers as if it had been done."""

    def delete_engagement(self, context: RequestContext) -> Reply:
        """Do nothing."""
        return self.resource(context, self.view_deleted(context.engagement))


@fault("delete-archives", "deleted-unreadable", "deleted-unlisted", "deleted-undeletable", "deleted-uneditable")
class DeleteArchives(Service):
    """A deletion only archives."""

    def delete_engagement(self, context: RequestContext) -> Reply:
        """Archive it."""
        self.set_status(context.engagement, "archived")
        return self.resource(context, self.view_deleted(context.engagement))


@fault("delete-takes-neighbour", "delete-spares-others")
class DeleteTakesNeighbour(Service):
    """A deletion takes the engagement created next with it."""

    def delete_engagement(self, context: RequestContext) -> Reply:
        """Delete two."""
        reply = super().delete_engagement(context)
        query = EngagementQuery(context.organization_id, 0, 10_000, sort="createdAt", descending=False, ties="oldest")
        for other in self.store.engagements(query).items:
            if other.created_at >= context.engagement.created_at:
                self.store.delete_engagement(other.id)
                break
        return reply


@fault("delete-by-name", "delete-spares-others", "create-engagement-duplicate-name")
class DeleteByName(Service):
    """A deletion takes every engagement of the same name."""

    def delete_engagement(self, context: RequestContext) -> Reply:
        """Delete all namesakes."""
        for other in self.store.engagements(EngagementQuery(context.organization_id, 0, 10_000)).items:
            if other.name == context.engagement.name:
                self.store.delete_engagement(other.id)
        return super().delete_engagement(context)


@fault("delete-needs-archive", "delete-engagement-succeeds")
class DeleteNeedsArchive(Service):
    """An active engagement cannot be deleted."""

    def delete_engagement(self, context: RequestContext) -> Reply:
        """Object to its state."""
        if context.engagement.status == "active":
            raise Refusal(409, "Archive the engagement first.")
        return super().delete_engagement(context)


RESPONSES = (
    shown(
        "delete-answers-false",
        "The answer to a deletion says that nothing was deleted.",
        "view_deleted",
        instead(("deleted",), lambda _: False),
        "delete-engagement-answers-true",
    ),
    shown(
        "delete-answers-other-id",
        "The answer to a deletion carries another identifier.",
        "view_deleted",
        instead(("id",), lambda text: f"{text}0"),
        "delete-engagement-answers-true",
    ),
)

_KINDS = {
    "target": ("targets", "subordinate-targets-go"),
    "wikiPage": ("wiki-pages", "subordinate-wiki-pages-go"),
    "report": ("reports", "subordinate-reports-go"),
    "threatModel": ("threat-models", "subordinate-threat-models-go"),
    "apiRequest": ("api-requests", "subordinate-api-requests-go"),
}


def _leaving(kind: str) -> Fault:
    def delete_subordinates(self: Service, engagement: Engagement) -> None:
        for other in SUBORDINATE_KINDS:
            if other != kind:
                self.store.delete_subordinates(engagement.id, other)

    words, requirement = _KINDS[kind]
    title = f"A deleted engagement leaves its {words.replace('-', ' ')} behind."
    return made(f"cascade-leaves-{words}", title, requirement, delete_subordinates=delete_subordinates)


KINDS = tuple(_leaving(kind) for kind in _KINDS)


@fault("cascade-takes-neighbours", "subordinates-of-others-stay")
class CascadeTakesNeighbours(Service):
    """A deletion takes the reports of all other engagements with it."""

    def delete_subordinates(self, engagement: Engagement) -> None:
        """Forget one kind of everybody's."""
        super().delete_subordinates(engagement)
        for other in self.store.engagements(EngagementQuery(engagement.organization_id, 0, 10_000)).items:
            self.store.delete_subordinates(other.id, "report")


@fault("cascade-not-at-all", *(requirement for _, requirement in _KINDS.values()), "subordinate-tasks-go")
class CascadeNotAtAll(Service):
    """A deleted engagement leaves all its records behind."""

    def delete_subordinates(self, engagement: Engagement) -> None:
        """Forget none."""
