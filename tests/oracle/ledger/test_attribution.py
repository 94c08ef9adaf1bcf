"""Attribution of a wrong read: the requirement of the last write that touched the engagement, or another one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from conformance.wire import requests
from conformance.wire.requests import Credential
from tests.oracle.ledger.ledgers import broken, found

MakeClient = Callable[..., Any]


class Case:
    """Requests about one engagement and a second one."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.mine = client.created("mine", description="as it was")
        self.other = client.created("other")

    def do(self, *words: str) -> Case:
        """Send the named requests; ``other`` before a name sends it to the second engagement."""
        for word in words:
            whose, _, what = word.rpartition("other ")
            identifier = self.other if whose or word.startswith("other ") else self.mine
            self.client.send(self.request(what, identifier))
        return self

    def request(self, word: str, identifier: str) -> Any:
        """Return the request of a name; ``name=x`` and ``description=x`` are edits."""
        if "=" in word:
            field, _, value = word.partition("=")
            return requests.update_engagement(identifier, {field: value})
        return {
            "read": requests.get_engagement,
            "archive": requests.archive_engagement,
            "unarchive": requests.unarchive_engagement,
            "delete": requests.delete_engagement,
        }[word](identifier)

    def refuse(self, word: str, status: int, key: Credential | None = None) -> Case:
        """Send a named request that is refused."""
        sent = self.request(word, self.mine)
        self.client.send(sent if key is None else sent.with_key(key), status=status)
        return self

    def show(self, **wrong: str) -> list[Any]:
        """Return the exchanges, the last of them a read with a wrong value."""
        for name, value in wrong.items():
            setattr(self.client.service.records[self.mine], name, value)
        return list(self.do("read").client.exchanges)

    def vanish(self) -> list[Any]:
        """Return the exchanges, the last of them a read with a 404."""
        self.client.send(requests.get_engagement(self.mine), status=404)
        return list(self.client.exchanges)


@pytest.fixture
def make_case(make_client: MakeClient) -> Callable[..., Case]:
    """Return a factory of such requests to a service with these choices."""
    return lambda **choices: Case(make_client(**choices))


@pytest.mark.parametrize(
    ("words", "shows", "requirement"),
    [
        (("other name=x",), {"name": "x"}, "update-engagement-spares-others"),
        (("other name=x",), {"name": "y"}, "create-engagement-lasts"),
        (("other description=x",), {"name": "x"}, "create-engagement-lasts"),
        (("other description=",), {"description": ""}, "create-engagement-lasts"),
        (("other name=x", "read"), {"name": "x"}, "create-engagement-lasts"),
        (("read", "other name=x", "read"), {"name": "x"}, "create-engagement-lasts"),
        (("name=new", "other name=mine"), {"name": "mine"}, "update-engagement-takes-effect"),
        (("name=new", "read", "archive"), {"name": "mine"}, "archive-keeps-content"),
        (("name=new", "read", "archive"), {"name": "odd"}, "archive-keeps-content"),
        (("read", "description=new"), {"name": "odd"}, "update-engagement-keeps-the-rest"),
        (("name=new", "read", "archive", "unarchive"), {"name": "odd"}, "update-engagement-takes-effect"),
        (("name=new",), {"name": "odd"}, "update-engagement-takes-effect"),
        (("name=<new>",), {"name": "new"}, "update-engagement-keeps-text"),
        (("name=<new>",), {"name": "mine"}, "update-engagement-takes-effect"),
        (("name=<new>", "read"), {"name": "new"}, "update-engagement-takes-effect"),
        (("name=<new>", "archive"), {"name": "new"}, "archive-keeps-content"),
        (("name=<new>", "read", "name=x", "name=<new>"), {"name": "new"}, "update-engagement-keeps-text"),
        (("name=<new>", "other name=x"), {"name": "x"}, "update-engagement-spares-others"),
        (("other archive", "read"), {"status": "archived"}, "new-engagement-active"),
        (("read", "other archive"), {"status": "archived"}, "archive-spares-others"),
        (("other archive",), {"status": "archived"}, "new-engagement-active"),
        (("read", "name=new"), {"status": "archived"}, "update-engagement-keeps-the-rest"),
        (("archive", "read", "archive"), {"status": "active"}, "archived-again-stays-archived"),
        (("archive", "archive"), {"status": "active"}, "archive-sets-status"),
        (("archive", "archive", "read"), {"status": "active"}, "archive-sets-status"),
        (("read", "other name=x"), {"status": "archived"}, "new-engagement-active"),
        (("archive", "read", "name=new"), {"status": "active"}, "archived-edit-changes-nothing"),
        (("archive", "read", "other name=new"), {"status": "active"}, "archive-sets-status"),
        (("archive", "name=new"), {"status": "active"}, "archive-sets-status"),
        (("archive", "read", "name=new"), {"name": "new"}, "archived-edit-changes-nothing"),
    ],
)
def test_a_wrong_read_is_attributed_to_the_last_write(
    make_case: Callable[..., Case], words: tuple[str, ...], shows: dict[str, str], requirement: str
) -> None:
    """One requirement is broken, by the writes since the last correct read."""
    assert broken(make_case().do(*words).show(**shows)) == [requirement]


