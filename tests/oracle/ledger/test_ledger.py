"""The ledger: a correct service breaks no rule, and each fault breaks its own rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.catalogue import load_catalogue
from conformance.oracle import read
from conformance.oracle.ledger.attribution import MOVES
from conformance.oracle.ledger.findings import OF_REFUSALS
from conformance.oracle.ledger.ledger import ENGAGEMENT_RULES, Ledger
from conformance.wire import requests
from conformance.wire.exchange import Exchange
from conformance.wire.requests import Credential
from tests.oracle.ledger.ledgers import broken

MakeClient = Callable[..., Any]


def test_every_rule_is_a_requirement() -> None:
    """The ledger reports only ids of the catalogue."""
    assert set(ENGAGEMENT_RULES) <= load_catalogue().requirements.keys()
    assert len(set(ENGAGEMENT_RULES)) == len(ENGAGEMENT_RULES)


def test_take_returns_only_new_findings(make_client: MakeClient) -> None:
    """A walk reads the findings of its last response."""
    client = make_client()
    identifiers = [client.created(name) for name in ("first", "second")]
    for identifier in identifiers:
        client.service.records[identifier].name = "odd"
        client.send(requests.get_engagement(identifier))

    ledger = Ledger()
    found = [ledger.take(exchange) for exchange in client.exchanges]
    assert [[finding.exchange for finding in findings] for findings in found] == [
        [], [], [client.exchanges[2]], [client.exchanges[3]],
    ]  # fmt: skip


def also(*done: object) -> None:
    """Evaluate several expressions."""
    del done


def changed(record: Any, name: str, value: object) -> object:
    """Set a field of an engagement."""
    setattr(record, name, value)
    return value


def faulty(honest: type[Any], name: str) -> type[Any]:
    """Return a service with one fault."""

    class Faulty(honest):  # type: ignore[misc]
        """Service with one wrong step."""

        old: dict[str, Any]

    def stale(self: Any, record: Any, body: Any) -> Any:
        return 200, self.view(record) | {"name": "one"}

    def own(self: Any, record: Any) -> None:
        record.status, record.updated = "active", self.now

    faults: dict[str, dict[str, Any]] = {
        "takes-effect": {"getEngagement": stale},
        "keeps-the-rest": {
            "edit": lambda self, record, body: also(
                honest.edit(self, record, body), changed(record, "description", "gone")
            )
        },
        "archive-clears": {
            "archive": lambda self, record: also(honest.archive(self, record), changed(record, "description", None))
        },
        "archive-is-nothing": {"archive": own},
        "archived-editable": {
            "updateEngagement": lambda self, record, body: (self.edit(record, body), (200, self.view(record)))[1]
        },
        "refused-and-applied": {
            "updateEngagement": lambda self, record, body: (
                self.edit(record, body),
                (409 if record.status == "archived" else 200, self.view(record)),
            )[1]
        },
        "deleted-stays": {"delete": lambda self, record: None},
        "other-one": {"getEngagement": lambda self, record, body: (200, self.view(record) | {"id": "another"})},
        "list-is-old": {"item": lambda self, record: self.view(record) | {"name": "one"}},
        "list-time-is-old": {"item": lambda self, record: self.view(record) | {"updatedAt": self.time(0)}},
        "lost-in-list": {"part": lambda self, found, start, size: found[start : start + size][1:]},
        "undercounted": {"total": lambda self, found: len(found) - 1},
        "unsorted": {"select": lambda self, asked: list(honest.select(self, asked))[::-1]},
        "unarchive-404": {"unarchiveEngagement": lambda self, record, body: (404, None)},
        "unarchive-resets": {
            "unarchive": lambda self, record: also(honest.unarchive(self, record), changed(record, "name", "one"))
        },
        "undeletable": {"deleteEngagement": lambda self, record, body: (409, None)},
        "unreadable": {"getEngagement": lambda self, record, body: (404, None)},
        "created-moves": {"view": lambda self, record: honest.view(self, record) | {"createdAt": self.time(self.now)}},
        "updated-goes-back": {
            "view": lambda self, record: honest.view(self, record) | {"updatedAt": self.time(100 - self.now)}
        },
        "born-archived": {"view": lambda self, record: honest.view(self, record) | {"status": "archived"}},
        "refusal-touches": {
            "updateEngagement": lambda self, record, body: (
                (changed(record, "updated", self.now), (409, None))[1]
                if record.status == "archived"
                else honest.updateEngagement(self, record, body)
            )
        },
    }
    for step, wrong in faults[name].items():
        setattr(Faulty, step, wrong)
    return Faulty


STORY = (
    "edit",
    "read",
    "describe",
    "read",
    "archive",
    "read",
    "edit",
    "read",
    "list",
    "unarchive",
    "read",
    "delete",
    "read",
)
FAULTS = [
    ("takes-effect", ("edit", "read"), "update-engagement-takes-effect"),
    ("keeps-the-rest", ("read", "edit", "read"), "update-engagement-keeps-the-rest"),
    ("archive-clears", ("describe", "read", "archive", "read"), "archive-keeps-content"),
    ("archive-is-nothing", ("archive", "read"), "archive-sets-status"),
    ("archived-editable", ("archive", "read", "edit", "read"), "archived-edit-refused"),
    ("refused-and-applied", ("archive", "read", "edit", "read"), "archived-edit-changes-nothing"),
    ("refusal-touches", ("archive", "read", "edit", "read"), "archived-edit-changes-nothing"),
    ("deleted-stays", ("delete", "read"), "deleted-unreadable"),
    ("deleted-stays", ("delete", "read", "list", "edit"), "deleted-unreadable"),
    ("deleted-stays", ("delete", "list"), "deleted-unlisted"),
    ("deleted-stays", ("delete", "edit"), "deleted-uneditable"),
    ("deleted-stays", ("delete", "archive"), "deleted-unarchivable"),
    ("deleted-stays", ("delete", "unarchive"), "deleted-not-unarchived"),
    ("deleted-stays", ("delete", "delete"), "deleted-undeletable"),
    ("other-one", ("read",), "get-engagement-is-the-one-asked-for"),
    ("list-is-old", ("edit", "read", "list"), "list-engagements-as-read"),
    ("list-time-is-old", ("edit", "read", "list"), "list-engagements-as-read"),
    ("lost-in-list", ("read", "list"), "create-engagement-listed"),
    ("lost-in-list", ("archive", "read", "list"), "archived-listed"),
    ("lost-in-list", ("archive", "read", "list archived"), "list-engagements-status-filter"),
    ("undercounted", ("list",), "list-engagements-total"),
    ("undercounted", ("archive", "list archived"), "list-engagements-filter-counts"),
    ("unarchive-404", ("archive", "unarchive"), "unarchive-served"),
    ("unarchive-resets", ("edit", "read", "archive", "unarchive", "read"), "update-engagement-takes-effect"),
    ("undeletable", ("delete",), "delete-engagement-succeeds"),
    ("undeletable", ("archive", "delete"), "archived-deletable"),
    ("unreadable", ("read",), "create-engagement-lasts"),
    ("created-moves", ("read", "read"), "created-at-never-changes"),
    ("updated-goes-back", ("read", "read"), "updated-at-never-goes-back"),
    ("born-archived", ("read",), "new-engagement-active"),
]


def step(word: str, identifier: str, number: int) -> Any:
    """Return the request for a step's name."""
    operation, _, status = word.partition(" ")
    return {
        "edit": requests.update_engagement(identifier, {"name": f"a new name {number}"}),
        "describe": requests.update_engagement(identifier, {"description": f"all about {number}"}),
        "archive": requests.archive_engagement(identifier),
        "unarchive": requests.unarchive_engagement(identifier),
        "delete": requests.delete_engagement(identifier),
        "read": requests.get_engagement(identifier),
        "list": requests.list_engagements(status=status or None),
    }[operation]


