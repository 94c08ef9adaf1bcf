"""Faults of members, invitations and the organization that show only for some of them, or only elsewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.reference.clock import DAY
from conformance.reference.faults import fault, looking_up
from conformance.reference.faults.making import instead, made, shown
from conformance.reference.records import Invitation, Mail
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.request_context import Reply, RequestContext
    from conformance.reference.views import View

_EVERYTHING = 10_000
_EXPIRES = "invitation-expires-in-seven-days"
_SAID = "invite-answers-what-was-sent"
_MINUTE, _HOUR = 60_000, 3_600_000

# Invitations


def _expiring(identifier: str, title: str, expiry: Callable[[int], int]) -> Fault:
    return made(identifier, title, _EXPIRES, expiry=lambda _, at: expiry(at))


EXPIRIES = (
    _expiring("invitation-expires-2-seconds-late", "An invitation expires 2 seconds late.",
              lambda at: at + 7 * DAY + 2000),
    _expiring("invitation-expires-at-the-minute", "An invitation expires at a whole minute.",
              lambda at: (at + 7 * DAY) // _MINUTE * _MINUTE - _MINUTE),
    _expiring("invitation-expires-at-the-end-of-the-day", "An invitation expires at the end of its last day.",
              lambda at: (at + 7 * DAY) // DAY * DAY + DAY - 1),
    _expiring("invitation-expires-in-minutes", "An invitation expires 10,080 seconds after its creation.",
              lambda at: at + 10_080_000),
    _expiring("invitation-expires-in-a-month", "An invitation expires 30 days after its creation.",
              lambda at: at + 30 * DAY),
    _expiring("invitation-expires-in-local-time", "An invitation expires 2 hours early, as in another time zone.",
              lambda at: at + 7 * DAY - 2 * _HOUR),
    _expiring("invitation-expired-already", "An invitation expired 7 days before its creation.",
              lambda at: at - 7 * DAY),
)  # fmt: skip


@fault("invitation-of-admin-expires-early", _EXPIRES)
class InvitationOfAdminExpiresEarly(Service):
    """The invitation of an admin expires a day after its creation."""

    def view_invitation(self, invitation: Invitation) -> View:
        """Look at the role."""
        early = replace(invitation, expires_at=invitation.created_at + DAY)
        return super().view_invitation(early if invitation.role == "admin" else invitation)


INVITATIONS = (
    shown("invitation-always-admin", "An invitation always shows the role admin.", "view_invitation",
          instead(("role",), lambda _: "admin"), _SAID),
    shown("invitation-role-swapped", "An invitation shows the other role.", "view_invitation",
          instead(("role",), lambda role: {"admin": "member"}.get(role, "admin")), _SAID),
    shown("invitation-without-dots", "An invitation shows the address without dots before the @.", "view_invitation",
          instead(("email",), lambda email: f"{email.partition('@')[0].replace('.', '')}@{email.partition('@')[2]}"),
          _SAID),
    shown("invitation-without-hyphens", "An invitation shows the address without hyphens.", "view_invitation",
          instead(("email",), lambda email: email.replace("-", "")), _SAID),
    shown("invitation-address-with-name", "An invitation shows the address in angle brackets.", "view_invitation",
          instead(("email",), lambda email: f"<{email}>"), _SAID),
    shown("invitation-active", "A new invitation has the status active.", "view_invitation",
          instead(("status",), lambda _: "active"), "invitation-begins-pending"),
    shown("invitation-capitalized", "A new invitation has the status Pending.", "view_invitation",
          instead(("status",), lambda _: "Pending"), "invitation-begins-pending"),
)  # fmt: skip


def _honouring(field: str, name: str, *breaks: str) -> Fault:
    """An invitation that takes a field of its own from the client."""

    def view_invitation(self: Service, invitation: Invitation) -> View:
        sent = self.memory.get("sent", {})
        return {**Service.view_invitation(self, invitation), **({field: sent[field]} if field in sent else {})}

    def check_invitation(self: Service, context: RequestContext) -> dict[str, Any]:
        values = Service.check_invitation(self, context)
        body: Any = self.parse(context.content)
        self.memory["sent"] = body
        return values

    return made(f"invitation-honours-{name}", f"An invitation takes {field} from the client.", *breaks,
                view_invitation=view_invitation, check_invitation=check_invitation)  # fmt: skip


HONOURED = (
    _honouring("status", "status", "invitation-begins-pending"),
    _honouring("expiresAt", "expiry", _EXPIRES),
    _honouring("createdAt", "creation", _EXPIRES),
)


@fault("invitation-repeats-identifier", "invite-fields")
class InvitationRepeatsIdentifier(Service):
    """An invitation that follows that of an admin shows the same identifier."""

    def view_invitation(self, invitation: Invitation) -> View:
        """Remember the last one."""
        before: Invitation | None = self.memory.get("invitation")
        self.memory["invitation"] = invitation
        view = super().view_invitation(invitation)
        return {**view, "id": before.id} if before is not None and before.role == "admin" else view


def _inviting_owner(status: int) -> Fault:
    def check_invitation(self: Service, context: RequestContext) -> dict[str, Any]:
        body: Any = self.parse(context.content)
        if isinstance(body, dict) and body.get("role") == "owner":
            raise Refusal(status, "Nobody can be invited as an owner.")
        return Service.check_invitation(self, context)

    return made(f"invite-owner-{status}", f"An invitation with the role owner is refused with {status}.",
                "invite-refuses-invalid", check_invitation=check_invitation)  # fmt: skip


OWNERS = (_inviting_owner(403), _inviting_owner(409))


@fault("invitation-switches-role", "invite-adds-no-member")
class InvitationSwitchesRole(Service):
    """An invitation makes an admin of somebody who is a member already, or a member of an admin."""

    _switched = 0

    def invite_member(self, context: RequestContext) -> Reply:
        """Switch the role of one after the other."""
        members = looking_up.members(self, context.organization_id)
        others = [one for one in members if one.role != "owner"]
        if others:
            self._switched += 1
            other = others[self._switched % len(others)]
            role = "admin" if other.role == "member" else "member"
            self.store.change_role(context.organization_id, other.user_id, role, self.now())
        return super().invite_member(context)


# Mail


def _mailing(identifier: str, title: str, change: Callable[[Mail, Invitation], Mail | None], *breaks: str) -> Fault:
    """A service that sends another mail, or none."""

    def dispatch(self: Service, invitation: Invitation, link: str) -> None:
        text = f"You are invited. Accept here:\n{link}\n"
        mail = change(Mail("invitations@reference.example", invitation.email, "Invitation", text), invitation)
        if mail is not None:
            self.store.add_mail(mail)

    return made(identifier, title, *breaks, dispatch=dispatch)


MAILS = (
    _mailing("mail-for-members-only", "Only invitations of members are sent.",
             lambda mail, invitation: mail if invitation.role == "member" else None, "invite-sends-mail"),
    _mailing("mail-link-of-another-kind", "The link in the mail of an invitation is one of a program, not of the web.",
             lambda mail, _: replace(mail, text=mail.text.replace("http://", "app://")), "invite-sends-mail"),
    _mailing("mail-empty", "The mail of an invitation is empty.",
             lambda mail, _: replace(mail, text=""), "invite-sends-mail"),
    _mailing("mail-address-cut", "An invitation is sent to the address without what follows a hyphen.",
             lambda mail, _: replace(mail, recipient=mail.recipient.replace("-", "")), "invite-sends-mail"),
)  # fmt: skip
