"""Faults of what is kept twice: lists, counts and reads that do not learn of every change."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.reference.faults import fault
from conformance.reference.faults.making import made
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.queries import EngagementQuery, MemberQuery
    from conformance.reference.records import Engagement, Member, Organization, Page
    from conformance.reference.request_context import Reply, RequestContext
    from conformance.reference.views import View

_AS_READ = "list-engagements-as-read"
_EVERYTHING = 10_000
_SECOND = 1_000
_WRITES = ("createEngagement", "updateEngagement", "deleteEngagement", "archiveEngagement", "unarchiveEngagement")


# Items of the list that show what was


def _copied(identifier: str, title: str, fields: tuple[str, ...], *breaks: str) -> Fault:
    """A list that shows some fields as they were when an engagement was created."""

    def new_engagement(self: Service, context: RequestContext) -> Engagement:
        engagement = Service.new_engagement(self, context)
        copies = self.memory.get("copies", {})
        self.memory["copies"] = {**copies, engagement.id: engagement}
        return engagement

    def view_item(self: Service, engagement: Engagement) -> View:
        copy = self.memory.get("copies", {}).get(engagement.id, engagement)
        changes: dict[str, Any] = {name: getattr(copy, name) for name in fields}
        return Service.view_item(self, replace(engagement, **changes))

    return made(identifier, title, *breaks, new_engagement=new_engagement, view_item=view_item)


COPIES = (
    _copied("listed-name-stale", "The list shows the name that an engagement was created with.", ("name",), _AS_READ),
    _copied(
        "listed-description-stale",
        "The list shows the description that an engagement was created with.",
        ("description",),
        _AS_READ,
    ),
    _copied(
        "listed-time-stale",
        "The list shows updatedAt as it was at the creation.",
        ("updated_at",),
        _AS_READ,
        "sort-by-updated-at",
        "updated-at-never-goes-back",
    ),
    _copied(
        "listed-stale",
        "The list shows engagements as they were created.",
        ("name", "description", "status", "updated_at"),
        _AS_READ,
        "list-engagements-status-filter",
        "archived-listed",
    ),
)


# Caches


def _cached(
    identifier: str,
    title: str,
    operation: str,
    is_forgotten: Callable[[RequestContext, str], bool],
    *breaks: str,
    whose: Callable[[RequestContext], str] = lambda context: context.key.digest,
) -> Fault:
    """An operation whose answers are kept.

    Args:
        identifier: How it is named on the command line.
        title: What the service does wrong, in a sentence.
        operation: The operationId.
        is_forgotten: Is given a later call and the path of one that was kept.
        breaks: The ids of the requirements that it breaks.
        whose: For whom the answer to a call is kept.
    """

    def act(self: Service, context: RequestContext) -> Reply:
        kept: dict[tuple[str, str, str], Reply] = self.memory.get("kept", {})
        kept = {asked: reply for asked, reply in kept.items() if not is_forgotten(context, asked[1])}
        # No list of members is kept over what comes and goes beside the interface.
        size = self.store.count_members(context.organization_id) if operation == "listMembers" else 0
        asked = (f"{size} {whose(context)}", context.request.url.path, context.request.url.query)
        reply = kept.get(asked) if context.operation.id == operation else None
        reply = reply or Service.act(self, context)
        if context.operation.id == operation:
            kept = {**kept, asked: reply}
        self.memory["kept"] = kept
        return reply

    return made(identifier, title, *breaks, act=act)


def _does(*operations: str) -> Callable[[RequestContext, str], bool]:
    """Forget everything with some operations."""
    return lambda context, _: context.operation.id in operations


def _does_to_it(*operations: str) -> Callable[[RequestContext, str], bool]:
    """Forget a read with some operations on what was read."""
    return lambda context, path: context.operation.id in operations and context.request.url.path.startswith(path)


def _never(_: RequestContext, __: str) -> bool:
    return False


CACHES = (
    _cached(
        "list-cached",
        "The list of engagements always gives what it gave when it was first asked for in the same way.",
        "listEngagements",
        _never,
        "deleted-unlisted",
        "list-engagements-as-read",
        "list-engagements-total",
        "updated-at-never-goes-back",
    ),
    _cached(
        "list-cached-for-everybody",
        "The list of engagements is kept until an engagement changes, and shown to other organizations too.",
        "listEngagements",
        _does(*_WRITES),
        "isolation-lists",
        "isolation-own-organization",
        whose=lambda _: "",
    ),
    _cached(
        "list-cached-over-changes",
        "The list of engagements does not learn of edits and archives until an engagement is created or deleted.",
        "listEngagements",
        _does("createEngagement", "deleteEngagement"),
        _AS_READ,
    ),
    _cached(
        "read-cached-over-archives",
        "A read does not learn of archiving until the engagement is edited.",
        "getEngagement",
        _does_to_it("updateEngagement", "deleteEngagement", "unarchiveEngagement"),
        "archive-sets-status",
        "archived-edit-changes-nothing",
        "archive-engagement-answers-updated-at",
        "archive-refreshes-updated-at",
    ),
    _cached(
        "read-cached-over-edits",
        "A read does not learn of edits until the engagement is archived.",
        "getEngagement",
        _does_to_it("archiveEngagement", "deleteEngagement", "unarchiveEngagement"),
        "update-engagement-takes-effect",
        "update-engagement-moves-updated-at",
    ),
    _cached(
        "read-cached-over-deletions",
        "A read does not learn of deletions.",
        "getEngagement",
        _does_to_it("archiveEngagement", "updateEngagement", "unarchiveEngagement"),
        "deleted-unreadable",
        "delete-effective-at-once",
    ),
    _cached(
        "organization-cached-over-engagements",
        "A read of the organization does not learn of engagements until it is renamed.",
        "getCurrentOrganization",
        _does("updateCurrentOrganization"),
        "create-engagement-counted",
        "deleted-uncounted",
        "engagement-count-agrees",
        "removed-member-uncounted",
    ),
    _cached(
        "organization-cached-over-renamings",
        "A read of the organization does not learn of renamings until an engagement changes.",
        "getCurrentOrganization",
        _does(*_WRITES),
        "update-organization-takes-effect",
    ),
    _cached(
        "organization-cached-over-removals",
        "A read of the organization does not learn of removals until an engagement changes.",
        "getCurrentOrganization",
        _does(*_WRITES),
        "removed-member-uncounted",
        "update-organization-takes-effect",
        "member-count-agrees",
    ),
    _cached(
        "members-cached-over-roles",
        "The list of members does not learn of changed roles until somebody is removed or invited.",
        "listMembers",
        _does("removeMember", "inviteMember"),
        "role-changes-both-ways",
    ),
)


@fault("members-kept-for-a-second", "role-changes-both-ways", "removed-member-unlisted")
class MembersKeptForASecond(Service):
    """The list of members is kept for a second, whoever comes, goes or gets another role."""

    def list_members(self, context: RequestContext) -> Reply:
        """Look how old it is."""
        kept: dict[str, tuple[int, Reply]] = self.memory.setdefault("members", {})
        asked = f"{context.organization_id} {context.request.url.query}"
        at, reply = kept.get(asked, (0, None))
        if reply is None or self.now() - at > _SECOND:
            at, reply = self.now(), super().list_members(context)
            kept[asked] = at, reply
        return reply


# Counters and indexes of their own


@fault("counter-misses-archived-deletions", "engagement-count-agrees", "deleted-uncounted")
class CounterMissesArchivedDeletions(Service):
    """The organization still counts an engagement that was archived when it was deleted."""

    _missed: dict[str, int] | None = None

    def delete_engagement(self, context: RequestContext) -> Reply:
        """Count it still."""
        if context.engagement.status == "archived":
            missed = self._missed or {}
            self._missed = {**missed, context.organization_id: missed.get(context.organization_id, 0) + 1}
        return super().delete_engagement(context)

    def count_engagements(self, organization: Organization) -> int:
        """Add what was missed."""
        return super().count_engagements(organization) + (self._missed or {}).get(organization.id, 0)


@fault("filter-by-first-status", "list-engagements-status-filter", "archived-listed", "list-engagements-filter-counts")
class FilterByFirstStatus(Service):
    """The list filters by an index that does not learn of unarchiving."""

    _once_archived: frozenset[str] = frozenset()

    def archive_engagement(self, context: RequestContext) -> Reply:
        """Keep it in the index."""
        self._once_archived |= {context.engagement.id}
        return super().archive_engagement(context)

    def find_engagements(self, query: EngagementQuery) -> Page[Engagement]:
        """Look into the index."""
        if not query.status:
            return super().find_engagements(query)
        everything = super().find_engagements(replace(query, status=None, offset=0, limit=_EVERYTHING)).items
        wanted = query.status == "archived"
        kept = tuple(one for one in everything if (one.id in self._once_archived) is wanted)
        page = super().find_engagements(replace(query, limit=1, offset=0))
        return replace(page, items=kept[query.offset : query.offset + query.limit], total=len(kept))


@fault("role-filter-stale", "list-members-role-filter", "role-changes-both-ways")
class RoleFilterStale(Service):
    """The role filter goes by the roles that members had when they joined."""

    _first: dict[str, str] | None = None

    def update_member_role(self, context: RequestContext) -> Reply:
        """Remember the role from before."""
        self._first = {context.member.user_id: context.member.role, **(self._first or {})}
        return super().update_member_role(context)

    def find_members(self, query: MemberQuery) -> Page[Member]:
        """Filter by it."""
        if not query.role:
            return super().find_members(query)
        everybody = super().find_members(replace(query, role=None, offset=0, limit=_EVERYTHING))
        first = self._first or {}
        kept = tuple(one for one in everybody.items if first.get(one.user_id, one.role) == query.role)
        return replace(everybody, items=kept[query.offset : query.offset + query.limit], total=len(kept))


@fault("read-stale-once", "update-engagement-takes-effect")
class ReadStaleOnce(Service):
    """The first read after an edit shows the engagement as it was before."""

    _before: dict[str, Engagement] | None = None

    def update_engagement(self, context: RequestContext) -> Reply:
        """Remember it."""
        reply = super().update_engagement(context)
        self._before = {**(self._before or {}), context.engagement.id: context.engagement}
        return reply

    def get_engagement(self, context: RequestContext) -> Reply:
        """Show what was, once."""
        before = (self._before or {}).pop(context.engagement.id, context.engagement)
        return self.resource(context, self.view_read(before))
