"""Faults of isolation that show only for some engagements, some lists, or in what a refusal leaves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.reference.faults import fault, looking_up
from conformance.reference.faults.making import made, overwrite
from conformance.reference.faults.sending import field
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.queries import EngagementQuery
    from conformance.reference.records import Engagement, Page
    from conformance.reference.request_context import Reply, RequestContext


# Other organizations


def _leaking(identifier: str, title: str, leaks: Callable[[RequestContext, Engagement], bool], *breaks: str) -> Fault:
    """Some engagements of other organizations are found."""

    def find_engagement(self: Service, context: RequestContext) -> Engagement:
        found = self.store.engagement(context.resource_id)
        return found if found and leaks(context, found) else Service.find_engagement(self, context)

    return made(identifier, title, *breaks, find_engagement=find_engagement)


LEAKS = (
    _leaking("leak-read-archived", "Archived engagements of other organizations can be read.",
             lambda context, found: context.operation.id == "getEngagement" and found.status == "archived",
             "isolation-get-engagement"),
    _leaking("leak-delete-archived", "Archived engagements of other organizations can be deleted.",
             lambda context, found: context.operation.id == "deleteEngagement" and found.status == "archived",
             "isolation-delete-engagement", "isolation-untouched"),
)  # fmt: skip


@fault("leak-read-null", "isolation-get-engagement", "success-data-object")
class LeakReadNull(Service):
    """Reading another organization's engagement gives 200 with null."""

    def act(self, context: RequestContext) -> Reply:
        """Give nothing."""
        found = self.store.engagement(context.resource_id) if context.operation.id == "getEngagement" else None
        reply = None if found and found.organization_id != context.organization_id else super().act(context)
        if reply is None:
            reply = self.resource(context, {})
            reply.content["data"] = None
        return reply


@fault("leak-edit-touches", "isolation-untouched")
class LeakEditTouches(Service):
    """An edit of another organization's engagement is refused, and moves its updatedAt."""

    async def perform(self, context: RequestContext) -> Reply:
        """Touch it."""
        try:
            return await super().perform(context)
        except Refusal:
            if context.operation.id == "updateEngagement":
                self.store.edit_engagement(context.resource_id, {}, self.now())
            raise


@fault("leak-edit-renames", "isolation-untouched")
class LeakEditRenames(Service):
    """An edit of another organization's engagement is refused, and gives it the name that was sent."""

    async def perform(self, context: RequestContext) -> Reply:
        """Rename it."""
        try:
            return await super().perform(context)
        except Refusal:
            found = self.store.engagement(context.resource_id) if context.operation.id == "updateEngagement" else None
            name = field(context, "name")
            if found and found.organization_id != context.organization_id and isinstance(name, str):
                self.store.edit_engagement(context.resource_id, {"name": name}, found.updated_at)
            raise


@fault("leak-applied-remove-member", "isolation-untouched")
class LeakAppliedRemoveMember(Service):
    """The removal of another organization's member is refused, and done."""

    async def perform(self, context: RequestContext) -> Reply:
        """Remove the member where it is."""
        try:
            return await super().perform(context)
        except Refusal:
            for other in self.store.organization_ids() if context.operation.id == "removeMember" else ():
                if other != context.organization_id:
                    self.store.remove_member(other, context.resource_id)
            raise


def _mixed(identifier: str, says: str, mixes: Callable[[EngagementQuery], bool], *breaks: str) -> Fault:
    """A list that begins with another organization's engagement."""

    def find_engagements(self: Service, query: EngagementQuery) -> Page[Engagement]:
        page = Service.find_engagements(self, query)
        if not mixes(query):
            return page
        for other in self.store.organization_ids():
            if other != query.organization_id:
                theirs = Service.find_engagements(self, replace(query, organization_id=other, offset=0, limit=1)).items
                page = replace(page, items=(*theirs, *page.items)[: query.limit])
        return page

    return made(identifier, f"The list of engagements begins with other organizations' {says}.", *breaks,
                find_engagements=find_engagements)  # fmt: skip


LISTS = (
    _mixed("leak-list-by-name", "where it is sorted by name", lambda query: query.sort == "name",
           "list-engagements-pages-partition", "isolation-lists", "sort-by-name"),
    _mixed("leak-list-archived", "where archived ones are asked for", lambda query: query.status == "archived",
           "isolation-lists", "list-engagements-status-filter"),
    _mixed("leak-list-page-two", "from the second page on", lambda query: query.offset > 0,
           "list-engagements-pages-partition", "list-engagements-total", "sort-by-created-at", "sort-by-updated-at",
           "isolation-lists"),
)  # fmt: skip


@fault("creation-moves-in", "isolation-lists")
class CreationMovesIn(Service):
    """A new engagement belongs to the organization that its body names."""

    def new_engagement(self, context: RequestContext) -> Engagement:
        """Believe the body."""
        engagement, sent = super().new_engagement(context), self.parse(context.content)
        named = sent.get("organizationId") if isinstance(sent, dict) else None
        return replace(engagement, organization_id=named) if isinstance(named, str) else engagement


def _naming_all(identifier: str, title: str, *, unasked: bool) -> Fault:
    """An update of one organization that gives its name to all of them."""

    def update_organization(self: Service, context: RequestContext) -> Reply:
        reply, sent = Service.update_organization(self, context), self.parse(context.content)
        if unasked or (isinstance(sent, dict) and "name" in sent):
            for other in self.store.organization_ids():
                overwrite(self, "organizations", other, name=self.store.organization(context.organization_id).name)
        return reply

    return made(identifier, title, "isolation-untouched", update_organization=update_organization)


NAMING_ALL = (
    _naming_all("leak-renaming-renames-all", "A renaming renames every organization.", unasked=False),
    _naming_all("leak-update-names-all", "Any update, a renaming or not, gives every organization the name.",
                unasked=True),
)  # fmt: skip


@fault("leak-archives-namesakes", "isolation-untouched")
class LeakArchivesNamesakes(Service):
    """Archiving an engagement archives those of the same name in other organizations."""

    def archive_engagement(self, context: RequestContext) -> Reply:
        """Archive by name."""
        for other in self.store.organization_ids():
            if other != context.organization_id:
                for engagement in looking_up.engagements(self, other):
                    if engagement.name == context.engagement.name:
                        self.set_status(engagement, "archived")
        return super().archive_engagement(context)


@fault("leak-list-by-change", "isolation-lists", "list-engagements-pages-partition", "sort-by-updated-at")
class LeakListByChange(Service):
    """A list that is sorted by updatedAt holds the engagements of every organization."""

    def find_engagements(self, query: EngagementQuery) -> Page[Engagement]:
        """Mix them in."""
        page = super().find_engagements(query)
        if query.sort != "updatedAt":
            return page
        others = [other for other in self.store.organization_ids() if other != query.organization_id]
        pages = [Service.find_engagements(self, replace(query, organization_id=one)) for one in others]
        items = [item for one in (page, *pages) for item in one.items]
        items.sort(key=lambda item: item.updated_at, reverse=query.descending)
        return replace(page, items=tuple(items[: query.limit]))
