"""Which requirement a list is put down to that shows an engagement as it cannot be: the list's, or that of a change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conformance.wire import requests
from tests.oracle.ledgers import broken, found, kept

MakeClient = Callable[..., Any]
ARCHIVE, READ, LIST = "archive", "read", "list"
LOST = "edited description"


def led(client: Any, *steps: str | dict[str, str]) -> Any:
    """A conversation about one engagement: operations, edits, and (with a field's value in ``_``) what spoils it."""
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
    """A field comes to have another value by itself."""
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
        # A read, or a list, has shown it right and nothing was done since.
        ((READ, spoilt("name", "another name"), LIST), "list-engagements-as-read"),
        ((LIST, spoilt("name", "another name"), LIST), "list-engagements-as-read"),
        ((EDIT, READ, UNDONE, LIST), "list-engagements-as-read"),
        # Nothing of an edit and of an archive is shown.
        ((EDIT, ARCHIVE, UNDONE, spoilt("status", "active"), LIST), "list-engagements-as-read"),
        # What is seen afterwards tells.
        ((EDIT, UNDONE, LIST, spoilt("description", LOST), READ), "list-engagements-as-read"),
        ((EDIT, UNDONE, LIST, spoilt("description", LOST), LIST), "list-engagements-as-read"),
        ((EDIT, UNDONE, LIST, READ), "update-engagement-takes-effect"),
        # A later edit says nothing of an earlier one.
        ((EDIT, UNDONE, LIST, {"description": "another edit"}, READ), "update-engagement-takes-effect"),
    ],
)
def test_a_list_is_put_down_to_the_last_change_unless_that_was_seen(
    make_client: MakeClient, steps: tuple[Any, ...], requirement: str
) -> None:
    """One requirement is told, and never none."""
    assert broken(led(make_client(), *steps).exchanges) == [requirement]


def test_a_list_while_something_is_being_made(make_client: MakeClient) -> None:
    """A list that overlaps a creation and shows another text is put down to that."""
    both = make_client()
    made = both.created("the engagement")
    both.service.records[made].name = "another name"
    both.send(requests.list_engagements(), at=0.02)

    assert broken(both.exchanges) == ["create-engagement-lasts"]


def test_a_list_that_is_surely_wrong_tells_of_the_others(make_client: MakeClient, honest: type[Any]) -> None:
    """Where one item is wrong that was read before, no edit of another one is said to be lost."""

    class Late(honest):  # type: ignore[misc]
        def item(self, record: Any) -> dict[str, Any]:
            shown: dict[str, Any] = super().item(record) | {"description": "always this one"}
            return shown

    both = led(make_client(Late), READ)
    other = both.created("another engagement")
    both.send(requests.update_engagement(other, {"description": "never read"}))
    both.send(requests.list_engagements())

    assert broken(both.exchanges) == ["list-engagements-as-read"]


def test_what_a_read_shows_is_told_alone(make_client: MakeClient) -> None:
    """Where a read has shown a lost edit, lists of other engagements are in doubt of nothing else."""
    both = led(make_client(), EDIT, UNDONE, READ)
    other = both.created("another engagement", description="of another one")
    both.send(requests.archive_engagement(other))
    both.service.records[other].description = "no longer"
    both.send(requests.list_engagements())

    assert broken(both.exchanges) == ["update-engagement-takes-effect"]


def test_of_two_doubts_the_one_with_fewer_causes_is_told(make_client: MakeClient) -> None:
    """An engagement that was archived besides tells less of a creation than one that was not."""
    both = make_client()
    made = [both.created(name) for name in ("one engagement", "other engagement")]
    both.send(requests.archive_engagement(made[0]))
    for identifier in made:
        both.service.records[identifier].name += " (1)"
    both.send(requests.list_engagements())

    assert broken(both.exchanges) == ["create-engagement-lasts"]


@pytest.mark.parametrize("field", ["name", "description"])
def test_a_creation_response_has_what_was_sent(make_client: MakeClient, honest: type[Any], field: str) -> None:
    """The answer itself convicts, and nothing is said of reads and lists that show the same."""

    class Numbering(honest):  # type: ignore[misc]
        def create(self, body: dict[str, Any]) -> tuple[int, object]:
            response: tuple[int, object] = super().create(body | {field: f"{body[field]} (1)"})
            return response

    exchanges = led(make_client(Numbering), READ, LIST).exchanges

    finding = found(exchanges)
    assert (finding.requirement, finding.exchange) == ("create-engagement-answers-what-was-sent", exchanges[0])
    assert finding.pointer == f"/data/{field}"


@pytest.mark.parametrize("name", ["  two  blanks  in  it  ", "a name with \u00e9 and \U0001f680"])
def test_a_text_that_is_not_ordinary_is_judged_by_reads(make_client: MakeClient, honest: type[Any], name: str) -> None:
    """A service may trim blanks; what becomes of odd texts is judged where they are sent."""

    class Trimming(honest):  # type: ignore[misc]
        def create(self, body: dict[str, Any]) -> tuple[int, object]:
            response: tuple[int, object] = super().create(body | {"name": "x"})
            return response

    both = make_client(Trimming)
    both.created(name)

    assert broken(both.exchanges) == []


@pytest.mark.parametrize("word", ["2026-01-02", "true", "1e5", "0"])
def test_a_word_is_kept_as_it_is(make_client: MakeClient, honest: type[Any], word: str) -> None:
    """A text that looks like a number, a date or a word of JSON is text."""

    class Reading(honest):  # type: ignore[misc]
        def create(self, body: dict[str, Any]) -> tuple[int, object]:
            response: tuple[int, object] = super().create(body | {"description": "read"})
            return response

    both = make_client(Reading)
    both.created("the engagement", description=word)

    assert broken(both.exchanges) == ["create-engagement-answers-what-was-sent"]


def test_a_refused_creation_has_no_data(make_client: MakeClient) -> None:
    """Not even where another one gave an engagement without a name for an identifier."""
    both = make_client()
    for status in (201, 409):
        both.exchanges.append(
            both.made(requests.create_engagement({"name": "the engagement"}), status, {"id": ""}, 0, 0.05)
        )

    assert broken(both.exchanges) == []


def test_a_creation_response_like_that_is_evidence(make_client: MakeClient) -> None:
    """It counts as often as there are ordinary texts."""
    assert kept(led(make_client()).exchanges)["create-engagement-answers-what-was-sent"] == [1, 1]
