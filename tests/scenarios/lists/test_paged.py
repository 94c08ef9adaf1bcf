"""Expected engagements of a list, by the exchanges of the run."""

from __future__ import annotations

from conformance.scenarios.lists.paged import named_in
from conformance.wire import requests
from conformance.wire.requests import Credential
from tests.fakes.exchanges import make_exchange
from tests.fakes.runs import FakeRun


def test_only_engagements_of_the_run_are_expected() -> None:
    """Engagements of another key, and records that a target file makes below an engagement, are not expected."""
    create = requests.create_engagement({})
    other = create.with_key(Credential.bearer("other_organization", "key-of-others"))
    sent = {"own": create, "other": other, "record": create.as_probe("POST", "/api/v1/engagements/own/tasks")}
    made = [make_exchange(request, 201, {"data": {"id": name}}) for name, request in sent.items()]

    assert named_in(FakeRun(exchanges=made), "createEngagement") == {"own"}
