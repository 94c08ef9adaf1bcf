"""Pictures of report.html: transitions of engagements, latency, the course of the rate limit, and marked places."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.reports.html import html_bytes
from conformance.reports.layout import place_of, tokens_of
from conformance.reports.pictures.course import HEIGHT, MOST_KEYS, courses
from conformance.reports.pictures.latency import latencies, quantile
from conformance.reports.pictures.machine import arrows
from conformance.reports.pictures.transitions import OPEN, STATED, transitions
from conformance.reports.pretty import body, differing
from conformance.wire import requests
from conformance.wire.requests import Credential

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from conformance.reports.model import Report
    from conformance.wire.exchange import Exchange

    Step = Callable[..., Exchange]


@pytest.fixture
def step(samples: ModuleType) -> Step:
    """Return a maker of successive exchanges on the engagement ``e``; ``shown`` is the status in the response."""
    numbers = itertools.count(1)

    def make(
        what: requests.Request, shown: str | None = None, *, status: int = 200, parallel: bool = False
    ) -> Exchange:
        number = next(numbers)
        data = {"id": "e"} | ({} if shown is None else {"status": shown})
        made: Exchange = samples.exchange(number, what, status=status, body=data)
        began = samples.STARTED + timedelta(seconds=number - (1 if parallel else 0))
        return replace(made, started_at=began, seconds=0.5)

    return make


def _seen(exchanges: list[Exchange]) -> dict[tuple[str, str, str], list[int]]:
    return {transition.way: transition.exchanges for transition in transitions(exchanges) if transition.exchanges}


def test_a_life_of_an_engagement(step: Step) -> None:
    """Each step is a transition from the previously shown state to the next shown one."""
    life = [
        step(requests.create_engagement({"name": "x"}), "active", status=201),
        step(requests.update_engagement("e", {"name": "y"})),
        step(requests.get_engagement("e"), "active"),
        step(requests.archive_engagement("e"), "archived"),
        step(requests.update_engagement("e", {"name": "z"}), status=409),
        step(requests.unarchive_engagement("e"), status=204),
        step(requests.get_engagement("e"), "active"),
        step(requests.delete_engagement("e")),
        step(requests.get_engagement("e"), status=404),
    ]

    assert _seen(life) == {
        ("none", "create", "active"): [1],
        ("active", "edit", "active"): [2],
        ("active", "archive", "archived"): [4],
        ("archived", "unarchive", "active"): [6],
        ("active", "delete", "removed"): [8],
    }


def test_a_transition_outside_the_interface_is_drawn(step: Step) -> None:
    """The edit of an archived engagement is drawn with its own style."""
    found = transitions(
        [
            step(requests.archive_engagement("e"), "archived"),
            step(requests.update_engagement("e", {"name": "z"}), "archived"),
        ]
    )

    (foreign,) = [transition for transition in found if transition.kind == "foreign"]
    assert (foreign.way, foreign.exchanges) == (("archived", "edit", "archived"), [2])
    assert foreign in [arrow.transition for arrow in arrows(found)]


def test_overlapping_requests_are_left_out(step: Step) -> None:
    """The order of an edit and an overlapping archive is unknown."""
    raced = [
        step(requests.create_engagement({"name": "x"}), "active", status=201),
        step(requests.archive_engagement("e"), "archived"),
        step(requests.update_engagement("e", {"name": "z"}), "archived", parallel=True),
        step(requests.update_engagement("e", {"name": "z"}), "archived"),
    ]

    assert _seen(raced) == {("none", "create", "active"): [1], ("active", "archive", "archived"): [2]}


def test_without_a_known_state_there_is_no_transition(step: Step) -> None:
    """The first exchange on an engagement shows no transition."""
    assert _seen([step(requests.update_engagement("e", {"name": "z"}), "archived")]) == {}
    assert [transition.way for transition in transitions([])] == [*STATED, *OPEN]


def test_every_way_of_the_interface_has_its_arrow() -> None:
    """All stated transitions are drawn, and open ones of an archived engagement."""
    drawn = {arrow.transition.way for arrow in arrows(transitions([]))}

    assert set(STATED) <= drawn
    assert drawn <= {*STATED, *OPEN}


def test_latency_of_each_operation(samples: ModuleType) -> None:
    """Only exchanges with a response count, over one axis with ticks."""
    found = latencies(samples.exchanges(200))

    assert [latency.operation for latency in found.operations] == [
        "listEngagements",
        "createEngagement",
        "getEngagement",
        "archiveEngagement",
    ]
    assert sum(latency.responses for latency in found.operations) == 200
    for latency in found.operations:
        assert latency.median <= latency.late <= latency.longest
        assert all(
            0 <= x <= 240 and 0 <= y <= 24 and y + height == pytest.approx(24) for x, _, y, height in latency.bars
        )
    assert {text for _, text in found.ticks} == {"10 ms", "100 ms"}
    assert latencies([samples.exchange(1, status=None, error="no response")]).operations == ()


@given(st.lists(st.floats(0, 1e4), min_size=1).map(sorted), st.sampled_from([0.5, 0.95, 1.0]))
def test_a_quantile_is_one_of_the_values(values: list[float], share: float) -> None:
    """At least the share of the values does not exceed it."""
    found = quantile(values, share)

    assert found in values
    assert sum(value <= found for value in values) >= share * len(values)


def _limited(samples: ModuleType, number: int, remaining: int, key: str = "throttled", status: int = 200) -> Exchange:
    limits = (
        ("X-RateLimit-Limit", "20"),
        ("X-RateLimit-Remaining", str(remaining)),
        ("X-RateLimit-Reset", "1772616660"),
    )
    made: Exchange = samples.exchange(
        number, status=status, body={}, headers=limits, credential=Credential(key, f"Bearer <{key}>")
    )
    return made


def test_the_course_of_a_key(samples: ModuleType) -> None:
    """The line falls, and each 429 is counted."""
    sent = [_limited(samples, number, 20 - number, status=200 if number < 20 else 429) for number in range(1, 21)]

    (course,), left_out = courses([*sent, samples.exchange(21, credential=Credential("none", None))])

    assert left_out == 0
    assert (course.key, course.responses, course.limits, course.lowest, course.refused) == (
        "throttled",
        20,
        (20,),
        0,
        1,
    )
    heights = [float(point.split(",")[1]) for point in course.line.split()]
    assert heights == sorted(heights)
    assert heights[-1] == HEIGHT
    assert len(course.refusals) == 1


def test_keys_that_met_a_429_come_first(samples: ModuleType) -> None:
    """Some of many keys are omitted and counted."""
    sent = [_limited(samples, number, 5, key=f"key_{number % 12}") for number in range(1, 60)]
    sent.append(_limited(samples, 60, 0, key="late", status=429))

    found, left_out = courses(sent)

    assert found[0].key == "late"
    assert len(found) == MOST_KEYS
    assert left_out == 13 - MOST_KEYS


def test_headers_that_make_no_sense_are_no_course(samples: ModuleType) -> None:
    """Without valid headers there is no course."""
    assert courses([samples.exchange(1, headers=(("X-RateLimit-Limit", "many"),))]) == ([], 0)
    assert courses([]) == ([], 0)


def test_the_page_shows_all_pictures(failing: tuple[Report, list[Exchange]]) -> None:
    """Each drawing has a table beside it."""
    text = html_bytes(*failing).decode()

    for part in ('class="machine"', 'id="states"', 'class="spread"', 'id="latency"', 'class="course"', 'id="limit"'):
        assert part in text
    assert '<th scope="row">createEngagement</th>' in text


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def _places(value: object, pointer: str = "") -> list[tuple[str, Any]]:
    inner: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    below = [_places(member, f"{pointer}/{str(name).replace('~', '~0').replace('/', '~1')}") for name, member in inner]
    return [(pointer, value), *itertools.chain.from_iterable(below)]


@given(VALUES)
def test_every_place_of_a_text_is_found(value: object) -> None:
    """The tokens at a pointer form its value."""
    tokens = tokens_of(json.dumps(value))

    for pointer, expected in _places(value):
        place = place_of(tokens, pointer)
        assert place is not None
        assert json.loads("".join(tokens[place[0] : place[1] + 1])) == expected
    assert place_of(tokens, "/nowhere/at all") is None


def test_the_differing_place_is_marked() -> None:
    """The place is marked by its pointer in the body, and by comparison in similar expected and actual texts."""
    assert '"id": <mark><span class="str">"b"</span></mark>' not in body(b'{"data":{"id":"b"}}')
    shown = body(b'{"data":{"id":"b","n":[1,2]}}', "/data/n")
    assert '<mark>[\n      <span class="lit">1</span>' in shown
    assert shown.count("<mark>") == shown.count("</mark>") == 1
    assert differing('the name "cf-1 a"', 'the name "cf-1 A"') == ("<bdi>the name &#34;cf-1 <mark>a</mark>&#34;</bdi>")
    assert "<mark>" not in differing("200", "a 4xx other than 401, 404 and 429")
    assert "<mark>" not in differing("same", "same")


def test_a_mark_ends_where_a_body_is_cut() -> None:
    """The mark is closed even if the marked value is cut."""
    shown = body(json.dumps({"data": ["x" * 10] * 100}).encode(), "/data", limit=200)

    assert shown.count("<mark>") == shown.count("</mark>") == 1
    assert "the rest is in exchanges.har" in shown
