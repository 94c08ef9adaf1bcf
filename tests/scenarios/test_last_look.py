"""Requests at the end of a run: with the key of a removed member, and the last changes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from conformance.scenarios.access.reserved_engagements import ReservedEngagements
from conformance.scenarios.access.two_organizations import two_organizations
from conformance.scenarios.last_look import (
    _by_other_organization,
    _key_of_admin,
    _members_left,
    _on_reserved,
    _remove_members,
)
from conformance.scenarios.members.role_changes import role_changes
from conformance.targets.fixtures import Member
from conformance.wire import requests
from conformance.wire.requests import Credential
from tests.fakes.exchanges import make_exchange
from tests.fakes.runs import FakeRun

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange

OTHER = Credential.bearer("other_organization", "key-of-others")
CHANGED = Credential.bearer("changed", "key-of-changed")


@pytest.mark.parametrize(
    ("query", "later"), [({}, (("status", "active"),)), ({"status": "active"}, ()), ({"page": 1}, ())]
)
def test_a_list_is_requested_in_the_other_form(query: dict[str, object], later: tuple[tuple[str, str], ...]) -> None:
    """A list that was requested without parameters gets a filter, and one with parameters loses them."""
    (again,) = _on_reserved(requests.list_engagements(**query), ReservedEngagements({}, {}))

    assert again.query == later


def _left_over(*exchanges: Exchange) -> FakeRun:
    """Return a run with members that were made for it, one that was removed, and one of the target file."""
    emails = {"u_made": "new@example.com", "u_stays": "stays@example.com", "u_gone": "gone@example.com", "u_real": None}
    members = {user: Member(user, email, "member" if email else None, None) for user, email in emails.items()}
    run = FakeRun(lambda sent: make_exchange(sent, 200, {"data": []}), [*exchanges])
    run.fixtures = SimpleNamespace(
        members=members,
        other_organization=lambda: OTHER,
        scoped_key=lambda scope: Credential.bearer(scope, "key-of-one"),
    )
    results = {
        role_changes: SimpleNamespace(bystander=members["u_stays"]),
        two_organizations: SimpleNamespace(edited="edited"),
    }
    run.scenarios = SimpleNamespace(result_if_any=results.get)
    return run


def test_members_made_for_the_run_are_removed() -> None:
    """The member whose key is still used, a removed one and one of the target file are left alone."""
    run = _left_over(make_exchange(requests.remove_member("u_gone"), 200, {"data": {}}))

    _remove_members(run, _members_left(run), {})

    assert [(sent.operation.id, sent.identifier) for sent in run.sent] == [("removeMember", "u_made")]


@pytest.mark.parametrize(("status", "keys"), [(200, [OTHER]), (403, [])])
def test_the_key_of_an_admin_is_used_after_its_removal(status: int, keys: list[Credential]) -> None:
    """It is not used if the removal was refused."""
    run = _left_over()
    run.respond = lambda sent: make_exchange(sent, status, {"data": {}})
    members = {"u_admin": Member("u_admin", "admin@example.com", "admin", OTHER)}

    reads = _remove_members(run, members, {"u_admin": "admin"})

    assert [sent.request for sent in reads] == [requests.get_organization().with_key(key) for key in keys]


def test_the_admin_key_of_the_last_changes_is_of_a_listed_admin() -> None:
    """A member that has another role by now, or that has no key, is passed over."""
    members = {
        "u_changed": Member("u_changed", "changed@example.com", "admin", CHANGED),
        "u_keyless": Member("u_keyless", "keyless@example.com", "admin", None),
        "u_admin": Member("u_admin", "admin@example.com", "admin", OTHER),
    }

    assert _key_of_admin(members, {"u_changed": "member", "u_keyless": "admin", "u_admin": "admin"}) == OTHER
    assert _key_of_admin(members, {}) is None


def test_engagements_of_the_other_organization_are_deleted_by_its_key() -> None:
    """Those that the run created with the main key, or deleted already, are left alone."""
    creation = requests.create_engagement({})
    run = _left_over(
        make_exchange(creation, 201, {"data": {"id": "own"}}),
        make_exchange(creation.with_key(OTHER), 201, {"data": {"id": "theirs"}}),
        make_exchange(creation.with_key(OTHER), 201, {"data": {"id": "gone"}}),
        make_exchange(requests.delete_engagement("gone").with_key(OTHER), 200, {"data": {}}),
    )

    _by_other_organization(run)

    deleted = [(sent.identifier, sent.key_name) for sent in run.sent if sent.method == "DELETE"]
    assert deleted == [("theirs", OTHER.name)]
    filters = [dict(sent.query).get("status") for sent in run.sent if sent.operation.id == "listEngagements"]
    assert filters[0] == "archived"  # right after the others are gone
    assert {sent.key_name for sent in run.sent} == {OTHER.name}
