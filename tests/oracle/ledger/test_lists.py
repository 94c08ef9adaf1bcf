"""Ledger rules for lists, and cases that they leave open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from conformance.oracle.ledger.ledger import ENGAGEMENT_RULES, Ledger
from conformance.wire import requests
from tests.oracle.ledger.ledgers import broken, found, kept, listing

MakeClient = Callable[..., Any]
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
def test_only_lists_with_valid_parameters_are_judged(make_client: MakeClient, asked: Any, *, evidence: bool) -> None:
    """A response to an open or invalid parameter proves nothing."""
    client = make_client()
    client.created()
    client.exchanges.append(listing(client, [], **asked))
    counted = "filter-counts" if "status" in asked else "total"

    assert broken(client.exchanges) == ([f"list-engagements-{counted}"] if evidence else [])


def test_a_repeated_parameter_is_open(make_client: MakeClient) -> None:
    """The interface does not say which of the two counts."""
    client = make_client()
    client.created()
    made = listing(client, [])
    twice = type(made.request)(operation=made.request.operation, query=(("page", "1"), ("page", "2")))
    data = {"data": [], "meta": {"total": 0, "page": 2, "perPage": 20, "totalPages": 0}}
    client.exchanges.append(client.made(twice, 200, data, client.now, 0.01))

    assert broken(client.exchanges) == []


@pytest.mark.parametrize("page", [1, 2, 3])
@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("sort", ["name", "createdAt", "updatedAt"])
def test_an_item_on_another_page_is_not_missing(
    make_client: MakeClient, sort: str, order: str, size: int, page: int
) -> None:
    """Of items with equal keys, the service may put any at the end of a page."""
    client = make_client(clock="seconds")
    for name in (NAMES[0], NAMES[1], NAMES[1], NAMES[1], NAMES[2]):
        identifier = client.created(name)
        client.send(requests.get_engagement(identifier))
        client.now += 0.3
    client.send(requests.list_engagements(sort=sort, order=order, perPage=size, page=page))

    assert broken(client.exchanges) == []


def losing(honest: type[Any], place: int) -> type[Any]:
    """Return a service whose pages lack one item."""

    class Losing(honest):  # type: ignore[misc]
        """Service that omits one place."""

        def part(self, found: list[Any], start: int, size: int) -> list[Any]:
            kept = found[start : start + size]
            return kept[:place] + kept[place + 1 :]

    return Losing


@pytest.mark.parametrize("sort", ["name", "createdAt", "updatedAt"])
@pytest.mark.parametrize("order", ["asc", "desc"])
def test_a_page_that_lacks_an_item_between_two(
    make_client: MakeClient, honest: type[Any], sort: str, order: str
) -> None:
    """An item that sorts between two items of the page must be on it; the last read is the evidence."""
    client = make_client(losing(honest, 1))
    for name in NAMES[:4]:
        identifier = client.created(name)
        client.send_each([requests.get_engagement(identifier), requests.get_engagement(identifier)])
    client.send(requests.list_engagements(sort=sort, order=order, perPage=3))

    assert broken(client.exchanges) == ["list-engagements-pages-partition"]
    lost = 2 if order == "desc" else 1
    assert [exchange.number for exchange in found(client.exchanges).because] == [3 * lost + 3]
    assert (found(client.exchanges).of_list, found(client.exchanges).unconfirmed) == (True, True)


def test_an_unsorted_page_may_hold_any_item(make_client: MakeClient, honest: type[Any]) -> None:
    """Without a sort parameter, or on a page out of order, no item has a fixed page."""

    class Shuffled(losing(honest, 1)):  # type: ignore[misc]
        """Service with another order."""

        def select(self, asked: dict[str, str]) -> list[Any]:
            first, second, third, *rest = super().select(asked)
            return [third, second, first, *rest]

    client = make_client(Shuffled)
    for name in NAMES[:5]:
        client.send(requests.get_engagement(client.created(name)))
    client.send(requests.list_engagements(perPage=3))
    client.send(requests.list_engagements(sort="createdAt", perPage=3))

    assert "list-engagements-pages-partition" not in broken(client.exchanges)


def partition(exchanges: list[Any]) -> list[Any]:
    """Return the ledger's findings of incomplete pages, explained by others or not."""
    findings = Ledger.over(exchanges).findings.broken
    return [finding for finding in findings if finding.requirement == "list-engagements-pages-partition"]


