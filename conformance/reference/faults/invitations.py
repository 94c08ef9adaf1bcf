"""Faults of invitations and of their mail."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.reference.clock import DAY
from conformance.reference.faults import Fault, fault
from conformance.reference.faults.making import instead, made, shown
from conformance.reference.records import Invitation
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.records import Organization
    from conformance.reference.request_context import Reply, RequestContext

_CONFLICT = 409

# When it expires

_EXPIRIES: tuple[tuple[str, str, Callable[[int], int]], ...] = (
    ("6-days", "6 days after its creation", lambda at: at + 6 * DAY),
    ("8-days", "8 days after its creation", lambda at: at + 8 * DAY),
    ("an-hour-late", "7 days and an hour after its creation", lambda at: at + 7 * DAY + 3_600_000),
    ("3-seconds-late", "3 seconds late", lambda at: at + 7 * DAY + 3_000),
    ("at-once", "at its creation", lambda at: at),
    ("at-midnight", "at the midnight before", lambda at: (at + 7 * DAY) // DAY * DAY),
    ("in-a-week-of-work", "5 days after its creation", lambda at: at + 5 * DAY),
)

EXPIRIES = tuple(
    made(
        f"invitation-expires-{label}",
        f"An invitation expires {words}.",
        "invitation-expires-in-seven-days",
        expiry=lambda _, at, expire=expire: expire(at),
    )
    for label, words, expire in _EXPIRIES
)

# What it says

RESPONSES = (
    shown(
        "invitation-sent",
        "A new invitation has the status sent.",
        "view_invitation",
        instead(("status",), lambda _: "sent"),
        "invitation-begins-pending",
    ),
    shown(
        "invitation-in-capitals",
        "A new invitation has the status PENDING.",
        "view_invitation",
        instead(("status",), str.upper),
        "invitation-begins-pending",
    ),
    shown(
        "invitation-always-member",
        "An invitation always shows the role member.",
        "view_invitation",
        instead(("role",), lambda _: "member"),
        "invite-answers-what-was-sent",
    ),
    shown(
        "invitation-address-cut",
        "An invitation shows the address up to the @ only.",
        "view_invitation",
        instead(("email",), lambda email: email.partition("@")[0]),
        "invite-answers-what-was-sent",
    ),
    shown(
        "invitation-address-masked",
        "An invitation shows the address with asterisks.",
        "view_invitation",
        instead(("email",), lambda email: f"{email[:2]}***@{email.partition('@')[2]}"),
        "invite-answers-what-was-sent",
    ),
)


@fault("invitation-refused", "invite-succeeds")
class InvitationRefused(Service):
    """Inviting an admin is refused."""

    def check_invitation(self, context: RequestContext) -> dict[str, Any]:
        """Object to the role."""
        values = super().check_invitation(context)
        if values["role"] == "admin":
            raise Refusal(403, "Only members can be invited.")
        return values


@fault("invitation-not-served", "invite-succeeds")
class InvitationNotServed(Service):
    """Every invitation is refused."""

    def check_invitation(self, context: RequestContext) -> dict[str, Any]:
        """Object to what is valid."""
        values = super().check_invitation(context)
        raise Refusal(409, f"{values['email']} cannot be invited.")


# What it brings about


@fault("invitation-counts-as-member", "invite-adds-no-member", "member-count-agrees")
class InvitationCountsAsMember(Service):
    """The organization counts its invitations as members."""

    _invited = 0

    def add_invitation(self, organization_id: str, email: str, role: str) -> tuple[Invitation, str]:
        """Count it."""
        self._invited += 1
        return super().add_invitation(organization_id, email, role)

    def count_members(self, organization: Organization) -> int:
        """Count them, too."""
        return super().count_members(organization) + self._invited


@fault("invitation-makes-member", "invite-adds-no-member")
class InvitationMakesMember(Service):
    """Whoever is invited is a member at once."""

    def invite_member(self, context: RequestContext) -> Reply:
        """Add the member."""
        reply = super().invite_member(context)
        email, role = context.values["email"], context.values["role"]
        self.add_member(context.organization_id, email.partition("@")[0], email, role, self.now())
        return reply


# The mail


def _dispatching(
    identifier: str, title: str, change: Callable[[Invitation, str], tuple[Invitation, str]], *breaks: str
) -> Fault:
    """Another mail; ``change`` is given the invitation and the link."""

    def dispatch(self: Service, invitation: Invitation, link: str) -> None:
        Service.dispatch(self, *change(invitation, link))

    return made(identifier, title, *breaks, dispatch=dispatch)


MAILS = (
    made("mail-not-sent", "No invitation is sent.", "invite-sends-mail", dispatch=lambda *_: None),
    _dispatching(
        "mail-to-wrong-address",
        "An invitation is sent to another address.",
        lambda invitation, link: (replace(invitation, email=f"x{invitation.email}"), link),
        "invite-sends-mail",
    ),
    _dispatching(
        "mail-without-link",
        "The mail of an invitation has no link.",
        lambda invitation, link: (invitation, link.rpartition("/")[2]),
        "invite-sends-mail",
    ),
    _dispatching(
        "mail-with-relative-link",
        "The link in the mail of an invitation has no host.",
        lambda invitation, link: (invitation, f"/{link.split('/', 3)[3]}"),
        "invite-sends-mail",
    ),
    _dispatching(
        "mail-to-sender",
        "An invitation is sent to the organization itself.",
        lambda invitation, link: (replace(invitation, email="office@reference.example"), link),
        "invite-sends-mail",
    ),
)


@fault("mail-for-admins-only", "invite-sends-mail")
class MailForAdminsOnly(Service):
    """Only invitations of admins are sent."""

    def dispatch(self, invitation: Invitation, link: str) -> None:
        """Look at the role."""
        if invitation.role == "admin":
            super().dispatch(invitation, link)


@fault("mail-although-refused", "refused-invite-sends-no-mail")
class MailAlthoughRefused(Service):
    """A refused invitation is sent nevertheless."""

    async def perform(self, context: RequestContext) -> Reply:
        """Send it after all."""
        try:
            return await super().perform(context)
        except Refusal:
            if context.operation.id == "inviteMember":
                self._send_anyway(context)
            raise

    def _send_anyway(self, context: RequestContext) -> None:
        try:
            sent = self.parse(context.content)
        except Refusal:
            return
        email = sent.get("email") if isinstance(sent, dict) else None
        if isinstance(email, str) and "@" in email:
            at = self.now()
            invitation = Invitation("inv", context.organization_id, email, "member", "pending", at, at)
            self.dispatch(invitation, self.acceptance_link(context, "none"))


def _sending(identifier: str, title: str, is_sent: Callable[[Service, RequestContext], bool]) -> Fault:
    """A service that sends some invitations which it refuses as a conflict."""

    async def perform(self: Service, context: RequestContext) -> Reply:
        try:
            return await Service.perform(self, context)
        except Refusal as refusal:
            if context.operation.id == "inviteMember" and refusal.status == _CONFLICT and is_sent(self, context):
                at, email = self.now(), context.values["email"]
                invitation = Invitation("inv", context.organization_id, email, "member", "pending", at, at)
                self.dispatch(invitation, self.acceptance_link(context, "none"))
            raise

    return made(identifier, title, "refused-invite-sends-no-mail", perform=perform)


CONFLICTS = (
    _sending(
        "mail-although-member",
        "The invitation of a member is refused, and sent nevertheless.",
        lambda self, context: bool(self.store.member_by_email(context.organization_id, context.values["email"])),
    ),
    _sending(
        "mail-although-invited",
        "The invitation of an address that was invited before is refused, and sent nevertheless.",
        lambda self, context: bool(
            self.store.open_invitation(context.organization_id, context.values["email"], self.now())
        ),
    ),
)
