"""The final deletion: the run's own engagements, and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.scenarios.engagements.final_deletion import final_deletion
from conformance.wire import requests
from tests.fakes.exchanges import make_exchange
from tests.fakes.runs import FakeRun

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

RECORD = requests.create_engagement({}).as_probe("POST", "/api/v1/engagements/own/tasks")
"""The target file's way to make a record below an engagement."""


def respond(request: Request) -> Exchange:
    """Return an empty list, and no engagement."""
    data: list[object] | dict[str, object] = [] if request.operation.response == "list" else {}
    return make_exchange(request, 404 if request.identifier else 200, {"data": data, "meta": {}})


def made(
    identifier: str, at: str = "2026-01-02T03:04:05.678Z", *, request: Request | str = "createEngagement"
) -> Exchange:
    """Return a creation with an id in its response."""
    return make_exchange(request, 201, {"data": {"id": identifier, "createdAt": at}})


def test_only_what_the_run_made_is_deleted() -> None:
    """Records with the id of another user's engagement are left alone."""
    run = FakeRun(respond, [made("own"), made("7", request=RECORD)])

    final_deletion(run)

    assert [request.identifier for request in run.sent if request.method == "DELETE"] == ["own"]
