"""Visibility of every choice at the open points of responses."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from conformance.reference.latitude.responses import RESPONSE_POINTS
from tests.reference.probes import (
    ENGAGEMENTS,
    GUEST,
    INVITE,
    MEMBERS,
    NONE,
    ORGANIZATION,
    Probe,
    created,
    edited,
    expect_every_value_to_show,
    invited,
    listed,
    unarchive,
)

if TYPE_CHECKING:
    from conformance.reference.latitude.point import Point
    from tests.reference.conftest import Visitor


def archive(visitor: Visitor) -> object:
    """Archive for the first time."""
    return visitor.post(visitor.at(visitor.engagement()["id"]) + "/archive").status_code


def default_order(visitor: Visitor) -> object:
    """List engagements without a sort."""
    made = {name: visitor.engagement(name)["id"] for name in "bac"}
    visitor.patch(visitor.at(made["a"]), {"description": "changed"})
    return [item["name"] for item in visitor.get(ENGAGEMENTS).json()["data"]]


def tie_order(visitor: Visitor) -> object:
    """List engagements with the same creation time."""
    visitor.clock.step = 0
    made = [visitor.engagement(f"{number}")["id"] for number in range(9)]
    found = [item["id"] for item in visitor.get(f"{ENGAGEMENTS}?sort=createdAt").json()["data"]]
    return found == made, found == made[::-1], found == sorted(made)


def collation(visitor: Visitor) -> object:
    """List names that collations sort differently."""
    for name in ("a", "B", "Ác"):
        visitor.engagement(name)
    return [item["name"] for item in visitor.get(f"{ENGAGEMENTS}?sort=name&order=asc").json()["data"]]


def member_order(visitor: Visitor) -> object:
    """List members whose names, addresses and times sort differently."""
    visitor.rpc("create_member", role="member")
    return [member["name"] for member in visitor.get(MEMBERS).json()["data"]]


def identifier(visitor: Visitor) -> object:
    """Return the length of an identifier and whether it has an underscore."""
    identifier = visitor.engagement()["id"]
    return len(identifier), "_" in identifier


def first(path: str, *fields: str) -> Probe:
    """Return the fields of a resource."""
    return lambda visitor: [visitor.get(path).json()["data"][field] for field in fields]


PROBES: dict[str, Probe] = {
    "create_status": created(),
    "invite_status": invited(GUEST),
    "update_status": edited({"name": "x"}),
    "archive_status": archive,
    "unarchive_status": unarchive,
    "update_answer": lambda visitor: set(
        visitor.patch(visitor.at(visitor.engagement()["id"]), {"name": "x"}).json()["data"]
    ),
    "unarchive_answer": unarchive,
    "never_described": lambda visitor: visitor.engagement().get("description", "absent"),
    "never_seen": lambda visitor: visitor.member("member")["lastSeenAt"],
    "extra_members": lambda visitor: set(visitor.engagement()),
    "empty_total_pages": listed(""),
    "error_message": lambda visitor: visitor.get(NONE).json()["error"]["message"],
    "challenge": lambda visitor: visitor.get(NONE, key="unknown").headers.get("WWW-Authenticate"),
    "identifier_shape": identifier,
    "clock_ticks": lambda visitor: {visitor.engagement()["createdAt"][-4:] for _ in range(2)} == {"000Z"},
    "invitation_expiry": lambda visitor: visitor.post(INVITE, GUEST).json()["data"]["expiresAt"][-4:] == "000Z",
    "default_sort": default_order,
    "member_order": member_order,
    "tie_order": tie_order,
    "name_collation": collation,
    "settings_defaults": first(ORGANIZATION, "settings"),
    "plan_name": first(ORGANIZATION, "plan"),
}


@pytest.mark.parametrize("point", RESPONSE_POINTS, ids=lambda point: point.name)
def test_every_value_shows(visit: Callable[..., Visitor], point: Point) -> None:
    """No two values of a point give the same result."""
    expect_every_value_to_show(visit, point, PROBES[point.name])
