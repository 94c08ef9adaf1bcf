"""What the ledger's findings say of themselves: in words, and by the exchanges that they cite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conformance.oracle.ledger_findings import Finding
from conformance.wire import requests
from tests.oracle.ledgers import found, kept, listing
from tests.oracle.pages import Told, told

MakeTalk = Callable[..., Any]
SOUND = {"name": "Some new name"}
OLD = "2020-01-01T00:00:00.000Z"
BEGAN = "2026-01-02T03:04:05"


def said(finding: Finding) -> Told:
    """What a finding says in words."""
    return told(finding.as_fault())


def cited(finding: Finding) -> list[int]:
    """The numbers of the exchanges that make it so."""
    return [one.number for one in finding.because]


@pytest.mark.parametrize(
    ("sent", "status", "words"),
    [
        (
            lambda identifier: requests.update_engagement(identifier, SOUND), 422,
            ("an active engagement could not be edited", "any 2xx", "422", None),
        ),
        (
            requests.archive_engagement, 403,
            ("an active engagement could not be archived", "any 2xx", "403", None),
        ),
        (
            requests.unarchive_engagement, 405,
            ("unarchiving was not served", "any 2xx, or a 4xx other than 401, 404, 405 and 429", "405", None),
        ),
        (requests.delete_engagement, 409, ("an engagement could not be deleted", "200", "409", None)),
        (requests.get_engagement, 404, ("an engagement that is there was not read", "200", "404", None)),
    ],
)  # fmt: skip
def test_what_could_not_be_done(talk: MakeTalk, sent: Any, status: int, words: tuple[Any, ...]) -> None:
    """The answer is beside its creation."""
    one = talk()
    other, identifier = one.created("other"), one.created("mine")
    one.send(requests.get_engagement(other))
    one.send(sent(identifier), status=status)

    finding = found(one.exchanges)
    assert (said(finding), cited(finding), finding.exchange) == (words, [2], one.exchanges[3])


@pytest.mark.parametrize(
    ("sent", "name"),
    [
        (lambda identifier: requests.update_engagement(identifier, SOUND), "updateEngagement"),
        (requests.archive_engagement, "archiveEngagement"),
        (requests.delete_engagement, "deleteEngagement"),
    ],
)
def test_what_found_a_deleted_one(talk: MakeTalk, sent: Any, name: str) -> None:
    """The answer is beside the deletion."""
    one = talk()
    identifier = one.created("mine")
    one.send_each([requests.get_engagement(identifier), requests.delete_engagement(identifier)])
    one.send(sent(identifier), status=204)

    finding = found(one.exchanges)
    assert said(finding) == (f"{name} found a deleted engagement", "404", "204", None)
    assert (cited(finding), finding.exchange) == ([3], one.exchanges[3])


def test_a_deleted_one_that_is_read(talk: MakeTalk) -> None:
    """The read is beside the deletion, and no evidence for anything."""
    one = talk()
    identifier = one.created("mine")
    one.send(requests.delete_engagement(identifier))
    one.send(requests.get_engagement(identifier), status=200)

    finding = found(one.exchanges)
    assert said(finding) == ("a deleted engagement was read", "404", "200", None)
    assert (cited(finding), finding.exchange) == ([2], one.exchanges[2])
    assert "delete-effective-at-once" not in kept(one.exchanges)


@pytest.mark.parametrize(("begins", "requirement"), [(11.0, "deleted-unreadable"), (10.9, "delete-effective-at-once")])
def test_a_read_that_begins_as_the_deletion_ends(talk: MakeTalk, begins: float, requirement: str) -> None:
    """It has seen the deletion, so that one that finds the engagement later did not slip in before it took effect."""
    one = talk()
    identifier = one.created("mine")
    one.send(requests.delete_engagement(identifier), at=10.0, seconds=1.0)
    one.send(requests.get_engagement(identifier), at=begins, status=404)
    one.send(requests.get_engagement(identifier), at=12.0, status=200)
    one.send(requests.get_engagement(identifier), at=13.0, status=404)

    assert found(one.exchanges).requirement == requirement


def test_the_first_read_after_a_deletion_is_the_evidence(talk: MakeTalk) -> None:
    """Also where it begins as the deletion ends; the ones after it show nothing new."""
    one = talk()
    identifier = one.created("mine")
    one.send(requests.delete_engagement(identifier), at=10.0, seconds=1.0)
    one.send(requests.get_engagement(identifier), at=11.0, status=404)
    one.send(requests.get_engagement(identifier), at=12.0, status=404)

    assert kept(one.exchanges)["delete-effective-at-once"] == [3]


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (200, ("an archived engagement was edited", "a 4xx other than 401, 404 and 429", "200", None)),
        (404, ("an archived engagement was not found by an edit", "a 4xx other than 401, 404 and 429", "404", None)),
    ],
)
def test_an_edit_of_an_archived_one(talk: MakeTalk, status: int, words: tuple[Any, ...]) -> None:
    """The edit is beside the archive."""
    one = talk()
    identifier = one.created("mine")
    one.send(requests.archive_engagement(identifier))
    one.send(requests.update_engagement(identifier, SOUND), status=status)

    finding = found(one.exchanges)
    assert (said(finding), cited(finding), finding.exchange) == (words, [2], one.exchanges[2])
    assert "archive-effective-at-once" not in kept(one.exchanges)


def test_a_creation_response_with_something_else(talk: MakeTalk, honest: type[Any]) -> None:
    """By itself."""

    class Other(honest):  # type: ignore[misc]
        """Every name is another one."""

        def view(self, record: Any) -> dict[str, Any]:
            return dict(super().view(record)) | {"name": "other"}

    one = talk(Other)
    one.created("mine")

    finding = found(one.exchanges)
    assert said(finding) == ("name is not what was sent", '"mine"', '"other"', "/data/name")
    assert (cited(finding), finding.exchange) == ([], one.exchanges[0])


def test_a_creation_whose_second_text_is_another_one(talk: MakeTalk, honest: type[Any]) -> None:
    """What became of the first, which a service may change, does not matter."""

    class Other(honest):  # type: ignore[misc]
        """Every description is another one."""

        def view(self, record: Any) -> dict[str, Any]:
            return dict(super().view(record)) | {"description": "other"}

    one = talk(Other)
    one.created("two  blanks", description="words")

    assert said(found(one.exchanges)) == ("description is not what was sent", '"words"', '"other"', "/data/description")


def test_another_engagement_is_read(talk: MakeTalk) -> None:
    """The read is beside the creation of the one asked for."""
    one = talk()
    first, second = one.created("first"), one.created("second")
    one.exchanges.append(one.made(requests.get_engagement(second), 200, {"id": first}, one.now, 0.01))

    finding = found(one.exchanges)
    assert said(finding) == ("another engagement was read", f'"{second}"', f'"{first}"', "/data/id")
    assert (cited(finding), finding.exchange) == ([2], one.exchanges[2])


def test_a_value_that_nothing_accounts_for(talk: MakeTalk) -> None:
    """All that may have been written is told, and cited with the last read that was right."""
    one = talk()
    identifier = one.created("one")
    one.send(requests.get_engagement(identifier))
    one.send(requests.update_engagement(identifier, {"name": "perhaps"}), lost=True)
    one.service.records[identifier].name = "odd"
    one.send(requests.get_engagement(identifier))

    finding = found(one.exchanges)
    words = ("name has a value that nothing accounts for", '"one" or "perhaps"', '"odd"', "/data/name")
    assert (said(finding), cited(finding), finding.exchange) == (words, [1, 3, 2], one.exchanges[3])


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
def test_times_that_move(talk: MakeTalk, moved: dict[str, float], words: tuple[Any, ...]) -> None:
    """The read is beside the one that showed the time first."""
    one = talk()
    identifier = one.created("one")
    one.send(requests.get_engagement(identifier))
    for name, value in moved.items():
        setattr(one.service.records[identifier], name, value)
    one.send(requests.get_engagement(identifier))

    finding = found(one.exchanges)
    assert (said(finding), cited(finding), finding.exchange) == (words, [2], one.exchanges[2])


def test_a_time_that_a_refused_edit_has_moved(talk: MakeTalk) -> None:
    """The read is beside the one before and the refusal."""
    one = talk()
    identifier = one.created("one")
    one.send(requests.get_engagement(identifier))
    one.send(requests.update_engagement(identifier, {"name": 5}), status=422)
    one.service.records[identifier].updated = 5.0
    one.send(requests.get_engagement(identifier))

    finding = found(one.exchanges)
    assert said(finding) == (
        "updatedAt has moved although the edit was refused", f"{BEGAN}.025Z", f"{BEGAN[:-2]}10.000Z", "/data/updatedAt",
    )  # fmt: skip
    assert (cited(finding), finding.exchange) == ([2, 3], one.exchanges[3])


def test_a_deleted_one_that_is_listed(talk: MakeTalk, honest: type[Any]) -> None:
    """The list is beside the deletion, and points at the item."""

    class Kept(honest):  # type: ignore[misc]
        """Nothing is ever forgotten by lists."""

        def delete(self, record: Any) -> None:
            record.status = "active"

    one = talk(Kept)
    identifier = one.created("mine")
    one.created("other")
    one.send(requests.delete_engagement(identifier))
    one.send(requests.list_engagements())

    finding = found(one.exchanges)
    assert said(finding) == ("a deleted engagement is listed", "no deleted engagement", identifier, "/data/1")
    assert (cited(finding), finding.exchange) == ([3], one.exchanges[3])
    assert (finding.identifier, finding.unsteady) == (identifier, False)


@pytest.mark.parametrize("others", [False, True])
def test_a_time_that_is_another_one_in_the_list(talk: MakeTalk, honest: type[Any], *, others: bool) -> None:
    """The list is beside the read; what was done to others meanwhile may be why."""

    class Odd(honest):  # type: ignore[misc]
        """Lists show an old time."""

        def item(self, record: Any) -> dict[str, Any]:
            return dict(super().item(record)) | ({"updatedAt": OLD} if record.name == "mine" else {})

    one = talk(Odd)
    other, mine = one.created("other"), one.created("mine")
    one.send(requests.get_engagement(mine))
    if others:
        one.send(requests.archive_engagement(other))
    one.send(requests.list_engagements())

    finding = found(one.exchanges)
    fault = "has changed with others, or is another one" if others else "is another one"
    message = f"updatedAt of an engagement {fault} in the list"
    assert said(finding) == (message, f"{BEGAN}.085Z", OLD, "/data/0/updatedAt")
    assert (cited(finding), finding.exchange, finding.other_candidates) == ([3], one.exchanges[-1], int(others))


def test_a_total_that_is_less(talk: MakeTalk) -> None:
    """Some of what was made is cited."""
    one = talk()
    for number in range(5):
        one.created(f"n{number}")
    one.exchanges.append(listing(one, []))

    finding = found(one.exchanges)
    assert said(finding) == (
        "the total is less than what exists", "5 at least, of this run alone", "0", "/meta/total",
    )  # fmt: skip
    assert (cited(finding), finding.exchange) == ([1, 2, 3], one.exchanges[5])


@pytest.mark.parametrize("read", [False, True])
def test_one_that_is_missing_from_a_list(talk: MakeTalk, *, read: bool) -> None:
    """The list is beside the last read of the first that is missing, or its creation."""
    one = talk()
    identifiers = [one.created(name) for name in ("first", "second", "third")]
    if read:
        one.send_each([requests.get_engagement(identifiers[1])] * 3)
    shown = one.service.view(one.service.records[identifiers[0]])
    one.exchanges.append(listing(one, [shown], count=3))

    finding = found(one.exchanges)
    words = ("an engagement is missing from the list", "every one that belongs there", "2 missing", "/data")
    assert (said(finding), cited(finding), finding.exchange) == (words, [6 if read else 2], one.exchanges[-1])
    assert "create-engagement-listed" not in kept(one.exchanges)


@pytest.mark.parametrize(
    ("order", "words"),
    [("asc", ("names ascending", '"baba" after "bafa"')), ("desc", ("names descending", '"bafa" after "baba"'))],
)
def test_a_list_in_another_order(talk: MakeTalk, order: str, words: tuple[str, str]) -> None:
    """What is compared of two names that follow each other is told."""
    one = talk()
    names = ["cf-1-walk-bafa", "cf-1-walk-baba"] if order == "asc" else ["cf-1-walk-baba", "cf-1-walk-bafa"]
    views = [one.service.view(one.service.records[one.created(name)]) for name in names]
    one.exchanges.append(listing(one, views, sort="name", order=order))

    finding = found(one.exchanges)
    assert said(finding) == ("a list is not in the order of names", *words, "/data/1/name")
    assert (cited(finding), finding.exchange) == ([], one.exchanges[2])
