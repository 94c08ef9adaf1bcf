"""Faults of members that show only for some roles, some changes, or some requests afterwards."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.reference.faults import fault
from conformance.reference.faults.making import made
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.records import Key
    from conformance.reference.request_context import Reply, RequestContext


# Invitations


# Roles


def _role_changing(
    identifier: str, title: str, change: Callable[[Service, RequestContext], Reply | None], *breaks: str
) -> Fault:
    """A change of role that does something else; ``change`` gives None to go on as usual."""

    def update_member_role(self: Service, context: RequestContext) -> Reply:
        return change(self, context) or Service.update_member_role(self, context)

    return made(identifier, title, *breaks, update_member_role=update_member_role)


def _downwards_only(service: Service, context: RequestContext) -> Reply | None:
    if (context.member.role, context.values["role"]) == ("member", "admin"):
        return service.resource(context, service.view_role(replace(context.member, role="admin")))
    return None


def _once_only(service: Service, context: RequestContext) -> Reply | None:
    if context.member.updated_at > context.member.joined_at:
        return service.resource(context, service.view_role(replace(context.member, role=context.values["role"])))
    return None


def _swap_addresses(service: Service, context: RequestContext) -> Reply | None:
    service.store.execute(
        "UPDATE users SET email = upper(substr(email, 1, 1)) || '.' || substr(email, 2) WHERE id = ?",
        context.member.user_id,
    )
    return None


ROLES = (
    _role_changing("role-only-downwards", "An admin becomes a member, but a member stays one.", _downwards_only,
                   "role-changes-both-ways"),
    _role_changing("role-once", "Only the first change of a member's role is carried out.", _once_only,
                   "role-changes-both-ways"),
    _role_changing("role-changes-address", "A change of role changes the member's address.", _swap_addresses,
                   "update-role-keeps-the-rest"),
)  # fmt: skip


def _owner_to(role: str) -> Fault:
    """An owner's role that can be changed to one of the two."""

    def update_member_role(self: Service, context: RequestContext) -> Reply:
        if context.member.role == "owner" and context.values["role"] == role:
            context.member = replace(context.member, role="none")
        return Service.update_member_role(self, context)

    return made(f"owner-becomes-{role}", f"An owner can be made {role} by a change of role.",
                "owner-role-change-refused", "owner-stays-owner", update_member_role=update_member_role)  # fmt: skip


OWNERS_DEMOTED = (_owner_to("admin"), _owner_to("member"))


def _promoting(identifier: str, title: str, who: str) -> Fault:
    """Only those of one role can be made owners."""

    def check_role_change(self: Service, context: RequestContext) -> dict[str, Any]:
        body: Any = self.parse(context.content)
        member = self.store.member(context.organization_id, context.resource_id)
        if isinstance(body, dict) and body.get("role") == "owner" and member and member.role == who:
            return {"role": "owner"}
        return Service.check_role_change(self, context)

    return made(identifier, title, "no-owner-through-role-change", check_role_change=check_role_change)


PROMOTED = (
    _promoting("owner-from-admin", "An admin can be made an owner by a change of role.", "admin"),
    _promoting("owner-from-member", "One who is a mere member can be made an owner by a change of role.", "member"),
)


@fault("removed-role-change-restores", "removed-member-not-removable", "removed-member-unlisted")
class UnknownRoleChangeRestores(Service):
    """Changing the role of a removed member is refused, and makes the user a member again."""

    async def perform(self, context: RequestContext) -> Reply:
        """Bring the user back."""
        try:
            return await super().perform(context)
        except Refusal as refusal:
            gone = self.memory.get("gone", {}).pop(context.resource_id, None)
            if context.operation.id == "updateMemberRole" and refusal.status == 404 and gone:  # noqa: PLR2004
                self.store.add_member(gone.organization_id, gone.user_id, gone.role, gone.joined_at, gone.last_seen_at)
            raise

    def remove_member(self, context: RequestContext) -> Reply:
        """Remember the member."""
        self.memory["gone"] = {context.member.user_id: context.member}
        return super().remove_member(context)


# Removal


@fault("removed-member-for-a-second", "removed-member-loses-organization", "removed-member-loses-engagements")
class RemovedMemberForASecond(Service):
    """The key of a removed member works for another second."""

    _since: dict[str, float] | None = None

    def remove_member(self, context: RequestContext) -> Reply:
        """Note when it was."""
        self._since = {**(self._since or {}), context.member.user_id: self.seconds()}
        return super().remove_member(context)

    def authenticate(self, context: RequestContext) -> Key:
        """Look away for a while."""
        key = self.find_key(self.bearer_token(context))
        since = (self._since or {}).get(key.user_id or "", 0) if key else 0
        if key is not None and key.revoked and self.seconds() - since < 1:
            return replace(key, revoked=False)
        return super().authenticate(context)


@fault("removed-member-key-404", "removed-member-loses-organization", "removed-member-loses-engagements")
class RemovedMemberKey404(Service):
    """The key of a removed member finds nothing instead of being refused."""

    def refuse_removed_member(self) -> None:
        """Find nothing."""
        raise self.not_found("organization")


@fault("removed-member-lists", "removed-member-loses-organization", "removed-member-loses-engagements")
class RemovedStillReadsLists(Service):
    """The key of a removed member can still list."""

    def authenticate(self, context: RequestContext) -> Key:
        """Let lists pass."""
        key = self.find_key(self.bearer_token(context))
        if key is not None and key.revoked and self.find_operation(context).id.startswith("list"):
            return replace(key, revoked=False)
        return super().authenticate(context)
