"""Permitted responses to a change of one engagement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from conformance.wire import requests
from tests.oracle.ledger.ledgers import broken, found, kept

MakeClient = Callable[..., Any]
SOUND = {"name": "Some new name"}
UNSOUND = {"name": ""}


@pytest.mark.parametrize(
    ("status", "in_use", "right"),
    [
        (200, "another", True),
        (204, "another", True),
        (409, SOUND["name"], True),
        (409, "some  NEW name", True),
        (409, "another", False),
        (400, SOUND["name"], False),
        (404, "another", False),
        (410, "another", False),
        (422, "another", False),
    ],
)
def test_an_ordinary_edit_succeeds_or_conflicts(
    make_client: MakeClient, status: int, in_use: str, *, right: bool
) -> None:
    """A name may be in use; there is no other reason to refuse a valid edit of an active engagement."""
    client = make_client()
    client.created(in_use)
    client.send(requests.update_engagement(client.created("Some old name"), SOUND), status=status)

    assert broken(client.exchanges) == ([] if right else ["update-engagement-succeeds"])


@pytest.mark.parametrize(
    ("before", "right"),
    [
        ((), False),
        (("create",), True),
        (("create", "lose"), True),
        (("create", "rename"), True),
        (("create", "rename", "delete"), False),
        (("create", "delete"), False),
        (("create", "delete unclearly"), True),
        (("create unclearly",), True),
    ],
)
def test_a_creation_conflicts_only_with_a_name_in_use(
    make_client: MakeClient, before: tuple[str, ...], *, right: bool
) -> None:
    """A deletion frees the names; an engagement that the run does not know for certain may have one."""
    client = make_client()
    identifier = ""
    for step in before:
        match step:
            case "create":
                identifier = client.created(SOUND["name"])
            case "create unclearly":
                client.send(requests.create_engagement(SOUND), lost=True)
            case "lose":
                client.service.records[identifier].name = "wrong"
                client.send(requests.get_engagement(identifier))
            case "rename":
                client.send(requests.update_engagement(identifier, {"name": "Another name"}))
            case _:
                client.send(requests.delete_engagement(identifier), lost=step == "delete unclearly")
    known = broken(client.exchanges)
    client.send(requests.create_engagement(SOUND), status=409)

    assert broken(client.exchanges) == known + ([] if right else ["create-engagement-succeeds"])


@pytest.mark.parametrize(
    ("status", "right"),
    [(200, True), (400, True), (403, True), (409, True), (415, True), (422, True), (404, False), (405, False)],
)
def test_unarchiving_is_served(make_client: MakeClient, status: int, *, right: bool) -> None:
    """It may have an effect or not, or be refused, but must exist."""
    client = make_client()
    client.send(requests.unarchive_engagement(client.created()), status=status)

    assert broken(client.exchanges) == ([] if right else ["unarchive-served"])


@pytest.mark.parametrize(
    ("sent", "status", "requirement"),
    [
        (requests.unarchive_engagement, 404, None),
        (requests.unarchive_engagement, 400, None),
        (requests.unarchive_engagement, 403, None),
        (requests.unarchive_engagement, 415, None),
        (requests.unarchive_engagement, 422, None),
        (requests.unarchive_engagement, 409, "deleted-not-unarchived"),
        (requests.unarchive_engagement, 405, "deleted-not-unarchived"),
        (requests.unarchive_engagement, 200, "deleted-not-unarchived"),
        (requests.archive_engagement, 404, None),
        (requests.archive_engagement, 400, "deleted-unarchivable"),
        (requests.delete_engagement, 404, None),
        (requests.delete_engagement, 409, "deleted-undeletable"),
        (requests.delete_engagement, 200, "deleted-undeletable"),
        (lambda identifier: requests.update_engagement(identifier, SOUND), 404, None),
        (lambda identifier: requests.update_engagement(identifier, SOUND), 422, "deleted-uneditable"),
        (lambda identifier: requests.update_engagement(identifier, UNSOUND), 404, None),
        (lambda identifier: requests.update_engagement(identifier, UNSOUND), 422, None),
        (lambda identifier: requests.update_engagement(identifier, UNSOUND), 200, "deleted-uneditable"),
        (lambda identifier: requests.update_engagement(identifier, {}), 400, None),
    ],
)
def test_a_change_of_a_deleted_engagement_is_a_404(
    make_client: MakeClient, sent: Any, status: int, requirement: str | None
) -> None:
    """Only other defects of the request may be reported first."""
    client = make_client()
    identifier = client.created()
    client.send(requests.delete_engagement(identifier))
    client.send(sent(identifier), status=status)

    assert broken(client.exchanges) == ([] if requirement is None else [requirement])
    if requirement is not None:
        others = ", 400, 403, 415 or 422" if requirement == "deleted-not-unarchived" else ""
        assert (found(client.exchanges).expected, found(client.exchanges).actual) == (f"404{others}", str(status))


def test_a_possibly_deleted_engagement_may_be_missing(make_client: MakeClient) -> None:
    """A deletion without a response may have happened."""
    client = make_client()
    identifier = client.created()
    client.send(requests.delete_engagement(identifier), lost=True)
    client.send(requests.delete_engagement(identifier), status=404)

    assert broken(client.exchanges) == []


@pytest.mark.parametrize(("status", "right"), [(404, True), (409, True), (400, False)])
@pytest.mark.parametrize("archived", [False, True])
def test_an_edit_during_another_change_may_be_a_404(
    make_client: MakeClient, status: int, *, archived: bool, right: bool
) -> None:
    """Other refusals of the request are not excused."""
    client = make_client()
    identifier = client.created()
    if archived:
        client.send(requests.archive_engagement(identifier))
    began, edit = client.now, requests.update_engagement(identifier, SOUND)
    client.send(edit, at=began, seconds=0.5)
    client.send(edit, at=began + 0.1, seconds=0.1, status=status)

    assert broken(client.exchanges) == ([] if right or archived else ["update-engagement-succeeds"])


@pytest.mark.parametrize("name", ["short", "Some old name with many words", "some old name", "Some old name 9"])
def test_a_rule_of_names_may_refuse_an_edit(make_client: MakeClient, name: str) -> None:
    """No name as short, as long, of such characters or with such ends was accepted."""
    client = make_client()
    client.send(requests.update_engagement(client.created(name), SOUND), status=422)

    assert broken(client.exchanges) == []


@pytest.mark.parametrize(("status", "name"), [(409, "Some old name"), (422, "Some old name"), (409, "Another name")])
def test_an_edit_with_the_values_that_stand(make_client: MakeClient, status: int, name: str) -> None:
    """It may be refused; with another name it may not."""
    client = make_client()
    identifier = client.created("Some old name")
    client.send(requests.update_engagement(identifier, {"name": name, "description": "null"}))
    client.send(requests.update_engagement(identifier, {"name": name}), status=status)
    client.send(requests.update_engagement(identifier, {"name": "Some new name", "description": "null"}), status=409)

    assert broken(client.exchanges) == ["update-engagement-succeeds"]
    assert found(client.exchanges).exchange is client.exchanges[-1]


def test_an_edit_of_both_texts_succeeds(make_client: MakeClient) -> None:
    """Such an edit has no defect."""
    client = make_client()
    edit = {"name": "Some new name", "description": "Some new text"}
    client.send(
        requests.update_engagement(client.created("Some old name", description="Some old text"), edit), status=422
    )

    assert broken(client.exchanges) == ["update-engagement-succeeds"]


def test_an_edit_without_texts_of_an_archived_engagement(make_client: MakeClient) -> None:
    """It may be a no-op or be refused like any edit, but not with a 404."""
    for status, expected in ((200, []), (409, []), (404, ["archived-edit-refused"])):
        client = make_client()
        identifier = client.created()
        client.send(requests.archive_engagement(identifier))
        client.send(requests.update_engagement(identifier, {}), status=status)
        assert broken(client.exchanges) == expected


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (200, "an edit of an archived engagement succeeded"),
        (404, "an edit of an archived engagement returned 404"),
        (403, None),
        (405, None),
        (410, None),
    ],
)
def test_an_edit_of_an_archived_engagement(make_client: MakeClient, status: int, message: str | None) -> None:
    """It is refused, but not with a 404; the message says what happened."""
    client = make_client()
    identifier = client.created()
    client.send(requests.archive_engagement(identifier))
    client.send(requests.update_engagement(identifier, SOUND), status=status)

    if message is None:
        assert broken(client.exchanges) == []
    else:
        assert broken(client.exchanges) == ["archived-edit-refused"]
        assert found(client.exchanges).message == message


def test_an_edit_while_the_status_is_unknown(make_client: MakeClient) -> None:
    """After an archive without a response, an edit may succeed or be refused."""
    for status in (200, 409, 422):
        client = make_client()
        identifier = client.created()
        client.send(requests.archive_engagement(identifier), lost=True)
        client.send(requests.update_engagement(identifier, SOUND), status=status)
        assert broken(client.exchanges) == []


def slipped(make_client: MakeClient, *after: dict[str, str], before: dict[str, str] | None = None) -> list[Any]:
    """Return an archive, an accepted edit and refused edits, with an optional edit before the archive."""
    client = make_client()
    identifier = client.created()
    if before is not None:
        client.send(requests.update_engagement(identifier, before), status=422)
    client.send(requests.archive_engagement(identifier))
    client.send(requests.update_engagement(identifier, {"name": "slipped"}), status=200)
    for body in after:
        client.send(requests.update_engagement(identifier, body), status=409)
    return list(client.exchanges)


def test_an_archive_that_takes_effect_late(make_client: MakeClient) -> None:
    """It is late if only later edits of the same fields are refused; otherwise it never protects them."""
    assert broken(slipped(make_client, {"name": "late"})) == ["archive-effective-at-once"]
    assert broken(slipped(make_client, {"name": "late"}, before=UNSOUND)) == ["archive-effective-at-once"]
    assert broken(slipped(make_client, {"description": "late"})) == ["archived-edit-refused"]
    assert broken(slipped(make_client)) == ["archived-edit-refused"]


def test_an_edit_that_succeeds_between_refusals(make_client: MakeClient) -> None:
    """The archive was already effective, so its delay is no explanation."""
    client = make_client()
    identifier = client.created()
    client.send(requests.archive_engagement(identifier))
    for status in (409, 200, 409):
        client.send(requests.update_engagement(identifier, SOUND), status=status)

    assert broken(client.exchanges) == ["archived-edit-refused"]


def test_a_refusal_after_an_unarchive_proves_no_delay(make_client: MakeClient) -> None:
    """An edit refused after an unarchive proves nothing about the archive."""
    client = make_client()
    identifier = client.created()
    client.send(requests.archive_engagement(identifier))
    client.send(requests.update_engagement(identifier, SOUND), status=200)
    client.send(requests.unarchive_engagement(identifier))
    client.send(requests.update_engagement(identifier, SOUND), status=409)

    assert broken(client.exchanges) == ["archived-edit-refused"]


@pytest.mark.parametrize(("read_first", "requirement"), [(True, "unarchived-archivable"), (False, None)])
def test_archiving_after_an_unarchive(make_client: MakeClient, *, read_first: bool, requirement: str | None) -> None:
    """The effect of unarchiving is open until a read; an engagement that reads as active can be archived."""
    client = make_client()
    identifier = client.created()
    client.send(requests.archive_engagement(identifier))
    client.send(requests.unarchive_engagement(identifier))
    if read_first:
        client.send(requests.get_engagement(identifier))
    client.send(requests.archive_engagement(identifier), status=409)

    assert broken(client.exchanges) == ([] if requirement is None else [requirement])


@pytest.mark.parametrize(("read_first", "requirement"), [(True, "unarchived-editable"), (False, None)])
def test_editing_after_an_unarchive(make_client: MakeClient, *, read_first: bool, requirement: str | None) -> None:
    """An engagement that reads as active can be edited again."""
    client = make_client()
    identifier = client.created("Some old name")
    client.send(requests.archive_engagement(identifier))
    client.send(requests.unarchive_engagement(identifier))
    if read_first:
        client.send(requests.get_engagement(identifier))
    client.send(requests.update_engagement(identifier, SOUND), status=422)

    assert broken(client.exchanges) == ([] if requirement is None else [requirement])


@pytest.mark.parametrize(
    ("sent", "requirement"),
    [
        (requests.archive_engagement, "archive-engagement-succeeds"),
        (requests.delete_engagement, "delete-engagement-succeeds"),
    ],
)
@pytest.mark.parametrize("lost", [True, False])
def test_an_overlapping_request_may_fail(make_client: MakeClient, sent: Any, requirement: str, *, lost: bool) -> None:
    """An archive or a deletion must succeed only if no other write overlaps it or may still happen."""
    client = make_client()
    identifier = client.created()
    client.send(requests.update_engagement(identifier, SOUND), at=10.0, seconds=1.0, lost=lost)
    client.send(sent(identifier), at=10.5, seconds=1.0, status=409)
    assert broken(client.exchanges) == []

    other = make_client()
    other.send(sent(other.created()), status=409)
    assert broken(other.exchanges) == [requirement]


def test_archiving_an_archived_engagement_is_open(make_client: MakeClient) -> None:
    """It may succeed or be refused."""
    for choice in ("200", "409"):
        client = make_client(archive_again=choice)
        identifier = client.created()
        client.send_each([requests.archive_engagement(identifier), requests.archive_engagement(identifier)])
        assert broken(client.exchanges) == []


@pytest.mark.parametrize("status", [302, 500])
def test_redirects_and_server_errors_are_not_judged(make_client: MakeClient, status: int) -> None:
    """They say nothing about the engagement."""
    client = make_client()
    identifier = client.created()
    for sent in (
        requests.update_engagement(identifier, SOUND),
        requests.archive_engagement(identifier),
        requests.delete_engagement(identifier),
    ):
        client.send(sent, status=status)

    assert broken(client.exchanges) == []


def test_a_deletion_that_overlaps_another(make_client: MakeClient) -> None:
    """Either deletion may get a 404."""
    client = make_client()
    identifier = client.created()
    client.send(requests.delete_engagement(identifier), at=10.0, seconds=1.0)
    client.send(requests.delete_engagement(identifier), at=10.5, seconds=1.0, status=404)

    assert broken(client.exchanges) == []


def test_only_the_first_refusal_shows_that_an_archive_is_effective_at_once(make_client: MakeClient) -> None:
    """A later refusal fits a slow archive too; the same holds for reads after a deletion."""
    client = make_client()
    identifier = client.created()
    archive = client.send(requests.archive_engagement(identifier))
    first = client.send(requests.update_engagement(identifier, SOUND))
    client.send(requests.update_engagement(identifier, SOUND))
    client.send(requests.delete_engagement(identifier))
    gone = client.send(requests.get_engagement(identifier))
    client.send(requests.get_engagement(identifier))
    evidence = kept([replace(exchange, number=place) for place, exchange in enumerate(client.exchanges)])

    assert evidence["archive-effective-at-once"] == [client.exchanges.index(first)]
    assert evidence["delete-effective-at-once"] == [client.exchanges.index(gone)]
    assert client.exchanges.index(archive) < client.exchanges.index(first)


def test_other_requests_in_between_do_not_make_a_refusal_the_second(make_client: MakeClient) -> None:
    """Another archive, or an edit that began before the archive's response, does not count."""
    client = make_client()
    identifier = client.created()
    client.send(requests.archive_engagement(identifier), at=10.0, seconds=1.0)
    client.send(requests.update_engagement(identifier, SOUND), at=10.5, seconds=1.0)
    client.send(requests.archive_engagement(identifier))
    first = client.send(requests.update_engagement(identifier, SOUND))

    assert kept(client.exchanges)["archive-effective-at-once"] == [first.number]
