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

MakeTalk = Callable[..., Any]


def test_an_identifier_given_again_and_again_is_nobodys(talk: MakeTalk) -> None:
    """Which of the creations an answer is about cannot be told, however often the identifier is given."""
    one = talk()
    identifier = one.created("first")
    creation = requests.create_engagement({"name": "again"})
    read_it = requests.get_engagement(identifier)
    for name in ("again", "and again"):
        data = {"id": identifier, "name": name, "status": "active"}
        one.exchanges.append(one.made(creation, 201, data, one.now, 0.01))
        one.now += 0.1
        one.send(read_it)

    assert broken(one.exchanges) == []


def test_nothing_follows_after_what_lies_beside_the_interface(talk: MakeTalk) -> None:
    """A method that the interface does not know may have done anything to the engagement of its path."""
    one = talk()
    identifier = one.created()
    put = requests.update_engagement(identifier, {"name": "put"}).as_probe("PUT", f"/api/v1/engagements/{identifier}")
    one.send(put, status=405)
    one.service.records[identifier].name = "put"
    one.send(requests.get_engagement(identifier))

    assert broken(one.exchanges) == []


def test_a_read_beside_the_interface_changes_nothing(talk: MakeTalk) -> None:
    """A GET of another path leaves everything as it was, and its own answer is not judged."""
    one = talk()
    identifier = one.created()
    below = requests.get_engagement(identifier).as_probe("GET", f"/api/v1/engagements/{identifier}/targets")
    one.exchanges.append(one.made(below, 200, {"id": "t1"}, one.now, 0.01))
    one.now += 0.1
    assert broken(one.exchanges) == []

    one.service.records[identifier].name = "another"
    one.send(requests.get_engagement(identifier))
    assert broken(one.exchanges) == ["create-engagement-lasts"]


def test_what_lies_beside_the_interface_may_name_nobody(talk: MakeTalk) -> None:
    """Such a request on an engagement of others, or on none, says nothing."""
    one = talk()
    one.created()
    for sent in (requests.update_engagement("theirs", {}), requests.create_engagement({"name": "x"})):
        one.send(sent.as_probe("PUT", "/api/v1/engagements"), status=405)

    assert broken(one.exchanges) == []


@pytest.mark.parametrize(
    "odd",
    [{"headers": (("X-Odd", "1"),)}, {"body": b"{}"}, {"query": (("force", "1"),)}],
    ids=["a header", "a body", "a query"],
)
def test_what_carries_more_than_its_operation_takes_may_be_refused_for_that(talk: MakeTalk, odd: Any) -> None:
    """Only a request without anything odd is held to succeed."""
    one = talk()
    identifier = one.created()
    one.send(replace(requests.archive_engagement(identifier), **odd), status=400)
    assert broken(one.exchanges) == []

    one.send(requests.archive_engagement(identifier), status=400)
    assert broken(one.exchanges) == ["archive-engagement-succeeds"]


def test_a_body_of_another_type_may_be_refused_for_that(talk: MakeTalk) -> None:
    """An edit is held to succeed where it says that it is JSON, and says nothing else."""
    one = talk()
    identifier = one.created()
    edit = requests.update_engagement(identifier, {"name": "Some new name"})
    one.send(replace(edit, headers=(("Content-Type", "text/plain"),)), status=415)
    assert broken(one.exchanges) == []

    one.send(edit, status=415)
    assert broken(one.exchanges) == ["update-engagement-succeeds"]


@pytest.mark.parametrize("status", [401, 429, 502, 503, 504])
def test_what_says_nothing_of_the_engagement_is_not_judged(talk: MakeTalk, status: int) -> None:
    """Refusals of the key or of haste, and a gateway's answers, to reads and to changes."""
    one = talk()
    identifier = one.created()
    for sent in (
        requests.get_engagement(identifier),
        requests.update_engagement(identifier, {"name": "Some new name"}),
        requests.archive_engagement(identifier),
        requests.unarchive_engagement(identifier),
    ):
        one.send(sent, status=status)

    assert broken(one.exchanges) == []


