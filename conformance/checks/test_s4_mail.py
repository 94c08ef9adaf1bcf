"""The e-mail of an invitation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.checks.marks import journey, requirement
from conformance.oracle import expect, read
from conformance.oracle.judgement import Undecided
from conformance.oracle.words import shown
from conformance.wire import call

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.target.provisioner import Mail
    from conformance.wire.exchange import Exchange

LINK: Final = re.compile(r"https?://[^\s\"'<>]+", re.IGNORECASE)
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
    arrived = run.fixtures.mail(good, run.profile.patience)
    took = run.clock.monotonic() - began
    unwanted = run.fixtures.mail(bad, max(AFTER, took)) if arrived else []
    return Mailing(invited, tuple(arrived), refused, tuple(unwanted))


mailing_journey = journey(mailing)


@requirement("invite-sends-mail")
def test_invitation_is_sent(mailing: Mailing) -> None:
    """An invitation is sent to the invited address, with a link in it."""
    read.success(mailing.good)

    expect.holds(
        mailing.good_mails,
        "no e-mail arrived for an invited address",
        mailing.good,
        expected="an e-mail within the target's patience",
        actual="none",
    )
    expect.holds(
        any(LINK.search(mail.text) for mail in mailing.good_mails),
        "the e-mail of an invitation has no link",
        mailing.good,
        expected="an http or https link in the text",
        actual=shown(mailing.good_mails[0].text),
    )


@requirement("refused-invite-sends-no-mail")
def test_refused_invitation_is_not_sent(mailing: Mailing) -> None:
    """A refused invitation is not sent."""
    if not 400 <= mailing.refused.status < 500:  # noqa: PLR2004
        message = f"the invitation of an owner was answered {mailing.refused.status}, not refused"
        raise Undecided(message, mailing.refused)
    if not mailing.good_mails:
        raise Undecided("no e-mail arrived at all, so that none is missed", mailing.good)

    expect.holds(
        not mailing.refused_mails,
        "an e-mail arrived for an invitation that was refused",
        mailing.refused,
        expected="no e-mail",
        actual=f"{len(mailing.refused_mails)} to the address",
    )
