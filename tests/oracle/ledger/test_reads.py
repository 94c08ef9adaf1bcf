"""Ledger rules for reads, and the evidence of a correct read."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from conformance.wire import requests
from conformance.wire.requests import Credential
from tests.oracle.ledger.ledgers import broken, found, kept

MakeClient = Callable[..., Any]


@pytest.mark.parametrize(
    ("words", "supported"),
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
        (("other name=x",), {"update-engagement-spares-others"}),
    ],
)
def test_a_correct_read_is_evidence(make_client: MakeClient, words: tuple[str, ...], supported: set[str]) -> None:
    """It supports every rule that the writes since the last write, or the last read, could have broken."""
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
    assert evidence & looked_at == supported


def step(word: str, identifier: str) -> Any:
    """Return the request for a step's name."""
    if "=" in word:
        return requests.update_engagement(identifier, {"name": word.partition("=")[2]})
    return {
        "archive": requests.archive_engagement,
        "unarchive": requests.unarchive_engagement,
        "delete": requests.delete_engagement,
        "read": requests.get_engagement,
    }[word](identifier)


def test_overlapping_edits_are_evidence_together(make_client: MakeClient) -> None:
    """Both took effect, as the next read shows."""
    client = make_client()
    identifier = client.created()
    client.send(requests.update_engagement(identifier, {"name": "x"}), at=10.0, seconds=1.0)
    client.send(requests.update_engagement(identifier, {"description": "x"}), at=10.5, seconds=1.0)
    last = client.send(requests.get_engagement(identifier))

    assert kept(client.exchanges)["update-engagement-in-parallel"] == [last.number, last.number]


def test_an_ignored_status_is_evidence(make_client: MakeClient) -> None:
    """The next read shows that a client cannot set the status."""
    client = make_client()
    identifier = client.created()
    client.send(requests.update_engagement(identifier, {"name": "x", "description": "x", "status": "archived"}))
    client.send(requests.get_engagement(identifier))
    assert kept(client.exchanges)["update-engagement-own-values"] == [3]


@pytest.mark.parametrize("status", [302, 500])
def test_redirects_and_server_errors_are_not_judged(make_client: MakeClient, status: int) -> None:
    """They do not say that the engagement no longer exists."""
    client = make_client()
    client.send(requests.get_engagement(client.created()), status=status)

    assert broken(client.exchanges) == []


def test_a_possibly_deleted_engagement_may_be_missing(make_client: MakeClient) -> None:
    """After a deletion without a response a read may or may not find it."""
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
def test_a_refused_read_of_an_existing_engagement(
    make_client: MakeClient, status: int, requirement: str, *, archived: bool
) -> None:
    """An archived engagement stays readable; the finding cites the creation or the last read, and an archive."""
    client = make_client()
    identifier = client.created()
    if archived:
        client.send(requests.archive_engagement(identifier))
    client.send(requests.get_engagement(identifier), status=status)

    finding = found(client.exchanges)
    assert (finding.requirement, finding.expected, finding.actual) == (requirement, "200", str(status))
    assert [cited.number for cited in finding.because] == ([1, 2] if archived else [1])


def test_a_missing_engagement_cites_its_last_read(make_client: MakeClient) -> None:
    """The finding of the next read cites it."""
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
    """A deletion is late if only the first reads find the engagement; otherwise it deletes nothing."""
    client = make_client()
    identifier = client.created()
    client.send(requests.delete_engagement(identifier))
    for status in statuses:
        data = {"id": identifier, "name": "one", "status": "active"}
        client.exchanges.append(client.made(requests.get_engagement(identifier), status, data, client.now, 0.01))
        client.now += 0.1

    assert broken(client.exchanges) == [requirement]


@pytest.mark.parametrize("data", [[], [{"id": "x"}], "text", None, {}, {"id": 5}, {"id": None, "name": "other"}])
def test_a_read_without_an_engagement_is_not_judged(make_client: MakeClient, data: object) -> None:
    """A response without an engagement proves nothing."""
    client = make_client()
    identifier = client.created()
    client.exchanges.append(client.made(requests.get_engagement(identifier), 200, data, client.now, 0.01))

    assert broken(client.exchanges) == []


