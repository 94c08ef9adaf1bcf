"""Faults of changes of roles, and of the roles that members and owners can get."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .changes import edit, put
from .conditions import all_of, always, asks, body_has, has_role, sends
from .mutations import Mutation, after, at_step, before, fault, instead, override, refuse, refused_yet
from .operations import ROLE
from .replies import view
from .situations import Condition, Situation, change_roles, members, overwrite, remove_members

if TYPE_CHECKING:
    from conformance.reference.records import Member
    from conformance.reference.request_context import Reply

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


def _accept_owner(when: Condition = always) -> Mutation:
    """Take the role owner for valid in some of the requests that send it."""
    return at_step("check_role_change", lambda at, honest:
                   {"role": "owner"} if body_has(role="owner")(at) and when(at) else honest())  # fmt: skip


OWNERS = (
    fault("owner-demoted", "A role change of an owner is carried out.",
          override(check_role_changeable=lambda *_: None), _OWNER_REFUSED, _OWNER_STAYS),
    *(fault(f"owner-becomes-{role}", f"A role change of an owner to {role} is carried out.",
            before(ROLE, _take_for_no_owner, all_of(has_role("owner"), asks(role=role))),
            _OWNER_REFUSED, _OWNER_STAYS) for role in ("admin", "member")),
    fault("owner-demotion-ignored", "A role change of an owner reports success but does nothing.",
          instead(ROLE, _show_role, has_role("owner")), _OWNER_REFUSED),
    *(fault(f"owner-role-{status}", f"A role change of an owner is refused with {status}.",
            refuse(ROLE, status, has_role("owner")), *breaks, _OWNER_REFUSED)
      for status, *breaks in ((404,), (401,), (500, "no-server-error"))),
    fault("owner-demoted-though-refused", "A role change of an owner is refused but carried out.",
          refused_yet(ROLE, lambda at: change_roles(at, _named(at), at.values["role"]),
                      all_of(sends("role"), _names("owner"))), _OWNER_STAYS),
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
              each for each in members(at.service, at.context.organization_id) if each.role == "owner"], "admin"),
                 asks(role="admin")), _KEEPS_REST),
    fault("role-change-removes-an-admin",
          "A role change to admin removes another admin from the organization.",
          before(ROLE, lambda at: remove_members(
              at, [other for other in at.others if other.role == "admin"][-1:]), asks(role="admin")), _KEEPS_REST),
)  # fmt: skip
