"""Invitations that must be sent."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from conformance.checks.test_s4_mail import invitations_to_be_sent
from conformance.checks.test_s4_mail import test_every_invitation_is_sent as every_invitation_is_sent
from conformance.oracle.outcomes import NonConformity
from conformance.targets.names import RunNames
from conformance.targets.provisioner import Mail
from conformance.wire import requests
from conformance.wire.exchange import Exchange
from conformance.wire.requests import OTHER_KEY, Credential
from tests.fakes.exchanges import make_exchange
from tests.fakes.runs import FakeRun

MEMBER = "ann@members.test"


def invited(number: int) -> Exchange:
    """Return an accepted invitation of the member."""
    return make_exchange(requests.invite_member({"email": MEMBER, "role": "member"}), 201, {}, number=number)


@pytest.mark.parametrize(
    ("earlier", "removed", "is_new", "reads_all", "expected"),
    [
        ([], 200, True, True, True),
        ([invited(1)], 200, True, True, False),
        ([], 500, True, True, False),
        ([], 200, False, True, False),
        ([], 200, True, False, False),
    ],
    ids=["first", "invited-before", "not-removed", "of-the-target-file", "mail-unreadable"],
)
def test_a_removed_member_is_sent_the_first_invitation(
    earlier: list[Exchange], removed: int, *, is_new: bool, reads_all: bool, expected: bool
) -> None:
    """It is judged only for a member that the run made, and only if all e-mails can be read."""
    last = invited(3)
    removal = make_exchange("removeMember", removed, {}, number=2)
    done = SimpleNamespace(member=SimpleNamespace(email=MEMBER.title(), is_new=is_new), response=removal)
    run = FakeRun(
        exchanges=[*earlier, removal, last],
        names=RunNames.fresh(),
        scenarios=SimpleNamespace(result_if_any=lambda _: done),
        profile=SimpleNamespace(mailbox="smtp" if reads_all else None, invitation_domain="example.com"),
    )
    assert (last in invitations_to_be_sent(run)) is expected


@pytest.mark.parametrize(("other", "mails", "fails"), [("o2", 2, False), ("o2", 1, True), ("o1", 1, False)])
def test_both_organizations_write_to_an_address(other: str, mails: int, *, fails: bool) -> None:
    """An address that two organizations invited gets two e-mails; nothing is known if both keys are of the same one."""
    names = RunNames.fresh()
    own = make_exchange(requests.invite_member({"email": names.address("both", "a.test"), "role": "member"}), 201, {})
    theirs = make_exchange(own.request.with_key(Credential.bearer(OTHER_KEY, "key-of-others")), 201, {}, number=2)
    box = [Mail("no-reply@a.test", (), "Invitation", "Accept: https://a.test/accept")] * mails
    run = FakeRun(
        exchanges=[own, theirs],
        names=names,
        scenarios=SimpleNamespace(result_if_any=lambda _: SimpleNamespace(own=("o1", own), other=(other, theirs))),
        fixtures=SimpleNamespace(mail=lambda *_: box),
        profile=SimpleNamespace(mailbox="smtp", invitation_domain="a.test", patience=1.0),
        awaiting=lambda *_: nullcontext(),
    )

    with pytest.raises(NonConformity, match="two organizations") if fails else nullcontext():
        every_invitation_is_sent(run)
