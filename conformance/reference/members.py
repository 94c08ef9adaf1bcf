"""Operations on members and invitations."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, cast

from conformance.interface.list_parameters import ROLES
from conformance.reference.access import digest_of
from conformance.reference.clock import DAY
from conformance.reference.mail import invitation_mail, text_of
from conformance.reference.organizations import Organizations
from conformance.reference.queries import MemberQuery
from conformance.reference.records import Invitation, Mail, Member, Page
from conformance.reference.refusal import Refusal

if TYPE_CHECKING:
    from conformance.reference.queries import MemberOrder
    from conformance.reference.request_context import Reply, RequestContext

_INVITATION_READ_ONLY = ("id", "status", "expiresAt", "createdAt")
_MEMBER_READ_ONLY = ("id", "name", "email", "joinedAt", "lastSeenAt", "updatedAt")
_VALID_DAYS = 7


class Members(Organizations):
    """List, invite, change and remove members."""

    # List

    def check_member_list(self, context: RequestContext) -> dict[str, Any]:
        """Return the checked parameters of a list request."""
        given = self.read_parameters(context)
        role = self.choice("role", given["role"], ROLES) if "role" in given else None
        return {"role": role, **self.read_page(given)}

    def list_members(self, context: RequestContext) -> Reply:
        """Return a page of members."""
        page = self.find_members(self.member_query(context))
        return self.listed(context, [self.view_member(member) for member in page.items], page.total)

    def member_query(self, context: RequestContext) -> MemberQuery:
        """Return the query for the list that a request asks for."""
        role, order = context.values["role"], cast("MemberOrder", self.latitude["member_order"])
        return MemberQuery(context.organization_id, self.offset(context), context.values["perPage"], role, order)

    def find_members(self, query: MemberQuery) -> Page[Member]:
        """Read a page of members from the store."""
        return self.store.members(query)

    # Invite

    def check_invitation(self, context: RequestContext) -> dict[str, Any]:
        """Return the checked body of an invitation."""
        body = self.read_body(context, fields=("email", "role"), read_only=_INVITATION_READ_ONLY)
        email, role = self.require(body, "email"), self.require(body, "role")
        return {"email": self.email(email), "role": self.role(role)}

    def invite_member(self, context: RequestContext) -> Reply:
        """Store an invitation and send its mail."""
        email, role = context.values["email"], context.values["role"]
        self.check_invitable(context.organization_id, email)
        invitation, token = self.add_invitation(context.organization_id, email, role)
        context.afterwards.append(lambda: self.dispatch(invitation, self.acceptance_link(context, token)))
        return self.resource(context, self.view_invitation(invitation))

    def check_invitable(self, organization_id: str, email: str) -> None:
        """Refuse the address of a member or of an open invitation, depending on the latitude."""
        if self.store.member_by_email(organization_id, email):
            self.rule("invite_member", "The address belongs to a member.")
        if self.store.open_invitation(organization_id, email, self.now()):
            self.rule("invite_again", "The address has an open invitation.")

    def add_invitation(self, organization_id: str, email: str, role: str) -> tuple[Invitation, str]:
        """Store an invitation; return it with the token of its link."""
        at = self.now()
        expires = self.expiry(at)
        invitation = Invitation(self.new_id("invitation"), organization_id, email, role, "pending", at, expires)
        token = secrets.token_urlsafe(24)
        self.store.add_invitation(invitation, digest_of(token))
        return invitation, token

    def expiry(self, at: int) -> int:
        """Return when an invitation made at a moment expires."""
        expires = at + _VALID_DAYS * DAY
        return expires if self.latitude["invitation_expiry"] == "exact" else round(expires / 1000) * 1000

    def acceptance_link(self, context: RequestContext, token: str) -> str:
        """Return the link that accepts an invitation; it does not use the Host header of the client."""
        host, port = context.request.scope.get("server") or ("localhost", None)
        name = f"[{host}]" if ":" in host else host
        return f"{context.request.url.scheme}://{name}{f':{port}' if port else ''}/invitations/{token}"

    def dispatch(self, invitation: Invitation, link: str) -> None:
        """Send the mail of an invitation, now or later, depending on ``mail_dispatch``."""

        def send() -> None:
            organization = self.store.organization(invitation.organization_id).name
            message = invitation_mail(invitation.email, organization, link, self.latitude["mail_form"])
            self.store.add_mail(Mail(message["From"], invitation.email, message["Subject"], text_of(message)))
            self.postman.send(message)

        if self.latitude["mail_dispatch"] == "later":
            self.later(send)
        else:
            send()

    # Change and remove

    def find_member(self, context: RequestContext) -> Member:
        """Find the member that the path names.

        Raises:
            Refusal: The organization of the key has none.
        """
        member = self.store.member(context.organization_id, context.resource_id)
        if member is None and self.store.is_member_elsewhere(context.organization_id, context.resource_id):
            raise self.foreign("member")
        if member is None:
            raise self.not_found("member")
        return member

    def foreign(self, kind: str) -> Refusal:
        """Return the refusal of a resource of another organization."""
        return (
            self.not_found(kind)
            if self.latitude["foreign_resource"] == "404"
            else Refusal(403, "The resource belongs to another organization.")
        )

    def check_role_change(self, context: RequestContext) -> dict[str, Any]:
        """Return the checked body of a role change."""
        body = self.read_body(context, fields=("role",), read_only=_MEMBER_READ_ONLY)
        if self.require(body, "role") == "owner":
            self.refuse("role_owner", "A member cannot become an owner. Send admin or member.")
        return {"role": self.role(body["role"])}

    def update_member_role(self, context: RequestContext) -> Reply:
        """Change the role of a member."""
        self.check_role_changeable(context.member)
        role = context.values["role"]
        if role != context.member.role or self.rule("same_role", "The member already has this role.") == "moves":
            self.store.change_role(context.organization_id, context.member.user_id, role, self.now())
        return self.resource(context, self.view_role(self.find_member(context)))

    def check_role_changeable(self, member: Member) -> None:
        """Refuse to change the role of an owner."""
        if member.role == "owner":
            self.rule("owner_role", "The role of an owner cannot be changed.")

    def remove_member(self, context: RequestContext) -> Reply:
        """Remove a member, whose keys become invalid."""
        self.check_removable(context.member)
        self.store.remove_member(context.organization_id, context.member.user_id)
        return self.resource(context, self.view_removed(context.member))

    def check_removable(self, member: Member) -> None:
        """Refuse to remove the last owner."""
        if member.role == "owner" and self.store.count_owners(member.organization_id) == 1:
            raise Refusal(409, "The last owner of an organization cannot be removed.")
