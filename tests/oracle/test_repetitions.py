"""Answers to what is so already are left open; those to what changes something are not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.oracle.repetitions import repetitions
from conformance.wire.call import JSON_HEADERS, encode
from conformance.wire.exchange import Exchange
from tests.conftest import make_exchange


def change(operation: str, body: dict[str, Any] | None = None, status: int | None = 200) -> Exchange:
    """A change that was asked for."""
    made = make_exchange(operation, status, {"data": {}})
    return replace(made, call=replace(made.call, body=None if body is None else encode(body), headers=JSON_HEADERS))


def listed(**member: object) -> Exchange:
    """A list of one member."""
    return make_exchange("listMembers", 200, {"data": [{"id": "eng_1", **member}], "meta": {}})


def seen(status: str, operation: str = "getEngagement") -> Exchange:
    """A read of the engagement, or another answer that shows it."""
    return make_exchange(operation, 200, {"data": {"id": "eng_1", "status": status}})


def page(status: str, **item: object) -> Exchange:
    """A list of one engagement."""
    listed = {"id": "eng_1", "status": status, **item}
    return make_exchange("listEngagements", 200, {"data": [listed], "meta": {}})


ADMIN, MEMBER = ({"role": role} for role in ("admin", "member"))
INVITED = {"email": "Ann@example.com", "role": "member"}


@pytest.mark.parametrize(
    ("exchanges", "free"),
    [
        ([change("archiveEngagement")] * 2, {1}),
        ([change("archiveEngagement", status=409), change("archiveEngagement")], set()),
        ([change("archiveEngagement"), change("unarchiveEngagement"), change("archiveEngagement")], {2}),
        ([change("archiveEngagement"), change("unarchiveEngagement", status=409), change("archiveEngagement")], {2}),
        ([change("archiveEngagement"), seen("active", "unarchiveEngagement"), change("archiveEngagement")], set()),
        ([change("archiveEngagement"), seen("archived", "unarchiveEngagement"), change("archiveEngagement")], {2}),
        ([change("archiveEngagement"), seen("archived"), change("archiveEngagement")], {2}),
        ([change("archiveEngagement"), seen("active"), change("archiveEngagement")], set()),
        ([change("archiveEngagement"), page("active"), change("archiveEngagement")], set()),
        ([change("archiveEngagement"), page("active", id="eng_2"), change("archiveEngagement")], {2}),
        ([change("archiveEngagement"), page("active", id=[]), change("archiveEngagement")], {2}),
        ([change("inviteMember", INVITED)] * 2, {1}),
        ([listed(email="ann@example.com"), change("inviteMember", INVITED)], {1}),
        ([change("inviteMember", INVITED, 422), change("inviteMember", INVITED)], set()),
        ([change("inviteMember", INVITED), change("inviteMember", {**INVITED, "email": "b@example.com"})], set()),
        ([change("updateMemberRole", ADMIN)] * 2, {1}),
        ([listed(role="member"), change("updateMemberRole", MEMBER), change("updateMemberRole", ADMIN)], {1}),
        ([change("updateMemberRole", ADMIN), change("updateMemberRole", MEMBER)], set()),
        ([change("updateMemberRole", ADMIN, None), change("updateMemberRole", ADMIN)], {1}),
        ([change("updateMemberRole", ADMIN, 403), change("updateMemberRole", ADMIN)], set()),
        ([change("updateMemberRole", {"role": []})] * 2, set()),
        ([change("updateMemberRole", {"role": {}}, None), change("updateMemberRole", ADMIN)], set()),
        ([listed(role=[]), change("updateMemberRole", ADMIN)], set()),
        ([listed(id=[], role="admin"), change("updateMemberRole", ADMIN)], set()),
        ([listed(email=[]), change("inviteMember", INVITED)], set()),
        ([change("inviteMember", {"email": []})], {0}),
        ([listed(role="admin"), listed(role="member"), change("updateMemberRole", ADMIN)], set()),
    ],
)
def test_repetitions(exchanges: list[Exchange], free: set[int]) -> None:
    """The numbers of those whose answer is open."""
    assert repetitions([replace(one, number=number) for number, one in enumerate(exchanges)]) == free