def run_steps(client: Any, words: tuple[str, ...]) -> list[Exchange]:
    """Create an engagement, run the steps and return the exchanges."""
    identifier = client.created("one", description="as it was")
    client.send_each(step(word, identifier, number) for number, word in enumerate(words))
    return list(client.exchanges)


@pytest.mark.parametrize(("name", "words", "requirement"), FAULTS, ids=lambda value: str(value)[:40])
def test_a_fault_breaks_its_rule_and_no_other(
    make_client: MakeClient, honest: type[Any], name: str, words: tuple[str, ...], requirement: str
) -> None:
    """One fault is reported once, under its requirement."""
    assert broken(run_steps(make_client(faulty(honest, name)), words)) == [requirement]


def test_a_correct_service_gives_evidence(make_client: MakeClient) -> None:
    """The ledger records responses that could have broken a rule."""
    findings = Ledger.over(run_steps(make_client(), STORY)).findings

    assert findings.broken == []
    assert {"update-engagement-takes-effect", "archived-edit-refused", "deleted-unreadable"} <= findings.kept.keys()


def test_every_rule_can_be_kept(make_client: MakeClient) -> None:
    """For each rule there is a sequence with a correct service that gives evidence."""
    client = make_client()
    first, second = client.created("cf-1-walk-ba", description="as it was"), client.created("cf-1-walk-da")
    words = (
        "read",
        "edit",
        "read",
        "describe",
        "read",
        "list",
        "archive",
        "read",
        "edit",
        "read",
        "list",
        "list archived",
    )
    later = ("archive", "read", "unarchive", "read", "edit", "read", "archive", "read", "delete", "read", "list")
    gone = ("edit", "archive", "unarchive", "delete")
    client.send(requests.list_engagements(sort="name", order="asc"))
    client.send(requests.list_engagements(sort="name", order="asc", status="active"))
    for number, word in enumerate((*words, *later, *gone)):
        client.send(step(word, first, number))
        client.send(requests.get_engagement(second))
    client.created("cf-1-walk-fa")
    client.send(requests.list_engagements(sort="createdAt", perPage=1))
    client.send(requests.update_engagement(second, {"name": "new", "status": "archived"}), at=100.0, seconds=1.0)
    client.send(requests.update_engagement(second, {"description": "new"}), at=100.5, seconds=1.0)
    client.send(requests.get_engagement(second))
    client.send(requests.update_engagement(second, {"name": ""}), status=422)
    client.send_each([requests.get_engagement(second), requests.delete_engagement(second)])
    odd = client.created("cf-1 <odd>")
    client.send_each(
        [
            requests.get_engagement(odd),
            requests.update_engagement(odd, {"name": "<odder>"}),
            requests.get_engagement(odd),
        ]
    )
    findings = Ledger.over(client.exchanges).findings

    assert findings.broken == []
    without = {
        "create-engagement-succeeds",
        "create-engagement-counted",
        "create-engagement-refused-creates-nothing",
        "isolation-lists",
    }
    assert set(ENGAGEMENT_RULES) - findings.kept.keys() == without | OF_REFUSALS | set(MOVES.values())


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ({}, False),
        ({"unknown": 1}, False),
        ({"name": None}, False),
        ({"name": "new"}, True),
        ({"description": "", "name": None}, True),
    ],
)
def test_an_edit_without_texts_of_an_archived_engagement_is_open(
    make_client: MakeClient, body: dict[str, Any], *, wrong: bool
) -> None:
    """An edit without texts is open in any status; one with a text must be refused."""
    client = make_client()
    identifier = client.created()
    client.send(requests.archive_engagement(identifier))
    client.send(requests.get_engagement(identifier))
    client.send(requests.update_engagement(identifier, body), status=200)

    assert (broken(client.exchanges) == ["archived-edit-refused"]) == wrong
    assert wrong or broken(client.exchanges) == []


