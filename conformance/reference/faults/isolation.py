"""Faults of isolation: what one organization can see or do of another one."""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from conformance.reference.refusal import Refusal

from .changes import cut, data, query, query_of_members, set_fields, whole
from .conditions import again, all_of, field_is, responds, sends, stored_archived
from .mutations import Method, Mutation, after, at_step, before, fault, instead, override, refused_yet, wrap
from .operations import ACTIONS, ARCHIVE, DELETE, EDIT, GET_ORGANIZATION, NAMES, READ, REMOVE, RENAME, ROLE, UNARCHIVE
from .situations import Condition, Situation, engagements, overwrite, use_key_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.queries import EngagementQuery
    from conformance.reference.records import Engagement, Page
    from conformance.reference.request_context import Reply
    from conformance.reference.service import Service

_OF_ENGAGEMENTS = {operation: f"isolation-{NAMES[operation]}" for operation in (READ, EDIT, DELETE, ARCHIVE, UNARCHIVE)}
_UNTOUCHED, _LISTS, _COUNTS = "isolation-untouched", "isolation-lists", "isolation-counts"
_OWN, _COUNT_AGREES = "isolation-own-organization", "engagement-count-agrees"


def _other_organizations(service: Service, own: str) -> list[str]:
    return [other for other in service.store.organization_ids() if other != own]


def _one_more(count: str) -> Callable[[Situation, dict[str, Any]], dict[str, Any]]:
    return lambda _, shown: {**shown, count: shown[count] + 1}


def _is_not_the_first(at: Situation) -> bool:
    return at.context.organization_id != at.store.organization_ids()[0]


# Finding the engagements and members of other organizations


def _foreign_engagement(at: Situation) -> bool:
    return at.stored is not None and at.stored.organization_id != at.context.organization_id


def _find_engagement_if(when: Condition) -> Mutation:
    """Find engagements of other organizations in some requests."""
    return at_step("find_engagement", lambda at, honest:
                   at.stored if _foreign_engagement(at) and when(at) else honest())  # fmt: skip


def _find_member_anywhere(operation: str) -> Mutation:
    """Find a member in any organization, the key's own first."""

    def find(at: Situation, honest: Method) -> object:
        own, others = at.context.organization_id, _other_organizations(at.service, at.context.organization_id)
        found = [
            member
            for organization in (own, *others)
            if (member := at.store.member(organization, at.context.resource_id))
        ]
        return found[0] if found and at.operation == operation else honest()

    return at_step("find_member", find)


def _find_with_role(at: Situation, honest: Method) -> object:
    """Find a member of another organization for a change to the role that the member has."""
    others = _other_organizations(at.service, at.context.organization_id)
    found = [member for organization in others if (member := at.store.member(organization, at.context.resource_id))]
    return found[0] if found and at.operation == ROLE and at.field("role") == found[0].role else honest()


def _change_role_there(at: Situation) -> Reply:
    at.service.check_role_changeable(at.member)
    at.store.change_role(at.member.organization_id, at.member.user_id, at.values["role"], at.now)
    return at.success(at.service.view_role(replace(at.member, role=at.values["role"])))


