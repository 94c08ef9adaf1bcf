"""Ledger rules for times in lists and after creations, and the delay of the service's clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from conformance.oracle.effects import Interval
from conformance.oracle.ledger.clock import CreationClock
from conformance.wire import requests
from tests.oracle.ledger.ledgers import broken, kept

MakeClient = Callable[..., Any]
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = 1_000_000


def clock(step: float, count: int = 30, apart: float = 0.07, taking: float = 0.02) -> CreationClock:
    """Return what is known of a clock that ticks every ``step`` seconds after creations at a distance."""
    made = CreationClock()
    for number in range(count):
        start = number * apart + (number**2 % 5 / 1000 if step == 0 else 0)
        shown = start + taking / 2 if step == 0 else (start + taking / 2) // step * step
        begin = BEGAN.timestamp() + start
        made.learn("api_key", BEGAN + timedelta(seconds=shown), Interval(begin * SECOND, (begin + taking) * SECOND))
    return made


@pytest.mark.parametrize(
    ("known", "least", "most"),
    [
        (clock(0), 0.039, 0.041),
        (clock(0, count=9), 2.5, 2.5),
        (clock(0.1), 0.2, 0.24),
        (clock(1.0, count=200), 2.0, 2.04),
        (clock(60.0, count=200), 2.5, 2.5),
    ],
)
def test_the_tick_of_a_clock(known: CreationClock, least: float, most: float) -> None:
    """It is twice the range of the delays, and a long time if few creation times differ."""
    assert least <= known.tick(["api_key", "api_key"]) / SECOND <= most


def test_the_tick_for_another_key() -> None:
    """Its requests may reach another node."""
    assert clock(0).tick(["api_key", "member"]) == clock(0).tick(["member"]) == 2.5 * SECOND


def test_the_step_of_a_clock() -> None:
    """Creations at the same phase of a clock of whole seconds have the same delays."""
    assert clock(1.0, count=12, apart=1.0).tick(["api_key"]) == SECOND


def changed(client: Any, change: requests.Request, *, moves: bool) -> str:
    """Create enough engagements to know the clock, and change the last one."""
    for number in range(11):
        identifier = client.created("as it was", description="described")
        client.now += 0.3 + number / 1000
    then = client.service.records[identifier].updated
    client.send(replace(change, identifier=identifier))
    if not moves:
        client.service.records[identifier].updated = then
    return str(identifier)


CHANGES = [
    (requests.archive_engagement("e0"), "archive-refreshes-updated-at"),
    (requests.update_engagement("e0", {"name": "Some new name"}), "update-engagement-moves-updated-at"),
]


@pytest.mark.parametrize(("change", "requirement"), CHANGES)
@pytest.mark.parametrize("moves", [True, False])
@pytest.mark.parametrize("looking", ["list", "read"])
def test_a_change_soon_after_the_creation(
    make_client: MakeClient, change: requests.Request, requirement: str, looking: str, *, moves: bool
) -> None:
    """A clock that is known to be exact must move updatedAt, as a list or a read shows."""
    client = make_client()
    identifier = changed(client, change, moves=moves)
    client.send(requests.list_engagements() if looking == "list" else requests.get_engagement(identifier))

    assert broken(client.exchanges) == ([] if moves else [requirement])
    assert (requirement in kept(client.exchanges)) == moves


@pytest.mark.parametrize(("change", "requirement"), CHANGES)
def test_a_change_within_a_tick(make_client: MakeClient, change: requests.Request, requirement: str) -> None:
    """A clock of whole seconds may show the same time."""
    client = make_client(clock="seconds")
    changed(client, change, moves=False)
    client.send(requests.list_engagements())

    assert broken(client.exchanges) == []
    assert requirement not in kept(client.exchanges)


@pytest.mark.parametrize("looking", ["list", "read"])
@pytest.mark.parametrize(
    ("refused", "requirement"),
    [(True, "update-engagement-refused-changes-nothing"), (False, "update-engagement-spares-others")],
)
def test_a_time_that_moves_before_the_first_read(
    make_client: MakeClient, looking: str, requirement: str, *, refused: bool
) -> None:
    """The response to the creation shows it; the request at the time shown has moved it."""
    client = make_client()
    for _ in range(11):
        identifier = client.created()
        client.now += 0.3
    other = client.created("other")
    name = "" if refused else "Some new name"
    edit = requests.update_engagement(identifier if refused else other, {"name": name})
    client.send(edit, status=422 if refused else None)
    client.service.records[identifier].updated = client.service.now
    client.send(requests.list_engagements() if looking == "list" else requests.get_engagement(identifier))

    assert broken(client.exchanges) == [requirement]


def test_a_creation_that_states_another_time(make_client: MakeClient) -> None:
    """If no request was sent at the time shown, the response to the creation was wrong, which a check judges."""
    client = make_client()
    for _ in range(11):
        identifier = client.created()
        client.now += 0.3
    client.service.records[identifier].updated += 1
    client.send_each([requests.list_engagements(), requests.get_engagement(identifier)])

    assert broken(client.exchanges) == []


def test_a_creation_that_rounds_its_times(make_client: MakeClient) -> None:
    """A database may round the times that the response truncated; another request is no cause of that."""
    client = make_client()
    for _ in range(11):
        identifier = client.created()
        client.now += 0.3
    other = client.created("other")
    record = client.service.records[identifier]
    record.created, record.updated = record.created + 0.001, record.updated + 0.001
    client.send(requests.update_engagement(other, {"name": "Some new name"}))
    client.send_each([requests.list_engagements(), requests.get_engagement(identifier)])

    assert broken(client.exchanges) == []


def test_a_list_that_shows_another_time(make_client: MakeClient) -> None:
    """A list and a later read must agree, if nothing was written between."""
    client = make_client()
    identifier = client.created()
    client.send(requests.archive_engagement(identifier))
    client.service.records[identifier].updated += 1
    client.send(requests.list_engagements())
    client.service.records[identifier].updated -= 1
    client.send(requests.get_engagement(identifier))

    assert broken(client.exchanges) == ["list-engagements-as-read"]
