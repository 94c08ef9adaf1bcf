"""Whether overlapping requests can have happened one after the other."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from math import inf
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.oracle.effects import Span
from conformance.oracle.linearizability import Event, Outcome, State, history_of, order_of, told
from conformance.wire import call

START = State("one", "as it was")
MakeTalk = Callable[..., Any]


def event(operation: str, start: float, end: float, outcome: Outcome = Outcome.DONE, **more: Any) -> Event:
    """An event whose words are its operation."""
    return Event(operation, outcome, Span(start, end), words=operation, **more)


def update(start: float, end: float, outcome: Outcome = Outcome.DONE, **sent: str) -> Event:
    """An edit."""
    return event("update", start, end, outcome, sent=tuple(sent.items()))


def seen(start: float, end: float, name: str, description: str = "as it was", status: str = "active") -> Event:
    """A read that shows this."""
    return event("read", start, end, seen=State(name, description, status))


RIGHT = {
    "nothing": [],
    "either order": [update(0, 10, name="a"), update(5, 15, name="b"), seen(20, 21, "a")],
    "the other order": [update(0, 10, name="a"), update(5, 15, name="b"), seen(20, 21, "b")],
    "different fields": [update(0, 10, name="a"), update(5, 15, description="b"), seen(20, 21, "a", "b")],
    "an edit before the archive": [
        event("archive", 0, 10), update(5, 15, name="a"), seen(20, 21, "a", status="archived"),
    ],
    "a refused edit": [event("archive", 0, 10), update(11, 15, Outcome.REFUSED, name="a")],
    "never answered, done": [update(0, inf, Outcome.UNKNOWN, name="a"), seen(20, 21, "a")],
    "never answered, not done": [update(0, inf, Outcome.UNKNOWN, name="a"), seen(20, 21, "one")],
    "never answered, done late": [
        update(0, inf, Outcome.UNKNOWN, name="a"), seen(20, 21, "one"), seen(22, 23, "a"),
    ],
    "not found after the deletion": [event("delete", 0, 10), event("read", 11, 12, Outcome.NOT_FOUND)],
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
    "not found before the deletion": [event("read", 0, 1, Outcome.NOT_FOUND), event("delete", 2, 10)],
    "back again": [update(0, inf, Outcome.UNKNOWN, name="a"), seen(20, 21, "a"), seen(22, 23, "one")],
    "two deletions": [event("delete", 0, 10), event("delete", 5, 15)],
    "a refused edit that took effect": [update(0, 10, Outcome.REFUSED, name="a"), seen(11, 12, "a")],
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_what_has_an_order(name: str) -> None:
    """An order is found, and it keeps real time."""
    order = order_of(START, RIGHT[name])

    assert order is not None
    assert len(order) == len(RIGHT[name])
    assert not any(later.span.before(one.span) for place, one in enumerate(order) for later in order[place:])


@pytest.mark.parametrize("name", WRONG)
def test_what_has_no_order(name: str) -> None:
    """No order is found where there is none."""
    assert order_of(START, WRONG[name]) is None


def by_trying_all(events: list[Event]) -> bool:
    """Whether there is an order, by trying every one of them."""

    def fits(order: tuple[Event, ...]) -> bool:
        states: set[State | None] = {START}
        for place, one in enumerate(order):
            if any(later.span.before(one.span) for later in order[place + 1 :]):
                return False
            states = {after for state in states for after in one.after(state)}
        return bool(states)

    return any(map(fits, permutations(events)))


SPANS = st.tuples(st.integers(0, 12), st.integers(1, 8)).map(lambda pair: (pair[0], pair[0] + pair[1]))
OUTCOMES = st.sampled_from((Outcome.DONE, Outcome.DONE, Outcome.REFUSED, Outcome.NOT_FOUND, Outcome.UNKNOWN))


@st.composite
def any_event(draw: st.DrawFn) -> Event:
    """An event that may or may not fit any other."""
    (start, end), outcome = draw(SPANS), draw(OUTCOMES)
    operation = draw(st.sampled_from(("update", "update", "archive", "delete", "read")))
    if operation == "read":
        done = outcome is not Outcome.NOT_FOUND
        state = State(
            draw(st.sampled_from("ab")), draw(st.sampled_from("ab")), draw(st.sampled_from(("active", "archived")))
        )
        return Event("read", Outcome.DONE if done else outcome, Span(start, end), seen=state if done else None)
    sent = draw(st.dictionaries(st.sampled_from(("name", "description")), st.sampled_from("ab"), min_size=1))
    span = Span(start, inf if outcome is Outcome.UNKNOWN else end)
    return Event(operation, outcome, span, tuple(sent.items()) if operation == "update" else ())


@settings(max_examples=400, deadline=None)
@given(st.lists(any_event(), max_size=6))
def test_same_as_trying_every_order(events: list[Event]) -> None:
    """The search finds an order where there is one, and only there."""
    assert (order_of(START, events) is not None) == by_trying_all(events)


def test_long_history_is_decided_quickly() -> None:
    """States that lead nowhere are not searched twice."""
    edits = [update(0, 100, name=f"n{number % 3}", description=f"d{number % 2}") for number in range(14)]

    assert order_of(START, [*edits, seen(200, 201, "n0", "as it was")]) is None


def test_history_leaves_out_reads_during_changes(talk: MakeTalk) -> None:
    """What a read shows while a change is under way is open; the others count, and the history can be told."""
    one = talk()
    identifier = one.created("one", description="as it was")
    read_it = call.get_engagement(identifier)
    answers = [
        one.send(call.update_engagement(identifier, {"name": "a"}), at=10.0, seconds=1.0),
        one.send(read_it, at=10.2, seconds=0.1),
        one.send(read_it, at=12.0, seconds=0.1),
        one.send(call.archive_engagement(identifier), at=13.0, status=503),
        one.send(call.update_engagement(identifier, {"name": "b"}), at=14.0, status=409),
        one.send(call.delete_engagement(identifier), at=15.0),
        one.send(read_it, at=16.0),
    ]
    events = history_of(answers)

    assert [one.operation for one in events].count("read") == 1
    assert order_of(START, events) is not None
    assert told(events).startswith('0.0 to 1000.0 ms: update name="a" -> 200; 2000.0 to 2100.0 ms: read -> 200, active')
    assert "from 3000.0 ms: archive -> 503" in told(events)
