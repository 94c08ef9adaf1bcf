"""Keys, permissions, isolation of organizations, and rate limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.interface.operations import SCOPES
from conformance.reference.access import digest_of
from conformance.reference.application import create_app
from conformance.reference.provisioning import THROTTLED_LIMIT
from conformance.reference.routes import OPERATIONS, Operation
from conformance.reference.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.reference.conftest import Visitor

ENGAGEMENTS = "/api/v1/engagements"
ORGANIZATION = "/api/v1/organizations/current"
BODIES = {
    "updateCurrentOrganization": {"name": "n"},
    "inviteMember": {"email": "a@example.com", "role": "member"},
    "updateMemberRole": {"role": "admin"},
    "createEngagement": {"name": "n"},
    "updateEngagement": {"name": "n"},
}
by_operation = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)


def target(visitor: Visitor, operation: Operation) -> str:
    """Return the path of an operation, with an existing resource."""
    identifier = ""
    if operation.finds == "engagement":
        identifier = visitor.engagement()["id"]
    elif operation.finds == "member":
        identifier = visitor.member("member")["id"]
    return "/".join(("", "api", "v1", *(identifier if part is None else part for part in operation.path)))


@by_operation
@pytest.mark.parametrize(
    "authorization", ["", "Bearer", "Bearer ", "Bearer unknown", "Basic {key}", "{key}", "Bearer {key}x"]
)
def test_without_a_good_key_there_is_only_401(visitor: Visitor, operation: Operation, authorization: str) -> None:
    """The key is checked before the path, the body and the parameters."""
    headers = {"Authorization": authorization.format(key=visitor.key)}
    path = target(visitor, operation)

    for where in (path, f"{path}?page=abc", f"{ENGAGEMENTS}/none"):
        response = visitor.send(operation.method, where, BODIES.get(operation.id), headers=headers)
        assert (response.status_code, response.json()["error"]["code"]) == (401, "UNAUTHORIZED")


@by_operation
@pytest.mark.parametrize("scope", SCOPES)
def test_each_scope_is_good_for_what_it_is_listed_for(visitor: Visitor, operation: Operation, scope: str) -> None:
    """A key with one permission permits exactly the operations that need it."""
    key = visitor.rpc("create_key", scopes=[scope])["key"]
    needed = operation.scope or {"listEngagements": "engagements:read"}.get(operation.id, "engagements:write")

    response = visitor.send(operation.method, target(visitor, operation), BODIES.get(operation.id), key=key)

    assert (response.status_code == 403) == (scope != needed)


@by_operation
def test_another_organization_finds_nothing(visitor: Visitor, operation: Operation) -> None:
    """Resources of an organization do not exist for another organization."""
    path = target(visitor, operation)

    response = visitor.send(operation.method, path, BODIES.get(operation.id), key=visitor.other)

    if operation.finds:
        assert response.status_code == 404
    elif operation.id == "listEngagements":
        assert response.json()["data"] == []
    assert visitor.get(ORGANIZATION).json()["data"]["name"] == "Acme Security"
    assert visitor.member("member")


def test_keys_are_kept_as_digests(tmp_path: Path) -> None:
    """A database file holds the digest of a key, and no usable key."""
    path = tmp_path / "reference.db"
    app = create_app(Store(str(path)))
    app.close()

    kept = path.read_bytes()
    assert digest_of(app.bootstrap.api_key).encode() in kept
    assert app.bootstrap.api_key.encode() not in kept


@by_operation
def test_every_response_states_the_limit(visitor: Visitor, operation: Operation) -> None:
    """Successes and refusals have the three headers, with a reset in whole seconds."""
    path = target(visitor, operation)
    for key in (visitor.key, "unknown", visitor.rpc("create_key", scopes=[])["key"]):
        response = visitor.send(operation.method, path, BODIES.get(operation.id), key=key)
        assert response.headers["X-RateLimit-Limit"] == "100000"
        assert 0 <= int(response.headers["X-RateLimit-Remaining"]) < 100_000
        assert 0 < int(response.headers["X-RateLimit-Reset"]) - visitor.clock.seconds <= 61


def test_remaining_falls_by_one(visitor: Visitor) -> None:
    """Each request of a window reduces X-RateLimit-Remaining by one."""
    left = [int(visitor.get(ORGANIZATION).headers["X-RateLimit-Remaining"]) for _ in range(3)]

    assert [left[0] - remaining for remaining in left] == [0, 1, 2]


@pytest.mark.parametrize("window", ["fixed", "sliding", "bucket"])
def test_throttled_key_is_refused_and_served_again(visit: Callable[..., Visitor], window: str) -> None:
    """Past the limit, requests are refused until the reset, and other keys still work."""
    visitor = visit(rate_window=window)
    key = visitor.rpc("create_throttled_key")["key"]
    responses = [visitor.post(ENGAGEMENTS, {"name": "n"}, key=key) for _ in range(20)]
    refused = responses[-1]

    assert [response.status_code for response in responses] == [201] * THROTTLED_LIMIT + [429] * (20 - THROTTLED_LIMIT)
    assert refused.json()["error"]["code"] == "RATE_LIMITED"
    assert (refused.headers["X-RateLimit-Limit"], refused.headers["X-RateLimit-Remaining"]) == (
        str(THROTTLED_LIMIT),
        "0",
    )
    assert visitor.get(ENGAGEMENTS).json()["meta"]["total"] == THROTTLED_LIMIT
    visitor.clock.seconds = float(refused.headers["X-RateLimit-Reset"])
    assert [visitor.get(ENGAGEMENTS, key=key).status_code for _ in range(THROTTLED_LIMIT)] == [200] * THROTTLED_LIMIT