def test_null_changes_nothing_in_the_archive(make_client: MakeClient) -> None:
    """A service may take null for no edit, but must then keep the description."""
    client = make_client()
    identifier = client.created("one", description="as it was")
    client.send(requests.archive_engagement(identifier))
    client.send(requests.update_engagement(identifier, {"description": None}), status=200)
    client.send(requests.get_engagement(identifier))
    assert broken(client.exchanges) == []

    client.send(requests.update_engagement(identifier, {"description": None}), status=200)
    client.service.records[identifier].description = None
    client.send(requests.get_engagement(identifier))
    assert broken(client.exchanges) == ["archived-edit-changes-nothing"]


def test_page_that_lacks_a_middle_item(make_client: MakeClient, honest: type[Any]) -> None:
    """An item that sorts between two items of a page must be on that page."""

    class Losing(honest):  # type: ignore[misc]
        """Service that omits the third item."""

        def part(self, found: list[Any], start: int, size: int) -> list[Any]:
            return [record for place, record in enumerate(found[start : start + size]) if place != 2]

    client = make_client(Losing)
    for number in range(6):
        client.send(requests.get_engagement(client.created(f"cf-1-walk-ba{'bdfkmp'[number]}a")))
    for sort in ("name", "createdAt", "updatedAt"):
        client.send(requests.list_engagements(sort=sort, perPage=5))

    assert broken(client.exchanges) == ["list-engagements-pages-partition"]