@pytest.mark.parametrize(
    ("words", "shows", "place"),
    [
        (("other name=x",), {"name": "x"}, -2),
        (("other name=x", "other name=y"), {"name": "x"}, -3),
        (("read", "archive"), {"name": "odd"}, -2),
        (("read", "other archive"), {"status": "archived"}, -2),
        (("archive", "read", "name=new", "archive"), {"name": "new"}, -3),
        (("read", "other delete"), {}, -2),
        (("read", "archive"), {}, -2),
    ],
)
def test_the_write_that_is_blamed_is_cited(
    make_case: Callable[..., Case], words: tuple[str, ...], shows: dict[str, str], place: int
) -> None:
    """Of several writes it is the one that sent the wrong value, else the last one."""
    case = make_case().do(*words)
    exchanges = case.show(**shows) if shows else case.vanish()

    assert exchanges[place] in found(exchanges).because


@pytest.mark.parametrize("name", ["a <b>", "n" * 33, "größer", "two  blanks " * 3])
def test_a_text_that_was_never_stored_as_sent(make_client: MakeClient, name: str) -> None:
    """An odd text of a creation that no read has shown was not stored as sent."""
    client = make_client()
    identifier = client.created(name, description="plain words, then")
    client.service.records[identifier].name = "changed"
    client.send(requests.get_engagement(identifier))

    assert broken(client.exchanges) == ([] if "  " in name else ["create-engagement-keeps-text"])


def test_a_text_that_a_list_has_shown(make_client: MakeClient) -> None:
    """A text that a list has shown was stored as sent."""
    client = make_client()
    identifier = client.created("a <b>")
    client.send(requests.list_engagements())
    client.service.records[identifier].name = "changed"
    client.send(requests.get_engagement(identifier))

    assert broken(client.exchanges) == ["create-engagement-lasts"]


def test_a_list_with_a_text_that_was_never_sent(make_client: MakeClient) -> None:
    """The text was not stored until a read shows it as sent; then the list is wrong."""
    client = make_client()
    identifier = client.created("a <b>")
    record = client.service.records[identifier]
    record.name = "changed"
    client.send(requests.list_engagements())
    first = broken(client.exchanges)
    record.name = "a <b>"
    client.send(requests.get_engagement(identifier))

    assert (first, broken(client.exchanges)) == (["create-engagement-keeps-text"], ["list-engagements-as-read"])


@pytest.mark.parametrize("body", [{}, {"name": None}, {"name": 5}])
def test_an_unsent_name_may_be_any(make_client: MakeClient, body: dict[str, Any]) -> None:
    """Another requirement judges that such a creation was accepted."""
    client = make_client()
    identifier = client.created("untitled", description="of nothing")
    client.exchanges[0] = replace(
        client.exchanges[0], request=requests.create_engagement({**body, "description": "of nothing"})
    )
    client.send(requests.get_engagement(identifier))

    assert broken(client.exchanges) == []


@pytest.mark.parametrize("description", [5, [], {}, True])
def test_an_invalid_edit_may_have_no_effect(make_case: Callable[..., Case], description: object) -> None:
    """An invalid edit that got a success may have left the name unchanged."""
    case = make_case().do("read")
    sent = requests.update_engagement(case.mine, {"name": "new", "description": description})
    case.client.send(sent)

    assert broken(case.show(name="mine", description="as it was")) == []
    assert broken(case.show(name="odd")) == ["create-engagement-lasts"]


