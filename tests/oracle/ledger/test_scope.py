"""Engagements and responses that the ledger judges, and those that it leaves out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from conformance.oracle.ledger.ledger import Ledger
from conformance.wire import requests
from conformance.wire.requests import Credential
from tests.oracle.ledger.ledgers import broken

MakeClient = Callable[..., Any]


def test_a_reused_identifier_is_not_judged(make_client: MakeClient) -> None:
    """A response could be about any of the creations with that identifier."""
    client = make_client()
    identifier = client.created("first")
    creation = requests.create_engagement({"name": "again"})
    read_it = requests.get_engagement(identifier)
    for name in ("again", "and again"):
        data = {"id": identifier, "name": name, "status": "active"}
        client.exchanges.append(client.made(creation, 201, data, client.now, 0.01))
        client.now += 0.1
        client.send(read_it)

    assert broken(client.exchanges) == []


def test_an_unknown_method_ends_the_judgement(make_client: MakeClient) -> None:
    """It may have had any effect on the engagement of its path."""
    client = make_client()
    identifier = client.created()
    put = requests.update_engagement(identifier, {"name": "put"}).as_probe("PUT", f"/api/v1/engagements/{identifier}")
    client.send(put, status=405)
    client.service.records[identifier].name = "put"
    client.send(requests.get_engagement(identifier))

    assert broken(client.exchanges) == []


def test_a_get_outside_the_interface_has_no_effect(make_client: MakeClient) -> None:
    """The response to a GET of another path is not judged either."""
    client = make_client()
    identifier = client.created()
    below = requests.get_engagement(identifier).as_probe("GET", f"/api/v1/engagements/{identifier}/targets")
    client.exchanges.append(client.made(below, 200, {"id": "t1"}, client.now, 0.01))
    client.now += 0.1
    assert broken(client.exchanges) == []

    client.service.records[identifier].name = "another"
    client.send(requests.get_engagement(identifier))
    assert broken(client.exchanges) == ["create-engagement-lasts"]


def test_requests_outside_the_interface_about_other_engagements(make_client: MakeClient) -> None:
    """Such a request about another user's engagement, or none, proves nothing."""
    client = make_client()
    client.created()
    for sent in (requests.update_engagement("theirs", {}), requests.create_engagement({"name": "x"})):
        client.send(sent.as_probe("PUT", "/api/v1/engagements"), status=405)

    assert broken(client.exchanges) == []


@pytest.mark.parametrize(
    "odd",
    [{"headers": (("X-Odd", "1"),)}, {"body": b"{}"}, {"query": (("force", "1"),)}],
    ids=["a header", "a body", "a query"],
)
def test_a_request_with_extra_parts_may_be_refused(make_client: MakeClient, odd: Any) -> None:
    """Only a request without odd parts must succeed."""
    client = make_client()
    identifier = client.created()
    client.send(replace(requests.archive_engagement(identifier), **odd), status=400)
    assert broken(client.exchanges) == []

    client.send(requests.archive_engagement(identifier), status=400)
    assert broken(client.exchanges) == ["archive-engagement-succeeds"]


def test_a_body_of_another_media_type_may_be_refused(make_client: MakeClient) -> None:
    """An edit must succeed only with the JSON media type and no other header."""
    client = make_client()
    identifier = client.created()
    edit = requests.update_engagement(identifier, {"name": "Some new name"})
    client.send(replace(edit, headers=(("Content-Type", "text/plain"),)), status=415)
    assert broken(client.exchanges) == []

    client.send(edit, status=415)
    assert broken(client.exchanges) == ["update-engagement-succeeds"]


@pytest.mark.parametrize(
    ("word", "requirement"),
    [
        ("get", "get-engagement-succeeds"),
        ("update", "update-engagement-succeeds"),
        ("archive", "archive-engagement-succeeds"),
        ("unarchive", "unarchive-served"),
        ("delete", "delete-engagement-succeeds"),
    ],
)
def test_a_401_to_the_main_key_is_judged(make_client: MakeClient, word: str, requirement: str) -> None:
    """The key is valid, as the wire finds out if it ends; 401 to another key may be right."""
    client = make_client()
    identifier = client.created()
    sent = {
        "get": requests.get_engagement(identifier),
        "update": requests.update_engagement(identifier, {"name": "Some new name"}),
        "archive": requests.archive_engagement(identifier),
        "unarchive": requests.unarchive_engagement(identifier),
        "delete": requests.delete_engagement(identifier),
    }[word]
    client.send(sent.with_key(Credential.bearer("engagements:read", "k")), status=401)
    assert broken(client.exchanges) == []

    client.send(sent, status=401)
    assert broken(client.exchanges) == [requirement]


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_statuses_unrelated_to_the_engagement_are_not_judged(make_client: MakeClient, status: int) -> None:
    """These are 429 and a gateway's responses, to reads and to changes."""
    client = make_client()
    identifier = client.created()
    for sent in (
        requests.get_engagement(identifier),
        requests.update_engagement(identifier, {"name": "Some new name"}),
        requests.archive_engagement(identifier),
        requests.unarchive_engagement(identifier),
    ):
        client.send(sent, status=status)

    assert broken(client.exchanges) == []


