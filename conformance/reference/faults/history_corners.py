"""Faults that show only on engagements of a certain history: unarchived, edited, archived twice, never edited."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.reference.faults import fault
from conformance.reference.faults.list_making import whole
from conformance.reference.faults.making import made, overwrite
from conformance.reference.queries import EngagementQuery
from conformance.reference.records import Engagement, Page
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from conformance.reference.faults import Fault
    from conformance.reference.request_context import Reply, RequestContext


class _Remembering(Service):
    """A service that remembers what was done to its engagements."""

    def unarchive_engagement(self, context: RequestContext) -> Reply:
        """Remember it."""
        reply = Service.unarchive_engagement(self, context)
        self.revived()[context.engagement.id] = 0
        return reply

    def revived(self) -> dict[str, int]:
        """Number of edits of each engagement since it was unarchived."""
        found: dict[str, int] = self.memory.setdefault("revived", {})
        return found


@fault("unarchived-delete-spares", "deleted-unreadable", "deleted-unlisted", "deleted-uncounted")
class UnarchivedDeleteSpares(_Remembering):
    """An engagement that was unarchived once is still there after it was deleted."""

    def delete_engagement(self, context: RequestContext) -> Reply:
        """Say so."""
        if context.engagement.id in self.revived():
            return self.resource(context, self.view_deleted(context.engagement))
        return Service.delete_engagement(self, context)


@fault("unarchived-delete-refused", "delete-engagement-succeeds")
class UnarchivedDeleteRefused(_Remembering):
    """An engagement that was unarchived once cannot be deleted."""

    def delete_engagement(self, context: RequestContext) -> Reply:
        """Refuse it."""
        if context.engagement.id in self.revived():
            raise Refusal(409, "It was unarchived.")
        return Service.delete_engagement(self, context)


@fault("edited-archived-delete-refused", "archived-deletable")
class EditedArchivedDeleteRefused(Service):
    """An archived engagement that was edited before cannot be deleted."""

    def delete_engagement(self, context: RequestContext) -> Reply:
        """Refuse it."""
        engagement = context.engagement
        if engagement.status == "archived" and "archived" in (engagement.description or ""):
            raise Refusal(409, "It is archived.")
        return Service.delete_engagement(self, context)


@fault("unarchived-delete-counted", "deleted-uncounted", "engagement-count-agrees")
class UnarchivedDeleteCounted(_Remembering):
    """An engagement that was unarchived once is still counted by the organization after it was deleted."""

    def delete_engagement(self, context: RequestContext) -> Reply:
        """Remember it."""
        if context.engagement.id in self.revived():
            self.memory["lost"] = self.memory.get("lost", 0) + 1
        return Service.delete_engagement(self, context)

    def get_organization(self, context: RequestContext) -> Reply:
        """Count it."""
        reply = Service.get_organization(self, context)
        reply.content["data"]["engagementCount"] += self.memory.get("lost", 0)
        return reply


@fault("unarchived-listed-when-deleted", "deleted-unlisted")
class UnarchivedListedWhenDeleted(_Remembering):
    """An engagement that was unarchived once stays in the list after it was deleted."""

    def delete_engagement(self, context: RequestContext) -> Reply:
        """Remember it."""
        if context.engagement.id in self.revived():
            self.memory.setdefault("shades", []).append(context.engagement)
        return Service.delete_engagement(self, context)

    def find_engagements(self, query: EngagementQuery) -> Page[Engagement]:
        """Show it."""
        page = Service.find_engagements(self, query)
        shades = tuple(one for one in self.memory.get("shades", ()) if query.status in {None, one.status})
        return Page((*page.items, *shades)[: query.limit], page.total + len(shades))


@fault("unarchived-edit-once", "unarchived-editable")
class UnarchivedEditOnce(_Remembering):
    """An engagement that was unarchived can be edited once, and not again."""

    def check_editable(self, engagement: Engagement) -> None:
        """Refuse the second edit."""
        Service.check_editable(self, engagement)
        times = self.revived().get(engagement.id)
        if times:
            raise Refusal(409, "It was unarchived and edited.")
        if times is not None:
            self.revived()[engagement.id] += 1


@fault("archive-again-answers-active", "unarchived-archivable")
class ArchiveAgainSaysActive(_Remembering):
    """Archiving what was unarchived once answers that it is active."""

    def archive_engagement(self, context: RequestContext) -> Reply:
        """Archive it."""
        reply = Service.archive_engagement(self, context)
        if context.engagement.id in self.revived():
            reply.content["data"]["status"] = "active"
        return reply


@fault("archived-twice-editable", "archived-edit-refused")
class ArchivedTwiceEditable(Service):
    """An archived engagement that is archived once more can be edited."""

    def archive_engagement(self, context: RequestContext) -> Reply:
        """Remember it, whatever becomes of it."""
        if context.engagement.status == "archived":
            self.memory.setdefault("twice", set()).add(context.engagement.id)
        return Service.archive_engagement(self, context)

    def check_editable(self, engagement: Engagement) -> None:
        """Take it."""
        if engagement.id not in self.memory.get("twice", ()):
            Service.check_editable(self, engagement)


def _never_refreshed(identifier: str, which: str, *, edited: bool) -> Fault:
    """Archiving leaves updatedAt of some engagements alone."""

    def update_engagement(self: Service, context: RequestContext) -> Reply:
        reply = Service.update_engagement(self, context)
        self.memory.setdefault("edited", set()).add(context.engagement.id)
        return reply

    def set_status(self: Service, engagement: Engagement, status: str) -> None:
        Service.set_status(self, engagement, status)
        if (engagement.id in self.memory.get("edited", ())) is edited:
            overwrite(self, "engagements", engagement.id, updated_at=engagement.updated_at)

    title = f"Archiving does not move updatedAt of engagements that were {which} before."
    requirement = "archive-refreshes-updated-at"
    return made(identifier, title, requirement, update_engagement=update_engagement, set_status=set_status)


REFRESHED = (
    _never_refreshed("archive-unedited-keeps-time", "never edited", edited=False),
    _never_refreshed("archive-edited-keeps-time", "edited", edited=True),
)


@fault("archived-name-422", "create-engagement-duplicate-name")
class ArchivedName422(Service):
    """A new engagement of the name of an archived one is refused with 422."""

    def check_name_free(self, organization_id: str, name: str, besides: str | None = None) -> None:
        """Refuse it."""
        if name in self.store.engagement_names(organization_id, besides=besides, status="archived"):
            raise Refusal(422, "An archived one has this name.")
        Service.check_name_free(self, organization_id, name, besides)


@fault("archived-name-revives", "create-engagement-duplicate-name")
class ArchivedNameRevives(Service):
    """A new engagement of the name of an archived one is that one, made active."""

    def create_engagement(self, context: RequestContext) -> Reply:
        """Look for it."""
        for one in whole(self, EngagementQuery(context.organization_id, 0, 1, status="archived")):
            if one.name == context.values["name"]:
                self.set_status(one, "active")
                return self.resource(context, self.view_created(replace(one, status="active")))
        return Service.create_engagement(self, context)


@fault("empty-edit-clears-description", "update-engagement-keeps-the-rest")
class EmptyEditClearsDescription(Service):
    """An edit without any field takes the description away."""

    def check_edit(self, context: RequestContext) -> dict[str, Any]:
        """Add it."""
        return Service.check_edit(self, context) or {"description": None}


@fault("identifier-with-more-found", "get-unknown-engagement")
class IdentifierWithMoreFound(Service):
    """An engagement is found, too, where its identifier has something behind it."""

    def find_engagement(self, context: RequestContext) -> Engagement:
        """Cut it off."""
        for end in range(1, 5):
            if self.store.engagement(context.resource_id[:-end]) is not None:
                context.resource_id = context.resource_id[:-end]
        return Service.find_engagement(self, context)


@fault("members-past-the-end-count-none", "list-members-total")
class MembersPastTheEndCountNone(Service):
    """A page of members past the end counts none."""

    def list_members(self, context: RequestContext) -> Reply:
        """Count what is on the page."""
        reply = Service.list_members(self, context)
        if not reply.content["data"]:
            reply.content["meta"]["total"] = 0
            reply.content["meta"]["totalPages"] = 0
        return reply


@fault("filter-without-hits-counts-all", "list-engagements-filter-counts")
class FilterWithoutHitsCountsAll(Service):
    """A filtered list of engagements that holds nothing counts all engagements."""

    def find_engagements(self, query: EngagementQuery) -> Page[Engagement]:
        """Count them."""
        page = Service.find_engagements(self, query)
        if query.status is not None and not page.total:
            return Page(page.items, Service.find_engagements(self, replace(query, status=None)).total)
        return page


@fault("plan-alone-empties-name", "update-organization-only-name")
class PlanAloneEmptiesName(Service):
    """An update of the organization that sends another field and no name leaves it without its name."""

    def check_organization_update(self, context: RequestContext) -> dict[str, Any]:
        """Take the name that was not sent."""
        values = Service.check_organization_update(self, context)
        return values if "name" in values or b"plan" not in context.content else {**values, "name": "-"}


@fault("plan-beside-name-taken", "update-organization-only-name")
class PlanBesideNameTaken(Service):
    """An update of the organization takes the plan from the client where it sends a name too."""

    def check_organization_update(self, context: RequestContext) -> dict[str, Any]:
        """Take the plan with the name."""
        values = Service.check_organization_update(self, context)
        sent = self.parse(context.content)
        if "name" in values and isinstance(sent, dict) and "plan" in sent:
            overwrite(self, "organizations", context.organization_id, plan=str(sent["plan"]))
        return values