def test_a_status_in_an_edit_has_its_own_requirement(make_case: Callable[..., Case]) -> None:
    """A client cannot set the status by an edit."""
    case = make_case().do("read")
    case.client.send(requests.update_engagement(case.mine, {"name": "new", "status": "archived"}))

    assert broken(case.show(status="archived")) == ["update-engagement-own-values"]


@pytest.mark.parametrize("word", ["name=odd", "description=odd"])
def test_a_refused_edit_that_took_effect(make_case: Callable[..., Case], word: str) -> None:
    """The read shows the refused value, or another change with no other cause."""
    case = make_case().do("read").refuse(word, 422)

    assert broken(case.show(name="odd")) == ["update-engagement-refused-changes-nothing"]


@pytest.mark.parametrize(
    ("word", "requirement"),
    [("name=x", "update-engagement-refused-changes-nothing"), ("description=x", "archive-keeps-content")],
)
def test_a_refused_edit_of_the_text_that_is_wrong(make_case: Callable[..., Case], word: str, requirement: str) -> None:
    """The edit is the cause if it was the last to send that text, and not if it sent another."""
    assert broken(make_case().do("read", "archive").refuse(word, 422).show(name="odd")) == [requirement]


def test_a_429_is_no_cause(make_case: Callable[..., Case]) -> None:
    """Such an edit was not refused for its content."""
    case = make_case().do("archive", "read").refuse("name=odd", 429)

    assert broken(case.show(status="active")) == ["archive-sets-status"]


def test_a_refusal_of_another_key_is_no_cause(make_case: Callable[..., Case], another_key: Credential) -> None:
    """The effect of a refused request with another key stays possible."""
    case = make_case().do("archive", "read").refuse("name=odd", 403, another_key)

    assert broken(case.show(status="active")) == ["archive-sets-status"]


def test_a_refused_edit_of_another_engagement_is_no_cause(make_case: Callable[..., Case]) -> None:
    """Its name is not the cause of this engagement's name."""
    case = make_case()
    case.client.send(requests.update_engagement(case.other, {"name": "x"}), status=409)

    assert broken(case.show(name="x")) == ["create-engagement-lasts"]


def test_an_unreadable_edit_sent_no_status(make_case: Callable[..., Case]) -> None:
    """Its body was no JSON and was refused for that."""
    case = make_case().do("read")
    case.client.send(requests.update_engagement(case.mine, {}).with_body(b"{"), status=400)

    assert broken(case.show(status="archived")) == ["new-engagement-active"]


def test_a_missing_engagement_is_attributed_to_the_last_change(make_case: Callable[..., Case]) -> None:
    """An edit before another change is not the cause."""
    case = make_case(unarchive="nothing").do("read", "name=new", "unarchive")

    assert broken(case.vanish()) == ["create-engagement-lasts"]


@pytest.mark.parametrize(
    ("words", "requirement"),
    [
        ((), "create-engagement-lasts"),
        (("read",), "create-engagement-lasts"),
        (("read", "archive"), "archived-readable"),
        (("read", "archive", "unarchive"), "create-engagement-lasts"),
        (("read", "name=new"), "update-engagement-keeps-the-rest"),
        (("read", "other delete"), "delete-spares-others"),
        (("read", "other archive"), "create-engagement-lasts"),
        (("other delete", "read"), "create-engagement-lasts"),
        (("read", "name=new", "other delete"), "update-engagement-keeps-the-rest"),
    ],
)
def test_a_404_is_attributed_to_the_last_write(
    make_case: Callable[..., Case], words: tuple[str, ...], requirement: str
) -> None:
    """One requirement is broken if an existing engagement is not found."""
    exchanges = make_case().do(*words).vanish()

    assert broken(exchanges) == [requirement]
    assert found(exchanges).message == "a read of an existing engagement failed"


@pytest.mark.parametrize(("word", "status"), [("archive", 429), ("name=new", 409)])
def test_a_refused_request_is_no_cause_of_a_404(make_case: Callable[..., Case], word: str, status: int) -> None:
    """Neither its own refused change nor the refused deletion of another is the cause."""
    case = make_case().do("read").refuse(word, status)
    case.client.send(requests.delete_engagement(case.other), status=429)

    assert broken(case.vanish()) == ["create-engagement-lasts"]


