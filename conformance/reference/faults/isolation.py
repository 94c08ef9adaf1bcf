"""Faults of isolation: what one organization can see or do of another one."""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from conformance.reference.refusal import Refusal

from .mutations import Method, Mutation, after, before, fault, instead, put_methods, refused_yet, wrap
from .operations import ACTIONS, ARCHIVE, DELETE, EDIT, GET_ORGANIZATION, READ, REMOVE, RENAME, ROLE, UNARCHIVE
from .pages import cut, whole
from .situations import Situation, engagements, overwrite

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.queries import EngagementQuery
    from conformance.reference.records import Engagement, Member, Organization, Page
    from conformance.reference.request_context import Reply, RequestContext
    from conformance.reference.service import Service

_OF_ENGAGEMENTS = {
    READ: "isolation-get-engagement",
    EDIT: "isolation-update-engagement",
    DELETE: "isolation-delete-engagement",
    ARCHIVE: "isolation-archive-engagement",
    UNARCHIVE: "isolation-unarchive-engagement",
}
_UNTOUCHED, _LISTS, _COUNTS, _OWN = (
    "isolation-untouched", "isolation-lists", "isolation-counts", "isolation-own-organization"
)  # fmt: skip
_COUNT_AGREES = "engagement-count-agrees"


def _organizations(service: Service) -> list[str]:
    """Return the ids of all organizations, the first one first."""
    return list(service.store.organization_ids())


def _other_organizations(service: Service, own: str) -> list[str]:
    return [other for other in _organizations(service) if other != own]


# Finding the engagements and members of other organizations


def _find_engagement_if(leaks: Callable[[str, Engagement], bool]) -> Mutation:
    """Find an engagement in any organization; ``leaks`` gets the operation and the engagement."""

    def around(service: Service, honest: Method, context: RequestContext) -> Engagement:
        found = service.store.engagement(context.resource_id)
        leaked: Engagement = found if found and leaks(context.operation.id, found) else honest(context)
        return leaked

    return wrap("find_engagement", around)


def _find_member_anywhere(operation: str) -> Mutation:
    """Find a member in any organization, the key's own first."""

    def around(service: Service, honest: Method, context: RequestContext) -> Member:
        own = context.organization_id
        elsewhere = (service.store.member(other, context.resource_id) for other in _other_organizations(service, own))
        found = next(filter(None, elsewhere), None) if context.operation.id == operation else None
        leaked: Member = found if found and not service.store.member(own, context.resource_id) else honest(context)
        return leaked

    return wrap("find_member", around)


def _change_role_there(at: Situation) -> Reply:
    at.service.check_role_changeable(at.member)
    at.store.change_role(at.member.organization_id, at.member.user_id, at.values["role"], at.now)
    return at.success(at.service.view_role(replace(at.member, role=at.values["role"])))


def _remove_there(at: Situation) -> Reply:
    at.service.check_removable(at.member)
    at.store.remove_member(at.member.organization_id, at.member.user_id)
    return at.success(at.service.view_removed(at.member))


def _is_elsewhere(at: Situation) -> bool:
    return at.member.organization_id != at.context.organization_id


def _null_for_foreign(service: Service, honest: Method, context: RequestContext) -> Reply:
    found = service.store.engagement(context.resource_id) if context.operation.id == READ else None
    if not found or found.organization_id == context.organization_id:
        replied: Reply = honest(context)
        return replied
    reply = service.resource(context, {})
    reply.content["data"] = None
    return reply


FOUND = (
    *(fault(f"leak-{operation}".lower(), f"The operation {operation} works on engagements of other organizations.",
            _find_engagement_if(lambda asked, _, operation=operation: asked == operation),  # type: ignore[misc]
            requirement, *([] if operation == READ else [_UNTOUCHED]))
      for operation, requirement in _OF_ENGAGEMENTS.items()),
    fault("leak-updatememberrole", "The roles of other organizations' members can be changed.",
          _find_member_anywhere(ROLE) | instead(ROLE, _change_role_there, _is_elsewhere),
          "isolation-update-role"),
    fault("leak-removemember", "Members of other organizations can be removed.",
          _find_member_anywhere(REMOVE) | instead(REMOVE, _remove_there), "isolation-remove-member"),
    fault("leak-read-archived", "Archived engagements of other organizations can be read.",
          _find_engagement_if(lambda asked, found: asked == READ and found.status == "archived"),
          "isolation-get-engagement"),
    fault("leak-delete-archived", "Archived engagements of other organizations can be deleted.",
          _find_engagement_if(lambda asked, found: asked == DELETE and found.status == "archived"),
          "isolation-delete-engagement", _UNTOUCHED),
    fault("leak-read-null", "Reading another organization's engagement gives 200 with null.",
          wrap("act", _null_for_foreign), "isolation-get-engagement", "success-data-object"),
    *(fault(f"foreign-{status}", f"Another organization's resource is refused with {status}.",
            put_methods(foreign=lambda _, __, status=status: Refusal(status, "It is another organization's.")),
            *list(_OF_ENGAGEMENTS.values())[:4]) for status in (401, 409)),
)  # fmt: skip


