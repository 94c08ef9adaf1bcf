"""The final deletion: the run's own engagements and members, and no others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

from conformance.scenarios.engagements.final_deletion import final_deletion
from conformance.targets.fixtures import Member
from conformance.wire import requests
from conformance.wire.requests import Credential
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
    """Records with the id of another user's engagement, and members of the target file, are left alone."""
    other = Credential.bearer("other_organization", "key-of-others")
    run = FakeRun(respond, [
        made("own"),
        made("7", request=RECORD),
        made("theirs", request=made("theirs").request.with_key(other)),
        make_exchange(requests.remove_member("u_gone"), 200, {"data": {}}),
    ])  # fmt: skip
    users = {"u_made": "new@example.com", "u_gone": "gone@example.com", "u_real": None}
    members = {user: Member(user, email, "member" if email else None, None) for user, email in users.items()}
    run.fixtures = SimpleNamespace(members=members, other_organization=lambda: other, scoped_key=lambda _: other)

    final_deletion(run)

    sent = [(request.identifier, request.key_name) for request in run.sent if request.method == "DELETE"]
    assert sent == [("own", "api_key"), ("theirs", "other_organization"), ("u_made", "api_key")]
