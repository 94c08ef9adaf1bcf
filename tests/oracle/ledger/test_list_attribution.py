"""Attribution of a list that shows an impossible value: to the list itself, or to a change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conformance.wire import requests
from tests.oracle.ledger.ledgers import broken, found, kept

MakeClient = Callable[..., Any]
ARCHIVE, READ, LIST = "archive", "read", "list"
LOST = "edited description"


def led(client: Any, *steps: str | dict[str, str]) -> Any:
    """Return a client after requests about one engagement: operations, edits, and direct changes (field in ``_``)."""
    mine = client.created("the engagement", description="as it was made")
    for step in steps:
        if isinstance(step, str):
            client.send({"archive": requests.archive_engagement, "read": requests.get_engagement}[step](mine)
                      if step != LIST else requests.list_engagements())  # fmt: skip
        elif "_" in step:
            setattr(client.service.records[mine], step["_"], step["is"])
        else:
            client.send(requests.update_engagement(mine, step))
    return client


def spoilt(name: str, value: str) -> dict[str, str]:
    """Return a direct change of a field."""
    return {"_": name, "is": value}


EDIT = {"description": LOST}
UNDONE = spoilt("description", "as it was made")


@pytest.mark.parametrize(
    ("steps", "requirement"),
    [
        ((spoilt("name", "another name"), LIST), "create-engagement-lasts"),
        ((EDIT, UNDONE, LIST), "update-engagement-takes-effect"),
        ((READ, EDIT, UNDONE, LIST), "update-engagement-takes-effect"),
        ((ARCHIVE, spoilt("status", "active"), LIST), "archive-sets-status"),
        ((READ, ARCHIVE, spoilt("name", "archived name"), LIST), "archive-keeps-content"),
        ((READ, EDIT, spoilt("name", "edited name"), LIST), "update-engagement-keeps-the-rest"),
        ((spoilt("status", "archived"), LIST), "new-engagement-active"),
        # A read or a list has shown a possible value, without a change since.
        ((READ, spoilt("name", "another name"), LIST), "list-engagements-as-read"),
        ((LIST, spoilt("name", "another name"), LIST), "list-engagements-as-read"),
        ((EDIT, READ, UNDONE, LIST), "list-engagements-as-read"),
        # The list lacks an edit and an archive.
        ((EDIT, ARCHIVE, UNDONE, spoilt("status", "active"), LIST), "list-engagements-as-read"),
        # A later read decides.
        ((EDIT, UNDONE, LIST, spoilt("description", LOST), READ), "list-engagements-as-read"),
        ((EDIT, UNDONE, LIST, spoilt("description", LOST), LIST), "list-engagements-as-read"),
        ((EDIT, UNDONE, LIST, READ), "update-engagement-takes-effect"),
        # A later edit proves nothing about an earlier one.
        ((EDIT, UNDONE, LIST, {"description": "another edit"}, READ), "update-engagement-takes-effect"),
    ],
)
def test_a_list_is_attributed_to_the_last_unseen_change(
    make_client: MakeClient, steps: tuple[Any, ...], requirement: str
) -> None:
    """Exactly one requirement is reported."""
    assert broken(led(make_client(), *steps).exchanges) == [requirement]


def test_a_list_during_a_creation(make_client: MakeClient) -> None:
    """A list that overlaps a creation and shows another text is attributed to the creation."""
    both = make_client()
    made = both.created("the engagement")
    both.service.records[made].name = "another name"
    both.send(requests.list_engagements(), at=0.02)

    assert broken(both.exchanges) == ["create-engagement-lasts"]


def test_a_list_that_is_wrong_for_certain_explains_its_other_items(make_client: MakeClient, honest: type[Any]) -> None:
    """If an item that was read before is wrong, no edit of another item is reported as lost."""

    class Late(honest):  # type: ignore[misc]
        def item(self, record: Any) -> dict[str, Any]:
            shown: dict[str, Any] = super().item(record) | {"description": "always this one"}
            return shown

    both = led(make_client(Late), READ)
    other = both.created("another engagement")
    both.send(requests.update_engagement(other, {"description": "never read"}))
    both.send(requests.list_engagements())

    assert broken(both.exchanges) == ["list-engagements-as-read"]


def test_a_read_silences_ambiguous_lists(make_client: MakeClient) -> None:
    """If a read shows a lost edit, lists of other engagements add no ambiguous finding."""
    both = led(make_client(), EDIT, UNDONE, READ)
    other = both.created("another engagement", description="of another one")
    both.send(requests.archive_engagement(other))
    both.service.records[other].description = "no longer"
    both.send(requests.list_engagements())

    assert broken(both.exchanges) == ["update-engagement-takes-effect"]


def test_the_list_finding_with_fewer_causes_is_reported(make_client: MakeClient) -> None:
    """An engagement that was archived too says less about its creation than one that was not."""
    both = make_client()
    made = [both.created(name) for name in ("one engagement", "other engagement")]
    both.send(requests.archive_engagement(made[0]))
    for identifier in made:
        both.service.records[identifier].name += " (1)"
    both.send(requests.list_engagements())

    assert broken(both.exchanges) == ["create-engagement-lasts"]


@pytest.mark.parametrize("field", ["name", "description"])
def test_a_creation_response_repeats_the_sent_texts(make_client: MakeClient, honest: type[Any], field: str) -> None:
    """The response itself is wrong, and later reads and lists with the same value add nothing."""

    class Numbering(honest):  # type: ignore[misc]
        def create(self, body: dict[str, Any]) -> tuple[int, object]:
            response: tuple[int, object] = super().create(body | {field: f"{body[field]} (1)"})
            return response

    exchanges = led(make_client(Numbering), READ, LIST).exchanges

    finding = found(exchanges)
    assert (finding.requirement, finding.exchange) == ("create-engagement-answers-what-was-sent", exchanges[0])
    assert finding.pointer == f"/data/{field}"


@pytest.mark.parametrize(
    ("sent", "shown", "is_wrong"),
    [({}, "of another", True), ({"description": ""}, "of another", True), ({}, "by the service", False),
     ({}, "null", False), ({}, "no", False), ({"description": "of another"}, "of another", False)],
)  # fmt: skip
def test_a_creation_without_a_description_does_not_get_one_of_another(
    make_client: MakeClient, honest: type[Any], sent: dict[str, str], shown: str, *, is_wrong: bool
) -> None:
    """A service may describe an engagement, but not with a text that the run sent for another."""

    class Describing(honest):  # type: ignore[misc]
        def create(self, body: dict[str, Any]) -> tuple[int, object]:
            is_last = body["name"] == "last"
            response: tuple[int, object] = super().create(body | ({"description": shown} if is_last else {}))
            return response

    both = make_client(Describing)
    for number, description in enumerate(("of another", "null", "no")):
        both.created(f"the engagement {number}", description=description)
    both.send(requests.create_engagement({"name": "last"} | sent))

    assert broken(both.exchanges) == ["create-engagement-answers-what-was-sent"] * is_wrong


@pytest.mark.parametrize("name", ["  two  blanks  in  it  ", "a name with \u00e9 and \U0001f680"])
def test_a_text_that_is_not_ordinary_is_judged_by_reads(make_client: MakeClient, honest: type[Any], name: str) -> None:
    """A service may trim blanks; other checks judge odd texts."""

    class Trimming(honest):  # type: ignore[misc]
        def create(self, body: dict[str, Any]) -> tuple[int, object]:
            response: tuple[int, object] = super().create(body | {"name": "x"})
            return response

    both = make_client(Trimming)
    both.created(name)

    assert broken(both.exchanges) == []


def test_a_list_with_another_text_than_a_read_is_wrong(make_client: MakeClient) -> None:
    """Lists that cut a text are wrong, even if one of them is the first to show what became of an odd text."""
    client = make_client()
    mine = client.created("  two  blanks  in  it  ")
    record, whole = client.service.records[mine], client.service.records[mine].name
    for name, request in ((whole[:5], LIST), (whole, READ), (whole[:5], LIST)):
        record.name = name
        client.send(requests.list_engagements() if request == LIST else requests.get_engagement(mine))

    assert broken(client.exchanges) == ["list-engagements-as-read"]


@pytest.mark.parametrize("word", ["2026-01-02", "true", "1e5", "0"])
def test_a_plain_text_is_stored_unchanged(make_client: MakeClient, honest: type[Any], word: str) -> None:
    """A text that looks like a number, a date or a JSON literal is text."""

    class Reading(honest):  # type: ignore[misc]
        def create(self, body: dict[str, Any]) -> tuple[int, object]:
            response: tuple[int, object] = super().create(body | {"description": "read"})
            return response

    both = make_client(Reading)
    both.created("the engagement", description=word)

    assert broken(both.exchanges) == ["create-engagement-answers-what-was-sent"]


def test_a_refused_creation_has_no_data(make_client: MakeClient) -> None:
    """This holds even if another creation returned an engagement without a name."""
    both = make_client()
    for status in (201, 409):
        both.exchanges.append(
            both.made(requests.create_engagement({"name": "the engagement"}), status, {"id": ""}, 0, 0.05)
        )

    assert broken(both.exchanges) == []


def test_a_correct_creation_response_is_evidence(make_client: MakeClient) -> None:
    """It counts once for each ordinary text."""
    assert kept(led(make_client()).exchanges)["create-engagement-answers-what-was-sent"] == [1, 1]