FOUND = (
    *(fault(f"leak-{operation}".lower(), f"{operation} works on engagements of other organizations.",
            _find_engagement_if(responds(operation)), requirement, *([] if operation == READ else [_UNTOUCHED]))
      for operation, requirement in _OF_ENGAGEMENTS.items()),
    fault("leak-updatememberrole", "The roles of other organizations' members can be changed.",
          _find_member_anywhere(ROLE) | instead(
              ROLE, _change_role_there, lambda at: at.member.organization_id != at.context.organization_id),
          "isolation-update-role"),
    fault("leak-role-confirmed", "The role of another organization's member is confirmed if it is the one sent.",
          at_step("find_member", _find_with_role), "isolation-update-role"),
    fault("leak-removemember", "Members of other organizations can be removed.",
          _find_member_anywhere(REMOVE) | before(REMOVE, lambda at: use_key_of(at, at.member.organization_id)),
          "isolation-remove-member"),
    *(fault(f"leak-{verb}-archived", f"Archived engagements of other organizations can be {words}.",
            _find_engagement_if(all_of(responds(operation), stored_archived)),
            _OF_ENGAGEMENTS[operation], *breaks) for verb, words, operation, *breaks in (
        ("read", "read", READ), ("delete", "deleted", DELETE, _UNTOUCHED), ("archive", "archived again", ARCHIVE))),
    fault("leak-read-null", "Reading another organization's engagement gives 200 with null.",
          _find_engagement_if(responds(READ))
          | data(READ, lambda *_: None, lambda at: at.engagement.organization_id != at.context.organization_id),
          "isolation-get-engagement", "success-data-object"),
    fault("leak-second-read", "The second read of another organization's engagement is served.",
          _find_engagement_if(all_of(responds(READ), again("reads"))), "isolation-get-engagement"),
    *(fault(f"foreign-{status}", f"Another organization's resource is refused with {status}.",
            override(foreign=lambda _, __, status=status: Refusal(status, "It is another organization's.")),
            *list(_OF_ENGAGEMENTS.values())[:4]) for status in (401, 409)),
)  # fmt: skip


# Lists and counts


def _of_all(find: str, when: Callable[[Any], object], arrange: Callable[[Any, Any], Any] = lambda _, items: items
            ) -> Mutation:  # fmt: skip
    """Find in all organizations for some queries; ``arrange`` gets the query and all that it matches."""

    def around(service: Service, honest: Method, query: Any) -> object:  # noqa: ANN401 - of either list
        if not when(query):
            return honest(query)
        organizations = (
            replace(query, organization_id=organization) for organization in service.store.organization_ids()
        )
        return cut(query, tuple(arrange(query, [item for asked in organizations for item in whole(honest, asked)])))

    return wrap(find, around)


def _sorted(query: EngagementQuery, found: list[Engagement]) -> list[Engagement]:
    key = attrgetter({"updatedAt": "updated_at", "name": "name"}.get(query.sort, "created_at"))
    return sorted(found, key=key, reverse=query.descending)


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
    theirs = [item for other in others for item in honest(replace(query, organization_id=other)).items]
    return replace(found, items=tuple(_sorted(query, [*found.items, *theirs])[: query.limit]))


_COUNT_ALL = override(count_engagements=lambda service, _: sum(
    map(service.store.count_engagements, service.store.organization_ids())))  # fmt: skip
_BEGINS = "The list of engagements begins with those of other organizations"

LISTS = (
    fault("leak-listengagements", "The list of engagements shows those of all organizations.",
          _of_all("find_engagements", lambda _: True), _LISTS, _COUNTS, _COUNT_AGREES),
    fault("leak-listmembers", "The list of members shows those of all organizations.",
          _of_all("find_members", lambda _: True), _LISTS, "member-count-agrees"),
    fault("leak-listengagements-by-status",
          "The list of engagements shows those of all organizations if it is filtered.",
          _of_all("find_engagements", lambda query: query.status), _LISTS, "list-engagements-filter-counts"),
    fault("leak-members-by-role", "The list of members shows those of all organizations if it is filtered.",
          _of_all("find_members", lambda query: query.role), "list-members-role-filter", _LISTS),
    *(fault(f"leak-list-all-{way}", f"The list of engagements shows those of all organizations if {says}.",
            _of_all("find_engagements", when, _sorted), _LISTS) for way, says, when in (
        ("by-name", "it is sorted by name", lambda query: query.sort == "name"),
        ("ascending", "it is sorted in ascending order", lambda query: not query.descending),
        ("active", "it is filtered by active", lambda query: query.status == "active"),
        ("active-by-name", "it is filtered by active and sorted by name",
         lambda query: (query.status, query.sort) == ("active", "name")))),
    fault("leak-engagementcount", "engagementCount includes the engagements of all organizations.",
          _COUNT_ALL, _COUNTS, _COUNT_AGREES),
    fault("leak-counts-and-totals",
          "engagementCount and the list's total include the engagements of all organizations.",
          _COUNT_ALL | wrap("find_engagements", lambda service, honest, query: replace(honest(query), total=sum(
              honest(replace(query, organization_id=organization)).total
              for organization in service.store.organization_ids()))),
          _COUNTS, _COUNT_AGREES),
    fault("leak-list-by-name", f"{_BEGINS} if it is sorted by name.",
          _foreign_first(lambda query: query.sort == "name"),
          "list-engagements-total", "list-engagements-pages-partition", _LISTS, "sort-by-name"),
    fault("leak-list-archived", f"{_BEGINS} if it is filtered by archived.",
          _foreign_first(lambda query: query.status == "archived"), _LISTS, "list-engagements-status-filter"),
    fault("leak-list-page-two", f"{_BEGINS} from the second page on.", _foreign_first(lambda query: query.offset > 0),
          _LISTS, "list-engagements-pages-partition", "list-engagements-total", "sort-by-created-at",
          "sort-by-updated-at"),
    fault("leak-list-by-change",
          "The list of engagements shows those of all organizations if it is sorted by updatedAt.",
          wrap("find_engagements", _all_by_change), _LISTS, "list-engagements-pages-partition", "sort-by-updated-at"),
)  # fmt: skip


