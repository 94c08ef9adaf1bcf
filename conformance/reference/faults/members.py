"""Faults of the list of members, of memberCount, of removals and of what removed members still can do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.reference.refusal import Refusal

from .changes import edit, put
from .conditions import always, asks, has_role, reads, writes
from .mutations import Method, after, before, end_process, fault, instead, override, refuse, refused_yet, wrap
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
)
from .pages import page_of_members
from .replies import view
from .situations import ALL, Action, Condition, Situation, change_roles, remove_members

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.queries import MemberQuery
    from conformance.reference.records import Member
    from conformance.reference.request_context import RequestContext
    from conformance.reference.service import Service

    from .mutations import Mutation


_EMAIL, _ROLES, _FILTERED = "member-email-is-address", "member-roles-known", "list-members-role-filter"
_COUNTED, _ADDS_NO_MEMBER, _UNCOUNTED = "member-count-agrees", "invite-adds-no-member", "removed-member-uncounted"
_UNLISTED, _NOT_REMOVABLE = "removed-member-unlisted", "removed-member-not-removable"
_REMOVED_IS_TRUE, _SPARES_OTHERS = "remove-member-answers-true", "removal-spares-other-members"
_ORGANIZATION, _ENGAGEMENTS = "removed-member-loses-organization", "removed-member-loses-engagements"
_FAMILIES = (
    ("organization", _ORGANIZATION,
     (GET_ORGANIZATION, RENAME, LIST_MEMBERS, INVITE, ROLE)),
    ("engagements", _ENGAGEMENTS,
     (LIST, CREATE, READ, EDIT, DELETE, ARCHIVE)),
)  # fmt: skip
"""Operations, with the requirement that they break if they accept the key of a removed member."""


def _name_by_address(honest: Method, query: MemberQuery) -> Any:  # noqa: ANN401 - a page
    page = honest(query)
    if query.role is None:
        return page
    return replace(page, items=tuple(replace(each, name=each.email.partition("@")[0]) for each in page.items))


def _count(by: int) -> Action:
    """Return an action that makes memberCount larger or smaller from now on."""
    return lambda at: at.remembered("counted", []).append(by)


_SHOW_COUNT = wrap("count_members", lambda service, honest, organization:
                   honest(organization) + sum(service.memory.get("counted", ())))  # fmt: skip

_NOTE_REMOVED = after(REMOVE, lambda at: at.remembered("removed", []).append(at.member))


def _removed(service: Service) -> list[Member]:
    members: list[Member] = service.memory.get("removed", [])
    return members


def _list_removed(service: Service, honest: Method, query: MemberQuery) -> Any:  # noqa: ANN401 - a page
    present = honest(replace(query, offset=0, limit=ALL))
    removed = [member for member in _removed(service)
               if member.organization_id == query.organization_id and query.role in {None, member.role}]  # fmt: skip
    whole = (*present.items, *removed)
    return replace(present, items=whole[query.offset : query.offset + query.limit], total=len(whole))


def _find_removed(operation: str) -> Mutation:
    """Let an operation find removed members."""

    def around(service: Service, honest: Method, context: RequestContext) -> Any:  # noqa: ANN401 - a member
        found = [member for member in _removed(service) if member.user_id == context.resource_id]
        return found[0] if found and context.operation.id == operation else honest(context)

    return _NOTE_REMOVED | wrap("find_member", around)


def _switch_roles(at: Situation) -> None:
    for other in at.others:
        change_roles(at, [other], "member" if other.role == "admin" else "admin")


def _revoke_all(service: Service, honest: Method, token: str) -> Any:  # noqa: ANN401 - a key or nothing
    key = honest(token)
    return replace(key, revoked=True) if key and key.user_id and _removed(service) else key


def _note_last_removed(at: Situation) -> None:
    at.service.memory["gone"] = {at.member.user_id: at.member}


async def _restore_if_refused(service: Service, honest: Method, context: RequestContext) -> Any:  # noqa: ANN401
    try:
        return await honest(context)
    except Refusal as refusal:
        member = service.memory.get("gone", {}).pop(context.resource_id, None)
        if context.operation.id == ROLE and refusal.status == 404 and member:  # noqa: PLR2004
            service.store.add_member(
                member.organization_id, member.user_id, member.role, member.joined_at, member.last_seen_at
            )
        raise


def _serve_removed(when: Condition = always) -> Mutation:
    """Accept the key of a removed member in some requests, whose operation is not found yet."""

    def around(service: Service, honest: Method, context: RequestContext) -> Any:  # noqa: ANN401 - a key
        key = service.find_key(service.bearer_token(context))
        if key is None or not key.revoked:
            return honest(context)
        context.key = key
        return replace(key, revoked=False) if when(Situation(service, context)) else honest(context)

    return wrap("authenticate", around)


def _requests(*operations: str) -> Condition:
    return lambda at: at.service.find_operation(at.context).id in operations


def _first(condition: Condition) -> Condition:
    def when(at: Situation) -> bool:
        if not condition(at) or "served" in at.service.memory:
            return False
        at.service.memory["served"] = True
        return True

    return when


def _note_removal(at: Situation) -> None:
    at.remembered("removals", {})[at.member.user_id] = at.service.seconds()


def _removed_just_now(at: Situation) -> bool:
    removed_at = at.remembered("removals", {}).get(at.context.key.user_id, 0)
    return bool(at.service.seconds() - removed_at < 1)


def _find_nothing(service: Service) -> None:
    raise service.not_found("organization")


def _note_author(at: Situation) -> None:
    at.remembered("authors", {})[at.data["id"]] = at.context.key.user_id


_NOTE_AUTHORS = after(CREATE, _note_author)


def _requests_own(operation: str) -> Condition:
    """Whether an operation is requested on an engagement that was created with a key of the same member."""

    def when(at: Situation) -> bool:
        if not _requests(operation)(at):
            return False
        author = at.remembered("authors", {}).get(at.context.resource_id)
        return bool(author == at.context.key.user_id)

    return when


def _change_own(change: Callable[[Service, str], object]) -> Mutation:
    """Change the engagements that a removed member created."""

    def action(at: Situation) -> None:
        for identifier, author in at.remembered("authors", {}).items():
            if author == at.member.user_id and at.store.engagement(identifier):
                change(at.service, identifier)

    return _NOTE_AUTHORS | after(REMOVE, action)


LISTED = (
    fault("role-in-capitals", "A listed member has the role in capitals.",
          view("member", edit(role=str.upper)), _ROLES),
    fault("role-guest", "A listed member has the role guest.",
          view("member", edit(role=lambda role: "guest" if role == "member" else role)), _ROLES),
    fault("member-without-address", "A listed member has the name as email.",
          view("member", lambda shown: {**shown, "email": shown["name"]}), _EMAIL),
    fault("member-address-linked", "A listed member has a link to write to for an email.",
          view("member", edit(email=lambda email: f"mailto:{email}")), _EMAIL),
    fault("member-address-bracketed", "A listed member has the email in angle brackets after the name.",
          view("member", lambda shown: {**shown, "email": f"{shown['name']} <{shown['email']}>"}), _EMAIL),
    fault("member-address-masked", "A listed member has its email with most of the name masked.",
          view("member", edit(email=lambda email: f"{email[0]}***@{email.partition('@')[2]}")), _EMAIL),
    fault("member-address-of-the-first", "Every listed member has the email of the one that was listed first.",
          wrap("view_member", lambda service, honest, member:
               {**honest(member), "email": service.memory.setdefault("first address", member.email)}), _EMAIL),
    fault("role-filter-shows-other-names",
          "Under a role, members are shown with the part of their address before the @ for a name.",
          page_of_members(_name_by_address), _FILTERED),
    fault("role-filter-loses-one-on-page-2", "Under a role, every page after the first begins one member too late.",
          page_of_members(lambda honest, query:
                          honest(replace(query, offset=query.offset + 1) if query.role and query.offset else query)),
          _FILTERED),
    fault("ends-at-a-list-of-owners", "The process ends over a list of members that is filtered by the role owner.",
          end_process(LIST_MEMBERS, lambda at: at.query.get("role") == "owner"), "no-server-error"),
)  # fmt: skip

COUNT = (
    fault("removed-member-counted", "A removed member is still counted.",
          _NOTE_REMOVED | wrap("count_members", lambda service, honest, organization: honest(organization) + sum(
              member.organization_id == organization.id for member in _removed(service))), _UNCOUNTED, _COUNTED),
    fault("member-count-shrinks-with-vain-removals", "A removal that finds nobody is subtracted all the same.",
          _SHOW_COUNT | refused_yet(REMOVE, _count(-1)), _COUNTED),
    fault("member-count-grows-with-roles", "Every change of a role counts the member once more.",
          _SHOW_COUNT | after(ROLE, _count(1)), _COUNTED),
    fault("member-count-grows-with-admins-invited", "The invitation of an admin counts as a member.",
          _SHOW_COUNT | after(INVITE, _count(1), asks(role="admin")), _ADDS_NO_MEMBER, _COUNTED),
    fault("invitation-counts-as-member", "The organization counts its invitations as members.",
          _SHOW_COUNT | after(INVITE, _count(1)), _ADDS_NO_MEMBER, _COUNTED),
)  # fmt: skip

REMOVAL = (
    fault("removal-answers-false", "The answer to a removal says that nobody was removed.",
          view("removed", put(removed=False)), _REMOVED_IS_TRUE),
    fault("removal-answers-other-id", "The answer to a removal carries another userId.",
          view("removed", edit(userId=lambda text: f"{text}0")), _REMOVED_IS_TRUE),
    fault("removal-does-nothing", "A removal answers as if it had been done.",
          instead(REMOVE, lambda at: at.success(at.service.view_removed(at.member))),
          _UNLISTED, _UNCOUNTED, _NOT_REMOVABLE),
    fault("only-admins-removable", "Members whose role is member cannot be removed.",
          refuse(REMOVE, 403, has_role("member")), "scope-allows-remove-member", "remove-member-succeeds"),
    fault("removal-takes-others", "A removal takes another member of the same role with it.",
          after(REMOVE, lambda at: remove_members(at, at.others[-1:])), _SPARES_OTHERS),
    fault("removal-takes-the-admins", "A removal takes all admins with it.",
          after(REMOVE, lambda at: remove_members(at, [other for other in at.others if other.role == "admin"])),
          _SPARES_OTHERS),
    fault("removal-switches-roles", "A removal makes members of all admins, and admins of all members.",
          after(REMOVE, _switch_roles), _SPARES_OTHERS),
    fault("removal-revokes-others", "After a removal the keys of the other members are refused, too.",
          _NOTE_REMOVED | wrap("find_key", _revoke_all), _SPARES_OTHERS),
    fault("removal-deletes-own", "The removal of a member deletes the engagements that the member created.",
          _change_own(lambda service, identifier: service.store.delete_engagement(identifier)), _ENGAGEMENTS),
    fault("removal-archives-own", "The removal of a member archives the engagements that the member created.",
          _change_own(lambda service, identifier: service.store.edit_engagement(
              identifier, {"status": "archived"}, service.now())), _ENGAGEMENTS),
)  # fmt: skip

REMOVED = (
    fault("removed-member-listed", "A removed member is still listed.",
          _NOTE_REMOVED | wrap("find_members", _list_removed), _UNLISTED, _UNCOUNTED),
    fault("removed-member-removable", "A removed member can be removed again.", _find_removed(REMOVE), _NOT_REMOVABLE),
    fault("removed-member-changeable", "The role of a removed member can be changed.",
          _find_removed(ROLE), "removed-member-role-unchangeable"),
    fault("removed-role-change-restores",
          "Changing the role of a removed member is refused, and makes the user a member again.",
          before(REMOVE, _note_last_removed) | wrap("perform", _restore_if_refused), _NOT_REMOVABLE, _UNLISTED),
)  # fmt: skip

KEYS_OF_REMOVED = (
    *(fault(f"removed-member-{name}", f"The key of a removed member {words}.",
            _serve_removed(when), _ORGANIZATION, _ENGAGEMENTS) for name, words, when in (
        ("reads", "can still read", reads),
        ("writes", "can still write", writes),
        ("everything", "works as before", always),
        ("lists", "can still list", _requests(LIST_MEMBERS, LIST)))),
    fault("removed-member-for-a-second", "The key of a removed member works for another second.",
          before(REMOVE, _note_removal) | _serve_removed(_removed_just_now), _ORGANIZATION, _ENGAGEMENTS),
    fault("removed-member-key-404", "The key of a removed member finds nothing instead of being refused.",
          override(refuse_removed_member=_find_nothing), _ORGANIZATION, _ENGAGEMENTS),
    *(fault(f"removed-member-once-{family}", f"The key of a removed member is served once more for {family}.",
            _serve_removed(_first(_requests(*operations))), requirement)
      for family, requirement, operations in _FAMILIES),
    *(fault(f"removed-member-{operation}".lower(), f"The key of a removed member still serves for {operation}.",
            _serve_removed(_requests(operation)), requirement)
      for _, requirement, operations in _FAMILIES for operation in operations),
    *(fault(f"removed-member-{verb}-own", f"The key of a removed member still {verb} {words} it created.",
            _NOTE_AUTHORS | _serve_removed(_requests_own(operation)), _ENGAGEMENTS) for verb, words, operation in (
        ("reads", "an engagement that", READ), ("edits", "an engagement that", EDIT), ("archives", "what", ARCHIVE),
        ("deletes", "what", DELETE))),
)  # fmt: skip
