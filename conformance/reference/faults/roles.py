"""Faults of roles: the owner's, and those that can be changed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.reference.faults import Fault, fault, looking_up
from conformance.reference.faults.making import instead, made, shown
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.records import Member
    from conformance.reference.request_context import Reply, RequestContext


# The owner


@fault("owner-demoted", "owner-role-change-refused", "owner-stays-owner")
class OwnerDemoted(Service):
    """An owner's role can be changed."""

    def check_role_changeable(self, member: Member) -> None:
        """Find nothing wrong with it."""


@fault("owner-demotion-ignored", "owner-role-change-refused")
class OwnerDemotionIgnored(Service):
    """Changing an owner's role is answered as done, and not done."""

    def update_member_role(self, context: RequestContext) -> Reply:
        """Do nothing."""
        if context.member.role == "owner":
            return self.resource(context, self.view_role(replace(context.member, role=context.values["role"])))
        return super().update_member_role(context)


def _owner_refused(status: int, *more: str) -> Fault:
    def check_role_changeable(_: Service, member: Member) -> None:
        if member.role == "owner":
            raise Refusal(status, "An owner's role stays what it is.")

    title = f"Changing an owner's role is refused with {status}."
    breaks = (*more, "owner-role-change-refused")
    return made(f"owner-role-{status}", title, *breaks, check_role_changeable=check_role_changeable)


OWNER_REFUSED = (_owner_refused(404), _owner_refused(401), _owner_refused(500, "no-server-error"))


@fault("owner-demoted-though-refused", "owner-stays-owner")
class OwnerDemotedThoughRefused(Service):
    """Changing an owner's role is refused, and done."""

    async def perform(self, context: RequestContext) -> Reply:
        """Do it after all."""
        try:
            return await super().perform(context)
        except Refusal:
            changing = context.operation.id == "updateMemberRole" and context.values
            found = self.store.member(context.organization_id, context.resource_id) if changing else None
            if found and found.role == "owner":
                self.store.change_role(context.organization_id, found.user_id, context.values["role"], self.now())
            raise


@fault("owner-by-role-change", "no-owner-through-role-change")
class OwnerByRoleChange(Service):
    """A member can be made an owner by a change of role."""

    def check_role_change(self, context: RequestContext) -> dict[str, Any]:
        """Let owner pass."""
        sent = self.parse(context.content)
        if isinstance(sent, dict) and sent.get("role") == "owner":
            return {"role": "owner"}
        return super().check_role_change(context)


@fault("owner-though-refused", "no-owner-through-role-change")
class OwnerThoughRefused(Service):
    """Making a member an owner is refused, and done."""

    async def perform(self, context: RequestContext) -> Reply:
        """Do it after all."""
        try:
            return await super().perform(context)
        except Refusal:
            if context.operation.id == "updateMemberRole" and b'"owner"' in context.content:
                self.store.change_role(context.organization_id, context.resource_id, "owner", self.now())
            raise


# Roles


@fault("role-not-kept", "role-changes-both-ways")
class RoleNotKept(Service):
    """A change of role answers as if it had been done."""

    def update_member_role(self, context: RequestContext) -> Reply:
        """Show it and forget it."""
        self.check_role_changeable(context.member)
        changed = replace(context.member, role=context.values["role"], updated_at=self.now())
        return self.resource(context, self.view_role(changed))


@fault("role-only-upwards", "role-changes-both-ways")
class RoleOnlyUpwards(Service):
    """A member becomes an admin, but an admin stays one."""

    def update_member_role(self, context: RequestContext) -> Reply:
        """Keep admins."""
        if context.member.role == "admin":
            return self.resource(context, self.view_role(replace(context.member, role=context.values["role"])))
        return super().update_member_role(context)


@fault("role-of-admin-unchangeable", "update-role-succeeds")
class RoleOfAdminUnchangeable(Service):
    """Changing an admin's role is refused."""

    def check_role_changeable(self, member: Member) -> None:
        """Object to admins, too."""
        super().check_role_changeable(member)
        if member.role == "admin":
            raise Refusal(403, "The role of an admin cannot be changed.")


def _also(identifier: str, title: str, more: Callable[[Service, RequestContext], None], *breaks: str) -> Fault:
    """A change of role that does more than it should."""

    def update_member_role(self: Service, context: RequestContext) -> Reply:
        reply = Service.update_member_role(self, context)
        more(self, context)
        return reply

    return made(identifier, title, *breaks, update_member_role=update_member_role)


def _all_alike(service: Service, context: RequestContext) -> None:
    for one in looking_up.other_people(service, context):
        service.store.change_role(context.organization_id, one.user_id, context.values["role"], service.now())


def _joined_again(service: Service, context: RequestContext) -> None:
    statement = "UPDATE members SET joined_at = ? WHERE organization_id = ? AND user_id = ?"
    service.store.execute(statement, service.now() + 1, context.organization_id, context.resource_id)


def _name_lost(service: Service, context: RequestContext) -> None:
    service.store.execute("UPDATE users SET name = ? WHERE id = ?", "Member", context.resource_id)


ALSO = (
    _also(
        "role-changes-others", "A change of role changes the others', too.", _all_alike, "update-role-keeps-the-rest"
    ),
    _also("role-moves-joined-at", "A change of role moves joinedAt.", _joined_again, "update-role-keeps-the-rest"),
    _also(
        "role-loses-name", "A change of role overwrites the member's name.", _name_lost, "update-role-keeps-the-rest"
    ),
)

RESPONSES = (
    shown(
        "role-answers-member",
        "The answer to a change of role always says member.",
        "view_role",
        instead(("role",), lambda _: "member"),
        "update-role-answers-what-was-sent",
    ),
    shown(
        "role-answers-other-id",
        "The answer to a change of role carries another identifier.",
        "view_role",
        instead(("id",), lambda text: f"{text}0"),
        "update-role-answers-what-was-sent",
    ),
    shown(
        "role-in-capitals",
        "A listed member has the role in capitals.",
        "view_member",
        instead(("role",), str.upper),
        "member-roles-known",
    ),
    shown(
        "role-guest",
        "A listed member has the role guest.",
        "view_member",
        instead(("role",), lambda role: "guest" if role == "member" else role),
        "member-roles-known",
    ),
    shown(
        "member-without-address",
        "A listed member has the name as email.",
        "view_member",
        lambda view: {**view, "email": view["name"]},
        "member-email-is-address",
    ),
    shown(
        "member-address-linked",
        "A listed member has a link to write to for an email.",
        "view_member",
        instead(("email",), lambda email: f"mailto:{email}"),
        "member-email-is-address",
    ),
    shown(
        "member-address-bracketed",
        "A listed member has the email in angle brackets after the name.",
        "view_member",
        lambda view: {**view, "email": f"{view['name']} <{view['email']}>"},
        "member-email-is-address",
    ),
    shown(
        "member-address-masked",
        "A listed member has its email with most of the name masked.",
        "view_member",
        instead(("email",), lambda email: f"{email[0]}***@{email.partition('@')[2]}"),
        "member-email-is-address",
    ),
    made(
        "member-address-of-the-first",
        "Every listed member has the email of the one that was listed first.",
        "member-email-is-address",
        view_member=lambda self, member: {
            **Service.view_member(self, member),
            "email": self.memory.setdefault("first address", member.email),
        },
    ),
)