@pytest.mark.parametrize("first", [True, False])
def test_a_page_sorted_by_chance_is_not_judged(make_client: MakeClient, honest: type[Any], *, first: bool) -> None:
    """If any list of the exchanges was not in the requested order, no place in that order is fixed."""

    class Unsorted(honest):  # type: ignore[misc]
        """Service that always sorts by creation."""

        def select(self, asked: dict[str, str]) -> list[Any]:
            return list(super().select(asked | {"sort": "createdAt", "order": "desc"}))

    client = make_client(Unsorted)
    for name in (NAMES[1], NAMES[5], NAMES[2], NAMES[0]):
        client.send(requests.get_engagement(client.created(name)))
    by_name = {"sort": "name", "order": "asc"}
    lists = [requests.list_engagements(**by_name, perPage=2), requests.list_engagements(**by_name)]
    page, *_ = client.send_each(lists if first else lists[::-1])[:: 1 if first else -1]
    whole = [exchange for exchange in client.exchanges if exchange is not page]

    assert partition([*whole[:8], page])
    assert not partition(client.exchanges)


def test_a_possibly_moved_time_is_no_sort_key(make_client: MakeClient, honest: type[Any]) -> None:
    """After an edit without a read the place by updatedAt is unknown, but not that by createdAt."""
    for sort, expected in (("updatedAt", []), ("createdAt", ["list-engagements-pages-partition"])):
        client = make_client(losing(honest, 1))
        ids = [client.created(name) for name in NAMES[:4]]
        client.send_each([requests.get_engagement(identifier) for identifier in ids])
        client.send(requests.update_engagement(ids[2], {"description": "moved"}), lost=True)
        client.service.records[ids[2]].updated = client.service.records[ids[2]].created
        client.send(requests.list_engagements(sort=sort, perPage=3))
        assert broken(client.exchanges) == expected


def test_a_possibly_changed_name_is_no_sort_key(make_client: MakeClient, honest: type[Any]) -> None:
    """After a renaming without a response the place by name is unknown."""
    client = make_client(losing(honest, 1))
    ids = [client.created(name) for name in NAMES[:4]]
    client.send(requests.update_engagement(ids[2], {"name": "cf-1-walk-bara"}), lost=True)
    client.service.records[ids[2]].name = NAMES[2]
    client.send(requests.list_engagements(sort="name", perPage=3))

    assert broken(client.exchanges) == []


def test_a_time_of_another_format_is_no_sort_key(make_client: MakeClient, honest: type[Any]) -> None:
    """As a text it could sort anywhere."""

    class Odd(losing(honest, 1)):  # type: ignore[misc]
        """Service with one time without a zone."""

        def view(self, record: Any) -> dict[str, Any]:
            seen = dict(super().view(record))
            return seen | {"createdAt": seen["createdAt"].rstrip("Z")} if record.name == NAMES[2] else seen

    client = make_client(Odd)
    for name in NAMES[:4]:
        client.send(requests.get_engagement(client.created(name)))
    client.send(requests.list_engagements(sort="createdAt", perPage=3))

    assert broken(client.exchanges) == []