# Lists and counts


def _everywhere(service: Service, find: Method, query: Any) -> tuple[Any, ...]:  # noqa: ANN401 - of either list
    """Return all items of all organizations that a query matches."""
    organizations = (replace(query, organization_id=each) for each in _organizations(service))
    return tuple(item for asked in organizations for item in whole(find, asked))


def _of_all(find: str, when: Callable[[Any], object]) -> Mutation:
    """Find in all organizations for some queries."""
    return wrap(find, lambda service, honest, query:
                cut(query, _everywhere(service, honest, query)) if when(query) else honest(query))  # fmt: skip


def _of_all_sorted(when: Callable[[EngagementQuery], bool]) -> Mutation:
    """Find the engagements of all organizations for some queries, in the order of the query."""

    def around(service: Service, honest: Method, query: EngagementQuery) -> Page[Engagement]:
        if not when(query):
            found: Page[Engagement] = honest(query)
            return found
        key = attrgetter({"updatedAt": "updated_at", "name": "name"}.get(query.sort, "created_at"))
        return cut(query, tuple(sorted(_everywhere(service, honest, query), key=key, reverse=query.descending)))

    return wrap("find_engagements", around)


def _count_all(service: Service, _: Method, __: Organization) -> int:
    return sum(service.store.count_engagements(each) for each in _organizations(service))


def _with_total_of_all(service: Service, honest: Method, query: EngagementQuery) -> Page[Engagement]:
    found: Page[Engagement] = honest(query)
    others = (
        honest(replace(query, organization_id=other, limit=1, offset=0))
        for other in _other_organizations(service, query.organization_id)
    )
    return replace(found, total=found.total + sum(other.total for other in others))


def _foreign_first(mixes: Callable[[EngagementQuery], bool]) -> Mutation:
    """Begin some lists with an engagement of another organization."""

    def around(service: Service, honest: Method, query: EngagementQuery) -> Page[Engagement]:
        found: Page[Engagement] = honest(query)
        for other in _other_organizations(service, query.organization_id) if mixes(query) else ():
            theirs = honest(replace(query, organization_id=other, offset=0, limit=1)).items
            found = replace(found, items=(*theirs, *found.items)[: query.limit])
        return found

    return wrap("find_engagements", around)


def _all_by_change(service: Service, honest: Method, query: EngagementQuery) -> Page[Engagement]:
    found: Page[Engagement] = honest(query)
    if query.sort != "updatedAt":
        return found
    others = _other_organizations(service, query.organization_id)
    pages = [found, *(honest(replace(query, organization_id=other)) for other in others)]
    items = [item for each in pages for item in each.items]
    items.sort(key=lambda item: item.updated_at, reverse=query.descending)
    return replace(found, items=tuple(items[: query.limit]))


_BEGINS = "The list of engagements begins with other organizations'"

LISTS = (
    fault("leak-listengagements", "The list of engagements holds those of all organizations.",
          _of_all("find_engagements", lambda _: True), _LISTS, _COUNTS, _COUNT_AGREES),
    fault("leak-listmembers", "The list of members holds those of all organizations.",
          _of_all("find_members", lambda _: True), _LISTS, "member-count-agrees"),
    fault("leak-listengagements-by-status",
          "The list of engagements holds those of all organizations where it is filtered.",
          _of_all("find_engagements", lambda query: query.status), _LISTS, "list-engagements-filter-counts"),
    fault("leak-members-by-role", "The list of members holds those of all organizations where a role is asked for.",
          _of_all("find_members", lambda query: query.role), "list-members-role-filter", _LISTS),
    *(fault(f"leak-list-all-{way}", f"The list of engagements holds those of all organizations where {says}.",
            _of_all_sorted(when), _LISTS) for way, says, when in (
        ("by-name", "it is sorted by name", lambda query: query.sort == "name"),
        ("ascending", "it is sorted upwards", lambda query: not query.descending),
        ("active", "active ones are asked for", lambda query: query.status == "active"),
        ("active-by-name", "active ones are sorted by name",
         lambda query: (query.status, query.sort) == ("active", "name")))),
    fault("leak-engagementcount", "The organization counts the engagements of all organizations.",
          wrap("count_engagements", _count_all), _COUNTS, _COUNT_AGREES),
    fault("leak-counts-and-totals", "The organization and the list count the engagements of all organizations.",
          wrap("count_engagements", _count_all) | wrap("find_engagements", _with_total_of_all), _COUNTS, _COUNT_AGREES),
    fault("leak-list-by-name", f"{_BEGINS} where it is sorted by name.",
          _foreign_first(lambda query: query.sort == "name"),
          "list-engagements-pages-partition", _LISTS, "sort-by-name"),
    fault("leak-list-archived", f"{_BEGINS} where archived ones are asked for.",
          _foreign_first(lambda query: query.status == "archived"), _LISTS, "list-engagements-status-filter"),
    fault("leak-list-page-two", f"{_BEGINS} from the second page on.", _foreign_first(lambda query: query.offset > 0),
          "list-engagements-pages-partition", "list-engagements-total", "sort-by-created-at", "sort-by-updated-at",
          _LISTS),
    fault("leak-list-by-change", "A list that is sorted by updatedAt holds the engagements of every organization.",
          wrap("find_engagements", _all_by_change),
          _LISTS, "list-engagements-pages-partition", "sort-by-updated-at"),
)  # fmt: skip


