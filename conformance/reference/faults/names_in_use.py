"""Faults where a name is in use already: the service numbers the second one as file managers do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.reference.faults import fault
from conformance.reference.faults.list_making import whole
from conformance.reference.faults.making import overwrite
from conformance.reference.queries import EngagementQuery
from conformance.reference.service import Service

if TYPE_CHECKING:
    from conformance.reference.records import Engagement
    from conformance.reference.request_context import Reply, RequestContext

_RESPONSES, _LASTS = "create-engagement-answers-what-was-sent", "create-engagement-lasts"


def _in_use(service: Service, context: RequestContext, status: str | None = None, besides: str | None = None) -> bool:
    names = service.store.engagement_names(context.organization_id, besides=besides, status=status)
    return context.values.get("name") in names


@fault("name-in-use-numbered-on-create", _RESPONSES)
class NameInUseNumberedOnCreate(Service):
    """A new engagement whose name is in use gets a number, and says so."""

    def new_engagement(self, context: RequestContext) -> Engagement:
        """Number it."""
        new = super().new_engagement(context)
        return replace(new, name=f"{new.name} (1)") if _in_use(self, context) else new


@fault("name-in-use-numbered-unsaid", _LASTS)
class NameInUseNumberedUnsaid(Service):
    """A new engagement whose name is in use gets a number that only reads show."""

    def create_engagement(self, context: RequestContext) -> Reply:
        """Number it once it was shown."""
        is_second = _in_use(self, context)
        reply = super().create_engagement(context)
        if is_second:
            made = reply.content["data"]
            overwrite(self, "engagements", made["id"], name=f"{made['name']} (1)")
        return reply


@fault("name-of-archived-numbered", _RESPONSES)
class NameOfArchivedNumbered(Service):
    """A new engagement with the name of an archived one gets a number, and says so."""

    def new_engagement(self, context: RequestContext) -> Engagement:
        """Number it."""
        new = super().new_engagement(context)
        return replace(new, name=f"{new.name} (1)") if _in_use(self, context, "archived") else new


@fault("name-in-use-numbered-on-update", "update-engagement-takes-effect")
class NameInUseNumberedOnUpdate(Service):
    """An engagement that is renamed to a name in use gets a number."""

    def update_engagement(self, context: RequestContext) -> Reply:
        """Number it."""
        if _in_use(self, context, besides=context.resource_id):
            context.values["name"] += " (1)"
        return super().update_engagement(context)


def _is_second(service: Service, context: RequestContext) -> bool:
    """Whether another engagement was called the same before this one was there."""
    this = context.engagement
    known = whole(service, EngagementQuery(this.organization_id, 0, 1))
    return any(one.name == this.name and one.created_at < this.created_at for one in known)


@fault("edit-of-namesake-lost", "update-engagement-takes-effect")
class EditOfNamesakeLost(Service):
    """An edit of the description is taken and lost where an older engagement has the same name."""

    def update_engagement(self, context: RequestContext) -> Reply:
        """Answer as if it were done."""
        if not _is_second(self, context) or "name" in context.values:
            return super().update_engagement(context)
        self.check_editable(context.engagement)
        return self.resource(context, self.view_edited(replace(context.engagement, **context.values)))


@fault("archive-of-namesake-lost", "archive-sets-status", "archived-edit-refused")
class ArchiveOfNamesakeLost(Service):
    """An engagement is archived and stays active where an older one has the same name."""

    def archive_engagement(self, context: RequestContext) -> Reply:
        """Answer as if it were done."""
        if not _is_second(self, context):
            return super().archive_engagement(context)
        return self.resource(context, self.view_archived(replace(context.engagement, status="archived")))
