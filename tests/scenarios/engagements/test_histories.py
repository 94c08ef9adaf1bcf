"""Histories of the run's engagements, and the choice of those that a cascade deletes."""

from __future__ import annotations

from conformance.scenarios.engagements.cascade import cascade
from conformance.scenarios.engagements.histories import archived_last, histories
from conformance.targets.capabilities import MissingMeans
from conformance.wire import requests
from conformance.wire.requests import OTHER_KEY, Credential
from tests.scenarios.engagements.test_cascade import Service

OTHER = Credential.bearer(OTHER_KEY, "k")
MEMBER = Credential.bearer("member", "k")


class Strict(Service):
    """A service that makes no records in archived engagements."""

    def make_subordinate(self, engagement: str, kind: str) -> str:
        """Make a record, unless the engagement is archived."""
        if engagement in archived_last(histories(self)):
            raise MissingMeans(f"subordinates:{kind}", "The engagement is archived.")
        return super().make_subordinate(engagement, kind)


def a_run(kind: type[Service] = Service) -> Service:
    """Return a run with engagements of four histories."""
    run = kind({})
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
    """It creates the active engagements that are missing, and spares one."""
    run = a_run()
    before = len(run.sent)
    found = cascade(run)

    sent = [(request.operation.id, request.identifier) for request in run.sent[before:]]
    assert [operation for operation, _ in sent].count("createEngagement") == 3
    deleted = [deletion.request.identifier for deletion in found.deletions]
    assert {"e1", "e2", "e3", "e4"} < {*deleted}
    assert found.neighbour not in deleted
    assert {record.engagement for record in found.kept} == {found.neighbour}
    assert "e3" in found.archived


def test_archived_engagements_may_refuse_records() -> None:
    """Records of every kind are made before the engagements are archived."""
    found = cascade(a_run(Strict))

    assert [len(records) for records in found.deleted_records] == [14, 6, 6, 6, 6, 0]
    assert all(record.was_there and not record.is_there for records in found.deleted_records for record in records)
