"""What a run deletes before it ends: its own engagements, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from conformance.checks.final_deletion import clearing
from conformance.checks.paged_lists import creation_times
from conformance.running.options import Effort
from conformance.wire import requests
from conformance.wire.requests import Credential
from tests.conftest import make_exchange

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

RECORD = requests.create_engagement({}).as_probe("POST", "/api/v1/engagements/own/tasks")
"""How a record below an engagement is made where the target file says how."""


class Sending:
    """A run that has sent something, and notes what is sent next."""

    def __init__(self, sent: Iterable[Exchange]) -> None:
        self.wire = SimpleNamespace(exchanges=list(sent))
        self.sent: list[Request] = []
        self.engagements_before, self.effort = 0, Effort.QUICK

    def send(self, one: Request) -> Exchange:
        """Answer whatever it is with an empty list."""
        self.sent.append(one)
        data: list[object] | dict[str, object] = [] if one.operation.response == "list" else {}
        return make_exchange(one.operation.id, 404 if one.identifier else 200, {"data": data, "meta": {}})

    def send_all(self, batch: Iterable[Request]) -> list[Exchange]:
        """Answer each of them."""
        return [self.send(one) for one in batch]


def made(identifier: str, at: str = "2026-01-02T03:04:05.678Z", **changes: Any) -> Exchange:
    """A creation that was answered with an id."""
    body = {"data": {"id": identifier, "createdAt": at}}
    one = make_exchange("createEngagement", 201, body)
    return replace(one, request=changes.get("call", one.request))


def test_only_engagements_of_the_run_are_deleted() -> None:
    """A record below an engagement may have the id of somebody else's engagement; another key's are another's."""
    own = made("own").request
    run = Sending([
        made("own"),
        made("7", request=RECORD),
        made("other", request=own.with_key(Credential.bearer("other_organization", "key-of-others"))),
    ])  # fmt: skip

    clearing(cast("Run", run))

    assert [one.identifier for one in run.sent if one.operation.id == "deleteEngagement"] == ["own"]


def test_a_record_has_no_part_in_the_times_of_engagements() -> None:
    """Nor where it has the id of one."""
    run = Sending([made("own"), made("own", "2026-02-03T04:05:06.789Z", request=RECORD)])

    times = creation_times(cast("Run", run))

    assert {name: time.month for name, time in times.items()} == {"own": 1}
