"""Rules of the organization, its members and its invitations."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.reference.conftest import Visitor

ORGANIZATION = "/api/v1/organizations/current"
MEMBERS = f"{ORGANIZATION}/members"
INVITE = f"{MEMBERS}/invite"
ENGAGEMENTS = "/api/v1/engagements"


def test_only_the_name_can_be_changed(visitor: Visitor) -> None:
    """An update changes the name, and keeps slug, plan and settings."""
    before = visitor.get(ORGANIZATION).json()["data"]

    response = visitor.patch(
        ORGANIZATION, {"name": "New", "slug": "new", "plan": "free", "settings": {}, "memberCount": 9}
    )

    assert response.status_code == 200
    assert {"id", "name", "slug", "updatedAt"} == set(response.json()["data"])
    assert visitor.get(ORGANIZATION).json()["data"] == {**before, "name": "New"}


def test_counts_agree_with_the_lists(visitor: Visitor) -> None:
    """The counts of the organization equal the totals of its lists."""
    visitor.engagement()
    visitor.archived()

    data = visitor.get(ORGANIZATION).json()["data"]

    assert data["memberCount"] == visitor.get(MEMBERS).json()["meta"]["total"] == 3
    assert data["engagementCount"] == visitor.get(ENGAGEMENTS).json()["meta"]["total"] == 2


def test_members_are_filtered_by_role(visitor: Visitor) -> None:
    """A role filter returns the members of that role."""
    for role in ("owner", "admin", "member"):
        response = visitor.get(MEMBERS, params={"role": role}).json()
        assert [member["role"] for member in response["data"]] == [role]
        assert response["meta"]["total"] == 1


def test_role_changes_and_shows(visitor: Visitor) -> None:
    """A member becomes an admin, in the response and in the list."""
    user = visitor.member("member")["id"]

    response = visitor.patch(visitor.at(user, MEMBERS), {"role": "admin"})

    assert response.status_code == 200
    assert response.json()["data"] == {"id": user, "role": "admin", "updatedAt": response.json()["data"]["updatedAt"]}
    assert visitor.get(MEMBERS, params={"role": "admin"}).json()["meta"]["total"] == 2


@pytest.mark.parametrize(
    "body", [{}, {"role": None}, {"role": "owner"}, {"role": "Admin"}, {"role": 1}, {"role": "guest"}]
)
def test_invalid_roles_are_refused(visitor: Visitor, body: dict[str, Any]) -> None:
    """A member can become admin or member, never owner."""
    assert visitor.patch(visitor.at(visitor.member("member")["id"], MEMBERS), body).status_code == 422


def test_owner_is_out_of_reach(visitor: Visitor) -> None:
    """An owner's role cannot change, and the last owner cannot be removed."""
    owner = visitor.at(visitor.member("owner")["id"], MEMBERS)

    assert visitor.patch(owner, {"role": "member"}).status_code == 403
    assert visitor.delete(owner).status_code == 409
    assert visitor.member("owner")


def test_removed_member_loses_everything_at_once(visitor: Visitor) -> None:
    """Removal ends the membership and the member's keys, and no others."""
    gone, stays = visitor.rpc("create_member", role="member"), visitor.rpc("create_member", role="admin")
    path = visitor.at(gone["userId"], MEMBERS)

    assert visitor.delete(path).json() == {"data": {"removed": True, "userId": gone["userId"]}}

    assert visitor.get(ENGAGEMENTS, key=gone["key"]).status_code == 401
    assert visitor.get(ENGAGEMENTS, key=stays["key"]).status_code == 200
    assert visitor.delete(path).status_code == visitor.patch(path, {"role": "admin"}).status_code == 404
    assert visitor.get(ORGANIZATION).json()["data"]["memberCount"] == 4


def test_use_of_a_key_shows_as_last_seen(visitor: Visitor) -> None:
    """LastSeenAt is the time of the last request with the member's key."""
    member = visitor.rpc("create_member", role="admin")
    visitor.clock.seconds += 60

    visitor.get(ORGANIZATION, key=member["key"])

    (shown,) = [item for item in visitor.get(MEMBERS).json()["data"] if item["id"] == member["userId"]]
    assert shown["lastSeenAt"] > shown["joinedAt"]


def test_invitation_is_pending_for_seven_days(visitor: Visitor) -> None:
    """An invitation shows the sent values, and changes neither members nor counts."""
    response = visitor.post(INVITE, {"email": "New.One@example.com", "role": "admin"})

    assert response.status_code == 201
    data = response.json()["data"]
    assert (data["email"], data["role"], data["status"]) == ("New.One@example.com", "admin", "pending")
    lifetime = datetime.fromisoformat(data["expiresAt"]) - datetime.fromisoformat(data["createdAt"])
    assert lifetime == timedelta(days=7)
    assert visitor.get(ORGANIZATION).json()["data"]["memberCount"] == 3


def test_members_and_the_invited_are_not_invited_again(visitor: Visitor) -> None:
    """The address of a member or of an open invitation is a conflict, until the invitation expires."""
    invitation = {"email": "a@example.com", "role": "member"}
    assert visitor.post(INVITE, {**invitation, "email": visitor.member("owner")["email"].upper()}).status_code == 409

    assert visitor.post(INVITE, invitation).status_code == 201
    assert visitor.post(INVITE, {**invitation, "email": "A@example.com"}).status_code == 409
    visitor.clock.seconds += 8 * 86_400
    assert visitor.post(INVITE, invitation).status_code == 201


@pytest.mark.parametrize(
    "change",
    [
        {"email": None},
        {"email": 1},
        {"email": "nobody"},
        {"email": "a b@c.d"},
        {"email": "a@b\r\nBcc: c@d"},
        {"email": ""},
        {"role": None},
        {"role": "owner"},
        {"role": 1},
        {"role": "guest"},
    ],
)
def test_invalid_invitations_are_refused(visitor: Visitor, change: dict[str, Any]) -> None:
    """Invalid addresses and roles are refused, and no mail is sent."""
    response = visitor.post(INVITE, {"email": "a@example.com", "role": "member", **change})

    assert (response.status_code, response.json()["error"]["code"]) == (422, "VALIDATION_ERROR")
    assert visitor.rpc("read_mail", to="a@example.com") == {"messages": []}


def test_accepting_an_invitation_makes_a_member_once(visitor: Visitor) -> None:
    """The link in the mail works once."""
    visitor.post(INVITE, {"email": "new@example.com", "role": "admin"})
    (mail,) = visitor.rpc("read_mail", to="new@example.com")["messages"]
    link = mail["text"].split()[-1]

    assert [visitor.get(link).status_code for _ in range(2)] == [200, 404]
    assert visitor.get(MEMBERS, params={"role": "admin"}).json()["meta"]["total"] == 2
    assert visitor.post(INVITE, {"email": "new@example.com", "role": "admin"}).status_code == 409