def test_names_out_of_order(make_client: MakeClient, honest: type[Any]) -> None:
    """Names that every collation sorts alike must be sorted."""

    class Unsorted(honest):  # type: ignore[misc]
        """Service that reverses the order."""

        def select(self, asked: dict[str, str]) -> list[Any]:
            return list(super().select(asked))[::-1]

    client = make_client(Unsorted)
    for name in ("cf-1-walk-ba", "cf-1-walk-bado", "cf-1-walk-da", "cf-1-other"):
        client.created(name)
    client.send(requests.list_engagements(sort="name", order="asc"))

    assert broken(client.exchanges) == ["sort-by-name"]


def test_ids_that_are_objects_in_a_list_of_names(make_client: MakeClient, honest: type[Any]) -> None:
    """A list without text ids is not judged for the run's engagements, and raises nothing."""

    class Objects(honest):  # type: ignore[misc]
        """Service whose list ids are objects."""

        def item(self, record: Any) -> dict[str, Any]:
            shown: dict[str, Any] = super().item(record) | {"id": {"value": record.id}}
            return shown

    client = make_client(Objects)
    for name in ("cf-1-walk-ba", "cf-1-walk-da"):
        client.created(name)
    client.send(requests.list_engagements(sort="name", order="asc"))

    assert "sort-by-name" not in broken(client.exchanges)


def test_an_edit_accepted_after_an_archive(make_client: MakeClient) -> None:
    """An archive that takes effect a moment later is not effective at once."""
    client = make_client()
    identifier = client.created()
    client.send(requests.archive_engagement(identifier))
    client.send(requests.update_engagement(identifier, {"name": "slipped"}), status=200)
    client.send(requests.update_engagement(identifier, {"name": "refused"}))

    assert broken(client.exchanges) == ["archive-effective-at-once"]


def test_a_read_accepted_after_a_deletion(make_client: MakeClient) -> None:
    """A deletion that takes effect a moment later is not effective at once."""
    client = make_client()
    identifier = client.created()
    seen = client.send(requests.get_engagement(identifier))
    client.send(requests.delete_engagement(identifier))
    late = client.made(seen.request, 200, {"id": identifier, "name": "one", "status": "active"}, client.now, 0.01)
    client.exchanges.append(late)
    client.now += 0.1
    client.send(requests.get_engagement(identifier))

    assert broken(client.exchanges) == ["delete-effective-at-once"]


def test_overlapping_requests_may_come_in_either_order(make_client: MakeClient) -> None:
    """Any result of an overlapping read, deletion and edits is permitted."""
    client = make_client()
    identifier = client.created()
    read_it = requests.get_engagement(identifier)
    old = client.send(read_it)
    client.send(requests.update_engagement(identifier, {"name": "new"}), at=10.0, seconds=1.0)
    client.exchanges.append(client.made(read_it, 200, _data(old), 10.5, 1.0))
    client.send(requests.delete_engagement(identifier), at=20.0, seconds=1.0)
    client.exchanges.append(client.made(read_it, 200, _data(old) | {"name": "new"}, 20.5, 0.2))

    assert broken(client.exchanges) == []


