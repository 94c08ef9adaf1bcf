"""Refused requests in the combinations of operation, key and state that a run has not tried."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.running.options import Effort
from conformance.scenarios.access.every_operation import untouchable_member
from conformance.scenarios.access.reserved_engagements import (
    LastChange,
    ReservedEngagements,
    engagements_in_every_state,
)
from conformance.scenarios.access.single_scope import single_permissions
from conformance.scenarios.access.unauthenticated import NO_KEY, wrong_keys
from conformance.scenarios.members.removal import removal
from conformance.scenarios.untried import untried_refusals
from conformance.targets.capabilities import MissingMeans
from conformance.targets.fixtures import Member
from conformance.targets.profile import Mode
from conformance.wire import requests
from conformance.wire.requests import Credential
from tests.fakes.exchanges import make_exchange
from tests.fakes.runs import FakeRun

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

SCOPE = "engagements:write"
WRITER, LEFT = Credential.bearer(SCOPE, "writes"), Credential.bearer("member_1", "has-left")
UNKNOWN = Credential("unknown_key", "Bearer unknown", invalid=True)
IDS = {LastChange.NEW: "e_new", LastChange.DELETED: "e_deleted"}
ALLOWED = [
    SimpleNamespace(before=make_exchange(request, 200))
    for request in (requests.get_engagement("e_9"), requests.unarchive_engagement("e_9"))
]
RESULTS: dict[Any, Any] = {
    engagements_in_every_state: ReservedEngagements(
        IDS,
        {"e_new": make_exchange(requests.get_engagement("e_new"), 200, {"data": {"id": "e_new", "status": "active"}})},
    ),
    wrong_keys: SimpleNamespace(
        sent={"unknown": [SimpleNamespace(exchange=make_exchange(requests.list_members().with_key(UNKNOWN), 401))]}
    ),
    single_permissions: SimpleNamespace(used_keys=((SCOPE, WRITER),)),
    removal: SimpleNamespace(
        member=SimpleNamespace(credential=LEFT), attempts=ALLOWED, response=SimpleNamespace(accepted=True)
    ),
}


def refused(sent: Request) -> Exchange:
    """Refuse every request."""
    return make_exchange(sent, 401)


def untried(
    *before: Exchange, member: Member | None = None, effort: Effort = Effort.QUICK
) -> tuple[set[tuple[str, ...]], FakeRun]:
    """Return what the scenario sends after earlier exchanges: operation, key and target."""
    run = FakeRun(refused, list(before), effort=effort, mode=Mode.DISPOSABLE)
    found = {**RESULTS, untouchable_member: member}

    def result(scenario: Any) -> Any:
        if found.get(scenario) is None:
            raise MissingMeans("member", "none")
        return found[scenario]

    run.scenarios = SimpleNamespace(result_if_any=found.get, result=result)
    run.address = "{}@example.com".format
    untried_refusals(run)
    return {(sent.operation.id, sent.key_name, sent.identifier or "") for sent in run.sent}, run


def test_keys_are_tried_on_every_state() -> None:
    """No key and unknown ones are refused everything, one with a permission what the interface does not allow it."""
    sent, run = untried(effort=Effort.STANDARD)

    for identifier in IDS.values():
        assert {key for operation, key, of in sent if (operation, of) == ("deleteEngagement", identifier)} == {
            "no_key", "unknown_key"
        }  # fmt: skip
    assert {key for operation, key, _ in sent if operation == "updateCurrentOrganization"} == {
        "no_key", "unknown_key", SCOPE
    }  # fmt: skip
    assert not [sent for sent in run.sent if sent.operation.parameter == "userId"]
    assert all(sent.repeatable for sent in run.sent)


def test_a_quick_run_sends_no_key_and_an_unknown_one_by_turns() -> None:
    """Each of them tries every operation in every second state; a key with a permission is not left out."""
    sent, _ = untried()

    tried = [
        {key for operation, key, of in sent if (operation, of) == ("archiveEngagement", each)} for each in IDS.values()
    ]
    assert sorted(map(sorted, tried)) == [["no_key"], ["unknown_key"]]
    assert ("updateCurrentOrganization", SCOPE, "") in sent


def test_a_quick_run_sends_keys_of_the_organization_by_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are refused every engagement alike; an operation that only one of them is refused is not left out."""
    names = ("organizations:read", "organizations:write")
    used = tuple((name, Credential.bearer(name, f"key-of-{name}")) for name in names)
    monkeypatch.setitem(RESULTS, single_permissions, SimpleNamespace(used_keys=used))

    sent, _ = untried()

    tried = [{key for _, key, of in sent if of == each} & {*names} for each in IDS.values()]
    assert tried == [{*names}, {*names}]
    once = [(operation, of) for operation, key, of in sent if key in names and of]
    assert len(once) == len({*once})
    assert ("updateCurrentOrganization", "organizations:read", "") in sent


def test_what_was_tried_is_not_sent_again() -> None:
    """A combination with a response is left out; another state of the same target's operation is not."""
    creation = make_exchange(requests.create_engagement({"name": "x"}), 201, {"data": {"id": "e_new"}})
    deletion = make_exchange(requests.delete_engagement("e_new").with_key(NO_KEY), 401)

    sent, _ = untried(creation, deletion, effort=Effort.STANDARD)

    assert ("deleteEngagement", "no_key", "e_new") not in sent
    assert ("deleteEngagement", "no_key", "e_deleted") in sent


def test_a_removed_members_key_is_tried_for_what_it_was_allowed() -> None:
    """Other operations, and those that the state of the engagement forbids, may be refused with another status."""
    sent, _ = untried()

    assert {entry for entry in sent if entry[1] == "member_1"} == {("getEngagement", "member_1", "e_new")}


def test_a_member_that_was_made_for_the_run_is_tried() -> None:
    """A member of the target file, and one that has been removed since, are left alone."""
    made, real = Member("u_made", "new@example.com", "admin", None), Member("u_real", None, None, None)
    gone = make_exchange(requests.remove_member("u_made"), 200)

    sent, _ = untried(member=made)
    assert {operation for operation, _, of in sent if of == "u_made"} == {"updateMemberRole", "removeMember"}
    for left, _ in (untried(member=real), untried(gone, member=made)):
        assert not [entry for entry in left if entry[2].startswith("u_")]