# Writes that reach other organizations


def _do_there(at: Situation) -> None:
    """Carry the operation out in the organization of the engagement."""
    if found := at.stored:
        at.context.engagement = found
        use_key_of(at, found.organization_id)
        getattr(at.service, ACTIONS[at.operation])(at.context)


def _delete_records(at: Situation) -> None:
    if found := at.stored:
        at.service.delete_subordinates(found)


def _change_role_wherever(at: Situation) -> None:
    for other in _other_organizations(at.service, at.context.organization_id):
        at.store.change_role(other, at.context.resource_id, at.values["role"], at.now)


def _remove_wherever(at: Situation) -> None:
    for other in _other_organizations(at.service, at.context.organization_id):
        at.store.remove_member(other, at.context.resource_id)


def _use_first_key(at: Situation) -> None:
    use_key_of(at, at.store.organization_ids()[0])


def _name_all(at: Situation) -> None:
    for organization in at.store.organization_ids():
        _name_like_own(at, organization)


def _name_like_own(at: Situation, organization_id: str) -> None:
    name = at.store.organization(at.context.organization_id).name
    overwrite(at.service, "organizations", organization_id, name=name)


def _name_first(at: Situation) -> None:
    _name_like_own(at, at.store.organization_ids()[0])


def _rename_first_instead(at: Situation) -> Reply:
    overwrite(at.service, "organizations", at.store.organization_ids()[0], name=at.values["name"])
    return _as_renamed(at)


def _as_renamed(at: Situation) -> Reply:
    organization = replace(at.store.organization(at.context.organization_id), name=at.values["name"])
    return at.success(at.service.view_renamed(organization))


def _archive_namesakes(at: Situation) -> None:
    for other in _other_organizations(at.service, at.context.organization_id):
        for engagement in engagements(at.service, other):
            if engagement.name == at.engagement.name:
                at.service.set_status(engagement, "archived")


def _move_in(at: Situation, honest: Method) -> Engagement:
    engagement: Engagement = honest()
    named = at.field("organizationId")
    return replace(engagement, organization_id=named) if isinstance(named, str) else engagement


def _confirm_unchanged(at: Situation, honest: Method) -> object:
    stored, sent = at.stored, at.body
    if stored is None or not (at.operation == EDIT and _foreign_engagement(at) and isinstance(sent, dict)):
        return honest()
    is_unchanged = all(getattr(stored, name, None) == value for name, value in sent.items())
    return at.success(at.service.view_edited(stored)) if is_unchanged else honest()


