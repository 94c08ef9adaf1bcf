"""Values of the service, sent with other keys than the main one."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from conformance.scenarios.access.reserved_engagements import LastChange, ReservedEngagements
from conformance.scenarios.engagements.creating import creating
from conformance.scenarios.last_look import _change
from conformance.scenarios.members.revoked_key import _edit
from conformance.scenarios.members.role_changes import role_changes
from conformance.targets.fixtures import Member
from conformance.targets.profile import Mode
from conformance.wire import requests
from conformance.wire.requests import Credential
from tests.fakes.exchanges import make_exchange
from tests.fakes.runs import FakeRun

WRITER, MEMBER = Credential.bearer("engagements:write", "key-that-writes"), Credential.bearer("member_1", "key-of-one")
ADMIN = Credential.bearer("member_2", "key-of-admin")


@pytest.mark.parametrize(
    ("sent", "status", "claims", "expected"),
    [({"status": "archived"}, 200, True, True), ({"status": "archived"}, 422, True, False),
     ({"id": "x"}, 200, True, False), ({"status": "archived"}, 200, False, False)],
)  # fmt: skip
def test_a_members_edit_claims_what_the_service_ignores(
    sent: dict[str, str], status: int, *, claims: bool, expected: bool
) -> None:
    """It sends a status only if an edit of the main key with one was accepted: a refusal would hide the edit."""
    run = FakeRun(exchanges=[make_exchange("updateEngagement", status, {}, sent=sent)])
    body = json.loads(_edit(run, "e1", claims=claims).body or b"")
    assert ("status" in body) is expected
    assert body.keys() >= {"name", "description"}


def _about(identifier: str, run: FakeRun) -> list[tuple[str, Credential | None]]:
    return [(sent.operation.id, sent.credential) for sent in run.sent if sent.identifier == identifier]


def test_the_last_edit_leaves_the_description_alone() -> None:
    """A description that a refused edit sent shows if it comes with a later edit; only then one is sent.

    A member's key reads an engagement before the main key edits it, and then archives it, and another one after an
    invalid edit of another key. An admin's key edits an archived one in vain.
    """
    fixtures = SimpleNamespace(scoped_key=lambda _: WRITER)
    run = FakeRun(lambda sent: make_exchange(sent, 200, {}), fixtures=fixtures, mode=Mode.DEFAULT)
    creation = make_exchange(requests.create_engagement({}), 201, {"data": {"id": "idle"}})
    done = {
        role_changes: SimpleNamespace(bystander=Member("u_stays", "stays@x.test", "member", MEMBER)),
        creating: SimpleNamespace(described=SimpleNamespace(response=creation)),
    }
    run.scenarios = SimpleNamespace(result_if_any=done.get)
    _change(run, ReservedEngagements({state: state.value for state in LastChange}, {}, "freed", "name"), ADMIN)
    edits = [json.loads(sent.body or b"") for sent in run.sent if sent.identifier == LastChange.EDITED.value]
    invalid = {"name": 5, "description": "cf-in-vain"}  # by a member
    assert edits == [{"name": "freed"}, {"description": "Described at the end of the run"}, invalid]
    assert _about("idle", run) == [
        ("getEngagement", MEMBER), ("updateEngagement", None), ("archiveEngagement", MEMBER)
    ]  # fmt: skip
    assert _about(LastChange.UNARCHIVED.value, run) == [
        ("updateEngagement", WRITER), ("archiveEngagement", MEMBER), ("updateEngagement", None)
    ]  # fmt: skip
    in_vain = [sent.credential for sent in run.sent if sent.identifier == LastChange.EDIT_REFUSED.value]
    assert in_vain == [ADMIN, None]
    assert not [sent for sent in run.sent if sent.operation.id == "inviteMember"]  # in disposable organizations only
