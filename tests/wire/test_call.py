"""Calls: where they go, and what they could do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.operations import OPERATIONS
from conformance.wire import call as calls
from conformance.wire.call import Call, Credential

INVALID = Credential("unknown", "Bearer nobodys", invalid=True)
OF_ANOTHER = Credential.bearer("other_organization", "k")
CREATION = calls.create_engagement({"name": "one"})
READING = calls.get_engagement("e1")


@pytest.mark.parametrize(
    ("call", "path"),
    [
        (calls.get_organization(), "/api/v1/organizations/current"),
        (READING, "/api/v1/engagements/e1"),
        (Call(operation=OPERATIONS["getEngagement"]), "/api/v1/engagements/"),
        (calls.archive_engagement("a/b?c#d e"), "/api/v1/engagements/a%2Fb%3Fc%23d%20e/archive"),
        (calls.remove_member(".."), "/api/v1/organizations/current/members/%2E%2E"),
        (calls.remove_member("."), "/api/v1/organizations/current/members/%2E"),
        (calls.remove_member("..."), "/api/v1/organizations/current/members/..."),
        (calls.get_engagement("\ud800"), "/api/v1/engagements/%ED%A0%80"),
        (calls.list_members(role=None, page=2), "/api/v1/organizations/current/members?page=2"),
        (calls.list_members(role="a b&c"), "/api/v1/organizations/current/members?role=a+b%26c"),
        (READING.as_probe("GET", "/else?where"), "/else?where"),
    ],
)
def test_a_call_goes_to_one_path(call: Call, path: str) -> None:
    """Whatever a service gives for an identifier leads to no other resource."""
    assert call.path == path


@pytest.mark.parametrize(
    ("call", "may_change"),
    [
        (CREATION, True),
        (CREATION.with_key(OF_ANOTHER), True),
        (CREATION.with_key(INVALID), False),
        (READING, False),
        (READING.with_key(INVALID), False),
        (READING.as_probe("DELETE", "/api/v1/engagements/e1"), True),
    ],
)
def test_what_could_change_something_is_known(call: Call, *, may_change: bool) -> None:
    """Whatever is no GET and shows a key of somebody's."""
    assert call.may_change is may_change


@pytest.mark.parametrize(
    ("call", "harmless"), [(READING, True), (CREATION, False), (replace(CREATION, repeatable=True), True)]
)
def test_what_may_be_sent_twice_is_known(call: Call, *, harmless: bool) -> None:
    """What reads, and what has the same effect again."""
    assert call.harmless is harmless


def test_a_call_is_of_the_interface_unless_it_is_a_probe() -> None:
    """Which has a method of its own."""
    probe = READING.as_probe("PUT", "/api/v1/engagements/e1")

    assert (READING.is_proper, READING.method) == (True, "GET")
    assert (probe.is_proper, probe.method) == (False, "PUT")


def test_bodies_are_announced_as_json_unless_told_otherwise() -> None:
    """A call without a body announces none."""
    assert (READING.body, READING.headers) == (None, ())
    assert (CREATION.body, CREATION.headers) == (b'{"name": "one"}', (("Content-Type", "application/json"),))
    assert CREATION.with_body(b"{", None).headers == ()
    assert CREATION.with_body(b"{", "text/plain").headers == (("Content-Type", "text/plain"),)


def test_a_key_is_not_shown_by_its_credential() -> None:
    """Its name is."""
    assert repr(OF_ANOTHER) == "Credential(name='other_organization', invalid=False)"


def test_credentials_are_compared_by_what_they_show() -> None:
    """A recording does not tell what must become of them."""
    assert Credential("unknown", "Bearer nobodys") == INVALID
    assert Credential("unknown", "Bearer somebodys") != INVALID
