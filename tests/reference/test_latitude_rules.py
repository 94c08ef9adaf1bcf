"""Visibility of every choice at the open points of permissions, changes and effects."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

from conformance.interface.operations import SCOPES
from conformance.reference.latitude.rules import RULE_POINTS
from tests.reference.probes import (
    ENGAGEMENTS,
    GUEST,
    INVITE,
    MEMBERS,
    NONE,
    ORGANIZATION,
    Probe,
    expect_every_value_to_show,
    invited,
    unarchive,
)

if TYPE_CHECKING:
    from email.message import EmailMessage

    from conformance.reference.latitude.point import Point
    from tests.reference.conftest import Visitor


def archive_again(visitor: Visitor) -> object:
    """Archive for the second time."""
    path = visitor.archived()
    before = visitor.get(path).json()["data"]["updatedAt"]
    response = visitor.post(f"{path}/archive")
    refreshed = visitor.get(path).json()["data"]["updatedAt"] > before
    return response.status_code, response.json().get("data", {}).keys(), refreshed


def duplicates(visitor: Visitor) -> object:
    """Create engagements with equal and similar names, and with a former one."""
    visitor.engagement("A b")
    visitor.archived("c")
    visitor.patch(visitor.at(visitor.engagement("d")["id"]), {"name": "e"})
    return [visitor.post(ENGAGEMENTS, {"name": name}).status_code for name in ("A b", "a  B", "c", "d")]


def refusal_order(visitor: Visitor) -> object:
    """Send requests with two errors each."""
    key = visitor.rpc("create_key", scopes=["organizations:read"])["key"]
    known = visitor.at(visitor.engagement()["id"])
    return [
        visitor.patch(known, {"name": 1}, key=key).status_code,
        visitor.patch(NONE, {"name": "n"}, key=key).status_code,
        visitor.patch(NONE, {"name": 1}).status_code,
    ]


def implications(visitor: Visitor) -> object:
    """Return the statuses of three operations, with a key for each permission on engagements."""
    path = visitor.at(visitor.engagement()["id"])
    keys = [
        visitor.rpc("create_key", scopes=[f"engagements:{action}"])["key"] for action in ("read", "write", "delete")
    ]
    tries = [("GET", path), ("PATCH", path), ("DELETE", NONE)]
    return [visitor.send(*request, {"name": "n"}, key=key).status_code for key in keys for request in tries]


def allowed_by(method: str, path: str) -> Probe:
    """Return the statuses of a request with a key for each permission."""

    def probe(visitor: Visitor) -> object:
        keys = [visitor.rpc("create_key", scopes=[scope])["key"] for scope in SCOPES]
        return [visitor.send(method, path, key=key).status_code == 403 for key in keys]

    return probe


def removed_key(visitor: Visitor) -> object:
    """Send a request with the key of a removed member."""
    member = visitor.rpc("create_member", role="member")
    visitor.delete(visitor.at(member["userId"], MEMBERS))
    return visitor.get(ORGANIZATION, key=member["key"]).status_code


def same_role(visitor: Visitor) -> object:
    """Send two no-op role changes."""
    path = visitor.at(visitor.member("member")["id"], MEMBERS)
    responses = [visitor.patch(path, {"role": "member"}) for _ in range(2)]
    times = {response.json().get("data", {}).get("updatedAt") for response in responses}
    return responses[0].status_code, len(times)


def same_values(visitor: Visitor) -> object:
    """Send a no-op edit."""
    before = visitor.engagement()
    return (
        visitor.patch(visitor.at(before["id"]), {"name": before["name"]}).json()["data"]["updatedAt"]
        > before["updatedAt"]
    )


def owner_role(visitor: Visitor) -> object:
    """Send a change of an owner's role."""
    return visitor.patch(visitor.at(visitor.member("owner")["id"], MEMBERS), {"role": "member"}).status_code


def parallel_edit(visitor: Visitor) -> object:
    """Send two parallel edits, also of an unknown engagement."""
    path = visitor.at(visitor.engagement()["id"])
    responses = visitor.together([("PATCH", path, {"name": "a"}), ("PATCH", path, {"name": "b"})])
    assert {response.status_code for response in visitor.together([("PATCH", NONE, {"name": "a"})] * 2)} == {404}
    return sorted(response.status_code for response in responses)


def change_clock(visitor: Visitor) -> object:
    """Return whether two parallel edits, of which the first waits longer, move updatedAt back."""
    path, waits = visitor.at(visitor.engagement()["id"]), iter([0.2, 0.0])
    with patch("random.uniform", lambda _, most: next(waits) if most > 0.1 else 0.0):
        first, second = visitor.together([("PATCH", path, {"name": "a"}), ("PATCH", path, {"name": "b"})])
    times = [response.json()["data"]["updatedAt"] for response in (first, second)]
    return times[0] < times[1] and visitor.get(path).json()["data"]["updatedAt"] == times[0]