WRITES = (
    *(fault(f"leak-applied-{operation}".lower(),
            f"{operation} on another organization's engagement is refused but carried out.",
            refused_yet(operation, _do_there, _foreign_engagement), _UNTOUCHED)
      for operation in _OF_ENGAGEMENTS if operation != READ),
    fault("leak-applied-updatememberrole", "A role change of another organization's member is refused but carried out.",
          refused_yet(ROLE, _change_role_wherever, sends("role"), statuses=(403, 404)), _UNTOUCHED),
    fault("leak-applied-second-role-change",
          "The second role change of another organization's member is refused but carried out.",
          refused_yet(ROLE, _change_role_wherever, all_of(sends("role"), again("changed")), statuses=(403, 404)),
          _UNTOUCHED),
    fault("leak-applied-remove-member", "The removal of another organization's member is refused but carried out.",
          refused_yet(REMOVE, _remove_wherever), _UNTOUCHED),
    fault("leak-delete-takes-records",
          "A deletion of another organization's engagement is refused but deletes its subordinate records.",
          refused_yet(DELETE, _delete_records, _foreign_engagement),
          "subordinates-of-others-stay", _UNTOUCHED),
    fault("leak-edit-touches", "An edit of another organization's engagement is refused but moves its updatedAt.",
          refused_yet(EDIT, lambda at: at.edit(), _foreign_engagement), _UNTOUCHED),
    fault("leak-edit-renames",
          "An edit of another organization's engagement is refused but stores the name.",
          refused_yet(EDIT, lambda at: at.overwrite(name=at.field("name")),
                      all_of(_foreign_engagement, field_is("name", str))), _UNTOUCHED),
    fault("leak-edit-without-change",
          "An edit of another organization's engagement that changes nothing is confirmed, with the engagement.",
          at_step("act", _confirm_unchanged), _OF_ENGAGEMENTS[EDIT]),
    fault("leak-organization", "Every key reads the organization that was created first.",
          before(GET_ORGANIZATION, _use_first_key), _OWN, _LISTS),
    fault("leak-organization-update", "Every key updates the organization that was created first.",
          before(RENAME, _use_first_key), _OWN),
    fault("leak-renaming-renames-all", "A renaming renames every organization.",
          after(RENAME, _name_all, sends("name")), _UNTOUCHED),
    fault("leak-update-names-all",
          "Any update of the organization, even without a name, gives its name to every organization.",
          after(RENAME, _name_all), _UNTOUCHED),
    fault("leak-renaming-renames-first", "A renaming also renames the organization that was created first.",
          after(RENAME, _name_first, sends("name")), _UNTOUCHED),
    fault("leak-renaming-of-first-instead",
          "A renaming renames the organization that was created first instead of the key's own.",
          instead(RENAME, _rename_first_instead, sends("name")), _UNTOUCHED, "update-organization-takes-effect"),
    fault("other-renaming-not-done", "A renaming of an organization other than the first is answered but not done.",
          instead(RENAME, _as_renamed, all_of(_is_not_the_first, sends("name"))), "update-organization-takes-effect"),
    fault("leak-archives-namesakes",
          "Archiving an engagement also archives those of the same name in other organizations.",
          before(ARCHIVE, _archive_namesakes), _UNTOUCHED),
    *(fault(f"other-{word}-count-off", f"The {field} of every organization but the first is one too many.",
            data(GET_ORGANIZATION, _one_more(field), _is_not_the_first),
            f"{word}-count-agrees") for word, field in (("engagement", "engagementCount"), ("member", "memberCount"))),
    fault("other-lists-by-creation",
          "In organizations other than the first, every sort of the engagements is by createdAt.",
          query(set_fields(sort="createdAt"), all_of(_is_not_the_first, lambda at: bool(at.values["sort"]))),
          "sort-by-updated-at", "sort-by-name"),
    fault("other-members-unfiltered",
          "In organizations other than the first, the list of members ignores the filter by role.",
          query_of_members(set_fields(role=None), _is_not_the_first), "list-members-role-filter"),
    fault("creation-moves-in", "A new engagement belongs to the organization that its body names.",
          at_step("new_engagement", _move_in), _LISTS),
)  # fmt: skip
