"""Refusals of keys beside the main one that their earlier requests rule out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.wire import requests
from conformance.wire.requests import Credential
from tests.oracle.ledger.ledgers import broken as broken_of_engagements
from tests.oracle.ledger.people import READER, STRANGER, UNKNOWN, WRITER, Course

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.wire.requests import Request

MEMBER = Credential.bearer("member_1", "key-of-a-member")
READ, RENAME = requests.get_organization(), requests.update_organization({})
OF_MEMBERS = "removal-spares-other-members"


def refused(key: Credential, *steps: tuple[Request, int]) -> list[str]:
    """Return what is broken by requests with a key and the statuses of their responses."""
    course = Course()
    for request, status in steps:
        course.send(request.with_key(key), status=status)
    return course.broken()


@pytest.mark.parametrize(
    ("key", "statuses", "rules"),
    [
        (READER, (200, 403), ["scope-allows-get-organization"]),
        (READER, (200, 401, 200), ["scope-allows-get-organization"]),
        (READER, (200, 401, 401), []),
        (READER, (403, 401, 200), []),
        (READER, (200, 429, 500, 200), []),
        (WRITER, (200, 403), []),
        (MEMBER, (200, 401), [OF_MEMBERS]),
        (MEMBER, (200, 403, 200), [OF_MEMBERS]),
        (MEMBER, (401, 403, 200), []),
        (STRANGER, (200, 403), []),
        (UNKNOWN, (200, 401), []),
    ],
)
def test_a_key_is_refused_what_it_was_allowed(key: Credential, statuses: tuple[int, ...], rules: list[str]) -> None:
    """A 403 after a success is wrong; so is a 401 if the key, or its member, goes on being served."""
    assert refused(key, *((READ, status) for status in statuses)) == rules


def test_another_operation_may_need_a_permission_that_the_key_lacks() -> None:
    """An operation that is open for a key may be refused, whatever else the key does."""
    assert refused(MEMBER, (READ, 200), (RENAME, 403), (READ, 200)) == []


@pytest.mark.parametrize("change", [requests.update_member_role("u2", {"role": "admin"}), requests.remove_member("u2")])
def test_a_change_of_members_may_be_the_reason(change: Request) -> None:
    """The key of a member whose role has changed, or who was removed, may have lost what it could do."""
    course = Course()
    course.send(READ.with_key(MEMBER), 200)
    course.send(change, 200)
    course.send(READ.with_key(MEMBER), status=401)

    assert course.broken() == []


@pytest.mark.parametrize(
    ("statuses", "rules"),
    [((200, 403), ["get-engagement-succeeds"]), ((200, 401), ["get-engagement-succeeds"]), ((403, 200), [])],
)
def test_reads_of_engagements(make_client: Callable[..., Any], statuses: tuple[int, ...], rules: list[str]) -> None:
    """A member's key that has read an engagement may read it again."""
    client = make_client()
    identifier = client.created()
    for status in statuses:
        client.send(requests.get_engagement(identifier).with_key(MEMBER), status=None if status == 200 else status)

    assert broken_of_engagements(client.exchanges) == rules


def test_an_edit_of_another_engagement_may_be_refused(make_client: Callable[..., Any]) -> None:
    """A service may let a member edit some engagements only."""
    client = make_client()
    first, other = client.created(), client.created()
    edit = {"description": "A new description"}
    client.send(requests.update_engagement(first, edit).with_key(MEMBER))
    client.send(requests.update_engagement(other, edit).with_key(MEMBER), status=403)
    assert broken_of_engagements(client.exchanges) == []

    client.send(requests.update_engagement(first, {"description": "Another one again"}).with_key(MEMBER), status=403)
    assert broken_of_engagements(client.exchanges) == ["update-engagement-succeeds"]
