"""Refusals of keys beside the main one that their earlier requests rule out."""

from __future__ import annotations

from dataclasses import replace
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
        (MEMBER, (200, 401), []),
        (MEMBER, (200, 401, 200), [OF_MEMBERS]),
        (MEMBER, (200, 403, 200), [OF_MEMBERS]),
        (MEMBER, (401, 403, 200), []),
        (MEMBER, (200, 404), [OF_MEMBERS]),
        (MEMBER, (200, 405), [OF_MEMBERS]),
        (MEMBER, (200, 409), []),
        (MEMBER, (404, 200), []),
        (READER, (200, 404), ["scope-allows-get-organization"]),
        (STRANGER, (200, 403), []),
        (UNKNOWN, (200, 401), []),
    ],
)
def test_a_key_is_refused_what_it_was_allowed(key: Credential, statuses: tuple[int, ...], rules: list[str]) -> None:
    """A 403 after a success is wrong; so is a 401 if the key is served again, as it has not ended then."""
    assert refused(key, *((READ, status) for status in statuses)) == rules


def test_a_page_past_the_end_may_be_refused_with_404() -> None:
    """A list without a page is never refused with 404 to a key that has got it before."""
    lists = requests.list_members(), requests.list_members(page=9)

    assert refused(MEMBER, *((request, status) for request in lists for status in (200, 404))) == [OF_MEMBERS]
    assert refused(MEMBER, (lists[1], 200), (lists[1], 404)) == []


def test_another_operation_may_need_a_permission_that_the_key_lacks() -> None:
    """An operation that is open for a key may be refused, whatever else the key does."""
    assert refused(MEMBER, (READ, 200), (RENAME, 403), (READ, 200)) == []


@pytest.mark.parametrize("change", [requests.update_member_role, lambda user_id, _: requests.remove_member(user_id)])
@pytest.mark.parametrize(("user_id", "rules"), [("u2", []), ("u3", [OF_MEMBERS])])
def test_only_a_change_of_its_member_may_be_the_reason(
    change: Callable[[str, dict[str, str]], Request], user_id: str, rules: list[str]
) -> None:
    """The key of a member whose role has changed, or who was removed, may have lost what it could do."""
    course = Course()
    course.send(READ.with_key(MEMBER), 200)
    course.send(change(user_id, {"role": "admin"}), 200)
    course.send(READ.with_key(MEMBER), status=403)

    assert course.broken() == rules


@pytest.mark.parametrize(
    ("user_id", "key", "status", "later", "rules"),
    [
        ("u2", READER, 403, (401,), ["scope-refused-changes-nothing"]),
        ("u2", UNKNOWN, 401, (401,), ["unauthenticated-changes-nothing"]),
        ("u2", STRANGER, 404, (401,), ["isolation-untouched"]),
        ("u2", READER, 403, (200,), []),
        ("u3", READER, 403, (401,), []),
        ("u2", None, 409, (401,), []),
        ("u2", None, 200, (401,), []),
    ],
)
def test_a_refused_removal_does_not_end_the_member_s_key(
    user_id: str, key: Credential | None, status: int, later: tuple[int, ...], rules: list[str]
) -> None:
    """The key of a member is served after a removal of the member that was refused for the key which sent it."""
    course = Course()
    course.send(READ.with_key(MEMBER), 200)
    course.send(replace(requests.remove_member(user_id), credential=key), status)
    for each in later:
        course.send(READ.with_key(MEMBER), each)

    assert course.broken() == rules


def test_a_refused_removal_does_not_end_a_key_that_had_ended_before() -> None:
    """A key that was refused before the refused removal, or never served, shows nothing."""
    for before in ((), (401,), (200, 401)):
        course = Course()
        for status in before:
            course.send(READ.with_key(MEMBER), status)
        course.send(requests.remove_member("u2").with_key(READER), 403)
        course.send(READ.with_key(MEMBER), 401)

        assert course.broken() == []


@pytest.mark.parametrize(("user_id", "rules"), [("u2", []), ("u3", [OF_MEMBERS])])
def test_a_removed_member_s_key_has_nothing_left_to_lose(user_id: str, rules: list[str]) -> None:
    """A key that is served although its member was removed breaks other requirements, whatever it is refused later."""
    course = Course()
    course.send(READ.with_key(MEMBER), 200)
    course.send(requests.remove_member(user_id), 200)
    for status in (200, 401, 200):
        course.send(READ.with_key(MEMBER), status=status)

    assert course.broken() == rules


@pytest.mark.parametrize(
    ("statuses", "rules"),
    [((200, 403), ["get-engagement-succeeds"]), ((200, 401, 200), ["get-engagement-succeeds"]), ((403, 200), [])],
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


@pytest.mark.parametrize("change", [requests.archive_engagement, requests.delete_engagement])
def test_a_member_may_be_denied_what_was_archived_or_deleted(
    make_client: Callable[..., Any], change: Callable[[str], Request]
) -> None:
    """Its permission may depend on the state of the engagement, or have gone with it."""
    client = make_client()
    identifier = client.created()
    client.send(requests.get_engagement(identifier).with_key(MEMBER))
    client.send(change(identifier))
    client.send(requests.get_engagement(identifier).with_key(MEMBER), status=403)

    assert broken_of_engagements(client.exchanges) == []


def test_what_a_plan_or_a_rule_may_limit_is_not_judged() -> None:
    """An invitation, and an update with other fields than the name, may be refused for what they send."""
    invited = requests.invite_member({"email": "a@x.test", "role": "admin"})
    assert refused(MEMBER, (invited, 200), (invited, 403)) == []
    assert refused(MEMBER, (RENAME, 200), (requests.update_organization({"slug": "x"}), 403)) == []
