"""Faults of the organization: its update, its counts and settings, and the role filter of its members."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

from conformance.reference.queries import MemberQuery

from .changes import data, edit, page_of_members, query_of_members, set_fields, view
from .conditions import again, asks
from .mutations import Method, Mutation, before, fault, flat, instead, override, refuse_valid, result, wrap
from .operations import GET_ORGANIZATION, RENAME
from .situations import NOTHING, Situation, overwrite, use_key_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.records import Organization
    from conformance.reference.request_context import Reply
    from conformance.reference.service import Service
    from conformance.reference.views import View

_EFFECT, _NEW_NAME = "update-organization-takes-effect", "update-organization-answers-new-name"
_REST, _ONLY_NAME = "update-organization-keeps-the-rest", "update-organization-only-name"
_URL_SAFE, _FILTER = "organization-slug-url-safe", "list-members-role-filter"
_MEMBERS_AGREE, _ENGAGEMENTS_AGREE = "member-count-agrees", "engagement-count-agrees"
_SETTINGS = {
    "requireTwoFactor": "require_two_factor", "domainAutoJoin": "domain_auto_join", "ssoEnabled": "sso_enabled",
}  # fmt: skip
_SMALL, _SECOND = 20, 1000


def _stored(at: Situation) -> Organization:
    return at.store.organization(at.context.organization_id)


def _write(at: Situation, **columns: object) -> None:
    overwrite(at.service, "organizations", at.context.organization_id, **columns)


def _if_sent(field: str, action: Callable[[Situation, Any], object]) -> Mutation:
    """Do something with the value of a field that clients cannot set, if a valid update has it."""
    return before(RENAME, lambda at: action(at, at.field(field)), lambda at: at.field(field) not in (NOTHING, None))


def _show_renamed(at: Situation, **fields: Any) -> Reply:  # noqa: ANN401 - of any type
    """Return the success of an update that is not stored."""
    return at.success(at.service.view_renamed(replace(_stored(at), **fields)))


def _changes(column: str, value: Callable[[Organization, str, int], object]) -> Mutation:
    """Write a column with each new name; ``value`` gets the organization, the new name and the time."""

    def action(at: Situation) -> None:
        organization, name = _stored(at), at.values.get("name")
        if name and name != organization.name:
            _write(at, **{column: value(organization, name, at.now)})

    return before(RENAME, action)


def _old_name_for_members(at: Situation, shown: View) -> View:
    is_late = at.context.key.user_id is not None and at.now < at.service.memory.get("until", 0)
    return {**shown, "name": at.service.memory["name"]} if is_late else shown


def _shows(field: str) -> Mutation:
    """Show from now on the value that was sent in a field that clients cannot set."""

    def around(service: Service, honest: Method, organization: Organization) -> View:
        shown: View = honest(organization)
        return {**shown, field: service.memory.get("sent", shown[field])}

    return _if_sent(field, lambda at, sent: at.service.memory.update(sent=sent)) | wrap("view_organization", around)


def _loses(field: str, value: str) -> Mutation:
    """Reset a field that is sent together with the name."""
    return before(RENAME, lambda at: _write(at, **{field: value}), lambda at: {"name", field} <= set(at.body))


def _take_flat_settings(at: Situation) -> None:
    for field in ("requireTwoFactor", "ssoEnabled"):
        if isinstance(value := at.body.get(field), bool):
            _write(at, **{_SETTINGS[field]: int(value)})


def _count_role(service: Service, organization: Organization, role: str) -> int:
    return service.store.members(MemberQuery(organization.id, 0, 1, role=role)).total


UPDATES = flat(
    fault("rename-not-kept", "A renaming reports success but does nothing.",
          instead(RENAME, lambda at: _show_renamed(
              at, name=at.values.get("name", _stored(at).name), updated_at=at.now)), _EFFECT),
    fault("rename-once", "Only the first renaming of an organization is carried out.",
          instead(RENAME, lambda at: _show_renamed(at, name=at.values.get("name", "")),
                  again("renamed", lambda at: at.context.organization_id)), _EFFECT),
    fault("rename-late-for-members", "A member's key reads the old name for one second after a renaming.",
          before(RENAME, lambda at: at.service.memory.update(name=_stored(at).name, until=at.now + _SECOND))
          | data(GET_ORGANIZATION, _old_name_for_members), _EFFECT),
    fault("rename-refused", "Every renaming is refused.",
          refuse_valid(RENAME, 409, lambda at: bool(at.values)), "update-organization-succeeds"),
    fault("rename-answers-old-name", "The response to a renaming has the old name.",
          data(RENAME, lambda at, shown: {**shown, "name": at.service.memory["name"]})
          | before(RENAME, lambda at: at.service.memory.update(name=_stored(at).name)), _NEW_NAME),
    fault("rename-answers-other-slug", "The response to a renaming has a slug that is not the organization's.",
          view("renamed", edit(slug=lambda slug: f"{slug}-2")), _NEW_NAME, _REST),
    fault("rename-answers-other-id", "The response to a renaming has another id.",
          view("renamed", edit(id=lambda text: f"{text}0")), _NEW_NAME, _REST),
    fault("slug-percent", "The response to a renaming has a slug with a percent sign and an accented letter.",
          view("renamed", edit(slug=lambda slug: f"é%{slug}")), _URL_SAFE, _NEW_NAME),
    fault("update-resets-plan", "Any update of the organization sets the plan to free.",
          before(RENAME, lambda at: _write(at, plan="free")), _REST),
    fault("rename-changes-slug", "A renaming changes the slug to match the name.",
          _changes("slug", lambda _, name, __: "".join(
              sign if sign.isascii() and sign.isalnum() else "-" for sign in name.lower())), _REST, _NEW_NAME),
    fault("rename-changes-plan", "A renaming sets the plan to free.", _changes("plan", lambda *_: "free"), _REST),
    fault("rename-changes-created-at", "A renaming moves createdAt.",
          _changes("created_at", lambda _, __, now: now), _REST),
    (fault(f"rename-changes-{column.replace('_', '-')}", f"A renaming inverts the setting {field}.",
           _changes(column, lambda organization, *_, column=column: not getattr(organization, column)), _REST)
     for field, column in _SETTINGS.items()),
)  # fmt: skip

READ_ONLY_FIELDS = flat(
    (fault(f"organization-assigns-{field.lower()}", f"An update of the organization accepts {field} from the client.",
           mutation, _ONLY_NAME)
     for field, mutation in (
        ("slug", _if_sent("slug", lambda at, sent: _write(at, slug=str(sent)))),
        ("plan", _if_sent("plan", lambda at, sent: _write(at, plan=str(sent)))),
        ("createdAt", _if_sent("createdAt", lambda at, _: _write(at, created_at=1_000_000_000_000))),
        ("settings", _if_sent("settings", lambda at, sent: _write(
            at, sso_enabled=isinstance(sent, dict) and bool(sent.get("ssoEnabled"))))),
        *((field, _shows(field)) for field in ("id", "memberCount", "engagementCount")))),
    (fault(f"organization-loses-{field}", f"An update of the organization that sends {field} resets it.",
           _loses(field, value), _ONLY_NAME) for field, value in (("slug", "reset"), ("plan", "free"))),
    fault("plan-alone-empties-name",
          "An update of the organization that sends plan but no name replaces the name by a hyphen.",
          before(RENAME, lambda at: at.values.update(name="-"),
                 lambda at: "name" not in at.values and b"plan" in at.context.content), _ONLY_NAME),
    fault("plan-beside-name-taken",
          "An update of the organization accepts plan from the client if a name is sent, too.",
          before(RENAME, lambda at: _write(at, plan=str(at.field("plan"))),
                 lambda at: "name" in at.values and "plan" in at.body), _ONLY_NAME),
    fault("organization-takes-flat-settings", "An update of the organization accepts settings as top-level fields.",
          before(RENAME, _take_flat_settings), _ONLY_NAME),
    fault("organization-echoes-what-was-sent",
          "The response to an update of the organization echoes the id and slug that were sent.",
          data(RENAME, lambda at, shown: {
              **shown, **{name: value for name, value in at.body.items() if name in ("id", "slug")}}), _ONLY_NAME),
    fault("rename-lost-beside-others",
          "An update of the organization that sends a name and other fields changes nothing.",
          before(RENAME, lambda at: at.values.clear(), lambda at: bool(set(at.body) - {"name"})), _ONLY_NAME, _EFFECT),
)  # fmt: skip

READS = flat(
    fault("slug-with-blanks", "The slug of the organization has blanks.",
          view("organization", edit(slug=lambda slug: slug.replace("-", " "))), _URL_SAFE, _NEW_NAME),
    fault("organization-created-now", "The organization shows the current time as createdAt.",
          wrap("view_organization", lambda service, honest, organization: {
              **honest(organization), "createdAt": service.timestamp(service.now())}), _REST),
    (fault(f"setting-{field}-number".lower(), f"The setting {field} is 0 or 1.",
           view("settings", edit(**{field: int})), "get-organization-fields") for field in _SETTINGS),
    fault("key-changes-organization", "Every fifth read of the organization shows another organization.",
          before(GET_ORGANIZATION, lambda at: use_key_of(at, next(
              other for other in at.store.organization_ids() if other != at.context.organization_id)),
                 lambda at: next(at.remembered("reads", count(1))) % 5 == 0), "key-stays-with-organization"),
    fault("member-count-without-owner", "memberCount is one too low.",
          result("count_members", lambda number: number - 1), _MEMBERS_AGREE),
    fault("member-count-without-admins", "memberCount omits the admins.",
          wrap("count_members", lambda service, honest, organization:
               honest(organization) - _count_role(service, organization, "admin")), _MEMBERS_AGREE),
    fault("member-count-of-members-only", "memberCount includes only members with the role member.",
          override(count_members=lambda service, organization: _count_role(service, organization, "member")),
          _MEMBERS_AGREE),
    fault("member-count-fixed", "memberCount is always 5.",
          override(count_members=lambda *_: 5), _MEMBERS_AGREE),
    fault("member-count-of-everybody", "memberCount includes the members of all organizations.",
          override(count_members=lambda service, _: sum(
              map(service.store.count_members, service.store.organization_ids()))), _MEMBERS_AGREE, "isolation-counts"),
    fault("engagement-count-one-more", "engagementCount is one too high.",
          result("count_engagements", lambda number: number + 1), _ENGAGEMENTS_AGREE),
    fault("engagement-count-as-members", "engagementCount is the number of members.",
          override(count_engagements=lambda service, organization: service.count_members(organization)),
          _ENGAGEMENTS_AGREE, "create-engagement-counted", "deleted-uncounted"),
)  # fmt: skip

ROLE_FILTER = flat(
    (fault(f"role-filter-{role}-ignored", f"The list of members ignores the filter {role}.",
           query_of_members(set_fields(role=None), asks(role=role)), _FILTER)
     for role, words in (("owner", "owners"), ("admin", "admins"), ("member", "the role member"))),
    fault("role-filter-member-shows-admins", "The list of members shows admins if it is filtered by member.",
          query_of_members(set_fields(role="admin"), asks(role="member")), _FILTER),
    fault("role-filter-ignored-on-small-pages", "The list of members ignores its role filter if perPage is below 20.",
          query_of_members(set_fields(role=None), lambda at: at.values["perPage"] < _SMALL), _FILTER),
    fault("role-filter-ignored-after-size", "The list of members ignores a role that follows perPage in the query.",
          query_of_members(set_fields(role=None), lambda at: [*at.query][-2:] == ["perPage", "role"]), _FILTER),
    fault("role-filter-forgets-page",
          "The list of members gives the first page for every page if it is filtered.",
          query_of_members(set_fields(offset=0), lambda at: at.values["role"]), _FILTER, "list-past-the-end"),
    fault("role-filter-shows-one-admin",
          "The list of members filtered by admin shows one admin, but its total counts all.",
          page_of_members(lambda find, asked: replace(find(asked), items=find(asked).items[:1])
                          if asked.role == "admin" else find(asked)), _FILTER),
)  # fmt: skip
