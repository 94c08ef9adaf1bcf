"""Invitations whose e-mails are read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from html import unescape
from typing import TYPE_CHECKING, Final

from conformance.oracle.laws.responses import readable_resources
from conformance.running.scenarios import scenario
from conformance.scenarios.access.every_operation import member_pages, untouchable_member
from conformance.scenarios.members.member_list import address_of
from conformance.targets.capabilities import MissingMeans
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.running.run import Run
    from conformance.targets.provisioner import Mail
    from conformance.wire.exchange import Exchange


_ALIKE: Final = 0.6
"""Share of equal words from which on two e-mails have the same wording."""

_LONGEST: Final = 4_000
_LINK: Final = re.compile(r"https?://[^\s\"'<>]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Mailing:
    """A valid invitation with its e-mails, and an invitation of a member.

    Attributes:
        valid: The invitation of an unknown address.
        valid_mails: The e-mails to its address.
        member: The invitation of a member that the run made; None if there is none with an address.
    """

    valid: Exchange
    valid_mails: tuple[Mail, ...]
    member: Refusal | None


@dataclass(frozen=True, slots=True)
class Refusal:
    """An invitation that may have been refused.

    Attributes:
        address: The invited address.
        exchange: The invitation.
        earlier: The e-mails to the address before, for a member.
        others: How many e-mails of invitations the address gets for other reasons; None if it can get no e-mail at all.
    """

    address: str
    exchange: Exchange
    earlier: tuple[Mail, ...] = ()
    others: int | None = None


@scenario
def mailing(run: Run) -> Mailing:
    """Invite a member, and an unknown address, which was invited as owner before: that must be refused."""
    good = run.address("letter")
    for address in (run.address("no-letter"), good):
        run.send(requests.invite_member({"email": address, "role": "owner"}))
    member = _invite_member(run)
    invited = run.send(requests.invite_member({"email": good, "role": "member"}))
    return Mailing(invited, tuple(invitation_mails(run, good, run.profile.patience)), member)


def _invite_member(run: Run) -> Refusal | None:
    """Invite a member that the run made, so that no person gets an e-mail, by its address in other letter case.

    A list shows the member first: by that, other judgements know that the response is open.
    """
    try:
        member = run.scenarios.result(untouchable_member)
    except MissingMeans:
        return None
    items = [item for page in member_pages(run) for item in readable_resources(page)]
    address = address_of(member, next((item for item in items if item.get("id") == member.user_id), {}))
    if address is None:
        return None
    earlier = tuple(run.fixtures.mail(address))
    role = member.role or "member"
    invitation = requests.invite_member({"email": address[:1].upper() + address[1:], "role": role})
    return Refusal(address, run.send(invitation), earlier)


def invitation_mails(run: Run, to: str, patience: float) -> list[Mail]:
    """Return the e-mails to an invited address; one without a link, such as a notice, may come first."""
    with run.awaiting("the mail of an invitation", patience):
        return run.fixtures.mail(to, patience, lambda mail: holds_link(mail.text))


def holds_link(text: str) -> bool:
    """Whether an e-mail has a link, even if its template has escaped it as HTML."""
    return _LINK.search(unescape(text)) is not None


def like_invitations(mails: Iterable[Mail], invitations: Iterable[Mail]) -> list[Mail]:
    """Return the e-mails that have a link and the wording of an invitation: a service may write for other reasons."""
    wordings = [_wording(mail) for mail in invitations]
    return [
        mail
        for mail in mails
        if holds_link(mail.text)
        and any(SequenceMatcher(None, _wording(mail), known).ratio() >= _ALIKE for known in wordings)
    ]


def _wording(mail: Mail) -> list[str]:
    """Return the words of subject and text without what differs between invitations: links, addresses and numbers."""
    text = _LINK.sub("", unescape(f"{mail.subject} {mail.text}"[:_LONGEST]))
    return re.sub(r"\S+@\S+|\d+", "", text).casefold().split()
