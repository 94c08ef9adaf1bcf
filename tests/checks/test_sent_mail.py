"""Invitations that must be sent."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from conformance.checks.test_s4_mail import invitations_to_be_sent
from conformance.targets.names import RunNames
from conformance.wire import requests
from conformance.wire.exchange import Exchange
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
