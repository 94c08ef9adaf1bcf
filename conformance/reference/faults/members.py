"""Faults of the list of members, of roles and their changes, of removals, and of what removed members still can do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from . import operations as op
from .changes import cut, edit, page_of_members, past_item, put, query_of_members, view, whole
from .conditions import (
    all_of,
    always,
    asks,
    at_first,
    body_has,
    has_one_permission,
    has_role,
    reads,
    sends,
    writes,
)
from .mutations import (
    Method,
    Mutation,
    after,
    at_step,
    before,
    crash,
    end_process,
    fault,
    instead,
    override,
    refuse,
    refused_yet,
    wrap,
)
from .operations import ROLE
from .situations import (
    Action,
    Condition,
    Situation,
    change_roles,
    engagements,
    members,
    overwrite,
    recalled,
    remember,
    remove_members,
    switch_roles,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.queries import MemberQuery
    from conformance.reference.records import Member, Organization, Page
    from conformance.reference.request_context import Reply
    from conformance.reference.service import Service


_EMAIL, _ROLES, _FILTERED = "member-email-is-address", "member-roles-known", "list-members-role-filter"
_COUNTED, _ADDS_NO_MEMBER, _UNCOUNTED = "member-count-agrees", "invite-adds-no-member", "removed-member-uncounted"
_UNLISTED, _NOT_REMOVABLE = "removed-member-unlisted", "removed-member-not-removable"
_REMOVED_IS_TRUE, _SPARES_OTHERS = "remove-member-answers-true", "removal-spares-other-members"
_ORGANIZATION, _ENGAGEMENTS = "removed-member-loses-organization", "removed-member-loses-engagements"
_AGAIN = 3
"""Seconds for which the key of a removed member is refused."""
_FAMILIES = (
    ("organization", _ORGANIZATION, (op.GET_ORGANIZATION, op.RENAME, op.LIST_MEMBERS, op.INVITE, op.ROLE)),
    ("engagements", _ENGAGEMENTS, (op.LIST, op.CREATE, op.READ, op.EDIT, op.DELETE, op.ARCHIVE)),
)
"""Operations, with the requirement that they break if they accept the key of a removed member."""


def _count_more(by: int) -> Action:
    """Return an action that makes memberCount larger or smaller from now on."""
    return lambda at: at.remembered("counted", []).append(by)


_SHOW_COUNT = wrap("count_members", lambda service, honest, organization:
                   honest(organization) + sum(service.memory.get("counted", ())))  # fmt: skip

_NOTE_REMOVED = after(op.REMOVE, lambda at: at.remembered("removed", []).append(at.member))


def _removed(service: Service) -> list[Member]:
    members: list[Member] = service.memory.get("removed", [])
    return members


def _list_removed(service: Service, honest: Method, query: MemberQuery) -> Page[Member]:
    removed = (member for member in _removed(service)
               if member.organization_id == query.organization_id and query.role in {None, member.role})  # fmt: skip
    return cut(query, (*whole(honest, query), *removed))


def _find_removed(operation: str) -> Mutation:
    """Let an operation find removed members."""

    def around(at: Situation, honest: Method) -> object:
        found = [member for member in _removed(at.service) if member.user_id == at.context.resource_id]
        return found[0] if found and at.operation == operation else honest()

    return _NOTE_REMOVED | at_step("find_member", around)


def _add_again(at: Situation) -> None:
    gone = at.service.memory.get("gone")
    if gone and gone.user_id == at.context.resource_id:
        del at.service.memory["gone"]
        at.store.add_member(gone.organization_id, gone.user_id, gone.role, gone.joined_at, gone.last_seen_at)


def _serve_removed(when: Condition = always) -> Mutation:
    """Accept the key of a removed member in some requests, whose operation is not found yet."""

    def around(at: Situation, honest: Method) -> object:
        key = at.service.find_key(at.service.bearer_token(at.context))
        if key is None or not key.revoked:
            return honest()
        at.context.key = key
        return replace(key, revoked=False) if when(at) else honest()

    return at_step("authenticate", around)


def _is_followed_by_another(at: Situation) -> bool:
    """Whether another member was removed after the one that the key belonged to."""
    key = at.context.key
    removed = [member.user_id for member in _removed(at.service) if member.organization_id == key.organization_id]
    return key.user_id in removed[:-1]


def _requests(*operations: str) -> Condition:
    return lambda at: at.service.find_operation(at.context).id in operations


def _asked_for(at: Situation) -> tuple[str, str]:
    return at.context.key.digest, str(at.context.request.url)


def _find_nothing(service: Service) -> None:
    raise service.not_found("organization")


_NOTE_AUTHORS = after(
    op.CREATE, lambda at: at.remembered("authors", {}).update({at.data["id"]: at.context.key.user_id})
)


def _is_of_removed(at: Situation) -> bool:
    author = recalled(at.service, "authors", at.engagement.id)
    return author is not None and at.store.member(at.context.organization_id, author) is None


def _requests_own(operation: str) -> Condition:
    """Whether an operation is requested on an engagement that was created with a key of the same member."""
    return lambda at: _requests(operation)(at) and at.context.key.user_id == recalled(
        at.service, "authors", at.context.resource_id)  # fmt: skip


def _is_anothers(at: Situation) -> bool:
    """Whether a key of another member created the engagement."""
    return at.remembered("authors", {}).get(at.context.resource_id) not in {None, at.context.key.user_id}


def _is_own_member(at: Situation) -> bool:
    """Whether a request is about the member that its key belongs to."""
    return at.context.key.user_id == at.context.resource_id


def _count_without_orphans(service: Service, honest: Method, organization: Organization) -> int:
    """Leave out the engagements whose creators were removed."""
    authors = service.memory.get("authors", {})
    known = {None, *(member.user_id for member in members(service, organization.id))}
    orphans = [
        engagement for engagement in engagements(service, organization.id) if authors.get(engagement.id) not in known
    ]
    return int(honest(organization)) - len(orphans)


def _change_own(change: Callable[[Service, str], object]) -> Mutation:
    """Change the engagements that a removed member created."""

    def action(at: Situation) -> None:
        for identifier, author in at.remembered("authors", {}).items():
            if author == at.member.user_id and at.store.engagement(identifier):
                change(at.service, identifier)

    return _NOTE_AUTHORS | after(op.REMOVE, action)


LISTED = (
    fault("role-in-capitals", "A listed member has the role in capitals.",
          view("member", edit(role=str.upper)), _ROLES),
    fault("role-guest", "A listed member has the role guest.",
          view("member", edit(role=lambda role: "guest" if role == "member" else role)), _ROLES),
    fault("member-without-address", "A listed member has the name instead of the email.",
          view("member", lambda shown: {**shown, "email": shown["name"]}), _EMAIL),
    fault("member-address-linked", "A listed member has a mailto link as email.",
          view("member", edit(email=lambda email: f"mailto:{email}")), _EMAIL),
    fault("member-address-bracketed", "A listed member has the name and the address in angle brackets as email.",
          view("member", lambda shown: {**shown, "email": f"{shown['name']} <{shown['email']}>"}), _EMAIL),
    fault("member-address-masked", "A listed member has an email masked with asterisks.",
          view("member", edit(email=lambda email: f"{email[0]}***@{email.partition('@')[2]}")), _EMAIL),
    fault("member-address-of-the-first", "Every listed member has the email of the member listed first.",
          wrap("view_member", lambda service, honest, member:
               {**honest(member), "email": service.memory.setdefault("first address", member.email)}), _EMAIL),
    fault("role-filter-shows-other-names",
          "The list of members filtered by role shows the local part of the email as the name.",
          page_of_members(lambda find, query: replace(find(query), items=tuple(
              replace(member, name=member.email.partition("@")[0]) for member in find(query).items))
              if query.role else find(query)), _FILTERED),
    fault("role-filter-loses-one-on-page-2",
          "Each later page of members begins one member too late if the list is filtered.",
          query_of_members(past_item, lambda at: at.values["role"]), _FILTERED),
    fault("ends-at-a-list-of-owners", "A list of members filtered by owner ends the process.",
          end_process(op.LIST_MEMBERS, lambda at: at.query.get("role") == "owner"), "no-server-error"),
)  # fmt: skip

COUNT = (
    fault("removed-member-counted", "memberCount still includes a removed member.",
          _NOTE_REMOVED | wrap("count_members", lambda service, honest, organization: honest(organization) + sum(
              member.organization_id == organization.id for member in _removed(service))), _UNCOUNTED, _COUNTED),
    fault("member-count-shrinks-with-vain-removals", "The removal of an unknown user lowers memberCount.",
          _SHOW_COUNT | refused_yet(op.REMOVE, _count_more(-1)), _COUNTED),
    fault("member-count-grows-with-roles", "Every role change raises memberCount by one.",
          _SHOW_COUNT | after(op.ROLE, _count_more(1)), _COUNTED),
    fault("member-count-grows-with-admins-invited", "An invitation with the role admin raises memberCount by one.",
          _SHOW_COUNT | after(op.INVITE, _count_more(1), asks(role="admin")), _ADDS_NO_MEMBER, _COUNTED),
    fault("invitation-counts-as-member", "Every invitation raises memberCount by one.",
          _SHOW_COUNT | after(op.INVITE, _count_more(1)), _ADDS_NO_MEMBER, _COUNTED),
)  # fmt: skip

REMOVAL = (
    fault("removal-answers-false", "The response to a removal has false for removed.",
          view("removed", put(removed=False)), _REMOVED_IS_TRUE),
    fault("removal-answers-other-id", "The response to a removal has another userId.",
          view("removed", edit(userId=lambda text: f"{text}0")), _REMOVED_IS_TRUE),
    fault("removal-does-nothing", "A removal reports success but does nothing.",
          instead(op.REMOVE, lambda at: at.success(at.service.view_removed(at.member))),
          _UNLISTED, _UNCOUNTED, _NOT_REMOVABLE),
    fault("self-removal-does-nothing", "The removal of a member with its own key reports success but does nothing.",
          instead(op.REMOVE, lambda at: at.success(at.service.view_removed(at.member)), _is_own_member), _UNLISTED),
    fault("only-admins-removable", "Members whose role is member cannot be removed.",
          refuse(op.REMOVE, 403, has_role("member")), "scope-allows-remove-member", "remove-member-succeeds"),
    fault("removal-takes-others", "A removal also removes another member of the same role.",
          after(op.REMOVE, lambda at: remove_members(at, at.others[-1:])), _SPARES_OTHERS),
    fault("removal-takes-the-admins", "A removal also removes all admins.",
          after(op.REMOVE, lambda at: remove_members(at, [other for other in at.others if other.role == "admin"])),
          _SPARES_OTHERS),
    fault("removal-switches-roles", "A removal switches the roles of all other admins and members.",
          after(op.REMOVE, lambda at: switch_roles(at, at.others)), _SPARES_OTHERS),
    fault("removal-revokes-others", "A removal also revokes the keys of the other members.",
          _NOTE_REMOVED | wrap("find_key", lambda service, honest, token: replace(key, revoked=True)
                               if (key := honest(token)) and key.user_id and _removed(service) else key),
          _SPARES_OTHERS),
    fault("removal-deletes-own", "The removal of a member deletes the engagements that the member created.",
          _change_own(lambda service, identifier: service.store.delete_engagement(identifier)), _ENGAGEMENTS),
    fault("members-engagement-undeletable", "What a member created only its own key can delete; others get 403.",
          _NOTE_AUTHORS | refuse(op.DELETE, 403, _is_anothers), "archived-deletable", "delete-engagement-succeeds"),
    fault("edit-stumbles-over-removed-creator", "An edit of what a removed member has created causes a 500.",
          _NOTE_AUTHORS | crash(op.EDIT, _is_of_removed, step="update_engagement"), "no-server-error"),
    fault("removal-uncounts-own", "engagementCount leaves out the engagements that a removed member created.",
          _NOTE_AUTHORS | wrap("count_engagements", _count_without_orphans), "engagement-count-agrees"),
    fault("removal-archives-own", "The removal of a member archives the engagements that the member created.",
          _change_own(lambda service, identifier: service.store.edit_engagement(
              identifier, {"status": "archived"}, service.now())), _ENGAGEMENTS),
)  # fmt: skip

REMOVED = (
    fault("removed-member-listed", "A removed member is still listed.",
          _NOTE_REMOVED | wrap("find_members", _list_removed), _UNLISTED, _UNCOUNTED),
    fault("removed-member-removable", "A removed member can be removed again.",
          _find_removed(op.REMOVE), _NOT_REMOVABLE),
    fault("removed-member-changeable", "The role of a removed member can be changed.",
          _find_removed(op.ROLE), "removed-member-role-unchangeable"),
    fault("removed-role-change-restores",
          "A role change of a removed member is refused but makes the user a member again.",
          before(op.REMOVE, lambda at: at.service.memory.update(gone=at.member))
          | refused_yet(op.ROLE, _add_again, statuses=(404,)), _NOT_REMOVABLE, _UNLISTED),
)  # fmt: skip

KEYS_OF_REMOVED = (
    *(fault(f"removed-member-{name}", f"The key of a removed member {words}.",
            _serve_removed(when), _ORGANIZATION, _ENGAGEMENTS) for name, words, when in (
        ("reads", "can still read", reads),
        ("writes", "can still write", writes),
        ("everything", "works as before", always),
        ("lists", "can still list", _requests(op.LIST_MEMBERS, op.LIST)))),
    fault("removed-member-filters", "The key of a removed member can still list engagements by status.",
          _serve_removed(lambda at: "status" in at.query), _ENGAGEMENTS),
    fault("removed-member-repeats-lists", "The key of a removed member still gets the filtered lists that it got.",
          after(op.LIST, lambda at: at.remembered("listed", set()).add(_asked_for(at)), lambda at: at.query)
          | _serve_removed(lambda at: _asked_for(at) in at.remembered("listed", set())), _ENGAGEMENTS),
    fault("removed-member-for-a-second", "The key of a removed member works for one more second.",
          before(op.REMOVE, remember("removals", lambda at: at.service.seconds())) | _serve_removed(
              lambda at: at.service.seconds() - recalled(at.service, "removals", at.context.key.user_id, 0) < 1),
          _ORGANIZATION, _ENGAGEMENTS),
    fault("removed-member-after-three-seconds", "The key of a removed member is refused for only three seconds.",
          before(op.REMOVE, remember("removals", lambda at: at.service.seconds())) | _serve_removed(
              lambda at: at.service.seconds() - recalled(at.service, "removals", at.context.key.user_id, 0) >= _AGAIN),
          _ORGANIZATION, _ENGAGEMENTS),
    fault("removed-member-until-next-removal",
          "The key of a removed member works again once another member of the organization was removed.",
          _NOTE_REMOVED | _serve_removed(_is_followed_by_another), _ORGANIZATION, _ENGAGEMENTS),
    fault("removed-by-member-keeps-key", "If a member's key removes a member, the removed key works as before.",
          before(op.REMOVE, remember("remover", lambda at: at.context.key.user_id))
          | _serve_removed(lambda at: bool(recalled(at.service, "remover", at.context.key.user_id))),
          _ORGANIZATION, _ENGAGEMENTS),
    fault("removed-by-itself-keeps-key", "If a member's key removes its own member, it works as before.",
          before(op.REMOVE, remember("remover", lambda at: at.context.key.user_id))
          | _serve_removed(lambda at: (user := at.context.key.user_id) == recalled(at.service, "remover", user)),
          _ORGANIZATION, _ENGAGEMENTS),
    fault("removed-with-one-permission-keeps-key",
          "If a key with one permission removes a member, the removed key works as before.",
          before(op.REMOVE, remember("by one permission", has_one_permission))
          | _serve_removed(lambda at: bool(recalled(at.service, "by one permission", at.context.key.user_id))),
          _ORGANIZATION, _ENGAGEMENTS),
    fault("removed-member-key-404", "The key of a removed member gets 404 instead of a refusal.",
          override(refuse_removed_member=_find_nothing), _ORGANIZATION, _ENGAGEMENTS),
    *(fault(f"removed-member-once-{family}",
            f"The key of a removed member works for one more request to {family}.",
            _serve_removed(all_of(_requests(*operations), at_first)), requirement)
      for family, requirement, operations in _FAMILIES),
    *(fault(f"removed-member-{operation}".lower(), f"The key of a removed member still works for {operation}.",
            _serve_removed(_requests(operation)), requirement)
      for _, requirement, operations in _FAMILIES for operation in operations),
    *(fault(f"removed-member-{verb}-own", f"The key of a removed member still {verb} {words} the member created.",
            _NOTE_AUTHORS | _serve_removed(_requests_own(operation)), _ENGAGEMENTS) for verb, words, operation in (
        ("reads", "engagements that", op.READ), ("edits", "engagements that", op.EDIT),
        ("archives", "engagements that", op.ARCHIVE), ("deletes", "engagements that", op.DELETE))),
)  # fmt: skip


_OWNER_REFUSED, _OWNER_STAYS = "owner-role-change-refused", "owner-stays-owner"
_NO_OWNER, _BOTH_WAYS = "no-owner-through-role-change", "role-changes-both-ways"
_KEEPS_REST, _SENT = "update-role-keeps-the-rest", "update-role-answers-what-was-sent"
_MOVE_JOINED_AT = "UPDATE members SET joined_at = ? WHERE organization_id = ? AND user_id = ?"
_DOT_EMAIL = "UPDATE users SET email = upper(substr(email, 1, 1)) || '.' || substr(email, 2) WHERE id = ?"


def _show_role(at: Situation, **fields: Any) -> Reply:  # noqa: ANN401 - of any type
    """Return the success of a change of role that is not stored."""
    return at.success(at.service.view_role(replace(at.member, role=at.values["role"], **fields)))


def _take_for_no_owner(at: Situation) -> None:
    at.context.member = replace(at.member, role="none")


def _named(at: Situation) -> list[Member]:
    """Return the member in the path, if there is one; also for requests that were refused before it was found."""
    member = at.store.member(at.context.organization_id, at.context.resource_id)
    return [member] if member else []


def _names(role: str) -> Condition:
    return lambda at: any(member.role == role for member in _named(at))


def _is_of_admin(at: Situation) -> bool:
    """Whether the key belongs to an admin."""
    member = at.store.member(at.context.organization_id, at.context.key.user_id or "")
    return member is not None and member.role == "admin"


def _accept_owner(when: Condition = always) -> Mutation:
    """Take the role owner for valid in some of the requests that send it."""
    return at_step("check_role_change", lambda at, honest:
                   {"role": "owner"} if body_has(role="owner")(at) and when(at) else honest())  # fmt: skip


OWNERS = (
    fault("owner-demoted", "A role change of an owner is carried out.",
          override(check_role_changeable=lambda *_: None), _OWNER_REFUSED, _OWNER_STAYS),
    *(fault(f"owner-{label}", f"A role change of an owner {words} is carried out.",
            before(ROLE, _take_for_no_owner, all_of(has_role("owner"), when)),
            _OWNER_REFUSED, _OWNER_STAYS) for label, words, when in (
        ("becomes-admin", "to admin", asks(role="admin")), ("becomes-member", "to member", asks(role="member")),
        ("demoted-by-admin", "with the key of an admin", _is_of_admin))),
    fault("owner-demotion-ignored", "A role change of an owner reports success but does nothing.",
          instead(ROLE, _show_role, has_role("owner")), _OWNER_REFUSED),
    *(fault(f"owner-role-{status}", f"A role change of an owner is refused with {status}.",
            refuse(ROLE, status, has_role("owner")), *breaks, _OWNER_REFUSED)
      for status, *breaks in ((404,), (401,), (500, "no-server-error"))),
    fault("owner-demoted-though-refused", "A role change of an owner is refused but carried out.",
          refused_yet(ROLE, lambda at: change_roles(at, _named(at), at.values["role"]),
                      all_of(sends("role"), _names("owner"))), _OWNER_STAYS),
    fault("owner-refusal-demotes-admin", "A refused change of an admin to owner makes the admin a member.",
          refused_yet(ROLE, lambda at: change_roles(at, _named(at), "member"),
                      all_of(_names("admin"), body_has(role="owner"))),
          _BOTH_WAYS, "update-role-refused-changes-nothing"),
    fault("owner-by-role-change", "A role change can make any member an owner.", _accept_owner(), _NO_OWNER),
    fault("owner-from-admin", "A role change can make an admin an owner.",
          _accept_owner(_names("admin")), _NO_OWNER),
    fault("owner-from-member", "A role change can make a member with the role member an owner.",
          _accept_owner(_names("member")), _NO_OWNER),
    fault("owner-though-refused", "A role change to owner is refused but carried out.",
          refused_yet(ROLE, lambda at: change_roles(at, _named(at), "owner"),
                      lambda at: b'"owner"' in at.context.content), _NO_OWNER),
)  # fmt: skip

CHANGES = (
    fault("role-not-kept", "A role change reports success but does nothing.",
          instead(ROLE, lambda at: _show_role(at, updated_at=at.now))
          | before(ROLE, lambda at: at.service.check_role_changeable(at.member)), _BOTH_WAYS),
    fault("role-only-upwards", "A role change from admin to member reports success but does nothing.",
          instead(ROLE, _show_role, has_role("admin")), _BOTH_WAYS),
    fault("role-only-downwards", "A role change from member to admin reports success but does nothing.",
          instead(ROLE, _show_role, all_of(has_role("member"), asks(role="admin"))), _BOTH_WAYS),
    fault("role-once", "Only the first role change of a member is carried out.",
          instead(ROLE, _show_role, lambda at: at.member.updated_at > at.member.joined_at), _BOTH_WAYS),
    fault("role-of-admin-unchangeable", "A role change of an admin is refused.",
          refuse(ROLE, 403, has_role("admin")), "update-role-succeeds"),
    fault("role-answers-member", "The response to a role change always has the role member.",
          view("role", put(role="member")), _SENT),
    fault("role-answers-other-id", "The response to a role change has another id.",
          view("role", edit(id=lambda text: f"{text}0")), _SENT),
)  # fmt: skip

SIDE_EFFECTS = (
    fault("role-changes-others", "A role change also changes the roles of the other members.",
          after(ROLE, lambda at: change_roles(at, at.others, at.values["role"])), _KEEPS_REST),
    fault("role-moves-joined-at", "A role change moves joinedAt.",
          after(ROLE, lambda at: at.store.execute(
              _MOVE_JOINED_AT, at.now + 1, at.context.organization_id, at.context.resource_id)), _KEEPS_REST),
    fault("role-loses-name", "A role change overwrites the member's name.",
          after(ROLE, lambda at: overwrite(at.service, "users", at.context.resource_id, name="Member")), _KEEPS_REST),
    fault("role-changes-address", "A role change changes the member's email.",
          before(ROLE, lambda at: at.store.execute(_DOT_EMAIL, at.member.user_id)), _KEEPS_REST),
    fault("role-change-takes-ownership",
          "A role change to admin also makes the owner an admin.",
          before(ROLE, lambda at: change_roles(at, [
              member for member in members(at.service, at.context.organization_id) if member.role == "owner"], "admin"),
                 asks(role="admin")), _KEEPS_REST),
    fault("role-change-removes-an-admin",
          "A role change to admin removes another admin from the organization.",
          before(ROLE, lambda at: remove_members(
              at, [other for other in at.others if other.role == "admin"][-1:]), asks(role="admin")), _KEEPS_REST),
)  # fmt: skip
