"""Histories of the run's engagements, and the choice of those that a cascade deletes."""

from __future__ import annotations

from conformance.scenarios.engagements.cascade import cascade
from conformance.scenarios.engagements.histories import archived_last, histories
from conformance.wire import requests
from conformance.wire.requests import OTHER_KEY, Credential
from tests.scenarios.engagements.test_cascade import Service

OTHER = Credential.bearer(OTHER_KEY, "k")
MEMBER = Credential.bearer("member", "k")


def a_run() -> Service:
    """Return a run with engagements of five histories."""
    run = Service({})
    for _ in range(5):
        run.send(requests.create_engagement({"name": "one"}))
    run.send(requests.create_engagement({"name": "one"}).with_key(OTHER))
    for request in (
        requests.update_engagement("e2", {"name": "two"}).with_key(MEMBER),
        requests.archive_engagement("e3"),
        requests.archive_engagement("e4").with_key(OTHER),
        requests.delete_engagement("e5"),
    ):
        run.send(request)
    return run


def test_the_histories_of_engagements() -> None:
    """They have the changes by all keys of the organization; deleted engagements have none."""
    found = histories(a_run())

    assert found == {"e1": [], "e2": ["updateEngagement"], "e3": ["archiveEngagement"], "e4": []}
    assert archived_last(found) == ["e3"]


def test_a_cascade_uses_engagements_of_the_run() -> None:
    """It creates engagements of the missing histories only, and spares one."""
    run = a_run()
    before = len(run.sent)
    found = cascade(run)

    sent = [(request.operation.id, request.identifier) for request in run.sent[before:]]
    assert [identifier for operation, identifier in sent if operation == "createEngagement"] == [None, None]
    deleted = [deletion.request.identifier for deletion in found.deletions]
    assert {"e1", "e2", "e3"} < {*deleted}
    assert {record.engagement for record in found.kept} == {"e4"}
    assert "e4" not in deleted
    assert "e3" in found.archived