# Writes that reach other organizations


def _foreign_engagement(at: Situation) -> bool:
    return at.stored is not None and at.stored.organization_id != at.context.organization_id


def _do_there(at: Situation) -> None:
    """Carry the operation out in the organization of the engagement."""
    if found := at.stored:
        at.context.engagement = found
        at.context.key = replace(at.context.key, organization_id=found.organization_id)
        getattr(at.service, ACTIONS[at.operation])(at.context)


def _change_role_wherever(at: Situation) -> None:
    for other in _other_organizations(at.service, at.context.organization_id):
        if at.store.member(other, at.context.resource_id) is not None:
            at.store.change_role(other, at.context.resource_id, at.values["role"], at.now)


def _remove_wherever(at: Situation) -> None:
    for other in _other_organizations(at.service, at.context.organization_id):
        at.store.remove_member(other, at.context.resource_id)


def _rename_there(at: Situation) -> None:
    if (found := at.stored) and isinstance(name := at.field("name"), str):
        at.store.edit_engagement(found.id, {"name": name}, found.updated_at)


def _name_all(at: Situation) -> None:
    name = at.store.organization(at.context.organization_id).name
    for each in _organizations(at.service):
        overwrite(at.service, "organizations", each, name=name)


def _archive_namesakes(at: Situation) -> None:
    for other in _other_organizations(at.service, at.context.organization_id):
        for engagement in engagements(at.service, other):
            if engagement.name == at.engagement.name:
                at.service.set_status(engagement, "archived")


def _in_named_organization(service: Service, honest: Method, context: RequestContext) -> Engagement:
    engagement, sent = honest(context), service.parse(context.content)
    named = sent.get("organizationId") if isinstance(sent, dict) else None
    moved: Engagement = replace(engagement, organization_id=named) if isinstance(named, str) else engagement
    return moved


def _show_first_organization(at: Situation) -> Reply:
    return at.success(at.service.view_organization(at.store.organization(_organizations(at.service)[0])))


def _take_first_organization(at: Situation) -> None:
    at.context.key = replace(at.context.key, organization_id=_organizations(at.service)[0])


WRITES = (
    *(fault(f"leak-applied-{operation}".lower(),
            f"The operation {operation} on another organization's engagement is refused, and done.",
            refused_yet(operation, _do_there, _foreign_engagement), _UNTOUCHED)
      for operation in _OF_ENGAGEMENTS if operation != READ),
    fault("leak-applied-updatememberrole", "The role of another organization's member is refused, and changed.",
          refused_yet(ROLE, _change_role_wherever, statuses=(403, 404)), _UNTOUCHED),
    fault("leak-applied-remove-member", "The removal of another organization's member is refused, and done.",
          refused_yet(REMOVE, _remove_wherever), _UNTOUCHED),
    fault("leak-edit-touches", "An edit of another organization's engagement is refused, and moves its updatedAt.",
          refused_yet(EDIT, lambda at: at.edit()), _UNTOUCHED),
    fault("leak-edit-renames",
          "An edit of another organization's engagement is refused, and gives it the name that was sent.",
          refused_yet(EDIT, _rename_there, _foreign_engagement), _UNTOUCHED),
    fault("leak-organization", "Every key reads the organization that was there first.",
          instead(GET_ORGANIZATION, _show_first_organization), _OWN, _LISTS),
    fault("leak-organization-update", "Every key updates the organization that was there first.",
          before(RENAME, _take_first_organization), _OWN),
    fault("leak-renaming-renames-all", "A renaming renames every organization.",
          after(RENAME, _name_all, lambda at: isinstance(at.body, dict) and "name" in at.body), _UNTOUCHED),
    fault("leak-update-names-all", "Any update, a renaming or not, gives every organization the name.",
          after(RENAME, _name_all), _UNTOUCHED),
    fault("leak-archives-namesakes", "Archiving an engagement archives those of the same name in other organizations.",
          before(ARCHIVE, _archive_namesakes), _UNTOUCHED),
    fault("creation-moves-in", "A new engagement belongs to the organization that its body names.",
          wrap("new_engagement", _in_named_organization), _LISTS),
)  # fmt: skip
