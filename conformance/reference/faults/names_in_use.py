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
    from conformance.reference.request_context import Call, Reply

_RESPONSES, _LASTS = "create-engagement-answers-what-was-sent", "create-engagement-lasts"


def _in_use(service: Service, call: Call, status: str | None = None, besides: str | None = None) -> bool:
    names = service.store.engagement_names(call.organization_id, besides=besides, status=status)
    return call.values.get("name") in names


@fault("name-in-use-numbered-on-create", _RESPONSES)
class NameInUseNumberedOnCreate(Service):
    """A new engagement whose name is in use gets a number, and says so."""

    def new_engagement(self, call: Call) -> Engagement:
        """Number it."""
        new = super().new_engagement(call)
        return replace(new, name=f"{new.name} (1)") if _in_use(self, call) else new


@fault("name-in-use-numbered-unsaid", _LASTS)
class NameInUseNumberedUnsaid(Service):
    """A new engagement whose name is in use gets a number that only reads show."""

    def create_engagement(self, call: Call) -> Reply:
        """Number it once it was shown."""
        is_second = _in_use(self, call)
        reply = super().create_engagement(call)
        if is_second:
            made = reply.content["data"]
            overwrite(self, "engagements", made["id"], name=f"{made['name']} (1)")
        return reply


@fault("name-of-archived-numbered", _RESPONSES)
class NameOfArchivedNumbered(Service):
    """A new engagement with the name of an archived one gets a number, and says so."""

    def new_engagement(self, call: Call) -> Engagement:
        """Number it."""
        new = super().new_engagement(call)
        return replace(new, name=f"{new.name} (1)") if _in_use(self, call, "archived") else new


@fault("name-in-use-numbered-on-update", "update-engagement-takes-effect")
class NameInUseNumberedOnUpdate(Service):
    """An engagement that is renamed to a name in use gets a number."""

    def update_engagement(self, call: Call) -> Reply:
        """Number it."""
        if _in_use(self, call, besides=call.resource_id):
            call.values["name"] += " (1)"
        return super().update_engagement(call)


def _is_second(service: Service, call: Call) -> bool:
    """Whether another engagement was called the same before this one was there."""
    this = call.engagement
    known = whole(service, EngagementQuery(this.organization_id, 0, 1))
    return any(one.name == this.name and one.created_at < this.created_at for one in known)


@fault("edit-of-namesake-lost", "update-engagement-takes-effect")
class EditOfNamesakeLost(Service):
    """An edit of the description is taken and lost where an older engagement has the same name."""

    def update_engagement(self, call: Call) -> Reply:
        """Answer as if it were done."""
        if not _is_second(self, call) or "name" in call.values:
            return super().update_engagement(call)
        self.check_editable(call.engagement)
        return self.resource(call, self.view_edited(replace(call.engagement, **call.values)))


@fault("archive-of-namesake-lost", "archive-sets-status", "archived-edit-refused")
class ArchiveOfNamesakeLost(Service):
    """An engagement is archived and stays active where an older one has the same name."""

    def archive_engagement(self, call: Call) -> Reply:
        """Answer as if it were done."""
        if not _is_second(self, call):
            return super().archive_engagement(call)
        return self.resource(call, self.view_archived(replace(call.engagement, status="archived")))
