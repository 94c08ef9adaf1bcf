"""E-mails that count as sent for a refused invitation."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.checks import test_s4_mail as checks
from conformance.checks.test_s4_mail import refused_invitations
from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.scenarios.members.mail import Mailing, Refusal
from conformance.targets.names import RunNames
from conformance.targets.provisioner import Mail
from conformance.wire import requests
from conformance.wire.exchange import Exchange
from tests.fakes.exchanges import make_exchange
from tests.fakes.runs import PROFILE, FakeRun

NAMES = RunNames.fresh()
INVITED, FRESH, MEMBER = NAMES.address("invited", "a.test"), NAMES.address("fresh", "a.test"), "member@b.test"
PATIENCE = 7.0


def invited(address: str, status: int, number: int, role: str = "member") -> Exchange:
    """Return an invitation and its response."""
    sent = requests.invite_member({"email": address, "role": role})
    return make_exchange(sent, status, {}, number=number)


def letter(subject: str = "Invitation") -> Mail:
    """Return an e-mail with a link."""
    text = "Your week in short: see what is new" if "week" in subject else "You are invited to join as a member"
    return Mail("a@b.test", (), subject, f"{text}: https://service.test/withheld")


class Mailbox(FakeRun):
    """A run with a mailbox of given contents, which may grow with each wait."""

    def __init__(
        self, exchanges: list[Exchange], mails: Callable[[str, int], int], subject: str = "Invitation"
    ) -> None:
        super().__init__(lambda request: make_exchange(request, 409, {}), exchanges, passed=2.0, names=NAMES)
        self.profile = replace(PROFILE, patience=PATIENCE)
        self.fixtures = SimpleNamespace(mail=self._mail)
        self.awaiting = lambda *_: nullcontext()
        self._mails = mails
        self._subject = subject

    def _mail(self, to: str, *_: object) -> list[Mail]:
        return [letter(self._subject) for _ in range(self._mails(to, len(self.pauses)))]


def judge(run: Mailbox, member: int | None = None) -> None:
    """Judge the refused invitations of a run; a member among them had some e-mails before."""
    earlier = (letter(),) * (member or 0)
    refusal = None if member is None else Refusal(MEMBER, invited(MEMBER, 409, 4), earlier)
    good = invited(NAMES.address("good", "a.test"), 201, 9)
    check: Any = checks.test_no_refused_invitation_is_sent
    check(run, Mailing(good, (letter(),), refusal))


TWICE = [invited(INVITED, 201, 1), invited(INVITED, 409, 2)]
BEFORE = [invited(FRESH, 422, 3, "owner")]


@pytest.mark.parametrize(
    ("exchanges", "member", "mails"),
    [
        (BEFORE, None, lambda to, waits: 0),
        (TWICE, None, lambda to, waits: 1),
        (TWICE, None, lambda to, waits: 2),
        (TWICE, None, lambda to, waits: 0),
        ([], 1, lambda to, waits: 1),
        ([], 0, lambda to, waits: 1),
    ],
    ids=["none", "its-own", "two-for-one", "not-yet-come", "of-a-member", "a-late-welcome"],
)
def test_other_mail_is_no_fault(
    exchanges: list[Exchange], member: int | None, mails: Callable[[str, int], int]
) -> None:
    """An address may have e-mails of its own, several at once, or late; the suite waits once for all refusals."""
    run = Mailbox(exchanges, mails)

    judge(run, member)

    assert run.pauses[0] == pytest.approx(PATIENCE - 2, abs=0.1)
    assert len(run.pauses) <= 2


@pytest.mark.parametrize(
    ("exchanges", "member", "mails"),
    [
        (BEFORE, None, lambda to, waits: 1),
        (TWICE, None, lambda to, waits: 1 + waits),
        ([], 1, lambda to, waits: 1 + waits),
        ([], 0, lambda to, waits: waits),
    ],
    ids=["fresh", "invited-before", "member", "member-without-mail"],
)
def test_mail_for_a_refused_invitation_is_a_fault(
    exchanges: list[Exchange], member: int | None, mails: Callable[[str, int], int]
) -> None:
    """A failure: any e-mail to an address that was only refused, or an additional one for each refusal."""
    with pytest.raises(NonConformity, match="an e-mail arrived for a refused invitation"):
        judge(Mailbox(exchanges, mails), member)


@pytest.mark.parametrize("subject", ["Your week: 3 engagements", "week"])
def test_a_digest_to_a_member_is_no_fault(subject: str) -> None:
    """A service may send a member e-mails with links for other reasons at any time."""
    run = Mailbox([], lambda to, waits: 3 + waits, subject)

    judge(run, 1)

    assert len(run.pauses) == 1


def test_nothing_is_said_without_any_mail() -> None:
    """If no e-mail arrives for a valid invitation either, the refused ones are undecided."""
    run = Mailbox(BEFORE, lambda to, waits: 0)
    check: Any = checks.test_no_refused_invitation_is_sent

    with pytest.raises(CantTell, match="no e-mail arrived at all"):
        check(run, Mailing(invited(FRESH, 201, 1), (), None))


def test_each_kind_is_looked_at_once() -> None:
    """Refusals are judged once per kind: by fault, key, and whether the address was also accepted."""
    addresses = [NAMES.address(f"f{number}", "a.test") for number in range(3)]
    again = [invited(address, 422, 10 + number, "owner") for number, address in enumerate(addresses)]
    run = Mailbox([*TWICE, *BEFORE, *again, invited("nobody@else.test", 422, 20)], lambda to, waits: 0)

    assert [(refusal.address, refusal.others) for refusal in refused_invitations(run)] == [
        (INVITED, 1),
        (addresses[-1], None),
    ]


def test_a_mailbox_may_distinguish_letter_case() -> None:
    """E-mails to an address are found as the invitation spells it, too."""
    capitals = NAMES.address("In.Vited", PROFILE.invitation_domain)
    run = Mailbox([invited(capitals, 201, 1)], lambda to, waits: int(to == capitals))
    check: Any = checks.test_every_invitation_is_sent

    check(run)
