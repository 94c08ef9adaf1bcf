"""What the ledger says of lists, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from conformance.oracle.collation import name_key
from conformance.oracle.ledger import RULES, Ledger
from conformance.wire import requests
from tests.oracle.ledgers import broken, found, kept, listing

MakeTalk = Callable[..., Any]
NAMES = tuple(f"cf-1-walk-ba{sign}a" for sign in "bdfkmp")


@pytest.mark.parametrize(
    ("asked", "evidence"),
    [
        ({}, True),
        ({"page": 1, "perPage": 1}, True),
        ({"perPage": 100}, True),
        ({"status": "active"}, True),
        ({"sort": "updatedAt", "order": "asc"}, True),
        ({"perPage": 101}, False),
        ({"perPage": 0}, False),
        ({"page": 0}, False),
        ({"page": "\u0661"}, False),
        ({"perPage": "\u0662"}, False),
        ({"page": "one"}, False),
        ({"perPage": "-1"}, False),
        ({"status": "Active"}, False),
        ({"sort": "status"}, False),
        ({"order": "DESC"}, False),
    ],
)
def test_only_lists_that_were_asked_for_properly_are_judged(talk: MakeTalk, asked: Any, *, evidence: bool) -> None:
    """What came for a parameter that the interface leaves open, or forbids, says nothing."""
    one = talk()
    one.created()
    one.exchanges.append(listing(one, [], **asked))
    counted = "filter-counts" if "status" in asked else "total"

    assert broken(one.exchanges) == ([f"list-engagements-{counted}"] if evidence else [])


def test_a_parameter_that_is_given_twice_says_nothing(talk: MakeTalk) -> None:
    """Which of the two counts is open."""
    one = talk()
    one.created()
    made = listing(one, [])
    twice = type(made.request)(operation=made.request.operation, query=(("page", "1"), ("page", "2")))
    data = {"data": [], "meta": {"total": 0, "page": 2, "perPage": 20, "totalPages": 0}}
    one.exchanges.append(one.made(twice, 200, data, one.now, 0.01))

    assert broken(one.exchanges) == []


@pytest.mark.parametrize("page", [1, 2, 3])
@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("sort", ["name", "createdAt", "updatedAt"])
def test_what_stands_on_another_page_is_not_missed(talk: MakeTalk, sort: str, order: str, size: int, page: int) -> None:
    """Also where several have the same key, of which the service may put any at the end of a page."""
    one = talk(clock="seconds")
    for name in (NAMES[0], NAMES[1], NAMES[1], NAMES[1], NAMES[2]):
        identifier = one.created(name)
        one.send(requests.get_engagement(identifier))
        one.now += 0.3
    one.send(requests.list_engagements(sort=sort, order=order, perPage=size, page=page))

    assert broken(one.exchanges) == []


def losing(honest: type[Any], place: int) -> type[Any]:
    """A service whose pages lack one item."""

    class Losing(honest):  # type: ignore[misc]
        """One place is left out."""

        def part(self, found: list[Any], start: int, size: int) -> list[Any]:
            kept = found[start : start + size]
            return kept[:place] + kept[place + 1 :]

    return Losing


@pytest.mark.parametrize("sort", ["name", "createdAt", "updatedAt"])
@pytest.mark.parametrize("order", ["asc", "desc"])
def test_a_page_that_lacks_what_stands_between_two(talk: MakeTalk, honest: type[Any], sort: str, order: str) -> None:
    """What is sorted between the two items of a page stands on it; what a read showed last is the evidence."""
    one = talk(losing(honest, 1))
    for name in NAMES[:4]:
        identifier = one.created(name)
        one.send_each([requests.get_engagement(identifier), requests.get_engagement(identifier)])
    one.send(requests.list_engagements(sort=sort, order=order, perPage=3))

    assert broken(one.exchanges) == ["list-engagements-pages-partition"]
    lost = 2 if order == "desc" else 1
    assert [exchange.number for exchange in found(one.exchanges).because] == [3 * lost + 3]
    assert (found(one.exchanges).of_list, found(one.exchanges).unsteady) == (True, True)


def test_a_page_without_an_order_may_hold_any(talk: MakeTalk, honest: type[Any]) -> None:
    """Without a sort nothing tells what stands on which page; nor does a page that is not in order itself."""

    class Shuffled(losing(honest, 1)):  # type: ignore[misc]
        """The order is another one."""

        def select(self, asked: dict[str, str]) -> list[Any]:
            first, second, third, *rest = super().select(asked)
            return [third, second, first, *rest]

    one = talk(Shuffled)
    for name in NAMES[:5]:
        one.send(requests.get_engagement(one.created(name)))
    one.send(requests.list_engagements(perPage=3))
    one.send(requests.list_engagements(sort="createdAt", perPage=3))

    assert "list-engagements-pages-partition" not in broken(one.exchanges)


def partition(exchanges: list[Any]) -> list[Any]:
    """What a ledger says of pages that lack something, explained by other findings or not."""
    findings = Ledger.over(exchanges, name_key).findings.broken
    return [finding for finding in findings if finding.requirement == "list-engagements-pages-partition"]


@pytest.mark.parametrize("first", [True, False])
def test_a_page_in_order_by_chance_lacks_nothing(talk: MakeTalk, honest: type[Any], *, first: bool) -> None:
    """Where any list of the conversation was not in the order that was asked for, no place in that order is one."""

    class Unsorted(honest):  # type: ignore[misc]
        """Whatever is asked for, the order is that of the creation."""

        def select(self, asked: dict[str, str]) -> list[Any]:
            return list(super().select(asked | {"sort": "createdAt", "order": "desc"}))

    one = talk(Unsorted)
    for name in (NAMES[1], NAMES[5], NAMES[2], NAMES[0]):
        one.send(requests.get_engagement(one.created(name)))
    by_name = {"sort": "name", "order": "asc"}
    lists = [requests.list_engagements(**by_name, perPage=2), requests.list_engagements(**by_name)]
    page, *_ = one.send_each(lists if first else lists[::-1])[:: 1 if first else -1]
    whole = [exchange for exchange in one.exchanges if exchange is not page]

    assert partition([*whole[:8], page])
    assert not partition(one.exchanges)


def test_a_time_that_may_have_moved_is_no_place(talk: MakeTalk, honest: type[Any]) -> None:
    """After an edit without a read the place among updatedAt is unknown; that among createdAt stays."""
    for sort, expected in (("updatedAt", []), ("createdAt", ["list-engagements-pages-partition"])):
        one = talk(losing(honest, 1))
        ids = [one.created(name) for name in NAMES[:4]]
        one.send_each([requests.get_engagement(identifier) for identifier in ids])
        one.send(requests.update_engagement(ids[2], {"description": "moved"}), lost=True)
        one.service.records[ids[2]].updated = one.service.records[ids[2]].created
        one.send(requests.list_engagements(sort=sort, perPage=3))
        assert broken(one.exchanges) == expected


def test_a_name_that_may_have_changed_is_no_place(talk: MakeTalk, honest: type[Any]) -> None:
    """After a renaming that was never answered nobody knows where it stands."""
    one = talk(losing(honest, 1))
    ids = [one.created(name) for name in NAMES[:4]]
    one.send(requests.update_engagement(ids[2], {"name": "cf-1-walk-bara"}), lost=True)
    one.service.records[ids[2]].name = NAMES[2]
    one.send(requests.list_engagements(sort="name", perPage=3))

    assert broken(one.exchanges) == []


def test_a_time_of_another_form_is_no_place(talk: MakeTalk, honest: type[Any]) -> None:
    """As a text it stands anywhere."""

    class Odd(losing(honest, 1)):  # type: ignore[misc]
        """One time lacks its zone."""

        def view(self, record: Any) -> dict[str, Any]:
            seen = dict(super().view(record))
            return seen | {"createdAt": seen["createdAt"].rstrip("Z")} if record.name == NAMES[2] else seen

    one = talk(Odd)
    for name in NAMES[:4]:
        one.send(requests.get_engagement(one.created(name)))
    one.send(requests.list_engagements(sort="createdAt", perPage=3))

    assert broken(one.exchanges) == []


def test_names_of_others_are_in_any_order(talk: MakeTalk, honest: type[Any]) -> None:
    """Another run's names look like this one's, and may be changed at any time."""

    class Late(honest):  # type: ignore[misc]
        """What nobody created here comes last."""

        def select(self, asked: dict[str, str]) -> list[Any]:
            return sorted(super().select(asked), key=lambda record: bool(record.id == "another"))

    one = talk(Late)
    for name in NAMES[1:3]:
        one.created(name)
    mine = next(iter(one.service.records.values()))
    one.service.records["another"] = replace(mine, id="another", name=NAMES[0])
    one.send(requests.list_engagements(sort="name", order="asc"))

    assert broken(one.exchanges) == []
    assert kept(one.exchanges)["sort-by-name"] == [3]


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("status", [None, "active"])
def test_names_in_the_wrong_order(talk: MakeTalk, honest: type[Any], order: str, status: str | None) -> None:
    """The finding says which way round they should be, and where two of them are not."""

    class Unsorted(honest):  # type: ignore[misc]
        """The wrong way round."""

        def select(self, asked: dict[str, str]) -> list[Any]:
            return list(super().select(asked))[::-1]

    one = talk(Unsorted)
    for name in NAMES[:3]:
        one.created(name)
    one.send(requests.list_engagements(sort="name", order=order, status=status))

    finding = found(one.exchanges)
    assert finding.requirement == ("sort-by-name" if status is None else "sort-with-filter")
    assert finding.expected == f"names {order}ending"
    assert finding.pointer == "/data/1/name"


def test_one_name_alone_shows_no_order(talk: MakeTalk) -> None:
    """Evidence takes two names that differ."""
    one = talk()
    one.created(NAMES[0])
    one.created(NAMES[0])
    one.send(requests.list_engagements(sort="name"))
    assert "sort-by-name" not in kept(one.exchanges)

    one.created(NAMES[1])
    one.send(requests.list_engagements(sort="name"))
    assert kept(one.exchanges)["sort-by-name"] == [5]


def showing(honest: type[Any], whose: str, fields: dict[str, object]) -> type[Any]:
    """A service that lists the engagement of a name with these fields; ``...`` leaves one out."""

    class Showing(honest):  # type: ignore[misc]
        """One item is odd."""

        def item(self, record: Any) -> dict[str, Any]:
            shown = super().item(record) | (fields if record.name == whose else {})
            return {field: value for field, value in shown.items() if value is not ...}

    return Showing


@pytest.mark.parametrize(
    "fields",
    [
        {"name": 5},
        {"name": ...},
        {"status": "paused"},
        {"status": None},
        {"description": 7},
        {"createdAt": None},
        {"updatedAt": "yesterday"},
    ],
    ids=str,
)
@pytest.mark.parametrize("order", ["asc", "desc"])
def test_what_cannot_be_read_is_another_requirements(
    talk: MakeTalk, honest: type[Any], fields: Any, order: str
) -> None:
    """A field of the wrong form breaks neither what was read nor an order."""
    one = talk(showing(honest, NAMES[1], fields))
    for name in NAMES[:3]:
        one.send(requests.get_engagement(one.created(name)))
    one.send(requests.list_engagements(sort="name", order=order))

    assert broken(one.exchanges) == []


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"name": 5, "description": "odd"}, "/data/1/description"),
        ({"name": ..., "status": "archived"}, "/data/1/status"),
        ({"description": []} | {"status": "archived"}, "/data/1/status"),
        ({"status": "paused", "createdAt": "2020-01-01T00:00:00.000Z"}, "/data/1/createdAt"),
        ({"updatedAt": "2020-01-01T00:00:00.000Z"}, "/data/1/updatedAt"),
    ],
    ids=str,
)
def test_one_field_that_cannot_be_read_hides_no_other(
    talk: MakeTalk, honest: type[Any], fields: Any, pointer: str
) -> None:
    """The rest of the item is what was read of it."""
    one = talk(showing(honest, NAMES[1], fields))
    for name in NAMES[:3]:
        one.send(requests.get_engagement(one.created(name)))
    one.send(requests.list_engagements())

    finding = found(one.exchanges)
    assert (finding.requirement, finding.pointer) == ("list-engagements-as-read", pointer)
    assert (finding.of_list, finding.unsteady) == (True, False)
    assert finding.identifier is not None


def test_all_that_a_list_could_show_is_told(talk: MakeTalk) -> None:
    """What was written last, and what may have been written since."""
    one = talk()
    identifier = one.created("one")
    one.send(requests.update_engagement(identifier, {"name": "perhaps"}), lost=True)
    one.service.records[identifier].name = "odd"
    one.send(requests.list_engagements())

    finding = found(one.exchanges)
    assert finding.message == "name of a listed engagement is not what it must be by then"
    assert (finding.expected, finding.actual, finding.pointer) == ('"one" or "perhaps"', '"odd"', "/data/0/name")
    assert (finding.because, finding.exchange) == (tuple(one.exchanges[:2]), one.exchanges[2])
    assert (finding.requirement, finding.other_candidates) == ("create-engagement-lasts", 1)


def test_what_others_did_may_be_what_moved_a_time(talk: MakeTalk, honest: type[Any]) -> None:
    """A time that is another one in the list may have been moved by each kind of change of another engagement."""
    one = talk(showing(honest, NAMES[0], {"updatedAt": "2020-01-01T00:00:00.000Z"}))
    mine, edited, archived = (one.created(name) for name in NAMES[:3])
    one.send(requests.get_engagement(mine))
    one.send(requests.update_engagement(edited, {"description": "x"}))
    one.send(requests.archive_engagement(archived))
    one.send(requests.list_engagements())

    finding = found(one.exchanges)
    assert finding.other_candidates == 2
    assert finding.requirement in {"update-engagement-spares-others", "archive-spares-others"}


def test_a_list_settles_what_was_unknown(talk: MakeTalk) -> None:
    """What a list shows of a write that was never answered has happened."""
    one = talk()
    identifier = one.created("one")
    one.send(requests.update_engagement(identifier, {"name": "perhaps"}), lost=True)
    one.send(requests.list_engagements())
    assert broken(one.exchanges) == []

    one.service.records[identifier].name = "one"
    one.send(requests.get_engagement(identifier))
    assert broken(one.exchanges) == ["update-engagement-takes-effect"]


def test_what_a_list_upholds(talk: MakeTalk) -> None:
    """What is listed, how many there are, and that it is shown as it was read, if it was."""
    one = talk()
    identifier = one.created("one")
    one.send(requests.list_engagements())
    one.send_each([requests.get_engagement(identifier), requests.list_engagements()])

    found = kept(one.exchanges)
    assert found["create-engagement-listed"] == [2, 4]
    assert found["list-engagements-total"] == [2, 4]
    assert found["list-engagements-as-read"] == [2, 4, 3]
    assert found.keys() <= set(RULES)


def test_a_list_of_what_is_no_status_says_nothing_of_its_items(talk: MakeTalk) -> None:
    """What a service makes of such a filter is open, the items that it gives included."""
    one = talk()
    identifier = one.created("one")
    item = one.service.view(one.service.records[identifier]) | {"name": "odd"}
    one.exchanges.append(listing(one, [item], status="Active"))

    assert broken(one.exchanges) == []


def test_what_is_deleted_is_evidence_where_it_is_not_listed(talk: MakeTalk) -> None:
    """Only a list after the deletion shows that it is left out."""
    one = talk()
    first, second = one.created("first"), one.created("second")
    one.send_each([requests.list_engagements(), requests.list_engagements(status="archived")])
    assert "deleted-unlisted" not in kept(one.exchanges)

    one.send(requests.delete_engagement(first))
    last = one.send(requests.list_engagements())
    assert kept(one.exchanges)["deleted-unlisted"] == [last.number]
    assert second in one.service.records


def test_what_was_found_wrong_is_not_missed_in_lists(talk: MakeTalk, honest: type[Any]) -> None:
    """Nothing more is said of an engagement of which a fault was told."""
    one = talk(losing(honest, 0))
    identifier = one.created("one")
    one.service.records[identifier].name = "wrong"
    one.send(requests.get_engagement(identifier))
    one.send(requests.list_engagements())
    findings = Ledger.over(one.exchanges).findings.broken

    assert [finding.requirement for finding in findings] == ["create-engagement-lasts"]


def test_where_the_status_is_unknown_no_filter_misses_it(talk: MakeTalk) -> None:
    """What may be active or archived belongs to neither list surely, and to the whole one all the same."""
    one = talk()
    identifier = one.created("one")
    one.send(requests.archive_engagement(identifier), status=503)
    for status in ("active", "archived"):
        one.exchanges.append(listing(one, [], status=status))
        one.now += 0.1
    assert broken(one.exchanges) == []

    one.exchanges.append(listing(one, []))
    assert broken(one.exchanges) == ["list-engagements-total"]
