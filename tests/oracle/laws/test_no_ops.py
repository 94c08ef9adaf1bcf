"""No-op changes, whose responses are open, and changes with an effect, whose responses are not."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from conformance.oracle.laws.no_ops import no_op_changes
from conformance.wire.exchange import Exchange
from tests.fakes.exchanges import make_exchange


def change(operation: str, body: object = ..., status: int | None = 200) -> Exchange:
    """Return a change."""
    return make_exchange(operation, status, {"data": {}}, sent=body)


def listed(operation: str = "listMembers", **item: object) -> Exchange:
    """Return a list of one item, after all other exchanges."""
    return make_exchange(operation, 200, {"data": [{"id": "eng_1", **item}], "meta": {}}, at=60)


def read(status: str, identifier: str = "eng_1") -> Exchange:
    """Return a read of an engagement, after all other exchanges."""
    return make_exchange("getEngagement", 200, {"data": {"id": identifier, "status": status}}, at=60)


ARCHIVE = change("archiveEngagement")

ADMIN, MEMBER = ({"role": role} for role in ("admin", "member"))
INVITED = {"email": "Ann@example.com", "role": "member"}


@pytest.mark.parametrize(
    ("exchanges", "free"),
    [
        ([change("archiveEngagement")] * 2, {1}),
        ([change("archiveEngagement", status=409), change("archiveEngagement")], set()),
        ([ARCHIVE, change("unarchiveEngagement"), ARCHIVE], {2}),
        ([ARCHIVE, change("unarchiveEngagement", status=409), ARCHIVE], {2}),
        ([ARCHIVE, change("unarchiveEngagement"), read("archived"), ARCHIVE], {3}),
        ([ARCHIVE, change("unarchiveEngagement"), read("active"), ARCHIVE], set()),
        ([ARCHIVE, change("unarchiveEngagement"), read("active", "eng_2"), ARCHIVE], {3}),
        ([ARCHIVE, change("unarchiveEngagement"), listed("listEngagements", status="active"), ARCHIVE], set()),
        ([ARCHIVE, replace(read("active"), started_at=ARCHIVE.started_at - timedelta(seconds=1)), ARCHIVE], {2}),
        ([change("archiveEngagement", status=None), ARCHIVE], {1}),
        ([change("inviteMember", INVITED)] * 2, {1}),
        ([listed(email="ann@example.com"), change("inviteMember", INVITED)], {1}),
        ([change("inviteMember", INVITED, 422), change("inviteMember", INVITED)], set()),
        ([change("inviteMember", INVITED), change("inviteMember", {**INVITED, "email": "b@example.com"})], set()),
        ([change("updateMemberRole", ADMIN)] * 2, {1}),
        ([listed(role="member"), change("updateMemberRole", MEMBER), change("updateMemberRole", ADMIN)], {1}),
        ([change("updateMemberRole", ADMIN), change("updateMemberRole", MEMBER)], set()),
        ([change("updateMemberRole", ADMIN, None), change("updateMemberRole", ADMIN)], {1}),
        ([listed(role="member"), change("updateMemberRole", ADMIN, None), change("updateMemberRole", MEMBER)], {2}),
        ([change("updateMemberRole", ADMIN, 403), change("updateMemberRole", ADMIN)], set()),
        ([change("updateMemberRole", {"role": []})] * 2, set()),
        ([change("updateMemberRole", {"role": {}}, None), change("updateMemberRole", ADMIN)], set()),
        ([listed(role=[]), change("updateMemberRole", ADMIN)], set()),
        ([listed(id=[], role="admin"), change("updateMemberRole", ADMIN)], set()),
        ([listed(email=[]), change("inviteMember", INVITED)], set()),
        ([change("inviteMember", {"email": []})], {0}),
        ([listed(role="admin"), listed(role="member"), change("updateMemberRole", ADMIN)], set()),
        ([listed(email="ann@example.com"), change("removeMember"), change("inviteMember", INVITED)], set()),
        ([listed(email="ann@example.com"), change("removeMember", status=409), change("inviteMember", INVITED)], {2}),
        (
            [
                change("inviteMember", INVITED),
                listed(email="ann@example.com"),
                change("removeMember"),
                change("inviteMember", INVITED),
            ],
            {3},
        ),
    ],
)
def test_repetitions(exchanges: list[Exchange], free: set[int]) -> None:
    """Only the numbers of exchanges with an open response are returned."""
    assert no_op_changes(_in_turn(exchanges)) == free


@pytest.mark.parametrize(
    ("operation", "sent"), [("archiveEngagement", ...), ("inviteMember", INVITED), ("updateMemberRole", ADMIN)]
)
def test_which_of_two_changes_at_once_came_second_is_unknown(operation: str, sent: object) -> None:
    """Both responses are open."""
    at_once = [replace(change(operation, sent), number=number) for number in range(2)]
    assert no_op_changes(at_once) == {0, 1}


def _in_turn(exchanges: list[Exchange]) -> list[Exchange]:
    """Return exchanges with numbers, each a second later than it would be."""
    return [
        replace(exchange, number=number, started_at=exchange.started_at + timedelta(seconds=number))
        for number, exchange in enumerate(exchanges)
    ]
