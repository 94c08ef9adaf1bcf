"""Faults of memberships that show only in what a member leaves behind, in counts, or in less usual invitations."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.reference.faults import fault, looking_up
from conformance.reference.faults.making import made
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.queries import MemberQuery
    from conformance.reference.records import Invitation, Key, Member, Organization, Page
    from conformance.reference.request_context import Reply, RequestContext
    from conformance.reference.views import View

_LONGEST = 33
_COUNTED = "member-count-agrees"
_FILTERED = "list-members-role-filter"
_LOSES_ENGAGEMENTS = "removed-member-loses-engagements"
_SAID = "invite-answers-what-was-sent"
_UNSENT = "refused-invite-sends-no-mail"
_OTHERS_KEPT = "update-role-keeps-the-rest"
_SPARED = "removal-spares-other-members"


# What a removed member leaves behind


class _Authored(Service):
    """A service that knows who created which engagement."""

    authors: dict[str, str | None] | None = None

    def create_engagement(self, context: RequestContext) -> Reply:
        """Note whose key it was."""
        reply = super().create_engagement(context)
        self.authors = {**(self.authors or {}), reply.content["data"]["id"]: context.key.user_id}
        return reply

    def is_author(self, key: Key, engagement_id: str | None) -> bool:
        """Tell whether an engagement was created with a key of the same member."""
        return key.user_id is not None and (self.authors or {}).get(engagement_id or "") == key.user_id


def _still_own(identifier: str, title: str, *operations: str) -> Fault:
    """The key of a removed member still serves for engagements that it created."""

    def authenticate(self: _Authored, context: RequestContext) -> Key:
        key = self.find_key(self.bearer_token(context))
        if key is not None and key.revoked:
            operation = self.find_operation(context)
            _, engagement_id = context.request.scope["path"].rstrip("/").removesuffix("/archive").rsplit("/", 1)
            if operation.id in operations and self.is_author(key, engagement_id):
                return replace(key, revoked=False)
        return Service.authenticate(self, context)

    return _authored(identifier, title, _LOSES_ENGAGEMENTS, authenticate=authenticate)


def _authored(identifier: str, title: str, *breaks: str, **members: Any) -> Fault:  # noqa: ANN401 - methods of every kind
    one = made(identifier, title, *breaks)
    return replace(one, service=type("Authored", (_Authored,), {"__doc__": title, **members}))


def _leaving(identifier: str, title: str, deed: Callable[[Service, str], object]) -> Fault:
    """A removal that does something to the engagements that the member created."""

    def remove_member(self: _Authored, context: RequestContext) -> Reply:
        reply = Service.remove_member(self, context)
        for engagement_id, author in (self.authors or {}).items():
            if author == context.member.user_id and self.store.engagement(engagement_id):
                deed(self, engagement_id)
        return reply

    return _authored(identifier, title, _LOSES_ENGAGEMENTS, remove_member=remove_member)


LEFT_BEHIND = (
    _still_own("removed-member-reads-own", "The key of a removed member still reads an engagement that it created.",
               "getEngagement"),
    _still_own("removed-member-edits-own", "The key of a removed member still edits an engagement that it created.",
               "updateEngagement"),
    _still_own("removed-member-archives-own", "The key of a removed member still archives what it created.",
               "archiveEngagement"),
    _still_own("removed-member-deletes-own", "The key of a removed member still deletes what it created.",
               "deleteEngagement"),
    _leaving("removal-deletes-own", "The removal of a member deletes the engagements that the member created.",
             lambda service, identifier: service.store.delete_engagement(identifier)),
    _leaving("removal-archives-own", "The removal of a member archives the engagements that the member created.",
             lambda service, identifier: service.store.edit_engagement(
                 identifier, {"status": "archived"}, service.now())),
)  # fmt: skip


# Counts


def _drifting(
    identifier: str, title: str, by: int, happens: Callable[[RequestContext, bool], bool], *breaks: str
) -> Fault:
    """A memberCount that drifts whenever something happens to the call; the flag says whether it was refused."""

    def drift(self: Service, context: RequestContext, *, refused: bool) -> None:
        if happens(context, refused):
            self.memory["drift"] = self.memory.get("drift", 0) + by

    def act(self: Service, context: RequestContext) -> Reply:
        try:
            reply = Service.act(self, context)
        except Refusal:
            drift(self, context, refused=True)
            raise
        drift(self, context, refused=False)
        return reply

    def count_members(self: Service, organization: Organization) -> int:
        return Service.count_members(self, organization) + int(self.memory.get("drift", 0))

    return made(identifier, title, *breaks, act=act, count_members=count_members)


DRIFTS = (
    _drifting("member-count-grows-with-roles", "Every change of a role counts the member once more.", 1,
              lambda context, refused: context.operation.id == "updateMemberRole" and not refused, _COUNTED),
    _drifting("member-count-shrinks-with-vain-removals", "A removal that finds nobody is subtracted all the same.", -1,
              lambda context, refused: context.operation.id == "removeMember" and refused, _COUNTED),
    _drifting("member-count-grows-with-admins-invited", "The invitation of an admin counts as a member.", 1,
              lambda context, refused: context.operation.id == "inviteMember" and not refused
              and context.values["role"] == "admin", "invite-adds-no-member", _COUNTED),
)  # fmt: skip


# Others


@fault("role-change-takes-ownership", _OTHERS_KEPT)
class RoleChangeTakesOwnership(Service):
    """Whoever is made an admin leaves the organization without an owner: the owner becomes an admin, too."""

    def update_member_role(self, context: RequestContext) -> Reply:
        """Make admins of the owners."""
        for other in looking_up.members(self, context.organization_id):
            if other.role == "owner" and context.values["role"] == "admin":
                self.store.change_role(context.organization_id, other.user_id, "admin", self.now())
        return super().update_member_role(context)


@fault("role-change-removes-an-admin", _OTHERS_KEPT)
class RoleChangeRemovesAnAdmin(Service):
    """Whoever becomes an admin takes the place of another one, who is no longer a member."""

    def update_member_role(self, context: RequestContext) -> Reply:
        """Remove the newest of the other admins."""
        others = [
            one
            for one in looking_up.members(self, context.organization_id)
            if one.role == "admin" and one.user_id != context.resource_id
        ]
        if context.values["role"] == "admin":
            for other in others[-1:]:
                self.store.remove_member(context.organization_id, other.user_id)
        return super().update_member_role(context)


@fault("removal-takes-the-admins", _SPARED)
class RemovalTakesTheAdmins(Service):
    """A removal takes all admins with it."""

    def remove_member(self, context: RequestContext) -> Reply:
        """Remove them, too."""
        reply = super().remove_member(context)
        for other in looking_up.members(self, context.organization_id):
            if other.role == "admin":
                self.store.remove_member(context.organization_id, other.user_id)
        return reply


@fault("removal-switches-roles", _SPARED)
class RemovalSwitchesRoles(Service):
    """A removal makes members of all admins, and admins of all members."""

    def remove_member(self, context: RequestContext) -> Reply:
        """Switch the others."""
        reply = super().remove_member(context)
        for other in looking_up.members(self, context.organization_id):
            if other.role != "owner":
                role = "member" if other.role == "admin" else "admin"
                self.store.change_role(context.organization_id, other.user_id, role, self.now())
        return reply


# Lists of a role


@fault("role-filter-shows-other-names", _FILTERED)
class RoleFilterShowsOtherNames(Service):
    """Under a role, members are shown with the part of their address before the @ for a name."""

    def find_members(self, query: MemberQuery) -> Page[Member]:
        """Rename them."""
        page = super().find_members(query)
        if query.role is None:
            return page
        return replace(page, items=tuple(replace(one, name=one.email.partition("@")[0]) for one in page.items))


@fault("role-filter-loses-one-on-page-2", _FILTERED)
class RoleFilterLosesOneOnPage2(Service):
    """Under a role, every page after the first begins one member too late."""

    def find_members(self, query: MemberQuery) -> Page[Member]:
        """Skip one."""
        late = query.role is not None and query.offset > 0
        return super().find_members(replace(query, offset=query.offset + 1) if late else query)


# Invitations


def _addressing(identifier: str, title: str, change: Callable[[str], str]) -> Fault:
    """An invitation that keeps another address than it was sent."""

    def email(self: Service, value: Any) -> str:  # noqa: ANN401 - any JSON
        local, _, domain = Service.email(self, value).partition("@")
        return f"{change(local)}@{domain}"

    return made(identifier, title, _SAID, email=email)


ADDRESSES = (
    _addressing("invitation-drops-tag", "An invitation drops a tag, a plus and what follows, from the address.",
                lambda local: local.partition("+")[0]),
    _addressing("invitation-cuts-long-address", f"An invitation cuts an address after {_LONGEST} characters.",
                lambda local: local[:_LONGEST]),
)  # fmt: skip


@fault("invitations-share-id", "invite-fields")
class InvitationsShareId(Service):
    """All invitations of an organization have one id."""

    def view_invitation(self, invitation: Invitation) -> View:
        """Show that of the organization for it."""
        return {**super().view_invitation(invitation), "id": f"inv-{invitation.organization_id}"}


# E-mails of what was refused


def _sending(identifier: str, title: str, sends: Callable[[Refusal, Any], bool]) -> Fault:
    """A service that sends some invitations before it refuses them; ``sends`` gets the refusal and what was sent."""

    async def serve(self: Service, context: RequestContext) -> Reply:
        try:
            return await Service.serve(self, context)
        except Refusal as refusal:
            if context.request.scope["path"].endswith("/members/invite"):
                # Who shows no key is refused before the body is read.
                content = await context.request.body() if refusal.status == 401 else context.content  # noqa: PLR2004
                body: Any = self.parse(content) if content else None
                if isinstance(body, dict) and isinstance(body.get("email"), str) and sends(refusal, body.get("role")):
                    _send(self, body["email"])
            raise

    return made(identifier, title, _UNSENT, serve=serve)


def _send(service: Service, address: str) -> None:
    invitation, _ = service.add_invitation(service.store.organization_ids()[0], address, "member")
    service.dispatch(invitation, f"http://localhost/invitations/{invitation.id}")


REFUSED_AND_SENT = (
    _sending("mail-of-invitation-without-role", "An invitation without a role is refused, and sent.",
             lambda refusal, role: role is None and refusal.status in {400, 422}),
    _sending("mail-of-invitation-with-odd-role", "An invitation with an unknown role is refused, and sent.",
             lambda refusal, role: role not in (None, "admin", "member", "owner") and refusal.status in {400, 422}),
    _sending("mail-of-unauthorized-invitation", "An invitation without a good key is refused, and sent.",
             lambda refusal, _: refusal.status == 401),  # noqa: PLR2004
    _sending("mail-of-forbidden-invitation", "An invitation without permission is refused, and sent.",
             lambda refusal, _: refusal.status == 403),  # noqa: PLR2004
)  # fmt: skip
