"""Faults of invitations and of their mail."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

from conformance.interface.list_parameters import ROLES
from conformance.reference.clock import DAY
from conformance.reference.records import Invitation, Mail
from conformance.reference.refusal import Refusal

from .changes import data, edit, put, view
from .conditions import asks, body_has, of_member
from .mutations import (
    Method,
    after,
    at_step,
    before,
    fault,
    override,
    refuse,
    refuse_valid,
    refused_early,
    refused_yet,
    result,
    wrap,
)
from .operations import INVITE
from .situations import Condition, Situation, switch_roles

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.service import Service
    from conformance.reference.views import View

    from .mutations import Mutation


_SUCCEEDS, _SENT, _FIELDS = "invite-succeeds", "invite-answers-what-was-sent", "invite-fields"
_PENDING, _EXPIRES = "invitation-begins-pending", "invitation-expires-in-seven-days"
_LOSES = "removed-member-loses-organization", "removed-member-loses-engagements"
_ADDS_NO_MEMBER, _MAIL, _NO_MAIL = "invite-adds-no-member", "invite-sends-mail", "refused-invite-sends-no-mail"
_SECOND, _MINUTE, _HOUR, _WEEK = 1000, 60_000, 3_600_000, 7 * DAY
_JOINING = 3 * _SECOND
_UNAUTHORIZED, _FORBIDDEN, _INVALID = 401, 403, (400, 422)


def _expires(milliseconds: int) -> Mutation:
    """Let invitations expire some time after their creation."""
    return override(expiry=lambda _, at: at + milliseconds)


def _change_local_part(change: Callable[[str], str]) -> Callable[[str], str]:
    """Return a change of the part of an address before the @."""
    return lambda address: f"{change(address.partition('@')[0])}@{address.partition('@')[2]}"


def _take_from_client(name: str) -> Mutation:
    """Show a field as the client sent it."""
    return data(INVITE, lambda at, shown: {**shown, name: at.body.get(name, shown[name])})


def _repeat_id_of_admin(at: Situation, shown: View) -> View:
    previous = at.service.memory.get("invitation", {})
    at.service.memory["invitation"] = shown
    return {**shown, "id": previous["id"]} if previous.get("role") == "admin" else shown


def _add_member(at: Situation) -> None:
    email, role = at.values["email"], at.values["role"]
    at.service.add_member(at.context.organization_id, email.partition("@")[0], email, role, at.now)


def _join(at: Situation, honest: Method) -> object:
    """Make members of those who were invited some time ago, before any operation."""
    invited = at.remembered("invited", [])
    while invited and at.now - invited[0][0] >= _JOINING:
        _, invitation = invited.pop(0)
        if not at.store.member_by_email(invitation.context.organization_id, invitation.values["email"]):
            _add_member(invitation)
    return honest()


def _invited_in_other_letters(at: Situation) -> bool:
    email = at.values["email"]
    known = at.store.open_invitation(at.context.organization_id, email, at.now)
    return known is not None and known.email != email


def _has_capitals(at: Situation) -> bool:
    return bool(at.values["email"] != at.values["email"].lower())


def _has_address(at: Situation) -> bool:
    return isinstance(at.field("email"), str) and "@" in at.field("email")


def _mail_not(when: Callable[[Service, Invitation], bool]) -> Mutation:
    """Send no mail for some invitations."""
    return wrap("dispatch", lambda service, honest, invitation, link:
                None if when(service, invitation) else honest(invitation, link))  # fmt: skip


def _is_invited_elsewhere(service: Service, sent: Invitation) -> bool:
    others = set(service.store.organization_ids()) - {sent.organization_id}
    return any(service.store.open_invitation(other, sent.email, sent.created_at) for other in others)


def _mail_with(*, to: Callable[[str], str] = str, link: Callable[[str], str] = str) -> Mutation:
    """Send mail to another address, or with another link."""
    return wrap("dispatch", lambda _, honest, invitation, honest_link:
                honest(replace(invitation, email=to(invitation.email)), link(honest_link)))  # fmt: skip


def _mail_instead(change: Callable[[Mail, Invitation], Mail | None]) -> Mutation:
    """Store another mail, or none, and send none by SMTP."""

    def dispatch(service: Service, invitation: Invitation, link: str) -> None:
        text = f"You are invited. Accept here:\n{link}\n"
        if mail := change(Mail("invitations@reference.example", invitation.email, "Invitation", text), invitation):
            service.store.add_mail(mail)

    return override(dispatch=dispatch)


def _send_to_latest(service: Service, honest: Method, invitation: Invitation, link: str) -> None:
    service.memory["latest"] = invitation
    service.later(lambda: honest(service.memory["latest"], link))


def _send_mail(at: Situation, email: str) -> None:
    now = at.now
    invitation = Invitation("inv", at.context.organization_id, email, "member", "pending", now, now)
    at.service.dispatch(invitation, at.service.acceptance_link(at.context, "none"))


def _send_conflicting(when: Condition) -> Mutation:
    """Send an invitation that is refused as a conflict."""
    return refused_yet(INVITE, lambda at: _send_mail(at, at.values["email"]), when, statuses=(409,))


def _invite_refused(when: Callable[[int, Any], bool]) -> Mutation:
    """Store and send an invitation that is refused; ``when`` gets the status and the role."""

    async def around(at: Situation, honest: Method) -> object:
        try:
            return await honest()
        except Refusal as refusal:
            if at.context.request.scope["path"].endswith("/members/invite"):
                # A request without a valid key is refused before its body is received.
                content = await at.context.request.body() if refusal.status == _UNAUTHORIZED else at.context.content
                body: Any = at.service.parse(content) if content else None
                email = body.get("email") if isinstance(body, dict) else None
                if isinstance(email, str) and when(refusal.status, body.get("role")):
                    invitation, _ = at.service.add_invitation(at.store.organization_ids()[0], email, "member")
                    at.service.dispatch(invitation, f"http://localhost/invitations/{invitation.id}")
            raise

    return at_step("serve", around)


EXPIRIES = (
    *(fault(f"invitation-expires-{name}", f"An invitation expires {words}.",
            _expires(milliseconds), _EXPIRES) for name, words, milliseconds in (
        ("6-days", "6 days after its creation", 6 * DAY),
        ("8-days", "8 days after its creation", 8 * DAY),
        ("an-hour-late", "7 days and an hour after its creation", _WEEK + _HOUR),
        ("3-seconds-late", "3 seconds late", _WEEK + 3 * _SECOND),
        ("2-seconds-late", "2 seconds late", _WEEK + 2 * _SECOND),
        ("at-once", "at the time of its creation", 0),
        ("in-a-week-of-work", "5 days after its creation", 5 * DAY),
        ("in-minutes", "10,080 seconds, not minutes, after its creation", 10_080 * _SECOND),
        ("in-a-month", "30 days after its creation", 30 * DAY),
        ("in-local-time", "2 hours early, as in another time zone", _WEEK - 2 * _HOUR))),
    fault("invitation-expires-at-midnight", "An invitation expires at the midnight before the 7 days end.",
          override(expiry=lambda _, at: (at + _WEEK) // DAY * DAY), _EXPIRES),
    fault("invitation-expires-at-the-minute", "An invitation's expiresAt is cut to whole minutes.",
          override(expiry=lambda _, at: (at + _WEEK) // _MINUTE * _MINUTE - _MINUTE), _EXPIRES),
    fault("invitation-expires-at-the-end-of-the-day", "An invitation expires at the end of its seventh day.",
          override(expiry=lambda _, at: (at + _WEEK) // DAY * DAY + DAY - 1), _EXPIRES),
    fault("invitation-expired-already", "An invitation expires 7 days before its creation.",
          _expires(-_WEEK), _EXPIRES),
    fault("invitation-of-admin-expires-early", "An invitation with the role admin expires one day after its creation.",
          wrap("view_invitation", lambda _, honest, invitation: honest(
              replace(invitation, expires_at=invitation.created_at + DAY) if invitation.role == "admin"
              else invitation)), _EXPIRES),
)  # fmt: skip

RESPONSES = (
    *(fault(f"invitation-{name}", f"A new invitation has the status {status}.",
            view("invitation", put(status=status)), _PENDING) for name, status in (
        ("sent", "sent"), ("active", "active"), ("capitalized", "Pending"), ("in-capitals", "PENDING"))),
    *(fault(f"invitation-always-{role}", f"An invitation always shows the role {role}.",
            view("invitation", put(role=role)), _SENT) for role in ("member", "admin")),
    fault("invitation-role-swapped", "An invitation shows admin instead of member, and member instead of admin.",
          view("invitation", edit(role=lambda role: {"admin": "member"}.get(role, "admin"))), _SENT),
    fault("invitation-by-member-is-lesser", "An invitation of an admin with a member's key has the role member.",
          before(INVITE, lambda at: at.values.update(role="member"), of_member), _SENT),
    fault("invitation-to-capitals-is-lesser",
          "An invitation of an admin whose address has a capital letter shows the role member.",
          data(INVITE, lambda _, shown: put(role="member")(shown), _has_capitals), _SENT),
    fault("invitation-address-cut", "An invitation shows the address only up to the @.",
          view("invitation", edit(email=lambda email: email.partition("@")[0])), _SENT),
    fault("invitation-address-masked", "An invitation masks the address with asterisks.",
          view("invitation", edit(email=lambda email: f"{email[:2]}***@{email.partition('@')[2]}")), _SENT),
    fault("invitation-address-with-name", "An invitation shows the address in angle brackets after a name.",
          view("invitation", edit(email=lambda email: f"<{email}>")), _SENT),
    fault("invitation-without-dots", "An invitation shows the address without dots before the @.",
          view("invitation", edit(email=_change_local_part(lambda local: local.replace(".", "")))), _SENT),
    fault("invitation-without-hyphens", "An invitation shows the address without hyphens.",
          view("invitation", edit(email=lambda email: email.replace("-", ""))), _SENT),
    fault("invitation-escapes-apostrophe", "An invitation shows an apostrophe in the address as an HTML reference.",
          view("invitation", edit(email=lambda email: email.replace("'", "&#39;"))), _SENT),
    fault("invitation-drops-tag", "An invitation drops a tag (a plus sign and the text after it) from the address.",
          result("email", _change_local_part(lambda local: local.partition("+")[0])), _SENT),
    fault("invitation-cuts-long-address", "An invitation cuts the address after 33 characters.",
          result("email", _change_local_part(lambda local: local[:33])), _SENT),
    *(fault(f"invitation-honours-{name}", f"An invitation accepts {field} from the client.",
            _take_from_client(field), requirement) for field, name, requirement in (
        ("status", "status", _PENDING), ("expiresAt", "expiry", _EXPIRES), ("createdAt", "creation", _EXPIRES))),
    fault("invitations-share-id", "All invitations of an organization have the same id.",
          wrap("view_invitation", lambda _, honest, invitation:
               {**honest(invitation), "id": f"inv-{invitation.organization_id}"}), _FIELDS),
    fault("invitation-repeats-identifier", "The invitation after one with the role admin has the same id.",
          data(INVITE, _repeat_id_of_admin), _FIELDS),
)  # fmt: skip

REFUSALS_AND_EFFECTS = (
    fault("invitation-refused", "An invitation with the role admin is refused.",
          refuse_valid(INVITE, 403, asks(role="admin")), _SUCCEEDS),
    fault("invitation-not-served", "Every invitation is refused.", refuse_valid(INVITE, 409), _SUCCEEDS),
    *(fault(f"invite-owner-{status}", f"An invitation with the role owner is refused with {status}.",
            refuse(INVITE, status, body_has(role="owner"), step="check_invitation"), "invite-refuses-invalid")
      for status in (403, 409)),
    fault("invitation-makes-member", "An invited user becomes a member at once.",
          after(INVITE, _add_member), _ADDS_NO_MEMBER, *_LOSES),
    fault("invitation-makes-member-later", "An invited user becomes a member three seconds later.",
          after(INVITE, lambda at: at.remembered("invited", []).append((at.now, at)))
          | at_step("act", _join), _ADDS_NO_MEMBER, *_LOSES),
    fault("invitation-in-other-letters-500",
          "A second invitation of an address in another letter case causes a 500.",
          refuse(INVITE, 500, _invited_in_other_letters), "no-server-error"),
    fault("invitation-switches-role",
          "An invitation to a member's address switches that member's role.",
          before(INVITE, lambda at: switch_roles(
              at, [at.others[next(at.remembered("turns", count(1))) % len(at.others)]]), lambda at: bool(at.others)),
          _ADDS_NO_MEMBER),
)  # fmt: skip

MAILS = (
    fault("mail-not-sent", "No invitation is sent by mail.", override(dispatch=lambda *_: None), _MAIL),
    fault("mail-not-from-names-with-braces",
          "No invitation is sent by mail while the name of the organization contains a brace.",
          _mail_not(lambda service, sent: "{" in service.store.organization(sent.organization_id).name), _MAIL),
    fault("mail-not-after-other-organization",
          "An invitation of an address that another organization has invited is not sent by mail.",
          _mail_not(_is_invited_elsewhere), _MAIL),
    fault("mail-to-wrong-address", "The mail of an invitation goes to another address.",
          _mail_with(to=lambda email: f"x{email}"), _MAIL),
    fault("mail-to-sender", "The mail of an invitation goes to the organization itself.",
          _mail_with(to=lambda _: "office@reference.example"), _MAIL),
    fault("mail-address-cut", "The mail of an invitation goes to the address cut at a hyphen.",
          _mail_instead(lambda mail, _: replace(mail, recipient=mail.recipient.replace("-", ""))), _MAIL),
    fault("mail-to-latest", "The mail of an invitation goes to the address that was invited last within 0.3 seconds.",
          wrap("dispatch", _send_to_latest), _MAIL),
    fault("mail-without-link", "The mail of an invitation has no link.",
          _mail_with(link=lambda link: link.rpartition("/")[2]), _MAIL),
    fault("mail-with-relative-link", "The link in the mail of an invitation has no host.",
          _mail_with(link=lambda link: f"/{link.split('/', 3)[3]}"), _MAIL),
    fault("mail-link-of-another-kind", "The link in the mail of an invitation is not an http or https link.",
          _mail_instead(lambda mail, _: replace(mail, text=mail.text.replace("http://", "app://"))), _MAIL),
    fault("mail-empty", "The mail of an invitation is empty.",
          _mail_instead(lambda mail, _: replace(mail, text="")), _MAIL),
    fault("mail-for-admins-only", "Only invitations with the role admin are sent by mail.",
          _mail_not(lambda _, invitation: invitation.role != "admin"), _MAIL),
    *(fault(f"mail-not-{label}", f"No invitation {words} is sent by mail.", _mail_not(when), _MAIL) for label, words,
            when in (
        ("to-tagged-address", "to an address with a plus sign", lambda _, invitation: "+" in invitation.email),
        ("to-subdomain", "to an address at a subdomain",
         lambda _, invitation: invitation.email.partition("@")[2].count(".") > 1),
        ("to-capitals", "to an address with a capital letter",
         lambda _, invitation: invitation.email != invitation.email.lower()),
        ("under-another-alphabet", "of an organization whose name is not ASCII", lambda service, invitation:
         not service.store.organization(invitation.organization_id).name.isascii()),
        ("from-second-organization", "of any organization but the first",
         lambda service, invitation: invitation.organization_id != service.store.organization_ids()[0]))),
    fault("mail-for-members-only", "Only invitations with the role member are sent by mail.",
          _mail_instead(lambda mail, invitation: mail if invitation.role == "member" else None), _MAIL),
)  # fmt: skip

MAILS_OF_REFUSED = (
    fault("mail-although-refused", "A refused invitation is sent by mail.",
          refused_yet(INVITE, lambda at: _send_mail(at, at.field("email")), _has_address), _NO_MAIL),
    fault("mail-beyond-limit", "An invitation beyond the limit is refused with 429 but sent by mail.",
          refused_early(429, INVITE, lambda at: _send_mail(at, at.field("email")), _has_address), _NO_MAIL),
    fault("mail-although-member", "The invitation of a member is refused but sent by mail.",
          _send_conflicting(lambda at: at.store.member_by_email(
              at.context.organization_id, at.values["email"]) is not None), _NO_MAIL),
    fault("mail-although-invited",
          "The invitation of an address that was invited before is refused but sent by mail.",
          _send_conflicting(lambda at: at.store.open_invitation(
              at.context.organization_id, at.values["email"], at.now) is not None), _NO_MAIL),
    fault("mail-of-invitation-without-role", "An invitation without a role is refused but sent by mail.",
          _invite_refused(lambda status, role: status in _INVALID and role is None), _NO_MAIL),
    fault("mail-of-invitation-with-odd-role", "An invitation with an unknown role is refused but sent by mail.",
          _invite_refused(lambda status, role: status in _INVALID and role not in (None, *ROLES)), _NO_MAIL),
    fault("mail-of-unauthorized-invitation", "An invitation without a valid key is refused but sent by mail.",
          _invite_refused(lambda status, _: status == _UNAUTHORIZED), _NO_MAIL),
    fault("mail-of-forbidden-invitation", "An invitation without permission is refused but sent by mail.",
          _invite_refused(lambda status, _: status == _FORBIDDEN), _NO_MAIL),
)  # fmt: skip
