"""What is said of records whose engagement was deleted, and of those whose deletion failed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from conformance.checks.test_s2_cascade import Cascade, _judge_gone, cascade
from conformance.oracle.outcomes import CantTell, NonConformity
from tests.conftest import make_exchange

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

SUCCESSES = {"createEngagement": 201, "archiveEngagement": 200, "deleteEngagement": 200, "getEngagement": 404}
"""What an honest service answers, reads only being sent once all is deleted."""


class Service:
    """A service of engagements with records, which all go with an engagement; and a run that talks to it.

    Args:
        responses: Statuses other than an honest service's, by operation or by operation and number of the engagement.
        stays: Whether records stay when their engagement is deleted.
    """

    def __init__(self, responses: dict[object, int], *, stays: bool = False) -> None:
        self.responses, self.stays = responses, stays
        self.records: dict[str, str] = {}
        self.numbers = count(1)
        self.sent: list[str] = []
        self.fixtures = SimpleNamespace(make_subordinate=self.make, subordinate_exists=self.exists)

    def name(self, label: str) -> str:
        """A name."""
        return label

    def send(self, sent: Request) -> Exchange:
        """Answer a call."""
        operation = sent.operation.id
        identifier = sent.identifier or f"e{next(self.numbers)}"
        status = self.responses.get((operation, identifier), self.responses.get(operation, SUCCESSES[operation]))
        self.sent.append(f"{operation} {identifier}")
        if operation == "deleteEngagement" and status == 200 and not self.stays:
            self.records = {record: owner for record, owner in self.records.items() if owner != identifier}
        return make_exchange(operation, status, {"data": {"id": identifier}} if status < 300 else {"error": {}})

    def send_all(self, requests: Iterable[Request]) -> list[Exchange]:
        """Answer calls."""
        return [self.send(one) for one in requests]

    def wait_until(self, condition: Callable[[], bool]) -> bool:
        """Have no patience."""
        return condition()

    def make(self, engagement: str, kind: str) -> str:
        """Make a record."""
        record = f"{kind} {next(self.numbers)}"
        self.records[record] = engagement
        return record

    def exists(self, engagement: str, kind: str, record: str) -> bool:
        """Look for a record."""
        return self.records.get(record) == engagement and record.startswith(kind)


def seen(responses: dict[object, int] | None = None, *, stays: bool = False) -> tuple[Service, Cascade]:
    """What the journey saw of a service."""
    service = Service(responses or {}, stays=stays)
    run: Any = service
    return service, cascade(cast("Run", run))


def test_records_that_go() -> None:
    """Nothing is said, and no engagement read."""
    service, found = seen()

    _judge_gone(found, "task")
    assert not any(one.startswith("getEngagement") for one in service.sent)


def test_records_that_stay() -> None:
    """They are what is wrong where the engagement itself is gone."""
    _, found = seen(stays=True)

    with pytest.raises(NonConformity, match="the task of a deleted engagement is still there"):
        _judge_gone(found, "task")


def test_records_of_an_engagement_that_stays() -> None:
    """That it is still there is for another requirement to judge."""
    _, found = seen({"getEngagement": 200}, stays=True)

    with pytest.raises(CantTell, match="the engagement itself is still there"):
        _judge_gone(found, "task")


def test_records_where_another_deletion_fails() -> None:
    """Those of the engagement that was deleted were looked for all the same, and are gone."""
    _, found = seen({("deleteEngagement", "e2"): 409})

    with pytest.raises(CantTell, match="deleteEngagement returned 409"):
        _judge_gone(found, "task")
