"""Tests of requests: their paths, bodies and effects."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.interface.operations import OPERATIONS
from conformance.wire import requests
from conformance.wire.requests import Credential, Request

INVALID = Credential("unknown", "Bearer nobodys", invalid=True)
OF_ANOTHER = Credential.bearer("other_organization", "k")
CREATION = requests.create_engagement({"name": "one"})
READING = requests.get_engagement("e1")


@pytest.mark.parametrize(
    ("sent", "path"),
    [
        (requests.get_organization(), "/api/v1/organizations/current"),
        (READING, "/api/v1/engagements/e1"),
        (Request(operation=OPERATIONS["getEngagement"]), "/api/v1/engagements/"),
        (requests.archive_engagement("a/b?c#d e"), "/api/v1/engagements/a%2Fb%3Fc%23d%20e/archive"),
        (requests.remove_member(".."), "/api/v1/organizations/current/members/%2E%2E"),
        (requests.remove_member("."), "/api/v1/organizations/current/members/%2E"),
        (requests.remove_member("..."), "/api/v1/organizations/current/members/..."),
        (requests.get_engagement("\ud800"), "/api/v1/engagements/%ED%A0%80"),
        (requests.list_members(role=None, page=2), "/api/v1/organizations/current/members?page=2"),
        (requests.list_members(role="a b&c"), "/api/v1/organizations/current/members?role=a+b%26c"),
        (READING.as_probe("GET", "/else?where"), "/else?where"),
    ],
)
def test_a_request_goes_to_one_path(sent: Request, path: str) -> None:
    """No identifier leads to another resource."""
    assert sent.path == path


def test_each_operation_has_a_request() -> None:
    """A request has exactly the given identifier, body and parameters."""
    body = {"name": "größer \ud800"}
    made = {
        "getCurrentOrganization": requests.get_organization(),
        "updateCurrentOrganization": requests.update_organization(body),
        "listMembers": requests.list_members(role="admin", page=None, perPage=2),
        "inviteMember": requests.invite_member(body),
        "updateMemberRole": requests.update_member_role("one", body),
        "removeMember": requests.remove_member("one"),
        "listEngagements": requests.list_engagements(status="active", order=None),
        "createEngagement": requests.create_engagement(body),
        "getEngagement": requests.get_engagement("one"),
        "updateEngagement": requests.update_engagement("one", body),
        "deleteEngagement": requests.delete_engagement("one"),
        "archiveEngagement": requests.archive_engagement("one"),
        "unarchiveEngagement": requests.unarchive_engagement("one"),
    }
    queries = {"listMembers": (("role", "admin"), ("perPage", "2")), "listEngagements": (("status", "active"),)}

    assert list(made) == list(OPERATIONS)
    for name, request in made.items():
        assert request.operation is OPERATIONS[name]
        assert request.identifier == ("one" if OPERATIONS[name].parameter else None)
        sent = b'{"name": "gr\xc3\xb6\xc3\x9fer \xed\xa0\x80"}' if OPERATIONS[name].takes_body else None
        assert (request.body, request.headers) == (sent, requests.JSON_HEADERS if sent else ())
        assert request.query == queries.get(name, ())


def test_a_request_may_get_another_body() -> None:
    """The body has the media type of JSON, another one or none."""
    for words, headers in (
        ((b"<x>",), (("Content-Type", "application/json"),)),
        ((b"<x>", "text/xml"), (("Content-Type", "text/xml"),)),
        ((b"<x>", None), ()),
    ):
        request = CREATION.with_body(*words)
        assert (request.operation, request.body, request.headers) == (CREATION.operation, b"<x>", headers)


@pytest.mark.parametrize(
    ("sent", "may_change"),
    [
        (CREATION, True),
        (CREATION.with_key(OF_ANOTHER), True),
        (CREATION.with_key(INVALID), False),
        (READING, False),
        (READING.with_key(INVALID), False),
        (READING.as_probe("DELETE", "/api/v1/engagements/e1"), True),
    ],
)
def test_every_request_but_get_may_change_data(sent: Request, *, may_change: bool) -> None:
    """Every request but GET with a possibly valid key may change data."""
    assert sent.may_change is may_change


@pytest.mark.parametrize(
    ("sent", "harmless"), [(READING, True), (CREATION, False), (replace(CREATION, repeatable=True), True)]
)
def test_reads_and_idempotent_requests_are_harmless(sent: Request, *, harmless: bool) -> None:
    """Reads and idempotent requests may be sent twice."""
    assert sent.harmless is harmless


def test_a_request_is_of_the_interface_unless_it_is_a_probe() -> None:
    """A probe has its own method."""
    probe = READING.as_probe("PUT", "/api/v1/engagements/e1")

    assert (READING.is_proper, READING.method) == (True, "GET")
    assert (probe.is_proper, probe.method) == (False, "PUT")


def test_bodies_are_json_by_default() -> None:
    """A request without a body has no Content-Type."""
    assert (READING.body, READING.headers) == (None, ())
    assert (CREATION.body, CREATION.headers) == (b'{"name": "one"}', (("Content-Type", "application/json"),))
    assert CREATION.with_body(b"{", None).headers == ()
    assert CREATION.with_body(b"{", "text/plain").headers == (("Content-Type", "text/plain"),)


def test_a_key_is_not_shown_by_its_credential() -> None:
    """The repr shows the name of the credential and no key."""
    assert repr(OF_ANOTHER) == "Credential(name='other_organization', invalid=False)"


def test_credentials_are_compared_by_what_they_show() -> None:
    """Equality of credentials ignores ``invalid``, which a recording does not have."""
    assert Credential("unknown", "Bearer nobodys") == INVALID
    assert Credential("unknown", "Bearer somebodys") != INVALID
