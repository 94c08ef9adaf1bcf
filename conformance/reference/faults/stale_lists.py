"""Faults of copies that miss changes: items, filters, counts, and responses that are kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .conditions import archived
from .mutations import Method, Mutation, after, before, fault, wrap
from .operations import (
    ARCHIVE,
    CREATE,
    DELETE,
    EDIT,
    GET_ORGANIZATION,
    INVITE,
    LIST,
    LIST_MEMBERS,
    READ,
    REMOVE,
    RENAME,
    ROLE,
    UNARCHIVE,
)
from .pages import cut, whole
from .situations import Situation, note

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.records import Engagement, Member, Organization, Page
    from conformance.reference.request_context import Reply, RequestContext
    from conformance.reference.service import Service
    from conformance.reference.views import View

_WRITES = (CREATE, EDIT, DELETE, ARCHIVE, UNARCHIVE)
_AS_READ, _BY_STATUS = "list-engagements-as-read", "list-engagements-status-filter"
_LISTED, _NEVER_BACK = "archived-listed", "updated-at-never-goes-back"
_BY_ROLE, _ROLES = "list-members-role-filter", "role-changes-both-ways"
_UNCOUNTED, _AGREES, _MEMBER_UNCOUNTED = "deleted-uncounted", "engagement-count-agrees", "removed-member-uncounted"
_EDITED, _RENAMED = "update-engagement-takes-effect", "update-organization-takes-effect"
_SECOND = 1_000


def _lists_as_created(*fields: str) -> Mutation:
    """Show some fields of the items of the list as they were when the engagement was created."""

    def keep(service: Service, honest: Method, context: RequestContext) -> Engagement:
        engagement: Engagement = honest(context)
        service.memory.setdefault("created", {})[engagement.id] = engagement
        return engagement

    def show(service: Service, honest: Method, engagement: Engagement) -> View:
        created = service.memory.get("created", {}).get(engagement.id, engagement)
        changes: dict[str, Any] = {name: getattr(created, name) for name in fields}
        view: View = honest(replace(engagement, **changes))
        return view

    return wrap("new_engagement", keep) | wrap("view_item", show)


def _kept(operation: str, *forgetting: str, for_all: bool = False) -> Mutation:
    """Keep the replies to an operation by key, path and query.

    Args:
        operation: The operationId.
        forgetting: The operations after which the replies are forgotten; a read only if it is of the same engagement.
        for_all: Whether all keys get the same replies.
    """

    def around(service: Service, honest: Method, context: RequestContext) -> Any:  # noqa: ANN401 - a reply
        kept, path = service.memory.setdefault("kept", {}), context.request.url.path
        if context.operation.id == operation:
            # Members also come and go without a request; a reply is used only for as many members as it was kept for.
            size = service.store.count_members(context.organization_id) if operation == LIST_MEMBERS else 0
            asked = (path, context.request.url.query, "" if for_all else context.key.digest, size)
            if asked not in kept:
                kept[asked] = honest(context)
            return kept[asked]
        reply = honest(context)
        if context.operation.id in forgetting:
            for asked in [asked for asked in kept if operation != READ or path.startswith(asked[0])]:
                del kept[asked]
        return reply

    return wrap("act", around)


def _kept_for_a_second(service: Service, honest: Method, context: RequestContext) -> Reply:
    kept: dict[str, tuple[int, Reply]] = service.memory.setdefault("members", {})
    asked = f"{context.organization_id} {context.request.url.query}"
    if asked not in kept or service.now() - kept[asked][0] > _SECOND:
        kept[asked] = service.now(), honest(context)
    return kept[asked][1]


def _filters_by(find: str, field: str, value: Callable[[Service, Any], str]) -> Mutation:
    """Filter a list by other values of a field than the present ones."""

    def around(service: Service, honest: Method, asked: Any) -> Page[Any]:  # noqa: ANN401 - a query of either list
        wanted = getattr(asked, field)
        if not wanted:
            page: Page[Any] = honest(asked)
            return page
        items = whole(honest, replace(asked, **{field: None}))
        return cut(asked, tuple(item for item in items if value(service, item) == wanted))

    return wrap(find, around)


def _status_without_unarchiving(service: Service, engagement: Engagement) -> str:
    return "archived" if engagement.id in service.memory.get("archived", ()) else "active"


def _first_role(service: Service, member: Member) -> str:
    role: str = service.memory.get("roles", {}).get(member.user_id, member.role)
    return role


def _note_first_role(at: Situation) -> None:
    at.remembered("roles", {}).setdefault(at.member.user_id, at.member.role)


def _note_archived_deletion(at: Situation) -> None:
    at.remembered("missed", Counter())[at.context.organization_id] += 1


def _with_archived_deletions(service: Service, honest: Method, organization: Organization) -> int:
    count: int = honest(organization) + service.memory.get("missed", Counter())[organization.id]
    return count


def _note_edited(at: Situation) -> None:
    at.remembered("edited", {})[at.engagement.id] = at.engagement


def _read_as_before_edit(at: Situation) -> None:
    at.context.engagement = at.remembered("edited", {}).pop(at.engagement.id, at.engagement)


COPIES = (
    *(fault(f"listed-{field}-stale", f"The list shows the {field} that an engagement was created with.",
            _lists_as_created(field), _AS_READ) for field in ("name", "description")),
    fault("listed-time-stale", "The list shows updatedAt as it was at the creation.",
          _lists_as_created("updated_at"), _AS_READ, "sort-by-updated-at", _NEVER_BACK),
    fault("listed-stale", "The list shows engagements as they were created.",
          _lists_as_created("name", "description", "status", "updated_at"), _AS_READ, _BY_STATUS, _LISTED),
    fault("filter-by-first-status", "The list filters by an index that does not learn of unarchiving.",
          before(ARCHIVE, note("archived")) | _filters_by("find_engagements", "status", _status_without_unarchiving),
          _BY_STATUS, _LISTED, "list-engagements-filter-counts"),
    fault("role-filter-stale", "The role filter goes by the roles that members had when they joined.",
          before(ROLE, _note_first_role) | _filters_by("find_members", "role", _first_role), _BY_ROLE, _ROLES),
    fault("counter-misses-archived-deletions",
          "The organization still counts an engagement that was archived when it was deleted.",
          before(DELETE, _note_archived_deletion, archived) | wrap("count_engagements", _with_archived_deletions),
          _AGREES, _UNCOUNTED),
    fault("read-stale-once", "The first read after an edit shows the engagement as it was before.",
          after(EDIT, _note_edited) | before(READ, _read_as_before_edit), _EDITED),
)  # fmt: skip

CACHES = (
    fault("list-cached",
          "The list of engagements always gives what it gave when it was first asked for in the same way.",
          _kept(LIST), "deleted-unlisted", _AS_READ, "list-engagements-total", _NEVER_BACK),
    fault("list-cached-for-everybody",
          "The list of engagements is kept until an engagement changes, and shown to other organizations too.",
          _kept(LIST, *_WRITES, for_all=True), "isolation-lists", "isolation-own-organization"),
    fault("list-cached-over-changes", "The list of engagements does not learn of edits and archives"
          " until an engagement is created or deleted.", _kept(LIST, CREATE, DELETE), _AS_READ),
    fault("read-cached-over-archives", "A read does not learn of archiving until the engagement is edited.",
          _kept(READ, EDIT, DELETE, UNARCHIVE), "archive-sets-status", "archived-edit-changes-nothing",
          "archive-engagement-answers-updated-at", "archive-refreshes-updated-at"),
    fault("read-cached-over-edits", "A read does not learn of edits until the engagement is archived.",
          _kept(READ, ARCHIVE, DELETE, UNARCHIVE), _EDITED, "update-engagement-moves-updated-at"),
    fault("read-cached-over-deletions", "A read does not learn of deletions.",
          _kept(READ, ARCHIVE, EDIT, UNARCHIVE), "deleted-unreadable", "delete-effective-at-once"),
    fault("organization-cached-over-engagements",
          "A read of the organization does not learn of engagements until it is renamed.",
          _kept(GET_ORGANIZATION, RENAME), "create-engagement-counted", _UNCOUNTED, _AGREES, _MEMBER_UNCOUNTED),
    fault("organization-cached-over-renamings",
          "A read of the organization does not learn of renamings until an engagement changes.",
          _kept(GET_ORGANIZATION, *_WRITES), _RENAMED),
    fault("organization-cached-over-removals",
          "A read of the organization does not learn of removals until an engagement changes.",
          _kept(GET_ORGANIZATION, *_WRITES), _MEMBER_UNCOUNTED, _RENAMED, "member-count-agrees"),
    fault("members-cached-over-roles",
          "The list of members does not learn of changed roles until somebody is removed or invited.",
          _kept(LIST_MEMBERS, REMOVE, INVITE), _ROLES),
    fault("members-kept-for-a-second",
          "The list of members is kept for a second, whoever comes, goes or gets another role.",
          wrap("list_members", _kept_for_a_second), _ROLES, "removed-member-unlisted"),
)  # fmt: skip
