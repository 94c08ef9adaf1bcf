"""Which engagements the ledger speaks of, and which answers it judges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from conformance.oracle.ledger import Ledger
from conformance.wire import requests
from conformance.wire.requests import Credential
from tests.oracle.ledgers import broken

MakeClient = Callable[..., Any]


def test_an_identifier_given_again_and_again_is_nobodys(make_client: MakeClient) -> None:
    """Which of the creations an answer is about cannot be told, however often the identifier is given."""
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


def test_nothing_follows_after_what_lies_beside_the_interface(make_client: MakeClient) -> None:
    """A method that the interface does not know may have done anything to the engagement of its path."""
    client = make_client()
    identifier = client.created()
    put = requests.update_engagement(identifier, {"name": "put"}).as_probe("PUT", f"/api/v1/engagements/{identifier}")
    client.send(put, status=405)
    client.service.records[identifier].name = "put"
    client.send(requests.get_engagement(identifier))

    assert broken(client.exchanges) == []


def test_a_read_beside_the_interface_changes_nothing(make_client: MakeClient) -> None:
    """A GET of another path leaves everything as it was, and its own answer is not judged."""
    client = make_client()
    identifier = client.created()
    below = requests.get_engagement(identifier).as_probe("GET", f"/api/v1/engagements/{identifier}/targets")
    client.exchanges.append(client.made(below, 200, {"id": "t1"}, client.now, 0.01))
    client.now += 0.1
    assert broken(client.exchanges) == []

    client.service.records[identifier].name = "another"
    client.send(requests.get_engagement(identifier))
    assert broken(client.exchanges) == ["create-engagement-lasts"]


def test_what_lies_beside_the_interface_may_name_nobody(make_client: MakeClient) -> None:
    """Such a request on an engagement of others, or on none, says nothing."""
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
def test_what_carries_more_than_its_operation_takes_may_be_refused_for_that(make_client: MakeClient, odd: Any) -> None:
    """Only a request without anything odd is held to succeed."""
    client = make_client()
    identifier = client.created()
    client.send(replace(requests.archive_engagement(identifier), **odd), status=400)
    assert broken(client.exchanges) == []

    client.send(requests.archive_engagement(identifier), status=400)
    assert broken(client.exchanges) == ["archive-engagement-succeeds"]


def test_a_body_of_another_type_may_be_refused_for_that(make_client: MakeClient) -> None:
    """An edit is held to succeed where it says that it is JSON, and says nothing else."""
    client = make_client()
    identifier = client.created()
    edit = requests.update_engagement(identifier, {"name": "Some new name"})
    client.send(replace(edit, headers=(("Content-Type", "text/plain"),)), status=415)
    assert broken(client.exchanges) == []

    client.send(edit, status=415)
    assert broken(client.exchanges) == ["update-engagement-succeeds"]


@pytest.mark.parametrize("status", [401, 429, 502, 503, 504])
def test_what_says_nothing_of_the_engagement_is_not_judged(make_client: MakeClient, status: int) -> None:
    """Refusals of the key or of haste, and a gateway's answers, to reads and to changes."""
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


def test_what_another_key_is_answered_is_judged_elsewhere(make_client: MakeClient, another_key: Credential) -> None:
    """It may not find the engagement, may not change it, and sees another list."""
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
    """An engagement that is there is read."""
    client = make_client()
    client.send(requests.get_engagement(client.created()), status=status)

    assert broken(client.exchanges) == ["create-engagement-lasts" if status == 404 else "get-engagement-succeeds"]


def test_engagements_are_counted_by_their_status(make_client: MakeClient) -> None:
    """What was deleted is gone, and what may be in either state is of neither."""
    client = make_client()
    ids = [client.created(f"number {number}") for number in range(5)]
    client.send(requests.archive_engagement(ids[1]))
    client.send(requests.archive_engagement(ids[2]))
    client.send(requests.delete_engagement(ids[3]))
    client.send(requests.archive_engagement(ids[4]), lost=True)
    ledger = Ledger.over(client.exchanges)

    assert (ledger.count(), ledger.count("active"), ledger.count("archived")) == (4, 1, 2)


def test_a_fault_is_told_once_of_an_engagement(make_client: MakeClient) -> None:
    """After something that cannot be, the same engagement is judged no more; others are."""
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


def test_what_is_not_found_again_is_told_once(make_client: MakeClient) -> None:
    """So is what is found again after its deletion, and a refused change that is refused again."""
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


def test_a_finding_says_what_came(make_client: MakeClient) -> None:
    """The status where that is wrong, and the value where a field is."""
    client, other = make_client(), make_client()
    client.send(requests.get_engagement(client.created()), status=404)
    identifier = other.created("one")
    other.service.records[identifier].name = "two"
    other.send(requests.get_engagement(identifier))
    (requirement_for_status,), (of_field,) = (Ledger.over(said.exchanges).findings.broken for said in (client, other))

    assert (requirement_for_status.expected, requirement_for_status.actual, requirement_for_status.pointer) == (
        "200",
        "404",
        None,
    )
    assert (of_field.expected, of_field.actual, of_field.pointer) == ('"one"', '"two"', "/data/name")