@pytest.mark.parametrize(
    ("words", "ambiguous"),
    [
        (("name=new", "archive"), True),
        (("name=new", "read", "archive"), False),
        (("name=new", "read", "archive", "description=x"), False),
        (("name=new", "read", "description=x", "archive"), True),
        (("name=new", "description=x", "read", "archive"), False),
        (("name=new", "unarchive"), False),
        (("name=new", "archive", "unarchive"), True),
        (("name=new",), False),
        ((), False),
        (("archive",), True),
    ],
)
def test_a_wrong_text_may_have_several_causes(
    make_case: Callable[..., Case], words: tuple[str, ...], *, ambiguous: bool
) -> None:
    """A write was lost, or undone before the next read; a read between them settles it."""
    finding = found(make_case(unarchive="nothing").do(*words).show(name="odd"))

    assert finding.ambiguous is ambiguous


@pytest.mark.parametrize("accepted", [True, False])
def test_only_accepted_edits_are_in_parallel(make_client: MakeClient, *, accepted: bool) -> None:
    """A refused overlapping edit is not the cause."""
    client = make_client()
    identifier = client.created("one")
    client.send(requests.update_engagement(identifier, {"name": "new"}), at=10.0, seconds=1.0)
    status = None if accepted else 422
    client.send(requests.update_engagement(identifier, {"description": "x"}), at=10.5, seconds=1.0, status=status)
    client.service.records[identifier].name = "one"
    client.send(requests.get_engagement(identifier))

    assert broken(client.exchanges) == [f"update-engagement-{'in-parallel' if accepted else 'takes-effect'}"]


def test_an_overlapping_archive_is_no_parallel_edit(make_client: MakeClient) -> None:
    """Of an overlapping edit and archive, the edit was lost."""
    client = make_client()
    identifier = client.created("one")
    client.send(requests.update_engagement(identifier, {"name": "new"}), at=10.0, seconds=1.0)
    client.send(requests.archive_engagement(identifier), at=10.5, seconds=1.0)
    client.service.records[identifier].name = "one"
    client.send(requests.get_engagement(identifier))

    assert broken(client.exchanges) == ["update-engagement-takes-effect"]


@pytest.mark.parametrize(
    ("wrong", "requirement"),
    [({"name": "odd"}, "create-engagement-lasts"), ({"status": "archived"}, "new-engagement-active")],
)
def test_a_read_during_the_creation(make_client: MakeClient, wrong: dict[str, str], requirement: str) -> None:
    """It must show the created values."""
    client = make_client()
    creation = client.send(requests.create_engagement({"name": "one"}), at=0.0, seconds=1.0)
    identifier = next(iter(client.service.records))
    data = {"id": identifier, "name": "one", "status": "active"}
    client.exchanges = [creation, client.made(requests.get_engagement(identifier), 200, data, 0.6, 0.2)]
    assert broken(client.exchanges) == []

    client.exchanges.append(client.made(requests.get_engagement(identifier), 200, data | wrong, 0.7, 0.2))
    assert broken(client.exchanges) == [requirement]
    assert found(client.exchanges).ambiguous is False


@pytest.mark.parametrize(
    ("shown", "requirement"), [("<b>", "update-engagement-takes-effect"), ("one", "update-engagement-keeps-text")]
)
def test_a_read_that_ends_with_the_edit(make_client: MakeClient, shown: str, requirement: str) -> None:
    """It is evidence for the edit only if it shows the new text."""
    client = make_client()
    identifier = client.created("one")
    edit = client.send(requests.update_engagement(identifier, {"name": "<b>"}), at=10.0, seconds=1.0)
    data = {"id": identifier, "name": shown, "status": "active"}
    client.exchanges.append(client.made(requests.get_engagement(identifier), 200, data, 10.5, 0.5))
    assert client.exchanges[-1].started_at - edit.started_at == timedelta(seconds=0.5)
    client.service.records[identifier].name = "b"
    client.send(requests.get_engagement(identifier))

    assert broken(client.exchanges) == [requirement]
