"""Faults of copies that miss changes: items, filters, counts, and responses that are kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from . import operations as op
from .conditions import always, archived, has_one_permission
from .mutations import Method, Mutation, after, at_step, before, fault, wrap
from .pages import cut, whole
from .replies import data
from .situations import Condition, Situation, note, recalled, remember

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.queries import EngagementQuery
    from conformance.reference.records import Engagement, Page
    from conformance.reference.service import Service

_WRITES = (op.CREATE, op.EDIT, op.DELETE, op.ARCHIVE, op.UNARCHIVE)
_AS_READ, _BY_STATUS = "list-engagements-as-read", "list-engagements-status-filter"
_LISTED, _NEVER_BACK = "archived-listed", "updated-at-never-goes-back"
_BY_ROLE, _ROLES = "list-members-role-filter", "role-changes-both-ways"
_UNCOUNTED, _AGREES, _MEMBER_UNCOUNTED = "deleted-uncounted", "engagement-count-agrees", "removed-member-uncounted"
_EDITED, _RENAMED = "update-engagement-takes-effect", "update-organization-takes-effect"
_SECOND = 1_000


def _lists_as_created(*fields: str) -> Mutation:
    """Show some fields of the items of the list as they were when the engagement was created."""

    def show(service: Service, honest: Method, engagement: Engagement) -> object:
        created = recalled(service, "created", engagement.id, engagement)
        return honest(replace(engagement, **{name: getattr(created, name) for name in fields}))

    def keep(at: Situation) -> None:
        at.remembered("created", {})[at.data["id"]] = at.store.engagement(at.data["id"])

    return after(op.CREATE, keep) | wrap("view_item", show)


def _cached(
    operation: str, *forgetting: str, for_all: bool = False, apart: bool = False, when: Condition = always
) -> Mutation:
    """Keep the replies to an operation by key, path and query.

    Args:
        operation: The operationId.
        forgetting: The operations after which the replies are forgotten; a read only if it is of the same engagement.
        for_all: Whether all keys get the same replies.
        apart: Whether the replies are forgotten only for the key of the other operation.
        when: The requests whose replies are kept.
    """

    def around(at: Situation, honest: Method) -> object:
        kept, url = at.remembered("kept", {}), at.context.request.url
        if at.operation == operation and when(at):
            # Members also come and go without a request; a reply is used only for as many members as it was kept for.
            size = at.store.count_members(at.context.organization_id) if operation == op.LIST_MEMBERS else 0
            asked = (url.path, url.query, "" if for_all else at.context.key.digest, size)
            if asked not in kept:
                kept[asked] = honest()
            return kept[asked]
        reply = honest()
        if at.operation in forgetting:
            for asked in [asked for asked in kept if operation != op.READ or url.path.startswith(asked[0])]:
                if not apart or asked[2] == at.context.key.digest:
                    del kept[asked]
        return reply

    return at_step("act", around)


def _kept_for_a_second(at: Situation, honest: Method) -> object:
    kept, asked = at.remembered("members", {}), f"{at.context.organization_id} {at.context.request.url.query}"
    if asked not in kept or at.now - kept[asked][0] > _SECOND:
        kept[asked] = at.now, honest()
    return kept[asked][1]


def _keep_totals(service: Service, honest: Method, asked: EngagementQuery) -> Page[Engagement]:
    """Show the total that a filter had when it was first asked for."""
    found: Page[Engagement] = honest(asked)
    totals = service.memory.setdefault("totals", {})
    total = totals.setdefault((asked.organization_id, asked.status), found.total)
    return replace(found, total=total) if asked.status else found


def _forget_totals(at: Situation) -> None:
    at.remembered("totals", {}).clear()


def _filters_by(find: str, field: str, value: Callable[[Service, Any], str]) -> Mutation:
    """Filter a list by other values of a field than the present ones."""

    def around(service: Service, honest: Method, asked: Any) -> object:  # noqa: ANN401 - a query of either list
        wanted, items = getattr(asked, field), whole(honest, replace(asked, **{field: None}))
        kept = tuple(item for item in items if value(service, item) == wanted)
        return cut(asked, kept) if wanted else honest(asked)

    return wrap(find, around)


COPIES = (
    *(fault(f"listed-{field}-stale", f"The list of engagements shows the {field} of the creation after edits.",
            _lists_as_created(field), _AS_READ) for field in ("name", "description")),
    fault("listed-time-stale", "The list of engagements shows the updatedAt of the creation after changes.",
          _lists_as_created("updated_at"), _AS_READ, "sort-by-updated-at", _NEVER_BACK),
    fault("listed-stale", "The list of engagements shows all fields as they were at the creation.",
          _lists_as_created("name", "description", "status", "updated_at"), _AS_READ, _BY_STATUS, _LISTED),
    fault("filter-by-first-status", "The filter of engagements treats an unarchived engagement as archived.",
          before(op.ARCHIVE, note("archived")) | _filters_by("find_engagements", "status", lambda service, engagement:
              "archived" if engagement.id in service.memory.get("archived", ()) else "active"),
          _BY_STATUS, _LISTED, "list-engagements-filter-counts"),
    fault("role-filter-stale", "The role filter uses the roles from before any role change.",
          before(op.ROLE, lambda at: at.remembered("roles", {}).setdefault(at.member.user_id, at.member.role))
          | _filters_by("find_members", "role", lambda service, member: str(
              recalled(service, "roles", member.user_id, member.role))), _BY_ROLE, _ROLES),
    fault("counter-misses-archived-deletions",
          "engagementCount still includes a deleted archived engagement.",
          before(op.DELETE, lambda at: at.remembered("missed", []).append(at.context.organization_id), archived)
          | wrap("count_engagements", lambda service, honest, organization:
                 honest(organization) + service.memory.get("missed", []).count(organization.id)), _AGREES, _UNCOUNTED),
    fault("filtered-total-stale", "The total of a filtered list is cached until an engagement is created or deleted.",
          wrap("find_engagements", _keep_totals) | after(op.CREATE, _forget_totals) | after(op.DELETE, _forget_totals),
          "list-engagements-filter-counts", _BY_STATUS),
    fault("read-stale-once", "The first read after an edit shows the engagement from before the edit.",
          after(op.EDIT, remember("edited", lambda at: at.engagement))
          | data(op.READ, lambda at, _: at.service.view_read(at.service.memory["edited"].pop(at.engagement.id)),
                 lambda at: recalled(at.service, "edited", at.engagement.id) is not None), _EDITED),
)  # fmt: skip

CACHES = (
    fault("list-cached",
          "The list of engagements is cached forever for each query.",
          _cached(op.LIST), "deleted-unlisted", _AS_READ, "list-engagements-total", _NEVER_BACK),
    fault("list-cached-for-everybody",
          "The list of engagements is cached until an engagement changes, and served to other organizations, too.",
          _cached(op.LIST, *_WRITES, for_all=True), "isolation-lists", "isolation-own-organization"),
    fault("list-cached-over-changes", "The list of engagements is cached over edits and archives"
          " until an engagement is created or deleted.", _cached(op.LIST, op.CREATE, op.DELETE), _AS_READ),
    fault("archived-cached-over-unarchiving",
          "The list of archived engagements is cached over unarchiving until another change.",
          _cached(op.LIST, op.CREATE, op.EDIT, op.DELETE, op.ARCHIVE,
                  when=lambda at: at.query.get("status") == "archived"), _AS_READ, _BY_STATUS),
    fault("read-cached-over-archives", "A read is cached over archives until the engagement is edited.",
          _cached(op.READ, op.EDIT, op.DELETE, op.UNARCHIVE), "archive-sets-status", "archived-edit-changes-nothing",
          "archive-engagement-answers-updated-at", "archive-refreshes-updated-at"),
    fault("read-cached-over-edits", "A read is cached over edits until the engagement is archived.",
          _cached(op.READ, op.ARCHIVE, op.DELETE, op.UNARCHIVE), _EDITED, "update-engagement-moves-updated-at"),
    fault("read-cached-over-deletions", "A read is cached over deletions.",
          _cached(op.READ, op.ARCHIVE, op.EDIT, op.UNARCHIVE), "deleted-unreadable", "delete-effective-at-once"),
    fault("read-cached-for-other-keys", "A read is cached over the changes of other keys.",
          _cached(op.READ, *_WRITES, apart=True), _EDITED, "archive-sets-status"),
    fault("organization-cached-over-engagements",
          "A read of the organization is cached until it is renamed.",
          _cached(op.GET_ORGANIZATION, op.RENAME), "create-engagement-counted", _UNCOUNTED, _AGREES, _MEMBER_UNCOUNTED),
    fault("organization-cached-over-renamings",
          "A read of the organization is cached over renamings until an engagement changes.",
          _cached(op.GET_ORGANIZATION, *_WRITES), _RENAMED),
    fault("organization-cached-over-removals",
          "A read of the organization is cached over removals until an engagement changes.",
          _cached(op.GET_ORGANIZATION, *_WRITES), _MEMBER_UNCOUNTED, _RENAMED, "member-count-agrees"),
    fault("members-cached-over-roles",
          "The list of members is cached over role changes until a removal or invitation.",
          _cached(op.LIST_MEMBERS, op.REMOVE, op.INVITE), _ROLES),
    fault("members-cached-for-scoped-keys", "The list of members is cached forever for keys with only one permission.",
          _cached(op.LIST_MEMBERS, when=has_one_permission), _ROLES),
    fault("organization-cached-for-scoped-keys",
          "A read of the organization is cached forever for keys with only one permission.",
          _cached(op.GET_ORGANIZATION, when=has_one_permission), _RENAMED, "member-count-agrees",
          "engagement-count-agrees"),
    fault("members-kept-for-a-second",
          "The list of members is cached for one second, over removals and role changes.",
          at_step("list_members", _kept_for_a_second), _ROLES, "removed-member-unlisted"),
)  # fmt: skip