def test_names_of_other_runs_are_in_any_order(make_client: MakeClient, honest: type[Any]) -> None:
    """Another run's names look like this run's, and may change at any time."""

    class Late(honest):  # type: ignore[misc]
        """Service that puts engagements of other runs last."""

        def select(self, asked: dict[str, str]) -> list[Any]:
            return sorted(super().select(asked), key=lambda record: bool(record.id == "another"))

    client = make_client(Late)
    for name in NAMES[1:3]:
        client.created(name)
    mine = next(iter(client.service.records.values()))
    client.service.records["another"] = replace(mine, id="another", name=NAMES[0])
    client.send(requests.list_engagements(sort="name", order="asc"))

    assert broken(client.exchanges) == []
    assert kept(client.exchanges)["sort-by-name"] == [3]


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("status", [None, "active"])
def test_names_in_the_wrong_order(make_client: MakeClient, honest: type[Any], order: str, status: str | None) -> None:
    """The finding shows the required direction and two names that break it."""

    class Unsorted(honest):  # type: ignore[misc]
        """Service that reverses the order."""

        def select(self, asked: dict[str, str]) -> list[Any]:
            return list(super().select(asked))[::-1]

    client = make_client(Unsorted)
    for name in NAMES[:3]:
        client.created(name)
    client.send(requests.list_engagements(sort="name", order=order, status=status))

    finding = found(client.exchanges)
    assert finding.requirement == ("sort-by-name" if status is None else "sort-with-filter")
    assert finding.expected == f"names {order}ending"
    assert finding.pointer == "/data/1/name"


def test_one_name_alone_shows_no_order(make_client: MakeClient) -> None:
    """Evidence of an order needs two different names."""
    client = make_client()
    client.created(NAMES[0])
    client.created(NAMES[0])
    client.send(requests.list_engagements(sort="name"))
    assert "sort-by-name" not in kept(client.exchanges)

    client.created(NAMES[1])
    client.send(requests.list_engagements(sort="name"))
    assert kept(client.exchanges)["sort-by-name"] == [5]


def showing(honest: type[Any], whose: str, fields: dict[str, object]) -> type[Any]:
    """Return a service that lists the engagement of a name with these fields; ``...`` removes one."""

    class Showing(honest):  # type: ignore[misc]
        """Service with one odd item."""

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
def test_an_unreadable_field_is_not_judged(make_client: MakeClient, honest: type[Any], fields: Any, order: str) -> None:
    """A field of the wrong format breaks neither the rule of reads nor that of the order."""
    client = make_client(showing(honest, NAMES[1], fields))
    for name in NAMES[:3]:
        client.send(requests.get_engagement(client.created(name)))
    client.send(requests.list_engagements(sort="name", order=order))

    assert broken(client.exchanges) == []


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
def test_an_unreadable_field_hides_no_other(
    make_client: MakeClient, honest: type[Any], fields: Any, pointer: str
) -> None:
    """The other fields of the item are judged."""
    client = make_client(showing(honest, NAMES[1], fields))
    for name in NAMES[:3]:
        client.send(requests.get_engagement(client.created(name)))
    client.send(requests.list_engagements())

    finding = found(client.exchanges)
    assert (finding.requirement, finding.pointer) == ("list-engagements-as-read", pointer)
    assert (finding.of_list, finding.unconfirmed) == (True, False)
    assert finding.identifier is not None


def test_a_list_finding_shows_every_possible_value(make_client: MakeClient) -> None:
    """It shows the last certain value and every value that may have been written since."""
    client = make_client()
    identifier = client.created("one")
    client.send(requests.update_engagement(identifier, {"name": "perhaps"}), lost=True)
    client.service.records[identifier].name = "odd"
    client.send(requests.list_engagements())

    finding = found(client.exchanges)
    assert finding.message == "name of a listed engagement has a value that no request explains"
    assert (finding.expected, finding.actual, finding.pointer) == ('"one" or "perhaps"', '"odd"', "/data/0/name")
    assert (finding.because, finding.exchange) == (tuple(client.exchanges[:2]), client.exchanges[2])
    assert (finding.requirement, finding.other_candidates) == ("create-engagement-lasts", 1)


