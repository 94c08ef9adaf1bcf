"""Search for a sequential order of overlapping requests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from math import inf
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.oracle.effects import Interval
from conformance.oracle.linearizability import (
    EngagementState,
    Event,
    RequestOutcome,
    describe_events,
    history_of,
    order_of,
)
from conformance.wire import requests

START = EngagementState("one", "as it was")
MakeClient = Callable[..., Any]


def event(
    operation: str, start: float, end: float, outcome: RequestOutcome = RequestOutcome.DONE, **more: Any
) -> Event:
    """Return an event whose description is its operation."""
    return Event(operation, outcome, Interval(start, end), words=operation, **more)


def update(start: float, end: float, outcome: RequestOutcome = RequestOutcome.DONE, **sent: str) -> Event:
    """Return an edit."""
    return event("update", start, end, outcome, sent=tuple(sent.items()))


def seen(start: float, end: float, name: str, description: str = "as it was", status: str = "active") -> Event:
    """Return a read with these values."""
    return event("read", start, end, seen=EngagementState(name, description, status))


RIGHT = {
    "nothing": [],
    "either order": [update(0, 10, name="a"), update(5, 15, name="b"), seen(20, 21, "a")],
    "the other order": [update(0, 10, name="a"), update(5, 15, name="b"), seen(20, 21, "b")],
    "different fields": [update(0, 10, name="a"), update(5, 15, description="b"), seen(20, 21, "a", "b")],
    "an edit before the archive": [
        event("archive", 0, 10), update(5, 15, name="a"), seen(20, 21, "a", status="archived"),
    ],
    "a refused edit": [event("archive", 0, 10), update(11, 15, RequestOutcome.REFUSED, name="a")],
    "no response, done": [update(0, inf, RequestOutcome.UNKNOWN, name="a"), seen(20, 21, "a")],
    "no response, not done": [update(0, inf, RequestOutcome.UNKNOWN, name="a"), seen(20, 21, "one")],
    "no response, done late": [
        update(0, inf, RequestOutcome.UNKNOWN, name="a"), seen(20, 21, "one"), seen(22, 23, "a"),
    ],
    "no response, never done": [
        update(0, inf, RequestOutcome.UNKNOWN, name="a"), event("archive", 1, 2),
        seen(20, 21, "one", status="archived"),
    ],
    "no response to an edit of a deleted engagement": [
        update(0, inf, RequestOutcome.UNKNOWN, name="a"), event("delete", 1, 2),
        event("read", 20, 21, RequestOutcome.NOT_FOUND),
    ],
    "no response to a deletion, done": [
        event("delete", 0, inf, RequestOutcome.UNKNOWN), event("read", 20, 21, RequestOutcome.NOT_FOUND),
    ],
    "no response to a deletion, not done": [event("delete", 0, inf, RequestOutcome.UNKNOWN), seen(20, 21, "one")],
    "one right after the other": [update(0, 10, name="a"), seen(10, 11, "a")],
    "a read of nothing that can be read": [update(0, 10, name="a"), event("read", 11, 12)],
    "an archive of what is archived": [event("archive", 0, 1), event("archive", 2, 3)],
    "a refused deletion": [event("delete", 0, 1, RequestOutcome.REFUSED), seen(2, 3, "one")],
    "not found after the deletion": [event("delete", 0, 10), event("read", 11, 12, RequestOutcome.NOT_FOUND)],
    "not found beside another edit": [
        replace(update(0, 10, RequestOutcome.NOT_FOUND, name="a"), overlapped=True), update(5, 15, name="b"),
        seen(20, 21, "b"),
    ],
    "a conflict beside another edit, of what is deleted": [
        event("delete", 0, 1), *[replace(update(2, 3, RequestOutcome.REFUSED, name="a"), overlapped=True)] * 2,
    ],
    "two deletions at once": [
        replace(event("delete", start, start + 10), overlapped=True) for start in (0, 5)
    ],
    "read during the deletion": [event("delete", 0, 10), seen(5, 6, "one")],
}  # fmt: skip
WRONG = {
    "lost": [update(0, 10, name="a"), seen(11, 12, "one")],
    "one of two fields lost": [update(0, 10, name="a"), update(5, 15, description="b"), seen(20, 21, "one", "b")],
    "half of each": [
        update(0, 10, name="a", description="a"), update(5, 15, name="b", description="b"), seen(20, 21, "a", "b"),
    ],
    "an edit after the archive": [event("archive", 0, 10), update(11, 15, name="a")],
    "a read after the deletion": [event("delete", 0, 10), seen(11, 12, "one")],
    "not found before the deletion": [event("read", 0, 1, RequestOutcome.NOT_FOUND), event("delete", 2, 10)],
    "one right after the other, and lost": [update(0, 10, name="a"), seen(10, 11, "one")],
    "refused after the deletion": [event("delete", 0, 1), update(2, 3, RequestOutcome.REFUSED, name="a")],
    "active again": [event("archive", 0, 1), seen(2, 3, "one")],
    "a refused archive that took effect": [
        event("archive", 0, 1, RequestOutcome.REFUSED), seen(2, 3, "one", status="archived"),
    ],
    "back again": [update(0, inf, RequestOutcome.UNKNOWN, name="a"), seen(20, 21, "a"), seen(22, 23, "one")],
    "not found beside another edit, and done": [
        replace(update(0, 10, RequestOutcome.NOT_FOUND, name="a"), overlapped=True), update(5, 15, name="b"),
        seen(20, 21, "a"),
    ],
    "not found by itself": [update(0, 10, RequestOutcome.NOT_FOUND, name="a"), seen(20, 21, "one")],
    "two deletions": [event("delete", 0, 10), event("delete", 5, 15)],
    "a refused edit that took effect": [update(0, 10, RequestOutcome.REFUSED, name="a"), seen(11, 12, "a")],
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_histories_with_an_order(name: str) -> None:
    """The search finds an order that preserves real time."""
    order = order_of(START, RIGHT[name])

    assert order is not None
    assert len(order) == len(RIGHT[name])
    assert not any(
        later.interval.before(event.interval) for place, event in enumerate(order) for later in order[place:]
    )


@pytest.mark.parametrize("name", WRONG)
def test_histories_without_an_order(name: str) -> None:
    """The search finds no order."""
    assert order_of(START, WRONG[name]) is None


def by_trying_all(events: list[Event]) -> bool:
    """Whether there is an order, by trying all permutations."""

    def fits(order: tuple[Event, ...]) -> bool:
        states: set[EngagementState | None] = {START}
        for place, event in enumerate(order):
            if any(later.interval.before(event.interval) for later in order[place + 1 :]):
                return False
            states = {after for state in states for after in event.after(state)}
        return bool(states)

    return any(map(fits, permutations(events)))


SPANS = st.tuples(st.integers(0, 12), st.integers(1, 8)).map(lambda pair: (pair[0], pair[0] + pair[1]))
OUTCOMES = st.sampled_from(
    (RequestOutcome.DONE, RequestOutcome.DONE, RequestOutcome.REFUSED, RequestOutcome.NOT_FOUND, RequestOutcome.UNKNOWN)
)


@st.composite
def any_event(draw: st.DrawFn) -> Event:
    """Draw an event that may or may not fit others."""
    (start, end), outcome = draw(SPANS), draw(OUTCOMES)
    operation = draw(st.sampled_from(("update", "update", "archive", "delete", "read")))
    if operation == "read":
        done = outcome is not RequestOutcome.NOT_FOUND
        state = EngagementState(
            draw(st.sampled_from("ab")), draw(st.sampled_from("ab")), draw(st.sampled_from(("active", "archived")))
        )
        return Event(
            "read", RequestOutcome.DONE if done else outcome, Interval(start, end), seen=state if done else None
        )
    sent = draw(st.dictionaries(st.sampled_from(("name", "description")), st.sampled_from("ab"), min_size=1))
    interval = Interval(start, inf if outcome is RequestOutcome.UNKNOWN else end)
    return Event(operation, outcome, interval, tuple(sent.items()) if operation == "update" else ())


@settings(max_examples=400, deadline=None)
@given(st.lists(any_event(), max_size=6))
def test_same_as_trying_every_order(events: list[Event]) -> None:
    """The search finds an order exactly if there is one."""
    assert (order_of(START, events) is not None) == by_trying_all(events)


def test_long_history_is_decided_quickly() -> None:
    """The search visits no dead state twice."""
    edits = [update(0, 100, name=f"n{number % 3}", description=f"d{number % 2}") for number in range(14)]

    assert order_of(START, [*edits, seen(200, 201, "n0", "as it was")]) is None


def test_history_leaves_out_reads_during_changes(make_client: MakeClient) -> None:
    """A read during a change is open; the other reads count and the history has a description."""
    client = make_client()
    identifier = client.created("one", description="as it was")
    read_it = requests.get_engagement(identifier)
    responses = [
        client.send(requests.update_engagement(identifier, {"name": "a"}), at=10.0, seconds=1.0),
        client.send(read_it, at=10.2, seconds=0.1),
        client.send(read_it, at=12.0, seconds=0.1),
        client.send(requests.archive_engagement(identifier), at=13.0, status=503),
        client.send(requests.update_engagement(identifier, {"name": "b"}), at=14.0, status=409),
        client.send(requests.delete_engagement(identifier), at=15.0),
        client.send(read_it, at=16.0),
    ]
    events = history_of(responses)

    assert [event.operation for event in events].count("read") == 1
    assert order_of(START, events) is not None
    assert describe_events(events).startswith(
        '0.0 to 1000.0 ms: update name="a" -> 200; 2000.0 to 2100.0 ms: read -> 200, active'
    )
    assert "from 3000.0 ms: archive -> 503" in describe_events(events)


def test_history_leaves_out_irrelevant_exchanges(make_client: MakeClient) -> None:
    """These are other operations, unsent requests, failed reads, and texts that a service may change."""
    client = make_client()
    identifier = client.created("one")
    unsent = replace(client.send(requests.archive_engagement(identifier), status=503), was_sent=False)
    responses = [
        *client.exchanges[:1],
        unsent,
        client.send(requests.unarchive_engagement(identifier)),
        client.send(requests.list_engagements()),
        client.send(requests.get_engagement(identifier), status=503),
        client.send(requests.get_engagement(identifier), status=403),
        client.send(requests.update_engagement(identifier, {"name": "two  blanks"})),
        client.send(requests.update_engagement(identifier, {"name": "new", "other": "two  blanks"})),
    ]

    (event,) = history_of(responses)
    assert (event.operation, event.outcome, event.sent) == ("update", RequestOutcome.DONE, (("name", "new"),))


@pytest.mark.parametrize(("description", "counts"), [("too short", False), ("long enough 1", True)])
def test_a_refusal_for_the_content_of_an_edit(make_client: MakeClient, description: str, *, counts: bool) -> None:
    """It does not constrain the order, as a service may validate the body first."""
    client = make_client()
    edit = requests.update_engagement(client.created("one"), {"name": "an ordinary name", "description": description})

    assert len(history_of([client.send(edit, status=422)])) == counts
    assert len(history_of([client.send(edit, status=200)])) == 1


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (200, RequestOutcome.DONE), (204, RequestOutcome.DONE), (404, RequestOutcome.NOT_FOUND),
        (409, RequestOutcome.REFUSED),
        (405, RequestOutcome.REFUSED), (500, RequestOutcome.UNKNOWN), (503, RequestOutcome.UNKNOWN),
        (302, RequestOutcome.UNKNOWN),
    ],
)  # fmt: skip
def test_the_outcome_of_a_response(make_client: MakeClient, status: int, outcome: RequestOutcome) -> None:
    """Only a success happened for certain, and only a refusal did not; other requests may happen at any time."""
    client = make_client()
    (event,) = history_of([client.send(requests.archive_engagement(client.created("one")), status=status)])

    assert event.outcome is outcome
    assert (event.interval.end == inf) == (outcome is RequestOutcome.UNKNOWN)


def test_overlapping_changes_are_marked(make_client: MakeClient) -> None:
    """A read is no change, and a change that ended before the next began is not marked."""
    client = make_client()
    identifier = client.created("one")
    edit, began = requests.update_engagement(identifier, {"name": "Some new name"}), client.now
    responses = [
        client.send(edit, at=began, seconds=0.5),
        client.send(edit, at=began + 0.1, seconds=0.1, status=404),
        client.send(edit, at=began + 0.5, seconds=0.5),
        client.send(requests.get_engagement(identifier), at=began + 1.0, seconds=0.5),
        client.send(edit, at=began + 2.0, seconds=0.1),
    ]

    assert [event.overlapped for event in history_of(responses)] == [True, True, False, False, False]


def test_an_edit_beside_one_that_is_not_judged_is_marked(make_client: MakeClient) -> None:
    """An edit that empties the description is left out of the history, and still overlaps another edit."""
    client = make_client()
    identifier = client.created("one")
    empty, edit = (requests.update_engagement(identifier, body) for body in ({"description": ""}, {"name": "two"}))
    responses = [
        client.send(empty, at=5.0, seconds=0.5, status=422),
        client.send(edit, at=5.1, seconds=0.1, status=404),
    ]

    assert [event.overlapped for event in history_of(responses)] == [True]


def test_a_404_is_part_of_the_history(make_client: MakeClient) -> None:
    """It must come after the deletion; a missing description is an empty one."""
    client = make_client()
    identifier = client.created("one")
    responses = [
        client.send(requests.get_engagement(identifier)),
        client.send(requests.delete_engagement(identifier)),
        client.send(requests.get_engagement(identifier)),
    ]
    found, deleted, missing = sorted(history_of(responses), key=lambda event: event.interval.start)

    assert found.seen == EngagementState("one", "", "active")
    assert (missing.outcome, missing.seen) == (RequestOutcome.NOT_FOUND, None)
    assert order_of(EngagementState("one", ""), [found, deleted, missing]) is not None
    assert order_of(EngagementState("one", ""), [replace(missing, interval=Interval(0, 1)), found, deleted]) is None


def test_a_read_shows_the_status(make_client: MakeClient) -> None:
    """The status is part of the state."""
    client = make_client()
    identifier = client.created("one", description="as it was")
    client.send(requests.archive_engagement(identifier))
    (event,) = history_of([client.send(requests.get_engagement(identifier))])

    assert event.seen == EngagementState("one", "as it was", "archived")


@pytest.mark.parametrize("data", [[], {"name": 5, "description": "", "status": "active"}, {"name": "one"}])
def test_an_unreadable_read_fits_anywhere(make_client: MakeClient, data: object) -> None:
    """It only shows that the engagement exists."""
    client = make_client()
    identifier = client.created("one")
    (event,) = history_of([client.made(requests.get_engagement(identifier), 200, data, 1.0, 0.1)])

    assert (event.outcome, event.seen) == (RequestOutcome.DONE, None)
    assert order_of(EngagementState("another", ""), [event]) is not None


def test_the_description_of_a_history(make_client: MakeClient) -> None:
    """It lists requests, responses and values in the order of the requests, in milliseconds."""
    client = make_client()
    identifier = client.created("one", description="as it was")
    edit = requests.update_engagement(identifier, {"name": "new", "description": "newer"})
    responses = [
        client.send(requests.get_engagement(identifier), at=300.0, seconds=0.25),
        client.send(edit, at=50.0, seconds=0.5),
        client.send(requests.delete_engagement(identifier), at=301.0, lost=True),
    ]

    assert describe_events(history_of(responses)).split("; ") == [
        '0.0 to 500.0 ms: update name="new" description="newer" -> 200',
        '250000.0 to 250250.0 ms: read -> 200, active, name="one", description="as it was"',
        "from 251000.0 ms: delete -> no response",
    ]
    assert describe_events([]) == ""