def test_lost_parallel_edit(make_client: MakeClient) -> None:
    """Overlapping edits of different fields must both take effect."""
    client = make_client()
    identifier = client.created()
    client.send(requests.update_engagement(identifier, {"name": "new"}), at=10.0, seconds=1.0)
    client.send(requests.update_engagement(identifier, {"description": "new"}), at=10.5, seconds=1.0)
    client.service.records[identifier].name = "one"
    client.send(requests.get_engagement(identifier))

    assert broken(client.exchanges) == ["update-engagement-in-parallel"]


def test_edit_without_a_value_may_move_the_time(make_client: MakeClient) -> None:
    """An update without values may move updatedAt, so a refused edit and a list after it are not wrong."""
    client = make_client()
    identifier = client.created()
    client.send(requests.get_engagement(identifier))
    client.send(requests.update_engagement(identifier, {}))
    client.send(requests.update_engagement(identifier, {"name": None}), status=422)
    client.send(requests.list_engagements())
    client.send(requests.get_engagement(identifier))

    assert broken(client.exchanges) == []


@pytest.mark.parametrize("text", ["<b>bold</b>", "x'); DROP TABLE t;--", "a" * 120, "caf\u00e9"])
def test_odd_text_may_be_refused(make_client: MakeClient, text: str) -> None:
    """An edit must succeed only if no service has a reason to refuse its text."""
    client = make_client()
    client.send(requests.update_engagement(client.created(), {"name": text}), status=422)

    assert broken(client.exchanges) == []


@pytest.mark.parametrize(
    ("accepted", "judged"),
    [
        ((), False),
        (("And about that.",), True),
        (("Short.", "A text that is longer."), True),
        (("Too short.",), False),
        (("A text that is too long.",), False),
        (("No full stop", "No full stop in this text"), False),
    ],
)
def test_ordinary_text_like_another_may_not_be_refused(
    make_client: MakeClient, accepted: tuple[str, ...], *, judged: bool
) -> None:
    """An edit must succeed if descriptions of its length, and with its characters, were accepted before or later."""
    client = make_client()
    client.send(requests.update_engagement(client.created(), {"description": "All about this."}), status=422)
    for description in accepted:
        client.created(description=description)

    assert broken(client.exchanges) == ["update-engagement-succeeds"] * judged


@pytest.mark.parametrize("carried_out", [True, False])
def test_a_write_without_a_response_is_unknown_until_read(make_client: MakeClient, *, carried_out: bool) -> None:
    """It may have happened; the value that a read shows must stay."""
    client = make_client()
    identifier = client.created()
    edit = requests.update_engagement(identifier, {"name": "perhaps"})
    if carried_out:
        client.send(edit, lost=True)
    else:
        client.send(edit, status=504)
    client.send(requests.get_engagement(identifier))
    assert broken(client.exchanges) == []

    client.service.records[identifier].name = "one"
    client.send(requests.get_engagement(identifier))
    assert bool(broken(client.exchanges)) is carried_out


def test_engagements_of_another_organization_are_in_no_list(make_client: MakeClient, another_key: Any) -> None:
    """They are not judged otherwise."""
    client = make_client()
    foreign = client.send(requests.create_engagement({"name": "cf-abcdefgh-theirs"}).with_key(another_key))
    client.send(requests.get_engagement(_data(foreign)["id"]), status=404)
    assert broken(client.exchanges) == []

    client.send(requests.list_engagements())
    assert broken(client.exchanges) == ["isolation-lists"]