def test_a_change_of_another_engagement_may_move_a_time(make_client: MakeClient, honest: type[Any]) -> None:
    """A wrong time in a list may be due to each kind of change of another engagement."""
    client = make_client(showing(honest, NAMES[0], {"updatedAt": "2020-01-01T00:00:00.000Z"}))
    mine, edited, archived = (client.created(name) for name in NAMES[:3])
    client.send(requests.get_engagement(mine))
    client.send(requests.update_engagement(edited, {"description": "x"}))
    client.send(requests.archive_engagement(archived))
    client.send(requests.list_engagements())

    finding = found(client.exchanges)
    assert finding.other_candidates == 2
    assert finding.requirement in {"update-engagement-spares-others", "archive-spares-others"}


def test_a_list_settles_an_unknown_write(make_client: MakeClient) -> None:
    """If a list shows a write without a response, the write happened."""
    client = make_client()
    identifier = client.created("one")
    client.send(requests.update_engagement(identifier, {"name": "perhaps"}), lost=True)
    client.send(requests.list_engagements())
    assert broken(client.exchanges) == []

    client.service.records[identifier].name = "one"
    client.send(requests.get_engagement(identifier))
    assert broken(client.exchanges) == ["update-engagement-takes-effect"]


def test_the_evidence_of_a_list(make_client: MakeClient) -> None:
    """A list is evidence for its items, its total and the equality with reads."""
    client = make_client()
    identifier = client.created("one")
    client.send(requests.list_engagements())
    client.send_each([requests.get_engagement(identifier), requests.list_engagements()])

    found = kept(client.exchanges)
    assert found["create-engagement-listed"] == [2, 4]
    assert found["list-engagements-total"] == [2, 4]
    assert found["list-engagements-as-read"] == [2, 3, 4]
    assert found.keys() <= set(ENGAGEMENT_RULES)


def test_a_list_of_an_unknown_status_is_not_judged(make_client: MakeClient) -> None:
    """The response to such a filter is open, including its items."""
    client = make_client()
    identifier = client.created("one")
    item = client.service.view(client.service.records[identifier]) | {"name": "odd"}
    client.exchanges.append(listing(client, [item], status="Active"))

    assert broken(client.exchanges) == []


def test_an_unlisted_deleted_engagement_is_evidence(make_client: MakeClient) -> None:
    """Only a list after the deletion proves it."""
    client = make_client()
    first, second = client.created("first"), client.created("second")
    client.send_each([requests.list_engagements(), requests.list_engagements(status="archived")])
    assert "deleted-unlisted" not in kept(client.exchanges)

    client.send(requests.delete_engagement(first))
    last = client.send(requests.list_engagements())
    assert kept(client.exchanges)["deleted-unlisted"] == [last.number]
    assert second in client.service.records


def test_an_engagement_with_a_failure_is_not_missing_in_lists(make_client: MakeClient, honest: type[Any]) -> None:
    """An engagement is not judged after a finding about it."""
    client = make_client(losing(honest, 0))
    identifier = client.created("one")
    client.service.records[identifier].name = "wrong"
    client.send(requests.get_engagement(identifier))
    client.send(requests.list_engagements())
    findings = Ledger.over(client.exchanges).findings.broken

    assert [finding.requirement for finding in findings] == ["create-engagement-lasts"]


def test_an_engagement_of_unknown_status_is_not_missing_in_filtered_lists(make_client: MakeClient) -> None:
    """It belongs to neither filtered list for certain, but to the unfiltered one."""
    client = make_client()
    identifier = client.created("one")
    client.send(requests.archive_engagement(identifier), status=503)
    for status in ("active", "archived"):
        client.exchanges.append(listing(client, [], status=status))
        client.now += 0.1
    assert broken(client.exchanges) == []

    client.exchanges.append(listing(client, []))
    assert broken(client.exchanges) == ["list-engagements-total"]