def test_a_read_of_another_engagement(make_client: MakeClient) -> None:
    """The finding shows the requested id, the returned id and its place."""
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
        ("updatedAt", "2026-01-03T03:04:05.000Z", "reading-changes-nothing"),
        ("updatedAt", "soon", None),
        ("createdAt", None, None),
        ("status", "paused", None),
        ("name", 7, None),
    ],
)
def test_times_from_read_to_read(make_client: MakeClient, field: str, value: object, requirement: str | None) -> None:
    """Nothing was written in between, so neither time may differ; an invalid timestamp is not judged."""
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
        messages = {
            "created-at-never-changes": "createdAt has changed",
            "updated-at-never-goes-back": "updatedAt has gone back",
            "reading-changes-nothing": "updatedAt changed although the engagement was not",
        }
        assert finding.message == messages[finding.requirement]
        before = client.service.view(client.service.records[identifier])[field]
        assert finding.expected == (f"{before} or later" if "back" in finding.message else before)


@pytest.mark.parametrize(
    ("edits", "requirement"),
    [
        ([(0.0, 0.5), (0.1, 0.1)], None),
        ([(0.0, 0.1), (0.1, 0.4)], "updated-at-never-goes-back"),
        ([(0.0, 0.5), (0.1, 0.1), (0.7, 0.1)], "updated-at-never-goes-back"),
    ],
)
def test_the_time_may_go_back_after_overlapping_edits(
    make_client: MakeClient, edits: list[tuple[float, float]], requirement: str | None
) -> None:
    """The last edit may have read its clock first; a single edit has the latest time."""
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


def test_times_are_compared_with_the_latest_read(make_client: MakeClient) -> None:
    """An unreadable read in between does not hide that the time went back."""
    client = make_client()
    identifier = client.created()
    shown = client.service.view(client.service.records[identifier])
    for value in ("2026-01-02T04:00:00.000Z", "2026-01-04T00:00:00.000Z", "never", "2026-01-03T00:00:00.000Z"):
        data = shown | {"updatedAt": value}
        client.send(requests.update_engagement(identifier, {}))
        client.exchanges.append(client.made(requests.get_engagement(identifier), 200, data, client.now, 0.01))
        client.now += 0.1

    finding = found(client.exchanges)
    assert (finding.requirement, finding.expected) == (
        "updated-at-never-goes-back",
        "2026-01-04T00:00:00.000Z or later",
    )


def test_overlapping_reads_have_no_order(make_client: MakeClient) -> None:
    """Either may show the later time."""
    client = make_client()
    identifier = client.created()
    client.send(requests.update_engagement(identifier, {}))
    shown = client.service.view(client.service.records[identifier])
    for start, value in ((10.0, "2026-01-04T00:00:00.000Z"), (10.5, "2026-01-03T00:00:00.000Z")):
        data = shown | {"updatedAt": value}
        client.exchanges.append(client.made(requests.get_engagement(identifier), 200, data, start, 1.0))

    assert broken(client.exchanges) == []


def touched(client: Any, identifier: str) -> None:
    """Move updatedAt directly."""
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


@pytest.mark.parametrize(
    ("status", "key", "requirement"),
    [
        (None, None, "reading-changes-nothing"),
        (429, None, "throttled-changes-nothing"),
        (422, None, "update-engagement-refused-changes-nothing"),
        (403, Credential.bearer("engagements:read", "k"), "scope-refused-changes-nothing"),
        (403, Credential.bearer("member_1", "k"), "scope-refused-changes-nothing"),
        (401, Credential.bearer("member_1", "k"), "removed-member-loses-engagements"),
        (404, Credential.bearer("other_organization", "k"), "isolation-untouched"),
        (401, Credential("no_key", None, invalid=True), "unauthenticated-changes-nothing"),
        (503, None, None),
        (500, None, None),
    ],
)
def test_a_time_that_moves_without_a_write(
    make_client: MakeClient, status: int | None, key: Credential | None, requirement: str | None
) -> None:
    """The requirement is that of the last refusal; an edit with an unknown outcome may have moved it."""
    client = make_client()
    identifier = client.created()
    client.send(requests.get_engagement(identifier))
    if status is not None:
        edit = requests.update_engagement(identifier, {"name": ""})
        client.send(edit if key is None else edit.with_key(key), status=status)
    touched(client, identifier)
    client.send(requests.get_engagement(identifier))

    assert broken(client.exchanges) == ([] if requirement is None else [requirement])


