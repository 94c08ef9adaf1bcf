"""Lives of engagements with other keys than the main one."""

from __future__ import annotations

import json
from itertools import count
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from conformance.running.options import Effort
from conformance.scenarios.access.single_scope import single_permissions
from conformance.scenarios.access.two_organizations import two_organizations
from conformance.scenarios.members.role_changes import role_changes
from conformance.scenarios.tour import tour
from conformance.targets.profile import Mode
from conformance.wire.requests import Credential
from tests.fakes.exchanges import make_exchange
from tests.fakes.runs import FakeRun

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

MEMBER = Credential.bearer("member_1", "key-of-a-member")
OTHER = Credential.bearer("other_organization", "key-of-another")
RESULTS = {
    role_changes: SimpleNamespace(bystander=SimpleNamespace(credential=MEMBER)),
    single_permissions: SimpleNamespace(missing_means={"engagements:delete": "none", "organizations:read": "none"}),
    two_organizations: SimpleNamespace(own=("o1", None), other=("o2", None)),
}
FIXTURES = SimpleNamespace(scoped_key=lambda scope: Credential.bearer(scope, scope), other_organization=lambda: OTHER)


def on_tour(results: dict[Any, Any], effort: Effort = Effort.QUICK, mode: Mode = Mode.DISPOSABLE) -> FakeRun:
    """Return a run after its tour, with these results of earlier scenarios."""
    numbers = count(1)

    def respond(sent: Request) -> Exchange:
        body = {"data": {"id": sent.identifier or f"e{next(numbers)}"}}
        return make_exchange(sent.operation.id, 201 if sent.operation.id == "createEngagement" else 200, body)

    run = FakeRun(respond, fixtures=FIXTURES, effort=effort, mode=mode, options=SimpleNamespace(seed=1))
    run.scenarios = SimpleNamespace(result_if_any=results.get)
    run.name = lambda label: f"cf-{label}-{next(numbers)}"  # type: ignore[method-assign]
    tour(run)
    return run


def keys(run: FakeRun, operation: str) -> set[str]:
    """Return the names of the keys with which an operation was requested."""
    return {
        "main" if sent.credential is None else sent.credential.name
        for sent in run.sent
        if sent.operation.id == operation
    }


def test_each_key_leads_an_engagement_of_its_own() -> None:
    """A key with one permission does what that allows, and the main key what no such key may do.

    The main key also deletes what a member created.
    """
    run = on_tour(RESULTS)
    assert keys(run, "createEngagement") == keys(run, "archiveEngagement") == {
        "member_1", "engagements:write", "other_organization"
    }  # fmt: skip
    assert keys(run, "getEngagement") == {"member_1", "engagements:read", "other_organization"}
    assert keys(run, "deleteEngagement") == {"main", "other_organization"}
    assert {sent.query[-1][0] for sent in run.sent if sent.operation.id == "listMembers"} == {"role", "page"}
    assert keys(run, "listMembers") == {"member_1", "main"}
    led = {sent.identifier: sent.credential for sent in run.sent if sent.operation.id == "archiveEngagement"}
    assert len(led) == len({key.name for key in led.values() if key is not None})


def test_a_quick_run_requests_lists_of_members_with_two_keys() -> None:
    """A run that is not quick uses that of the other organization, too."""
    for effort, number in ((Effort.QUICK, 2), (Effort.STANDARD, 3)):
        run = on_tour(RESULTS, effort)
        sent = [each for each in run.sent if each.operation.id == "listMembers"][: 2 * number]
        assert [each.query for each in sent[:number]] == [sent[0].query] * number
        roles = [dict(each.query).get("role") for each in sent[number:]]
        assert roles == [None, "owner", None][:number]  # a page of owners may be past the end
        assert len({each.credential for each in sent}) == number


def test_without_other_keys_nothing_is_sent() -> None:
    """A run without other keys, one with two keys of the same organization, and one that only reads send nothing."""
    same = {two_organizations: SimpleNamespace(own=("o1", None), other=("o1", None))}
    assert on_tour({}).sent == on_tour(same).sent == on_tour(RESULTS, mode=Mode.READ_ONLY).sent == []


def test_a_description_of_two_lines_is_archived() -> None:
    """The second description has two lines and the third is empty; its engagement is archived and read afterwards."""
    run = on_tour(RESULTS)
    _, edit, cleared, *_ = (sent for sent in run.sent if sent.operation.id == "updateEngagement")
    later = [sent.operation.id for sent in run.sent if sent.identifier == edit.identifier]
    assert json.loads(cleared.body or b"") == {"description": ""}
    assert json.loads(edit.body or b"")["description"].count("\n") == 1
    assert later[:5] == [
        "getEngagement", "updateEngagement", "getEngagement", "archiveEngagement", "getEngagement"
    ]  # fmt: skip


def test_more_effort_sends_more_lives() -> None:
    """A quick run leads one engagement with each key."""
    quick, standard = (on_tour(RESULTS, effort) for effort in (Effort.QUICK, Effort.STANDARD))
    created = [sum(sent.operation.id == "createEngagement" for sent in run.sent) for run in (quick, standard)]
    assert created == [3, 18]
