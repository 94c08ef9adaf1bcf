"""Invitations in both roles."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from conformance.oracle import read
from conformance.scenarios.members.invitations import inviting
from conformance.scenarios.members.mail import _invite_member
from conformance.scenarios.members.member_list import MemberList
from conformance.scenarios.members.role_changes import _invite
from conformance.targets.fixtures import Member
from conformance.wire import requests
from conformance.wire.requests import Credential
from tests.fakes.exchanges import make_exchange, page_for
from tests.fakes.runs import FakeRun

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.scenarios.members.mail import Refusal
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request


def test_both_roles_are_invited_at_once() -> None:
    """The first invitations overlap, and the responses belong to their addresses."""
    batches: list[list[Request]] = []

    class Run(FakeRun):
        def send_all(self, requests: Iterable[Request]) -> list[Exchange]:
            batches.append([*requests])
            return super().send_all(batches[-1])

    run = Run(
        lambda sent: make_exchange(sent, 201, {"data": {"id": "i1"}}),
        address=lambda label, *_: f"{label}@x.test",
        profile=SimpleNamespace(invitation_domain="x.test"),
        scenarios=SimpleNamespace(result_if_any=lambda _: None),
        fixtures=SimpleNamespace(scoped_key=lambda scope: Credential.bearer(scope, "a-key")),
    )
    found = inviting(run)
    assert [sent.body for sent in batches[0]] == [
        b'{"email": "in.vited@x.test", "role": "member"}', b'{"email": "in_vited@x.test", "role": "admin"}'
    ]  # fmt: skip
    assert [(each.role, each.response.number) for each in found.proper] == [("member", 1), ("admin", 2)]
    assert found.capitals.response.request.key_name == "organizations:write"


def invites_member(listed: str, listed_id: str = "u_1") -> tuple[FakeRun, Refusal | None]:
    """Invite a member, while the list shows an address; return the run and the invitation."""
    member = SimpleNamespace(user_id="u_1", email="ann@x.test", role="admin")
    run = FakeRun(
        lambda sent: (
            make_exchange(sent, 409, {})
            if sent.operation.changes
            else page_for(sent, [{"id": listed_id, "email": listed}])
        ),
        scenarios=SimpleNamespace(result=lambda _: member),
        fixtures=SimpleNamespace(mail=lambda address: [address]),
    )
    return run, _invite_member(run)


def test_a_members_address_is_invited_in_other_letters() -> None:
    """Its first letter becomes a capital; its e-mails are those of the address itself."""
    run, found = invites_member("ann@x.test")
    assert found is not None
    assert [found.address, *map(str, found.earlier)] == ["ann@x.test"] * 2
    assert [sent.body for sent in run.sent] == [None, b'{"email": "Ann@x.test", "role": "admin"}']


@pytest.mark.parametrize(("listed", "listed_id"), [("bob@x.test", "u_1"), ("ann@x.test", "u_real")])
def test_a_member_that_no_list_has_shown_is_not_invited(listed: str, listed_id: str) -> None:
    """The response would be judged as that of an unknown address, or another person would get the e-mail."""
    run, found = invites_member(listed, listed_id)
    assert found is None
    assert [sent.operation.id for sent in run.sent] == ["listMembers"]


@pytest.mark.parametrize(
    ("own", "listed", "sent"),
    [("ann@x.test", "Ann@x.test", "ann@x.test"), ("ann@x.test", "bob@y.test", None), (None, "bob@y.test", None)],
)
def test_only_the_address_of_a_member_of_the_run_is_invited(own: str | None, listed: str, sent: str | None) -> None:
    """A service that lists another person's address there must not make the run send that person an e-mail."""
    run = FakeRun(lambda request: make_exchange(request, 409, {}))
    page = page_for(requests.list_members(), [{"id": "u_1", "email": listed, "role": "admin"}])
    members = MemberList((page,), {"u_1": read.items(page)[0]}, 1)

    _invite(run, Member("u_1", own, "admin", None), members, "member")

    assert [exchange.sent_fields.get("email") for exchange in run.exchanges] == ([] if sent is None else [sent])
