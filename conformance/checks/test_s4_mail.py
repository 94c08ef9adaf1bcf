"""The e-mail of an invitation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.marks import journey, requirement
from conformance.checks.test_s4_invitations import inviting
from conformance.oracle import expect, read
from conformance.oracle.effects import refused
from conformance.oracle.judgement import Inapplicable, Undecided
from conformance.oracle.words import shown
from conformance.verdicts.stages import Stage
from conformance.wire import call
from conformance.wire.exchange import REFUSALS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.checks.test_s4_invitations import Inviting
    from conformance.running.run import Run
    from conformance.target.provisioner import Mail
    from conformance.wire.exchange import Exchange

LINK: Final = re.compile(r"https?://[^\s\"'<>]+", re.IGNORECASE)
ADDRESS: Final = re.compile(r"[^\s\"'<>,:\[\]]+@[^\s\"'<>,:\[\]]+")
AFTER: Final = 0.5
"""Seconds to wait at least for a message that must not come, once the one that must come is there."""


@dataclass(frozen=True, slots=True)
class Mailing:
    """A good invitation and a refused one, and what arrived for each."""

    good: Exchange
    good_mails: tuple[Mail, ...]
    refused: Exchange
    refused_mails: tuple[Mail, ...]


def mailing(run: Run) -> Mailing:
    """Somebody is invited, and somebody else as an owner, which must be refused."""
    good, bad = run.address("letter"), run.address("no-letter")
    refused = run.send(call.invite_member({"email": bad, "role": "owner"}))
    invited = run.send(call.invite_member({"email": good, "role": "member"}))
    began = run.clock.monotonic()
    arrived = _invitation_mails(run, good)
    took = run.clock.monotonic() - began
    unwanted = run.fixtures.mail(bad, max(AFTER, took)) if arrived else []
    return Mailing(invited, tuple(arrived), refused, tuple(unwanted))


mailing_journey = journey(mailing)
inviting_journey = journey(inviting, alone=True)


@requirement("invite-sends-mail")
def test_invitation_is_sent(mailing: Mailing) -> None:
    """Whoever is invited gets an e-mail with a link in it."""
    _expect_sent(mailing.good, mailing.good_mails)


@requirement("invite-sends-mail")
def test_every_role_is_sent_its_invitation(run: Run, inviting: Inviting) -> None:
    """An invitation is sent whatever role it is for."""
    for invited in inviting.proper:
        _expect_sent(invited.answer, _invitation_mails(run, invited.email))


def _invitation_mails(run: Run, to: str) -> list[Mail]:
    """The e-mails to an invited address; one without a link, such as a notice, may come before the invitation."""
    return run.fixtures.mail(to, run.profile.patience, lambda mail: holds_link(mail.text))


def holds_link(text: str) -> bool:
    """Whether an e-mail has a link, also where its template has escaped that as HTML."""
    return LINK.search(unescape(text)) is not None


def _expect_sent(invitation: Exchange, mails: Sequence[Mail]) -> None:
    read.success(invitation)
    expect.holds(
        mails,
        "no e-mail arrived for an invited address",
        invitation,
        expected="an e-mail within the target's patience",
        actual="none",
    )
    expect.holds(
        any(holds_link(mail.text) for mail in mails),
        "the e-mail of an invitation has no link",
        invitation,
        expected="an http or https link in the text",
        actual=shown(mails[0].text),
    )


@requirement("refused-invite-sends-no-mail")
def test_refused_invitation_is_not_sent(mailing: Mailing) -> None:
    """A refused invitation is not sent."""
    if mailing.refused.status not in REFUSALS:
        message = f"the invitation of an owner was answered {mailing.refused.status}, not refused"
        raise Undecided(message, mailing.refused)
    if not mailing.good_mails:
        raise Undecided("no e-mail arrived at all, so that none is missed", mailing.good)

    _expect_not_sent(mailing.refused, mailing.refused_mails)


@pytest.mark.stage(Stage.WEIGHING)
@requirement("refused-invite-sends-no-mail")
@pytest.mark.usefixtures("mailing")
def test_no_refused_invitation_is_sent(run: Run) -> None:
    """No invitation of the run is sent that was refused, for whatever reason and with whatever key."""
    found = refused_invitations(run)
    if not found:
        raise Inapplicable("No invitation was refused")

    for address, refusal in found.items():
        _expect_not_sent(refusal, run.fixtures.mail(address))


def refused_invitations(run: Run) -> dict[str, Exchange]:
    """Refused invitations by address, one of each kind: of those that nobody but the run has, and never took."""
    invitations = [one for one in run.wire.exchanges if one.call.operation.id == "inviteMember" and one.sent]
    by_address = {address: one for one in invitations for address in _addresses(one) if run.names.owns(address)}
    taken = {address for one in invitations if not refused(one) for address in _addresses(one)}
    kinds = {
        (one.call.credential, _form(one, address)): address
        for address, one in by_address.items()
        if address not in taken
    }
    return {address: by_address[address] for address in kinds.values()}


def _addresses(invitation: Exchange) -> list[str]:
    return ADDRESS.findall(_body(invitation))


def _form(invitation: Exchange, address: str) -> str:
    """The body without the address, by which one kind of bad invitation is told from another."""
    return _body(invitation).replace(address, "")


def _body(invitation: Exchange) -> str:
    return (invitation.call.body or b"").decode("utf-8", "replace")


def _expect_not_sent(invitation: Exchange, mails: Sequence[Mail]) -> None:
    expect.holds(
        not mails,
        "an e-mail arrived for an invitation that was refused",
        invitation,
        expected="no e-mail",
        actual=f"{len(mails)} to the address",
    )