def test_what_another_key_is_answered_is_judged_elsewhere(talk: MakeTalk, another_key: Credential) -> None:
    """It may not find the engagement, may not change it, and sees another list."""
    one = talk()
    identifier = one.created()
    for sent in (
        requests.get_engagement(identifier),
        requests.archive_engagement(identifier),
        requests.update_engagement(identifier, {"name": "Some new name"}),
        requests.delete_engagement(identifier),
    ):
        one.send(sent.with_key(another_key), status=404)
    nothing = {"data": [], "meta": {"total": 0, "page": 1, "perPage": 20, "totalPages": 0}}
    one.exchanges.append(one.made(requests.list_engagements().with_key(another_key), 200, nothing, one.now, 0.01))

    assert broken(one.exchanges) == []


@pytest.mark.parametrize("status", [400, 402, 403, 404, 409, 428, 430])
def test_every_other_refusal_of_a_read_is_judged(talk: MakeTalk, status: int) -> None:
    """An engagement that is there is read."""
    one = talk()
    one.send(requests.get_engagement(one.created()), status=status)

    assert broken(one.exchanges) == ["create-engagement-lasts" if status == 404 else "get-engagement-succeeds"]


def test_engagements_are_counted_by_their_status(talk: MakeTalk) -> None:
    """What was deleted is gone, and what may be in either state is of neither."""
    one = talk()
    ids = [one.created(f"number {number}") for number in range(5)]
    one.send(requests.archive_engagement(ids[1]))
    one.send(requests.archive_engagement(ids[2]))
    one.send(requests.delete_engagement(ids[3]))
    one.send(requests.archive_engagement(ids[4]), lost=True)
    ledger = Ledger.over(one.exchanges)

    assert (ledger.count(), ledger.count("active"), ledger.count("archived")) == (4, 1, 2)


def test_a_fault_is_told_once_of_an_engagement(talk: MakeTalk) -> None:
    """After something that cannot be, the same engagement is judged no more; others are."""
    one = talk()
    first, second = one.created("first"), one.created("second")
    for identifier in (first, second):
        one.service.records[identifier].name = "wrong"
        one.send(requests.get_engagement(identifier))
        one.send(requests.get_engagement(identifier))
        one.send(requests.update_engagement(identifier, {"name": "Some new name"}), status=422)
        one.send(requests.list_engagements())
    findings = Ledger.over(one.exchanges).findings.broken

    assert [(one.requirement, one.identifier) for one in findings] == [
        ("create-engagement-lasts", first),
        ("create-engagement-lasts", second),
    ]


def test_what_is_not_found_again_is_told_once(talk: MakeTalk) -> None:
    """So is what is found again after its deletion, and a refused change that is refused again."""
    for words, requirement in (
        ((requests.get_engagement, requests.get_engagement), "create-engagement-lasts"),
        ((requests.archive_engagement, requests.archive_engagement), "archive-engagement-succeeds"),
    ):
        one = talk()
        identifier = one.created()
        for word in words:
            one.send(word(identifier), status=404)
        assert [found.requirement for found in Ledger.over(one.exchanges).findings.broken] == [requirement]

    one = talk()
    identifier = one.created()
    one.send(requests.delete_engagement(identifier))
    for _ in range(2):
        one.exchanges.append(one.made(requests.get_engagement(identifier), 200, {"id": identifier}, one.now, 0.01))
        one.now += 0.1
    assert [found.requirement for found in Ledger.over(one.exchanges).findings.broken] == ["deleted-unreadable"]


def test_a_finding_says_what_came(talk: MakeTalk) -> None:
    """The status where that is wrong, and the value where a field is."""
    one, other = talk(), talk()
    one.send(requests.get_engagement(one.created()), status=404)
    identifier = other.created("one")
    other.service.records[identifier].name = "two"
    other.send(requests.get_engagement(identifier))
    (requirement_for_status,), (of_field,) = (Ledger.over(said.exchanges).findings.broken for said in (one, other))

    assert (requirement_for_status.expected, requirement_for_status.actual, requirement_for_status.pointer) == (
        "200",
        "404",
        None,
    )
    assert (of_field.expected, of_field.actual, of_field.pointer) == ('"one"', '"two"', "/data/name")
