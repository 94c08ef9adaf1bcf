"""What the ledger says of reads, and what a right read is evidence for."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from conformance.wire import requests
from tests.oracle.ledgers import broken, found, kept

MakeClient = Callable[..., Any]


@pytest.mark.parametrize(
    ("words", "upheld"),
    [
        ((), set()),
        (("name=x",), {"update-engagement-keeps-the-rest"}),
        (("archive",), {"archive-keeps-content"}),
        (("archive", "archive"), {"archive-keeps-content", "archived-again-stays-archived"}),
        (("archive", "name=x"), {"archive-keeps-content", "archived-edit-changes-nothing"}),
        (("name=archived", "archive"), {"archive-keeps-content", "update-engagement-keeps-the-rest"}),
        (("name=", "read"), {"update-engagement-refused-changes-nothing"}),
        (("unarchive",), set()),
        (("limited archive",), set()),
        (("limited name=x",), set()),
        (("read", "other name=x"), {"update-engagement-spares-others"}),
        (("read", "other archive"), {"archive-spares-others"}),
        (("read", "other delete"), {"delete-spares-others"}),
        (("read", "other name=x", "other delete"), {"update-engagement-spares-others", "delete-spares-others"}),
        (("read", "other limited delete"), set()),
        (("read", "other name="), set()),
        (("read", "other unarchive"), set()),
        (("read", "other name=x", "read"), set()),
        (("other name=x",), set()),
    ],
)
def test_a_right_read_is_evidence(make_client: MakeClient, words: tuple[str, ...], upheld: set[str]) -> None:
    """It upholds what was done since the last write, or to others since the last read, and could have shown in it."""
    client = make_client(unarchive="nothing")
    mine, other = client.created("one"), client.created("two")
    for word in words:
        rest, status = word.removeprefix("other "), None
        identifier = mine if rest == word else other
        if rest.startswith("limited "):
            rest, status = rest.removeprefix("limited "), 429
        client.send(step(rest, identifier), status=422 if rest == "name=" else status)
    last = client.send(requests.get_engagement(mine))
    looked_at = {
        "archive-keeps-content", "archived-again-stays-archived", "archived-edit-changes-nothing",
        "update-engagement-refused-changes-nothing", "update-engagement-own-values", "update-engagement-in-parallel",
        "update-engagement-keeps-the-rest", "update-engagement-spares-others", "archive-spares-others",
        "delete-spares-others",
    }  # fmt: skip

    evidence = {rule for rule, numbers in kept(client.exchanges).items() if last.number in numbers}
    assert evidence & looked_at == upheld


def step(word: str, identifier: str) -> Any:
    """The call that a word stands for."""
    if "=" in word:
        return requests.update_engagement(identifier, {"name": word.partition("=")[2]})
    return {
        "archive": requests.archive_engagement,
        "unarchive": requests.unarchive_engagement,
        "delete": requests.delete_engagement,
        "read": requests.get_engagement,
    }[word](identifier)


def test_two_edits_at_once_are_evidence_together(make_client: MakeClient) -> None:
    """Both took effect, as the next read shows."""
    client = make_client()
    identifier = client.created()
    client.send(requests.update_engagement(identifier, {"name": "x"}), at=10.0, seconds=1.0)
    client.send(requests.update_engagement(identifier, {"description": "x"}), at=10.5, seconds=1.0)
    last = client.send(requests.get_engagement(identifier))

    assert kept(client.exchanges)["update-engagement-in-parallel"] == [last.number, last.number]


def test_a_status_that_was_sent_and_not_taken_is_evidence(make_client: MakeClient) -> None:
    """The read after it shows that a client cannot set it."""
    client = make_client()
    identifier = client.created()
    client.send(requests.update_engagement(identifier, {"name": "x", "description": "x", "status": "archived"}))
    client.send(requests.get_engagement(identifier))
    assert kept(client.exchanges)["update-engagement-own-values"] == [3]


@pytest.mark.parametrize("status", [302, 500])
def test_what_is_neither_success_nor_refusal_is_judged_elsewhere(make_client: MakeClient, status: int) -> None:
    """A redirect or an error of the service does not say that the engagement is gone."""
    client = make_client()
    client.send(requests.get_engagement(client.created()), status=status)

    assert broken(client.exchanges) == []


def test_what_may_be_gone_may_be_missing(make_client: MakeClient) -> None:
    """After a deletion without an answer a read finds it or does not."""
    for status in (200, 404):
        client = make_client()
        identifier = client.created()
        client.send(requests.delete_engagement(identifier), status=503)
        client.send(requests.get_engagement(identifier), status=None if status == 200 else status)
        assert broken(client.exchanges) == []


@pytest.mark.parametrize(
    ("status", "archived", "requirement"),
    [
        (403, True, "archived-readable"),
        (403, False, "get-engagement-succeeds"),
        (410, True, "archived-readable"),
        (404, False, "create-engagement-lasts"),
    ],
)
def test_a_refused_read_of_what_is_there(
    make_client: MakeClient, status: int, requirement: str, *, archived: bool
) -> None:
    """What is archived stays readable; the finding names the creation, or the last read."""
    client = make_client()
    identifier = client.created()
    if archived:
        client.send(requests.archive_engagement(identifier))
    client.send(requests.get_engagement(identifier), status=status)

    finding = found(client.exchanges)
    assert (finding.requirement, finding.expected, finding.actual) == (requirement, "200", str(status))
    assert [cited.number for cited in finding.because] == [1]


def test_the_last_read_is_what_shows_that_it_was_there(make_client: MakeClient) -> None:
    """It is cited where the next one finds nothing."""
    client = make_client()
    identifier = client.created()
    client.send_each([requests.get_engagement(identifier), requests.get_engagement(identifier)])
    client.send(requests.get_engagement(identifier), status=404)

    assert [cited.number for cited in found(client.exchanges).because] == [3]


@pytest.mark.parametrize(
    ("statuses", "requirement"),
    [
        ((200, 404), "delete-effective-at-once"),
        ((200, 200, 404), "delete-effective-at-once"),
        ((200,), "deleted-unreadable"),
        ((404, 200, 404), "deleted-unreadable"),
        ((200, 410), "deleted-unreadable"),
    ],
)
def test_reads_after_a_deletion(make_client: MakeClient, statuses: tuple[int, ...], requirement: str) -> None:
    """A deletion is late where reads find it at first and then never again; else it deletes nothing."""
    client = make_client()
    identifier = client.created()
    client.send(requests.delete_engagement(identifier))
    for status in statuses:
        data = {"id": identifier, "name": "one", "status": "active"}
        client.exchanges.append(client.made(requests.get_engagement(identifier), status, data, client.now, 0.01))
        client.now += 0.1

    assert broken(client.exchanges) == [requirement]


@pytest.mark.parametrize("data", [[], [{"id": "x"}], "text", None, {}, {"id": 5}, {"id": None, "name": "other"}])
def test_what_cannot_be_read_is_another_requirements(make_client: MakeClient, data: object) -> None:
    """An answer without an engagement in it shows nothing of one."""
    client = make_client()
    identifier = client.created()
    client.exchanges.append(client.made(requests.get_engagement(identifier), 200, data, client.now, 0.01))

    assert broken(client.exchanges) == []


def test_another_engagement_in_place_of_the_one_asked_for(make_client: MakeClient) -> None:
    """The finding says which was asked for, which came, and where it stands."""
    client = make_client()
    identifier = client.created("one")
    data = {"id": "another", "name": "x", "status": "archived", "createdAt": "2020-01-01T00:00:00.000Z"}
    client.exchanges.append(client.made(requests.get_engagement(identifier), 200, data, client.now, 0.01))

    finding = found(client.exchanges)
    assert finding.requirement == "get-engagement-is-the-one-asked-for"
    assert (finding.expected, finding.actual, finding.pointer) == (f'"{identifier}"', '"another"', "/data/id")


@pytest.mark.parametrize(
    ("field", "value", "requirement"),
    [
        ("createdAt", "2026-01-02T03:04:05.000Z", "created-at-never-changes"),
        ("createdAt", "2026-01-03T03:04:05.000Z", "created-at-never-changes"),
        ("updatedAt", "2026-01-01T03:04:05.000Z", "updated-at-never-goes-back"),
        ("updatedAt", "2026-01-03T03:04:05.000Z", None),
        ("updatedAt", "soon", None),
        ("createdAt", None, None),
        ("status", "paused", None),
        ("name", 7, None),
    ],
)
def test_times_from_read_to_read(make_client: MakeClient, field: str, value: object, requirement: str | None) -> None:
    """Require createdAt to stay and updatedAt not to go back; a value that is no timestamp is not judged."""
    client = make_client()
    identifier = client.created()
    first = client.send(requests.get_engagement(identifier))
    data = client.service.view(client.service.records[identifier]) | {field: value}
    client.exchanges.append(client.made(requests.get_engagement(identifier), 200, data, client.now, 0.01))
    assert broken(client.exchanges) == ([] if requirement is None else [requirement])

    if requirement is not None:
        finding = found(client.exchanges)
        assert [cited.number for cited in finding.because] == [first.number]
        assert (finding.actual, finding.pointer) == (value, f"/data/{field}")
        assert finding.message == f"{field} has {'changed' if field == 'createdAt' else 'gone back'}"
        before = client.service.view(client.service.records[identifier])[field]
        assert finding.expected == (before if field == "createdAt" else f"{before} or later")


@pytest.mark.parametrize(
    ("edits", "requirement"),
    [
        ([(0.0, 0.5), (0.1, 0.1)], None),
        ([(0.0, 0.1), (0.1, 0.4)], "updated-at-never-goes-back"),
        ([(0.0, 0.5), (0.1, 0.1), (0.7, 0.1)], "updated-at-never-goes-back"),
    ],
)
def test_the_time_may_go_back_by_edits_that_overlapped(
    make_client: MakeClient, edits: list[tuple[float, float]], requirement: str | None
) -> None:
    """The one that is carried out last may have read its clock first; an edit by itself has the latest time."""
    client = make_client()
    identifier, began = client.created(), client.now
    for start, seconds in edits:
        client.send(
            requests.update_engagement(identifier, {"description": "all alike"}), at=began + start, seconds=seconds
        )
    shown = client.service.view(client.service.records[identifier])
    for moment, at in (("2026-01-03T03:04:05.200Z", began + 0.25), ("2026-01-03T03:04:05.100Z", began + 1.0)):
        client.exchanges.append(
            client.made(requests.get_engagement(identifier), 200, shown | {"updatedAt": moment}, at, 0.01)
        )

    assert broken(client.exchanges) == ([] if requirement is None else [requirement])


def test_times_go_by_the_latest_of_all_reads(make_client: MakeClient) -> None:
    """A read that cannot be read in between does not hide that the time went back."""
    client = make_client()
    identifier = client.created()
    shown = client.service.view(client.service.records[identifier])
    for value in ("2026-01-02T04:00:00.000Z", "2026-01-04T00:00:00.000Z", "never", "2026-01-03T00:00:00.000Z"):
        data = shown | {"updatedAt": value}
        client.exchanges.append(client.made(requests.get_engagement(identifier), 200, data, client.now, 0.01))
        client.now += 0.1

    finding = found(client.exchanges)
    assert (finding.requirement, finding.expected) == (
        "updated-at-never-goes-back",
        "2026-01-04T00:00:00.000Z or later",
    )


def test_reads_at_the_same_time_are_in_no_order(make_client: MakeClient) -> None:
    """Of two that overlapped either may show the later time."""
    client = make_client()
    identifier = client.created()
    shown = client.service.view(client.service.records[identifier])
    for start, value in ((10.0, "2026-01-04T00:00:00.000Z"), (10.5, "2026-01-03T00:00:00.000Z")):
        data = shown | {"updatedAt": value}
        client.exchanges.append(client.made(requests.get_engagement(identifier), 200, data, start, 1.0))

    assert broken(client.exchanges) == []


def touched(client: Any, identifier: str) -> None:
    """UpdatedAt moves by itself."""
    client.service.records[identifier].updated = client.now


@pytest.mark.parametrize(
    ("archived", "requirement"),
    [(True, "archived-edit-changes-nothing"), (False, "update-engagement-refused-changes-nothing")],
)
def test_a_refused_edit_that_moves_the_time(make_client: MakeClient, requirement: str, *, archived: bool) -> None:
    """The finding cites the edit and the read before it."""
    client = make_client()
    identifier = client.created()
    if archived:
        client.send(requests.archive_engagement(identifier))
    before = client.send(requests.get_engagement(identifier))
    edit = client.send(requests.update_engagement(identifier, {"name": ""}), status=422)
    touched(client, identifier)
    client.send(requests.get_engagement(identifier))

    finding = found(client.exchanges)
    assert finding.requirement == requirement
    assert [cited.number for cited in finding.because] == [before.number, edit.number]
    assert finding.pointer == "/data/updatedAt"
    assert finding.expected == json.loads(before.received.body)["data"]["updatedAt"]
    assert finding.actual == client.service.view(client.service.records[identifier])["updatedAt"] != finding.expected


def test_a_time_that_moves_without_an_edit_is_open(make_client: MakeClient) -> None:
    """Nothing was refused that could have moved it; the same where something else was under way."""
    client = make_client()
    identifier = client.created()
    client.send(requests.get_engagement(identifier))
    touched(client, identifier)
    client.send(requests.get_engagement(identifier))
    client.send(requests.update_engagement(identifier, {"name": ""}), status=429)
    touched(client, identifier)
    client.send(requests.get_engagement(identifier))
    client.send(requests.update_engagement(identifier, {"name": ""}), status=422)
    client.send(requests.update_engagement(identifier, {"name": "x"}), status=503)
    touched(client, identifier)
    client.send(requests.get_engagement(identifier))

    assert broken(client.exchanges) == []


@pytest.mark.parametrize("earlier", [True, False])
def test_a_time_that_cannot_be_read_has_not_moved(make_client: MakeClient, *, earlier: bool) -> None:
    """What its form is is for other requirements."""
    client = make_client()
    identifier = client.created()
    item = client.service.view(client.service.records[identifier])
    odd = item | {"updatedAt": "soon"}
    for place, shown in enumerate((odd, item) if earlier else (item, odd)):
        if place:
            client.send(requests.update_engagement(identifier, {"name": ""}), status=422)
        client.exchanges.append(client.made(requests.get_engagement(identifier), 200, shown, client.now, 0.01))
        client.now += 1

    assert broken(client.exchanges) == []


def test_where_a_wrong_field_stands(make_client: MakeClient) -> None:
    """The finding names every value that could have been, the place, and the read that was right."""
    client = make_client()
    identifier = client.created("one")
    right = client.send(requests.get_engagement(identifier))
    lost = client.send(requests.update_engagement(identifier, {"name": "two"}), lost=True)
    client.service.records[identifier].name = "three"
    client.send(requests.get_engagement(identifier))

    finding = found(client.exchanges)
    assert (finding.expected, finding.actual, finding.pointer) == ('"one" or "two"', '"three"', "/data/name")
    assert [cited.number for cited in finding.because] == [1, lost.number, right.number]


def test_a_wrong_status_has_one_cause(make_client: MakeClient) -> None:
    """Only of texts it may be unclear what undid them."""
    client = make_client()
    identifier = client.created("one")
    client.send(requests.archive_engagement(identifier))
    client.send(requests.update_engagement(identifier, {}), status=200)
    client.service.records[identifier].status = "active"
    client.send(requests.get_engagement(identifier))

    assert found(client.exchanges).other_candidates == 0


def test_a_read_is_evidence_for_the_state_that_it_found(make_client: MakeClient) -> None:
    """What is archived is readable, and what is active too."""
    client = make_client()
    identifier = client.created("one")
    active = client.send(requests.get_engagement(identifier))
    client.send(requests.archive_engagement(identifier))
    archived = client.send(requests.get_engagement(identifier))

    assert kept(client.exchanges)["get-engagement-succeeds"] == [active.number]
    assert kept(client.exchanges)["archived-readable"] == [archived.number]


def test_every_read_that_shows_it_archived_is_evidence_for_the_archive(make_client: MakeClient) -> None:
    """Also after it was archived again, and after an edit was refused."""
    client = make_client()
    identifier = client.created("one")
    reads = []
    for sent in (
        requests.archive_engagement(identifier),
        requests.archive_engagement(identifier),
        requests.update_engagement(identifier, {"name": "new"}),
    ):
        client.send(sent)
        reads.append(client.send(requests.get_engagement(identifier)).number)

    assert kept(client.exchanges)["archive-sets-status"] == reads