def list_reading(visitor: Visitor) -> object:
    """Return total and items of lists that are read while an engagement is created."""
    visitor.engagement("a")
    total = visitor.get(ENGAGEMENTS).json()["meta"]["total"]
    with patch("random.uniform", lambda _, most: most):
        torn, _ = visitor.together([("GET", ENGAGEMENTS, None), ("POST", ENGAGEMENTS, {"name": "b"})])
    shown = torn.json()
    assert len(visitor.get(ENGAGEMENTS).json()["data"]) == total + 1
    return shown["meta"]["total"] - total, len(shown["data"]) - total, shown["data"][0]["name"]


def subordinate_deletion(visitor: Visitor) -> object:
    """Return whether a record exists right after the deletion; it does not later."""
    owner = visitor.engagement()["id"]
    record = visitor.rpc("create_subordinate", engagementId=owner, kind="task")["id"]
    visitor.delete(visitor.at(owner))
    params = {"engagementId": owner, "kind": "task", "id": record}
    at_once = visitor.rpc("subordinate_exists", **params)["exists"]
    visitor.wait(0.4)
    assert not visitor.rpc("subordinate_exists", **params)["exists"]
    return at_once


def unarchive_in_time(visitor: Visitor) -> object:
    """Unarchive, and return the state of the engagement right after and later."""
    path = visitor.archived()
    status = visitor.post(f"{path}/unarchive").status_code
    at_once = visitor.get(path).json()["data"]
    visitor.wait(0.4)
    return status, at_once["status"], visitor.get(path).json()["data"]["status"], unarchive(visitor)


def mail_dispatch(visitor: Visitor) -> object:
    """Return the number of mails right after the invitation; there is one later."""
    visitor.post(INVITE, GUEST)
    at_once = len(visitor.rpc("read_mail", to=GUEST["email"])["messages"])
    visitor.wait(0.4)
    assert len(visitor.rpc("read_mail", to=GUEST["email"])["messages"]) == 1
    return at_once


def mail_form(visitor: Visitor) -> object:
    """Return the format of an invitation's mail; its link is readable in every format."""
    sent: list[EmailMessage] = []
    visitor.app.service.postman.send = sent.append  # type: ignore[assignment, method-assign]  # a stand-in
    visitor.post(INVITE, GUEST)
    assert re.search(
        r"http://reference/invitations/[\w-]+", visitor.rpc("read_mail", to=GUEST["email"])["messages"][0]["text"]
    )
    return sent[0].get_content_type(), sent[0].get("Content-Transfer-Encoding")


def busy_neighbours(visitor: Visitor) -> object:
    """Count the engagements of other users, the archived ones among them, and the states of a setting."""
    settings = [visitor.get(ORGANIZATION).json()["data"]["settings"]["requireTwoFactor"] for _ in range(400)]
    totals = [visitor.get(f"{ENGAGEMENTS}{query}").json()["meta"]["total"] for query in ("", "?status=archived")]
    return [*totals, len(set(settings))]


PROBES: dict[str, Probe] = {
    "refusal_order": refusal_order,
    "scope_implication": implications,
    "list_scope": allowed_by("GET", ENGAGEMENTS),
    "unarchive_scope": allowed_by("POST", f"{NONE}/unarchive"),
    "bearer_case": lambda visitor: (
        visitor.get(ORGANIZATION, headers={"Authorization": f"bearer {visitor.key}"}).status_code
    ),
    "removed_member_key": removed_key,
    "foreign_resource": lambda visitor: (
        visitor.get(visitor.at(visitor.engagement()["id"]), key=visitor.other).status_code
    ),
    "duplicate_name": duplicates,
    "archive_again": archive_again,
    "archived_edit": lambda visitor: visitor.patch(visitor.archived(), {"name": "x"}).status_code,
    "unarchive": unarchive_in_time,
    "unarchive_active": lambda visitor: visitor.post(visitor.at(visitor.engagement()["id"]) + "/unarchive").status_code,
    "same_values": same_values,
    "same_role": same_role,
    "owner_role": owner_role,
    "invite_member": invited({**GUEST, "email": "mia@acme-security.example"}),
    "invite_again": invited(GUEST, GUEST),
    "parallel_edit": parallel_edit,
    "change_clock": change_clock,
    "list_reading": list_reading,
    "subordinate_deletion": subordinate_deletion,
    "mail_dispatch": mail_dispatch,
    "mail_form": mail_form,
    "company": busy_neighbours,
}


def test_an_engagement_archived_again_stays_archived(visit: Callable[..., Visitor]) -> None:
    """A delayed unarchiving has no effect if the engagement is archived again before."""
    visitor = visit(unarchive="activates-later", archive_again="200")
    path = visitor.archived()
    visitor.post(f"{path}/unarchive")

    assert visitor.post(f"{path}/archive").status_code == 200
    visitor.wait(0.4)
    assert visitor.get(path).json()["data"]["status"] == "archived"


@pytest.mark.parametrize("point", RULE_POINTS, ids=lambda point: point.name)
def test_every_value_shows(visit: Callable[..., Visitor], point: Point) -> None:
    """No two values of a point give the same result."""
    expect_every_value_to_show(visit, point, PROBES[point.name])
