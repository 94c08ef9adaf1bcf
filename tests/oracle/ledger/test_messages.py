"""Texts of the ledger's findings, and the exchanges that they cite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conformance.oracle.ledger.findings import Finding
from conformance.wire import requests
from tests.oracle.failures import Described, described
from tests.oracle.ledger.ledgers import found, kept, listing

MakeClient = Callable[..., Any]
SOUND = {"name": "Some new name"}
OLD = "2020-01-01T00:00:00.000Z"
BEGAN = "2026-01-02T03:04:05"


def said(finding: Finding) -> Described:
    """Return the texts of a finding."""
    return described(finding.as_fault())


def cited(finding: Finding) -> list[int]:
    """Return the numbers of the exchanges that a finding is based on."""
    return [exchange.number for exchange in finding.because]


@pytest.mark.parametrize(
    ("sent", "status", "words"),
    [
        (
            lambda identifier: requests.update_engagement(identifier, SOUND), 422,
            ("an edit of an active engagement failed", "any 2xx", "422", None),
        ),
        (
            requests.archive_engagement, 403,
            ("archiving an active engagement failed", "any 2xx", "403", None),
        ),
        (
            requests.unarchive_engagement, 405,
            ("unarchiveEngagement is not served", "any 2xx, or a 4xx other than 401, 404, 405 and 429", "405", None),
        ),
        (requests.delete_engagement, 409, ("deleting an engagement failed", "200", "409", None)),
        (requests.get_engagement, 404, ("a read of an existing engagement failed", "200", "404", None)),
    ],
)  # fmt: skip
def test_a_failed_request(make_client: MakeClient, sent: Any, status: int, words: tuple[Any, ...]) -> None:
    """The finding cites the creation."""
    client = make_client()
    other, identifier = client.created("other"), client.created("Some old name")
    client.send(requests.get_engagement(other))
    client.send(sent(identifier), status=status)

    finding = found(client.exchanges)
    assert (said(finding), cited(finding), finding.exchange) == (words, [2], client.exchanges[3])


@pytest.mark.parametrize(
    ("sent", "name"),
    [
        (lambda identifier: requests.update_engagement(identifier, SOUND), "updateEngagement"),
        (requests.archive_engagement, "archiveEngagement"),
        (requests.delete_engagement, "deleteEngagement"),
    ],
)
def test_a_successful_request_for_a_deleted_engagement(make_client: MakeClient, sent: Any, name: str) -> None:
    """The finding cites the deletion."""
    client = make_client()
    identifier = client.created("mine")
    client.send_each([requests.get_engagement(identifier), requests.delete_engagement(identifier)])
    client.send(sent(identifier), status=204)

    finding = found(client.exchanges)
    assert said(finding) == (f"{name} treated a deleted engagement as existing", "404", "204", None)
    assert (cited(finding), finding.exchange) == ([3], client.exchanges[3])


def test_a_read_of_a_deleted_engagement(make_client: MakeClient) -> None:
    """The finding cites the deletion, and the read is evidence for no rule."""
    client = make_client()
    identifier = client.created("mine")
    client.send(requests.delete_engagement(identifier))
    client.send(requests.get_engagement(identifier), status=200)

    finding = found(client.exchanges)
    assert said(finding) == ("a read of a deleted engagement did not return 404", "404", "200", None)
    assert (cited(finding), finding.exchange) == ([2], client.exchanges[2])
    assert "delete-effective-at-once" not in kept(client.exchanges)


@pytest.mark.parametrize(("begins", "requirement"), [(11.0, "deleted-unreadable"), (10.9, "delete-effective-at-once")])
def test_a_read_that_begins_as_the_deletion_ends(make_client: MakeClient, begins: float, requirement: str) -> None:
    """It counts as after the deletion, so a later successful read is no delay of the deletion."""
    client = make_client()
    identifier = client.created("mine")
    client.send(requests.delete_engagement(identifier), at=10.0, seconds=1.0)
    client.send(requests.get_engagement(identifier), at=begins, status=404)
    client.send(requests.get_engagement(identifier), at=12.0, status=200)
    client.send(requests.get_engagement(identifier), at=13.0, status=404)

    assert found(client.exchanges).requirement == requirement


def test_the_first_read_after_a_deletion_is_the_evidence(make_client: MakeClient) -> None:
    """It may begin as the deletion ends; later reads add no evidence."""
    client = make_client()
    identifier = client.created("mine")
    client.send(requests.delete_engagement(identifier), at=10.0, seconds=1.0)
    client.send(requests.get_engagement(identifier), at=11.0, status=404)
    client.send(requests.get_engagement(identifier), at=12.0, status=404)

    assert kept(client.exchanges)["delete-effective-at-once"] == [3]


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (200, ("an edit of an archived engagement succeeded", "a 4xx other than 401, 404 and 429", "200", None)),
        (404, ("an edit of an archived engagement returned 404", "a 4xx other than 401, 404 and 429", "404", None)),
    ],
)
def test_an_edit_of_an_archived_engagement(make_client: MakeClient, status: int, words: tuple[Any, ...]) -> None:
    """The finding cites the archive."""
    client = make_client()
    identifier = client.created("mine")
    client.send(requests.archive_engagement(identifier))
    client.send(requests.update_engagement(identifier, SOUND), status=status)

    finding = found(client.exchanges)
    assert (said(finding), cited(finding), finding.exchange) == (words, [2], client.exchanges[2])
    assert "archive-effective-at-once" not in kept(client.exchanges)


def test_a_creation_response_with_another_name(make_client: MakeClient, honest: type[Any]) -> None:
    """The finding cites only the creation."""

    class Other(honest):  # type: ignore[misc]
        """Service that returns another name."""

        def view(self, record: Any) -> dict[str, Any]:
            return dict(super().view(record)) | {"name": "other"}

    client = make_client(Other)
    client.created("mine")

    finding = found(client.exchanges)
    assert said(finding) == ("name is not what was sent", '"mine"', '"other"', "/data/name")
    assert (cited(finding), finding.exchange) == ([], client.exchanges[0])


def test_a_creation_response_with_another_description(make_client: MakeClient, honest: type[Any]) -> None:
    """The first text, which a service may change, does not matter."""

    class Other(honest):  # type: ignore[misc]
        """Service that returns another description."""

        def view(self, record: Any) -> dict[str, Any]:
            return dict(super().view(record)) | {"description": "other"}

    client = make_client(Other)
    client.created("two  blanks", description="words")

    assert said(found(client.exchanges)) == (
        "description is not what was sent",
        '"words"',
        '"other"',
        "/data/description",
    )


def test_another_engagement_is_read(make_client: MakeClient) -> None:
    """The finding cites the creation of the requested engagement."""
    client = make_client()
    first, second = client.created("first"), client.created("second")
    client.exchanges.append(client.made(requests.get_engagement(second), 200, {"id": first}, client.now, 0.01))

    finding = found(client.exchanges)
    assert said(finding) == ("a read returned another engagement", f'"{second}"', f'"{first}"', "/data/id")
    assert (cited(finding), finding.exchange) == ([2], client.exchanges[2])


def test_a_value_that_no_request_explains(make_client: MakeClient) -> None:
    """The finding shows every value that may have been written, and cites the last correct read."""
    client = make_client()
    identifier = client.created("one")
    client.send(requests.get_engagement(identifier))
    client.send(requests.update_engagement(identifier, {"name": "perhaps"}), lost=True)
    client.service.records[identifier].name = "odd"
    client.send(requests.get_engagement(identifier))

    finding = found(client.exchanges)
    words = ("name has a value that no request explains", '"one" or "perhaps"', '"odd"', "/data/name")
    assert (said(finding), cited(finding), finding.exchange) == (words, [1, 3, 2], client.exchanges[3])


@pytest.mark.parametrize(
    ("moved", "words"),
    [
        ({"created": 1.0}, ("createdAt has changed", f"{BEGAN}.025Z", f"{BEGAN[:-1]}6.000Z", "/data/createdAt")),
        ({"created": -1.0}, ("createdAt has changed", f"{BEGAN}.025Z", f"{BEGAN[:-1]}4.000Z", "/data/createdAt")),
        (
            {"updated": -1.0},
            ("updatedAt has gone back", f"{BEGAN}.025Z or later", f"{BEGAN[:-1]}4.000Z", "/data/updatedAt"),
        ),
    ],
)
def test_times_that_move(make_client: MakeClient, moved: dict[str, float], words: tuple[Any, ...]) -> None:
    """The finding cites the first read with the time."""
    client = make_client()
    identifier = client.created("one")
    client.send(requests.get_engagement(identifier))
    for name, value in moved.items():
        setattr(client.service.records[identifier], name, value)
    client.send(requests.get_engagement(identifier))

    finding = found(client.exchanges)
    assert (said(finding), cited(finding), finding.exchange) == (words, [2], client.exchanges[2])


def test_a_time_that_a_refused_edit_has_moved(make_client: MakeClient) -> None:
    """The finding cites the read before and each refusal."""
    client = make_client()
    identifier = client.created("one")
    client.send(requests.get_engagement(identifier))
    client.send(requests.update_engagement(identifier, {"name": 5}), status=422)
    client.send(requests.update_engagement(identifier, {"name": 6}), status=422)
    client.service.records[identifier].updated = 5.0
    client.send(requests.get_engagement(identifier))

    finding = found(client.exchanges)
    assert said(finding) == (
        "updatedAt changed although the engagement was not", f"{BEGAN}.025Z", f"{BEGAN[:-2]}10.000Z", "/data/updatedAt",
    )  # fmt: skip
    assert (cited(finding), finding.exchange) == ([2, 4, 3], client.exchanges[4])


def test_a_time_that_a_change_has_not_moved(make_client: MakeClient) -> None:
    """The finding cites the read before and the change."""
    client = make_client()
    identifier = client.created("one")
    client.send(requests.get_engagement(identifier))
    client.now += 10
    client.send(requests.update_engagement(identifier, SOUND))
    client.service.records[identifier].updated = client.service.records[identifier].created
    client.send(requests.get_engagement(identifier))

    finding = found(client.exchanges)
    assert said(finding) == ("updatedAt has not moved", f"{BEGAN}.025Z", f"{BEGAN}.025Z", "/data/updatedAt")
    assert (cited(finding), finding.exchange) == ([2, 3], client.exchanges[3])


def test_an_archive_that_states_another_time(make_client: MakeClient) -> None:
    """The finding is about the archive, and cites the next read."""
    client = make_client()
    identifier = client.created("one")
    client.send(requests.get_engagement(identifier))
    client.now += 10
    client.send(requests.archive_engagement(identifier))
    client.service.records[identifier].updated += 1
    client.send(requests.get_engagement(identifier))

    finding = found(client.exchanges)
    shown = [f"2026-01-02T03:04:{second}Z" for second in ("16.145", "15.145")]
    assert said(finding) == ("updatedAt is not that of the next read", *shown, "/data/updatedAt")
    assert (cited(finding), finding.exchange) == ([4], client.exchanges[2])


def test_a_deleted_engagement_that_is_listed(make_client: MakeClient, honest: type[Any]) -> None:
    """The finding cites the deletion and points at the item."""

    class Kept(honest):  # type: ignore[misc]
        """Service whose lists keep deleted engagements."""

        def delete(self, record: Any) -> None:
            record.status = "active"

    client = make_client(Kept)
    identifier = client.created("mine")
    client.created("other")
    client.send(requests.delete_engagement(identifier))
    client.send(requests.list_engagements())

    finding = found(client.exchanges)
    assert said(finding) == ("a deleted engagement is listed", "no deleted engagement", identifier, "/data/1")
    assert (cited(finding), finding.exchange) == ([3], client.exchanges[3])
    assert (finding.identifier, finding.unconfirmed) == (identifier, False)


@pytest.mark.parametrize("others", [False, True])
def test_a_time_that_differs_in_the_list(make_client: MakeClient, honest: type[Any], *, others: bool) -> None:
    """The finding cites the read, and a change of another engagement that may be the cause."""

    class Odd(honest):  # type: ignore[misc]
        """Service whose lists have an old time."""

        def item(self, record: Any) -> dict[str, Any]:
            return dict(super().item(record)) | ({"updatedAt": OLD} if record.name == "mine" else {})

    client = make_client(Odd)
    other, mine = client.created("other"), client.created("mine")
    client.send(requests.get_engagement(mine))
    if others:
        client.send(requests.archive_engagement(other))
    client.send(requests.list_engagements())

    finding = found(client.exchanges)
    fault = "changed with another request, or differs" if others else "differs"
    message = f"updatedAt of an engagement {fault} in the list"
    assert said(finding) == (message, f"{BEGAN}.085Z", OLD, "/data/0/updatedAt")
    because = [3, 4] if others else [3]
    assert (cited(finding), finding.exchange, finding.other_candidates) == (because, client.exchanges[-1], int(others))


def test_a_total_that_is_too_small(make_client: MakeClient) -> None:
    """The finding cites some of the creations."""
    client = make_client()
    for number in range(5):
        client.created(f"n{number}")
    client.exchanges.append(listing(client, []))

    finding = found(client.exchanges)
    assert said(finding) == (
        "the total is less than the number of existing engagements",
        "at least 5, of this run alone",
        "0",
        "/meta/total",
    )
    assert (cited(finding), finding.exchange) == ([1, 2, 3], client.exchanges[5])


@pytest.mark.parametrize("read", [False, True])
def test_an_engagement_that_is_missing_from_a_list(make_client: MakeClient, *, read: bool) -> None:
    """The finding cites the first missing engagement's last read, or its creation."""
    client = make_client()
    identifiers = [client.created(name) for name in ("first", "second", "third")]
    if read:
        client.send_each([requests.get_engagement(identifiers[1])] * 3)
    shown = client.service.view(client.service.records[identifiers[0]])
    client.exchanges.append(listing(client, [shown], count=3))

    finding = found(client.exchanges)
    words = ("an engagement is missing from the list", "every engagement that belongs there", "2 missing", "/data")
    assert (said(finding), cited(finding), finding.exchange) == (words, [6 if read else 2], client.exchanges[-1])
    assert "create-engagement-listed" not in kept(client.exchanges)


@pytest.mark.parametrize(
    ("order", "words"),
    [("asc", ("names ascending", '"baba" after "bafa"')), ("desc", ("names descending", '"bafa" after "baba"'))],
)
def test_a_list_in_another_order(make_client: MakeClient, order: str, words: tuple[str, str]) -> None:
    """The finding shows two consecutive names."""
    client = make_client()
    names = ["cf-1-walk-bafa", "cf-1-walk-baba"] if order == "asc" else ["cf-1-walk-baba", "cf-1-walk-bafa"]
    views = [client.service.view(client.service.records[client.created(name)]) for name in names]
    client.exchanges.append(listing(client, views, sort="name", order=order))

    finding = found(client.exchanges)
    assert said(finding) == ("a list is not sorted by name", *words, "/data/1/name")
    assert (cited(finding), finding.exchange) == ([], client.exchanges[2])