@pytest.mark.parametrize(
    ("change", "requirement"),
    [
        (requests.archive_engagement("e0"), "archive-refreshes-updated-at"),
        (requests.update_engagement("e0", {"name": "Some new name"}), "update-engagement-moves-updated-at"),
        (requests.update_engagement("e0", {"name": "as it was"}), None),
        (requests.unarchive_engagement("e0"), None),
    ],
)
@pytest.mark.parametrize("seconds", [2.6, 2.4])
def test_a_change_that_does_not_move_the_time(
    make_client: MakeClient, change: requests.Request, requirement: str | None, seconds: float
) -> None:
    """It must, if it changes a value, and the clock had time to tick or the response to an archive is later."""
    client = make_client(unarchive="nothing")
    identifier = client.created("as it was", description="described")
    then = client.service.records[identifier].updated
    client.now += seconds
    client.send(requests.get_engagement(identifier))
    client.send(replace(change, identifier=identifier))
    client.service.records[identifier].updated = then
    client.send(requests.get_engagement(identifier))

    is_certain = seconds > 2.5 or change.operation.id == "archiveEngagement"
    assert broken(client.exchanges) == ([requirement] if requirement is not None and is_certain else [])


@pytest.mark.parametrize(("shown", "wrong"), [("described", []), (None, ["update-engagement-moves-updated-at"])])
def test_a_null_description_may_be_ignored(make_client: MakeClient, shown: str | None, wrong: list[str]) -> None:
    """Then nothing changed; if it is carried out, the time must move."""
    client = make_client()
    identifier = client.created("as it was", description="described")
    then = client.service.records[identifier].updated
    client.now += 2.6
    client.send(requests.get_engagement(identifier))
    client.send(requests.update_engagement(identifier, {"description": None}))
    client.service.records[identifier].updated = then
    client.service.records[identifier].description = shown
    client.send(requests.get_engagement(identifier))

    assert broken(client.exchanges) == wrong


@pytest.mark.parametrize("earlier", [True, False])
def test_an_unreadable_time_has_not_moved(make_client: MakeClient, *, earlier: bool) -> None:
    """Other requirements judge its format."""
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


def test_the_finding_of_a_wrong_field(make_client: MakeClient) -> None:
    """It shows every possible value and the place, and cites the last correct read."""
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
    """Only a wrong text can have several causes."""
    client = make_client()
    identifier = client.created("one")
    client.send(requests.archive_engagement(identifier))
    client.send(requests.update_engagement(identifier, {}), status=200)
    client.service.records[identifier].status = "active"
    client.send(requests.get_engagement(identifier))

    assert found(client.exchanges).other_candidates == 0


def test_a_read_is_evidence_for_its_status(make_client: MakeClient) -> None:
    """Archived and active engagements each have a rule that they are readable."""
    client = make_client()
    identifier = client.created("one")
    active = client.send(requests.get_engagement(identifier))
    client.send(requests.archive_engagement(identifier))
    archived = client.send(requests.get_engagement(identifier))

    assert kept(client.exchanges)["get-engagement-succeeds"] == [active.number]
    assert kept(client.exchanges)["archived-readable"] == [archived.number]


def test_every_read_that_shows_it_archived_is_evidence_for_the_archive(make_client: MakeClient) -> None:
    """This includes reads after a second archive and after a refused edit."""
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