def test_responses_to_another_key_are_not_judged(make_client: MakeClient, another_key: Credential) -> None:
    """Another key may not find or change the engagement, and lists others."""
    client = make_client()
    identifier = client.created()
    for sent in (
        requests.get_engagement(identifier),
        requests.archive_engagement(identifier),
        requests.update_engagement(identifier, {"name": "Some new name"}),
        requests.delete_engagement(identifier),
    ):
        client.send(sent.with_key(another_key), status=404)
    nothing = {"data": [], "meta": {"total": 0, "page": 1, "perPage": 20, "totalPages": 0}}
    client.exchanges.append(
        client.made(requests.list_engagements().with_key(another_key), 200, nothing, client.now, 0.01)
    )

    assert broken(client.exchanges) == []


@pytest.mark.parametrize("status", [400, 402, 403, 404, 409, 428, 430])
def test_every_other_refusal_of_a_read_is_judged(make_client: MakeClient, status: int) -> None:
    """An existing engagement must be readable."""
    client = make_client()
    client.send(requests.get_engagement(client.created()), status=status)

    assert broken(client.exchanges) == ["create-engagement-lasts" if status == 404 else "get-engagement-succeeds"]


def test_engagements_are_counted_by_their_status(make_client: MakeClient) -> None:
    """Deleted engagements do not count, and those of unknown status count for neither."""
    client = make_client()
    ids = [client.created(f"number {number}") for number in range(5)]
    client.send(requests.archive_engagement(ids[1]))
    client.send(requests.archive_engagement(ids[2]))
    client.send(requests.delete_engagement(ids[3]))
    client.send(requests.archive_engagement(ids[4]), lost=True)
    ledger = Ledger.over(client.exchanges)

    assert (ledger.count(), ledger.count("active"), ledger.count("archived")) == (4, 1, 2)


def test_an_engagement_has_one_finding(make_client: MakeClient) -> None:
    """After a finding the same engagement is not judged again; others are."""
    client = make_client()
    first, second = client.created("first"), client.created("second")
    for identifier in (first, second):
        client.service.records[identifier].name = "wrong"
        client.send(requests.get_engagement(identifier))
        client.send(requests.get_engagement(identifier))
        client.send(requests.update_engagement(identifier, {"name": "Some new name"}), status=422)
        client.send(requests.list_engagements())
    findings = Ledger.over(client.exchanges).findings.broken

    assert [(finding.requirement, finding.identifier) for finding in findings] == [
        ("create-engagement-lasts", first),
        ("create-engagement-lasts", second),
    ]


def test_a_repeated_failure_is_one_finding(make_client: MakeClient) -> None:
    """This includes repeated reads after a deletion and repeated refusals of a change."""
    for words, requirement in (
        ((requests.get_engagement, requests.get_engagement), "create-engagement-lasts"),
        ((requests.archive_engagement, requests.archive_engagement), "archive-engagement-succeeds"),
    ):
        client = make_client()
        identifier = client.created()
        for word in words:
            client.send(word(identifier), status=404)
        assert [found.requirement for found in Ledger.over(client.exchanges).findings.broken] == [requirement]

    client = make_client()
    identifier = client.created()
    client.send(requests.delete_engagement(identifier))
    for _ in range(2):
        client.exchanges.append(
            client.made(requests.get_engagement(identifier), 200, {"id": identifier}, client.now, 0.01)
        )
        client.now += 0.1
    assert [found.requirement for found in Ledger.over(client.exchanges).findings.broken] == ["deleted-unreadable"]


def test_a_finding_shows_the_actual_value(make_client: MakeClient) -> None:
    """It shows a wrong status, or the value of a wrong field."""
    client, other = make_client(), make_client()
    client.send(requests.get_engagement(client.created()), status=404)
    identifier = other.created("one")
    other.service.records[identifier].name = "two"
    other.send(requests.get_engagement(identifier))
    (of_status,), (of_field,) = (Ledger.over(said.exchanges).findings.broken for said in (client, other))

    assert (of_status.expected, of_status.actual, of_status.pointer) == ("200", "404", None)
    assert (of_field.expected, of_field.actual, of_field.pointer) == ('"one"', '"two"', "/data/name")


def test_a_key_that_has_read_an_engagement_must_go_on_finding_it(make_client: MakeClient) -> None:
    """A 404 for an archived engagement that a member's key has read cannot be for what the key lacks."""
    member = Credential.bearer("member_1", "key-of-a-member")
    for has_read in (False, True):
        client = make_client()
        identifier = client.created()
        reading = requests.get_engagement(identifier).with_key(member)
        if has_read:
            client.send(reading)
        client.send(requests.archive_engagement(identifier))
        client.send(reading, status=404)
        assert broken(client.exchanges) == (["archived-readable"] if has_read else [])


@pytest.mark.parametrize(("status", "is_judged"), [(409, True), (401, False), (403, False), (404, False), (429, False)])
def test_a_refusal_that_no_missing_permission_explains(
    make_client: MakeClient, status: int, *, is_judged: bool
) -> None:
    """A member's key may lack a permission; a conflict cannot be for that."""
    client = make_client()
    edit = requests.update_engagement(client.created(), {"name": "Another good name"})
    client.send(edit.with_key(Credential.bearer("member_1", "key-of-a-member")), status=status)

    assert broken(client.exchanges) == (["update-engagement-succeeds"] if is_judged else [])
