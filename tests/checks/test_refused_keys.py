"""Outcomes of requests without a valid key: a 401 is right, regardless of other responses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.test_s5_authentication import test_unknown_keys_are_refused as judge_unknown_keys
from conformance.interface.operations import OPERATIONS
from conformance.oracle.bulk import Sent
from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.scenarios.access.every_operation import OperationInputs
from conformance.scenarios.access.reserved_engagements import LastChange, ReservedEngagements
from conformance.scenarios.access.unauthenticated import UnauthenticatedInputs, WrongKeys
from tests.fakes.exchanges import make_exchange
from tests.fakes.runs import FakeRun, unexpected

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange

ERROR: dict[str, Any] = {"error": {"code": "UNAUTHORIZED", "message": "No.", "statusCode": 401}}


def tried(**statuses: dict[str, int]) -> WrongKeys:
    """Return requests for all operations, by the kind of key; all get 401 except the given operations."""
    sent = {
        kind: tuple(
            Sent("a key", _responded(operation, statuses.get(kind, {}).get(operation, 401))) for operation in OPERATIONS
        )
        for kind in ("none", "unknown")
    }
    inputs = OperationInputs(
        engagement="eng_1",
        user="usr_1",
        role="member",
        address="a@example.com",
        name="a name",
        description="a description",
    )
    return WrongKeys(
        UnauthenticatedInputs(
            inputs, inputs, ReservedEngagements({LastChange.NEW: "eng_1"}, {}), sends_proper_invitations=True
        ),
        sent,
        (),
        (),
        (),
    )


def judge(sent: WrongKeys, *elsewhere: Exchange) -> None:
    """Judge unknown keys in a run with further exchanges."""
    judge_unknown_keys(FakeRun(unexpected, list(elsewhere)), sent)


def _responded(operation: str, status: int) -> Any:
    return make_exchange(operation, status, {"data": []} if status == 200 else ERROR)


def test_a_401_is_right_where_no_key_is_asked_for() -> None:
    """A service that serves a list without a key, but refuses unknown keys, breaks only one requirement."""
    judge(tried(none={"listMembers": 200}))


def test_success_with_an_invalid_key_is_left_to_the_requirement_on_no_key() -> None:
    """A success with an invalid key is left to the requirement on requests without a key, and named in the reason."""
    with pytest.raises(CantTell) as undecided:
        judge(tried(none={"listMembers": 200}, unknown={"listMembers": 200}))

    assert str(undecided.value).startswith("listMembers with a key got 200")
    assert "401" not in str(undecided.value)


def test_an_unknown_key_that_is_served_alone_is_a_fault() -> None:
    """A success with an unknown key alone is a failure, since no other requirement states it."""
    with pytest.raises(NonConformity):
        judge(tried(unknown={"listMembers": 200}))


def test_an_unknown_key_that_another_scenario_sends_is_judged() -> None:
    """The state of the engagement may be a reason for a service to serve an unknown key."""
    served = make_exchange("archiveEngagement", 200, {"data": []}, number=7)
    with pytest.raises(NonConformity, match="archiveEngagement with an unknown key returned 200"):
        judge(tried(), served)
