"""Requests that keys with few permissions may send."""

from __future__ import annotations

import json

import pytest

from conformance.oracle.permissions import KEYS
from conformance.running.options import Effort
from conformance.scenarios.access.every_operation import OperationInputs
from conformance.scenarios.access.reserved_engagements import ReservedEngagements
from conformance.scenarios.access.single_scope import Permissions, _other_requests, _refused_inputs, _refused_requests
from conformance.targets.profile import Mode
from conformance.wire import requests
from conformance.wire.requests import Credential
from tests.fakes.exchanges import make_exchange
from tests.fakes.runs import FakeRun

KEYS_TRIED = ("organizations:read", "engagements:read", "engagements:write", "engagements:delete", "no permission")
INPUTS = OperationInputs(
    engagement="e", user="u", role="admin", address="a@example.com", name="name", description="description"
)


@pytest.mark.parametrize(
    ("scope", "fields"), [("engagements:write", {"name", "description"}), ("four permissions", {"name"})]
)
def test_both_forms_of_a_creation_are_permitted(scope: str, fields: set[str]) -> None:
    """A key with a single permission creates with a description, one with several without."""
    creation = dict(_other_requests(FakeRun(mode=Mode.DISPOSABLE), scope, INPUTS))["createEngagement"]

    assert json.loads(creation.body or b"").keys() == fields


@pytest.mark.parametrize("effort", list(Effort))
@pytest.mark.parametrize(("has", "other"), [("member", "admin"), ("admin", "member"), ("owner", "admin")])
@pytest.mark.parametrize("number", range(1, len(KEYS_TRIED) + 1))
def test_the_last_refused_role_change_is_to_another_role(effort: Effort, has: str, other: str, number: int) -> None:
    """The member then shows whether every key's change was carried out, whatever the keys and the member's role."""
    run = FakeRun(effort=effort, mode=Mode.DISPOSABLE, address=lambda word: f"{word}@example.com")
    tried = Permissions("label", ReservedEngagements({}, {}), user="u")
    tried.keys = {scope: Credential.bearer(scope, "key") for scope in KEYS if scope in KEYS_TRIED[:number]}
    listed = make_exchange(requests.list_members(), 200, {"data": [{"id": "u", "role": has}]})

    inputs = _refused_inputs(run, tried, [listed])
    sent = [
        (scope, json.loads(request.body or b"")["role"])
        for scope in tried.keys
        for operation, request in _refused_requests(run, scope, inputs, tried)
        if operation == "updateMemberRole"
    ]

    assert {scope for scope, _ in sent} == {*tried.keys}
    assert {role for scope, role in sent if scope == [*tried.keys][-1]} == {other}
    assert len({role for _, role in sent}) == (1 if number == 1 else 2)