@pytest.mark.parametrize(
    ("status", "key", "requirement"),
    [
        (None, None, "create-engagement-counted"),
        (422, None, "create-engagement-refused-creates-nothing"),
        (403, Credential.bearer("engagements:read", "k"), "scope-refused-changes-nothing"),
        (401, Credential("no_key", None, invalid=True), "unauthenticated-changes-nothing"),
        (500, None, None),
    ],
)
def test_a_listed_engagement_that_no_response_showed(
    make_client: MakeClient, status: int | None, key: Credential | None, requirement: str | None
) -> None:
    """Its name shows which creation made it; one without a clear response may have."""
    client = make_client()
    creation = requests.create_engagement({"name": "cf-abcdefgh-twice"})
    client.send(creation if key is None else creation.with_key(key), status=status)
    client.service.now += 1
    client.service.create({"name": "cf-abcdefgh-twice"})
    client.service.create({"name": "of another user"})
    client.send(requests.list_engagements())

    assert broken(client.exchanges) == ([] if requirement is None else [requirement])


@pytest.mark.parametrize(
    ("described", "is_sent"), [("as it was sent", True), ("by another user", False), (None, False)]
)
def test_a_listed_engagement_whose_name_has_no_mark(
    make_client: MakeClient, described: str | None, *, is_sent: bool
) -> None:
    """Other users' engagements may have the same name, so the description decides."""
    client = make_client()
    client.send(requests.create_engagement({"name": "", "description": "as it was sent"}), status=422)
    client.service.create({"name": "", "description": described})
    client.send(requests.list_engagements())

    assert broken(client.exchanges) == (["create-engagement-refused-creates-nothing"] if is_sent else [])


@pytest.mark.parametrize(("sent", "kept"), [("  two  blanks ", "two blanks"), ("e\u0301", "\u00e9")])
def test_text_that_may_be_changed(make_client: MakeClient, sent: str, kept: str) -> None:
    """A service may normalize odd blanks and Unicode, and must then return the same text every time."""
    client = make_client()
    identifier = client.created(sent)
    client.service.records[identifier].name = kept
    client.send(requests.get_engagement(identifier))
    assert broken(client.exchanges) == []

    client.service.records[identifier].name = "something else"
    client.send(requests.get_engagement(identifier))
    assert broken(client.exchanges) == ["create-engagement-lasts"]


WORDS = st.lists(
    st.tuples(
        st.sampled_from(
            ("edit", "describe", "archive", "unarchive", "delete", "read", "list", "list active", "create")
        ),
        st.integers(0, 3),
        st.sampled_from(("answered", "answered", "answered", "lost", "gateway", "limited")),
    ),
    max_size=40,
)
CHOICES = st.fixed_dictionaries(
    {
        "unarchive": st.sampled_from(("activates", "nothing", "refused")),
        "archive_again": st.sampled_from(("409", "200")),
        "archived_edit": st.sampled_from(("409", "403", "405", "410")),
        "never_described": st.sampled_from(("null", "empty")),
        "clock": st.sampled_from(("exact", "seconds")),
    }
)


@settings(max_examples=300, deadline=None)
@given(words=WORDS, choices=CHOICES, data=st.data())
def test_a_correct_service_breaks_no_rule(
    make_client: MakeClient, words: Any, choices: dict[str, str], data: st.DataObject
) -> None:
    """There is no finding for any choice, overlap or lost response."""
    client = make_client(**choices)
    ids = [client.created(f"cf-1-walk-{word}") for word in ("ba", "bado", "fa", "ra")]
    for number, (word, place, fate) in enumerate(words):
        if word == "create":
            ids.append(client.created(f"cf-1-walk-ma{'bdfk'[number % 4]}o"))
            continue
        status = {"gateway": 503, "limited": 429}.get(fate)
        began = client.now
        client.send(step(word, ids[place % len(ids)], number), seconds=0.1, status=status, lost=fate == "lost")
        # It took effect in the middle of its interval; the next request may begin before its response.
        client.now = began + 0.05 + data.draw(st.floats(0.001, 0.08))

    assert Ledger.over(client.exchanges).findings.broken == []


def _data(exchange: Exchange) -> dict[str, Any]:
    return read.data(exchange)
