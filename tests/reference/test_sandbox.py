"""Operator's interface: JSON-RPC."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.reference.conftest import Visitor

RPC = "/sandbox/rpc"
MEMBERS = "/api/v1/organizations/current/members"
ORGANIZATION = "/api/v1/organizations/current"


@pytest.mark.parametrize("token", ["wrong", "", "é"])
def test_token_is_asked_for(visitor: Visitor, token: str) -> None:
    """Only the token is accepted, not an API key."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "create_key", "params": {"scopes": []}}

    assert visitor.post(RPC, message, headers={"Authorization": f"Bearer {token}".encode()}).status_code == 401
    assert visitor.post(RPC, message, key=visitor.key).status_code == 401


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("no_such_method", {}, -32601),
        ("create_key", {}, -32602),
        ("create_key", {"scopes": "engagements:read"}, -32602),
        ("create_key", {"scopes": [[]]}, -32602),
        ("create_member", {"role": "owner"}, -32602),
        ("create_member", {}, -32602),
        ("read_mail", {}, -32602),
        ("read_mail", {"to": 1}, -32602),
        ("create_subordinate", {"engagementId": "none", "kind": "task"}, -32602),
        ("create_subordinate", {"engagementId": "none", "kind": "nonsense"}, -32602),
        ("subordinate_exists", {"engagementId": "none", "kind": "task"}, -32602),
    ],
)
def test_bad_calls_have_codes_of_json_rpc(visitor: Visitor, method: str, params: dict[str, Any], code: int) -> None:
    """An unknown method and invalid parameters have the codes of JSON-RPC."""
    assert visitor.rpc(method, **params)["code"] == code


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"{", -32700),
        (b"[]", -32600),
        (b"{}", -32600),
        (b'{"jsonrpc": "2.0", "method": 1}', -32600),
        (b'{"jsonrpc": "2.0", "method": "create_organization", "params": []}', -32602),
    ],
)
def test_messages_that_are_none(visitor: Visitor, content: bytes, code: int) -> None:
    """An invalid request has its JSON-RPC code."""
    response = visitor.send("POST", RPC, content=content, key=visitor.app.bootstrap.sandbox_token).json()

    assert (response["jsonrpc"], response["id"], response["error"]["code"]) == ("2.0", None, code)


def test_notification_has_no_response(visitor: Visitor) -> None:
    """A notification is carried out without a response."""
    message = {"jsonrpc": "2.0", "method": "create_member", "params": {"role": "admin"}}

    response = visitor.post(RPC, message, key=visitor.app.bootstrap.sandbox_token)

    assert (response.status_code, response.content) == (204, b"")
    assert visitor.get(ORGANIZATION).json()["data"]["memberCount"] == 4


def test_new_member_is_listed_and_has_a_key(visitor: Visitor) -> None:
    """A provisioned member is listed and has a key."""
    member = visitor.rpc("create_member", role="admin")

    (listed,) = [item for item in visitor.get(MEMBERS).json()["data"] if item["id"] == member["userId"]]
    assert (listed["email"], listed["role"]) == (member["email"], "admin")
    assert visitor.get(ORGANIZATION, key=member["key"]).status_code == 200


def test_new_organizations_are_apart(visitor: Visitor) -> None:
    """Each call provisions another organization."""
    keys = [visitor.key, visitor.other, *(visitor.rpc("create_organization")["key"] for _ in range(2))]

    assert len({visitor.get(ORGANIZATION, key=key).json()["data"]["id"] for key in keys}) == 4
