"""Possible values of an engagement at any time, by the requests that were to change it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import inf
from typing import Any

import pytest

from conformance.oracle.effects import Effect, Interval
from conformance.oracle.ledger.histories import History, Register, Shown, write
from conformance.wire.exchange import Exchange
from conformance.wire.requests import JSON_HEADERS
from tests.fakes.exchanges import make_exchange

BEGAN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
ZERO = BEGAN.timestamp() * 1_000_000
SECOND = 1_000_000


def during(start: float, end: float) -> Interval:
    """Return an interval in seconds after the beginning."""
    return Interval(ZERO + start * SECOND, ZERO + end * SECOND)


def change(value: str | None, start: float, end: float, *, certain: bool = True) -> Effect:
    """Return a new value of a name."""
    return Effect(make_exchange("updateEngagement"), "name", value, during(start, end), certain)


def register(*changes: Effect) -> Register:
    """Return the register of a name with these changes, added in the given order."""
    made = Register()
    for change in changes:
        made.add(change)
    return made


def request(
    operation: str, start: float, end: float, body: object = ..., *, status: int | None = 200, sent: bool = True
) -> Exchange:
    """Return a request between two seconds."""
    made = make_exchange(operation, status, {}, number=int(start * 10))
    content = None if body is ... else json.dumps(body).encode()
    intended = replace(made.request, body=content, headers=JSON_HEADERS if content else ())
    began, seconds = BEGAN + timedelta(seconds=start), end - start
    return replace(made, request=intended, started_at=began, seconds=seconds, was_sent=sent)


def history(*requests: Exchange) -> History:
    """Return an engagement created in the first second, with later requests."""
    made = History.created_by("e", request("createEngagement", 0, 1, {"name": "a"}))
    for sent in requests:
        made.take(write(sent))
    return made


def values(made: Register, interval: Interval) -> set[str | None]:
    """Return the values that a read in that interval may show."""
    return {effect.value for effect in made.candidates(interval)}


# --- times that go back


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([], False),
        ([(2, 3, 200)], False),
        ([(2, 3, 200), (3, 4, 200)], False),
        ([(2, 6, 200), (3, 4, 200)], True),
        ([(2, 6, 409), (3, 4, 200)], False),
        ([(2, 3, None), (6, 7, 200)], True),
        ([(2, 4, 200), (3, 4, 200)], False),
        ([(2, 6, 200), (3, 4, 200), (7, 8, 200)], False),
        ([(2, 6, 200), (3, 9, 200), (7, 8, 200)], True),
        ([(2, 6, 200), (3, 4, 200), (12, 13, 200)], True),
        ([(4, 20, 200), (12, 13, 200)], False),
    ],
)
def test_updated_at_may_go_back_after_overlapping_changes(
    changes: list[tuple[float, float, int | None]], *, expected: bool
) -> None:
    """The reads are in the fifth and the eleventh second; a refused change does not count."""
    edits = [request("updateEngagement", start, end, {"name": "b"}, status=status) for start, end, status in changes]

    assert history(*edits).may_go_back(during(4.5, 5), during(10, 11)) == expected


# --- the values of a field


def test_a_field_without_changes() -> None:
    """No value is possible."""
    made = Register()

    assert made.latest(during(0, 9)) is None
    assert made.candidates(during(0, 9)) == []
    assert made.certain_value(during(0, 9)) is None
    assert not made.is_possible("a", during(0, 9))


def test_changes_one_after_the_other() -> None:
    """A read shows the last change that ended, or one that overlapped it."""
    made = register(change("c", 6, 7), change("a", 0, 1), change("b", 3, 4))

    assert values(made, during(1, 2)) == {"a"}
    assert values(made, during(2, 3.5)) == {"a", "b"}
    assert values(made, during(3.5, 5)) == {"a", "b"}
    assert values(made, during(4, 6)) == {"b"}
    assert values(made, during(2, 9)) == {"a", "b", "c"}
    assert values(made, during(7, 9)) == {"c"}
    assert made.certain_value(during(4, 6)) == "b"
    assert made.certain_value(during(2, 9)) is None
    assert made.is_possible("b", during(4, 6))
    assert not made.is_possible("a", during(4, 6))


def test_changes_that_overlapped_may_have_come_in_either_order() -> None:
    """The change that began last may not have come last."""
    made = register(change("a", 0, 1), change("b", 2, 5), change("c", 3, 4))

    assert values(made, during(6, 7)) == {"b", "c"}
    assert made.certain_value(during(6, 7)) is None
    latest = made.latest(during(6, 7))
    assert latest is not None
    assert latest.value == "c"


def test_an_uncertain_change_hides_no_value() -> None:
    """The earlier value is still possible."""
    made = register(change("a", 0, 1), change("b", 2, 3, certain=False))

    assert values(made, during(4, 5)) == {"a", "b"}
    latest = made.latest(during(4, 5))
    assert latest is not None
    assert latest.value == "a"


def test_a_change_that_begins_as_a_read_ends() -> None:
    """A read does not show a change that begins as it ends, but one that ends as it begins."""
    made = register(change("a", 0, 1), change("b", 2, 3))

    assert values(made, during(1, 2)) == {"a"}
    assert values(made, during(0, 1)) == {"a"}
    assert values(made, during(-1, 0)) == set()


def test_one_value_from_two_changes_is_certain() -> None:
    """Their order does not matter."""
    assert register(change("a", 0, 3), change("a", 1, 2)).certain_value(during(4, 5)) == "a"


def test_an_unknown_value_may_be_any() -> None:
    """A read may show any value if the service may have changed the text."""
    made = register(change(None, 0, 1))

    assert made.is_possible("anything", during(2, 3))
    assert made.certain_value(during(2, 3)) is None


# --- narrowing by reads


def test_a_read_settles_an_unknown_value() -> None:
    """The value is known afterwards, unless another effect explains it."""
    made = register(change(None, 0, 1))
    made.narrow("shown", during(2, 3))

    assert made.certain_value(during(4, 5)) == "shown"
    assert not made.is_possible("other", during(4, 5))

    made = register(change(None, 0, 1), change("b", 0, 2))
    made.narrow("shown", during(3, 4))
    assert made.is_possible("other", during(5, 6))


def test_a_list_settles_no_unknown_value() -> None:
    """The list may be wrong, which a read shows."""
    made = register(change(None, 0, 1))
    made.narrow("cut", during(2, 3), by_list=True)
    assert made.is_possible("cut off", during(4, 5))

    made.narrow("cut off", during(4, 5))
    assert not made.is_possible("cut", during(6, 7))


def test_a_read_confirms_an_uncertain_change() -> None:
    """The change happened by the end of the read, and the earlier value is gone."""
    made = register(change("a", 0, 1), change("b", 2, inf, certain=False))
    made.narrow("b", during(4, 5))

    assert made.certain_value(during(5, 6)) == "b"
    last = made.latest(during(5, 6))
    assert last is not None
    assert last.certain
    assert last.interval == during(2, 5)


def test_a_confirmed_change_keeps_its_end() -> None:
    """A later read does not extend its interval."""
    made = register(change("a", 0, 1), change("b", 2, 3, certain=False))
    made.narrow("b", during(4, 5))

    last = made.latest(during(4, 5))
    assert last is not None
    assert last.interval == during(2, 3)


def test_a_read_refutes_an_uncertain_change() -> None:
    """A change that ended before the read and is not shown never happened."""
    made = register(change("a", 0, 1), change("b", 2, 3, certain=False))
    made.narrow("a", during(4, 5))

    assert made.certain_value(during(6, 7)) == "a"


@pytest.mark.parametrize(
    "doubtful",
    [change("b", 2, 4.5, certain=False), change("b", 2, inf, certain=False), change("b", 0.5, 3, certain=False)],
    ids=["under-way", "no-response", "overlapping"],
)
def test_an_uncertain_change_that_may_still_happen(doubtful: Effect) -> None:
    """A change that overlaps the read, or the shown change, stays uncertain."""
    made = register(change("a", 0, 1), doubtful)
    made.narrow("a", during(4, 5))

    assert values(made, during(6, 7)) == {"a", "b"}


def test_a_certain_change_is_never_removed() -> None:
    """A read that may have come before it proves nothing about it."""
    made = register(change("a", 0, 1), change("b", 2, 3), change("c", 4, 6))
    made.narrow("b", during(5, 7))

    assert made.certain_value(during(8, 9)) == "c"


TWO_DOUBTFUL = (change("a", 0, 1), change("b", 2, 3, certain=False), change("b", 4, 5, certain=False))


def test_a_read_that_two_changes_explain() -> None:
    """One of them happened, and the value before them does not come back."""
    made = register(*TWO_DOUBTFUL)
    made.narrow("b", during(6, 7))

    assert [effect.certain for effect in made.effects] == [True, False, False, True]
    assert values(made, during(6.5, 8)) == {"a", "b"}
    assert values(made, during(8, 9)) == {"b"}


def test_a_read_that_no_change_explains_settles_nothing() -> None:
    """Another user may have changed the engagement."""
    made = register(*TWO_DOUBTFUL)
    made.narrow("x", during(6, 7))

    assert [effect.certain for effect in made.effects] == [True, False, False]


def test_an_uncertain_change_to_an_unknown_value_stays_uncertain() -> None:
    """Another change may explain the value read."""
    made = register(change("a", 0, 1), change(None, 2, 3, certain=False))
    made.narrow("shown", during(4, 5))

    assert values(made, during(6, 7)) == {"a", None}


# --- snapshots


@pytest.mark.parametrize(
    ("value", "name", "text"),
    [
        ({"name": "n"}, "name", "n"),
        ({"name": ""}, "name", ""),
        ({"name": None}, "name", None),
        ({"name": 7}, "name", None),
        ({}, "name", None),
        ({"description": "d"}, "description", "d"),
        ({"description": None}, "description", ""),
        ({}, "description", ""),
        ({"description": 7}, "description", None),
    ],
)
def test_fields_as_texts(value: dict[str, Any], name: str, text: str | None) -> None:
    """No description reads as an empty one."""
    seen = Shown(make_exchange(), during(0, 1), value)

    assert seen.text(name) == text
    assert seen.pointer == "/data"


@pytest.mark.parametrize(
    ("value", "expected"),
    [("2026-01-02T03:04:05.000Z", BEGAN), ("2026-01-02", None), (None, None), (7, None), (..., None)],
)
def test_times_of_an_engagement(value: object, expected: datetime | None) -> None:
    """Unreadable times are None."""
    seen = Shown(make_exchange(), during(0, 1), {} if value is ... else {"updatedAt": value})

    assert seen.moment("updatedAt") == expected


# --- histories


def test_an_engagement_begins_with_its_creation() -> None:
    """Every field has the created value."""
    made = history()
    later = during(2, 3)

    assert made.identifier == "e"
    assert made.attempts == [made.creation]
    assert made.creation.operation == "createEngagement"
    assert {name: register.certain_value(later) for name, register in made.registers.items()} == {
        "name": "a",
        "description": "",
        "status": "active",
        "existence": "exists",
    }


def test_requests_are_kept_in_the_order_of_their_beginning() -> None:
    """The order of adding does not matter; each request changes its field."""
    edit, read = request("updateEngagement", 2, 9, {"name": "b"}), request("getEngagement", 4, 5)
    made = history(request("archiveEngagement", 6, 7), edit, read)

    operations = ["createEngagement", "updateEngagement", "getEngagement", "archiveEngagement"]
    assert [attempt.operation for attempt in made.attempts] == operations
    assert values(made.registers["name"], during(3, 4)) == {"a", "b"}
    assert made.registers["status"].certain_value(during(8, 9)) == "archived"


def test_when_an_engagement_exists_for_certain() -> None:
    """It exists from its creation until a deletion begins, certain or not."""
    for status in (200, None):
        made = history(request("deleteEngagement", 5, 6, status=status))

        assert not made.exists(during(0.5, 2))
        assert made.exists(during(1, 5))
        assert not made.exists(during(4, 5.5))
        assert not made.exists(during(7, 8))
    assert history(request("deleteEngagement", 5, 6, status=404)).exists(during(7, 8))


def test_when_an_engagement_is_deleted_for_certain() -> None:
    """It is deleted after an accepted deletion, which is returned."""
    deleted = request("deleteEngagement", 5, 6)
    found = history(deleted).deletion(during(6, 7))

    assert found is not None
    assert found.exchange is deleted
    assert history(deleted).deletion(during(5.5, 7)) is None
    assert history().deletion(during(6, 7)) is None
    assert history(request("deleteEngagement", 5, 6, status=None)).deletion(during(7, 8)) is None


def test_writes_within_an_interval() -> None:
    """Writes under way at its beginning or end are included."""
    edits = [request("updateEngagement", start, start + 2, {"name": "b"}) for start in (2, 4, 6)]
    made = history(*edits)

    def found(start: float, end: float, *but: Exchange) -> list[Exchange]:
        interval = during(start, end)
        return [attempt.exchange for attempt in made.between(interval.start, interval.end, but=but)]

    assert found(4.5, 5.5) == [edits[1]]
    assert found(3.5, 6) == edits
    assert found(4, 5.9) == [edits[1]]
    assert found(3.5, 6, edits[1]) == [edits[0], edits[2]]
    assert found(8, 9) == []
    assert found(0, 0.5) == [made.creation.exchange]


@pytest.mark.parametrize(
    ("change", "quiet"),
    [
        (request("updateEngagement", 3, 4, {"name": "b"}), False),
        (request("updateEngagement", 3, 4, {}), False),
        (request("updateEngagement", 3, 4, {}, status=None), False),
        (request("updateEngagement", 1, 2, {"name": "b"}, status=None), False),
        (request("updateEngagement", 1, 2, {}, status=500), False),
        (request("archiveEngagement", 3, 4), False),
        (request("unarchiveEngagement", 1, 2, status=202), False),
        (request("unarchiveEngagement", 1, 2), False),
        (request("updateEngagement", 3, 4, {"name": "b"}, status=409), True),
        (request("updateEngagement", 3, 4, {"name": "b"}, status=None, sent=False), True),
        (request("updateEngagement", 1, 2, {"name": "b"}), True),
        (request("updateEngagement", 5, 6, {"name": "b"}), True),
    ],
)
def test_when_no_request_can_have_changed_it(change: Exchange, *, quiet: bool) -> None:
    """An update without values may have moved its time, and a request without a response may happen at any time."""
    interval = during(2, 5)

    assert history(change).is_unchanged(interval.start, interval.end) is quiet


@pytest.mark.parametrize(
    ("other", "alone"),
    [
        (request("archiveEngagement", 2.5, 3.5), False),
        (request("updateEngagement", 2.5, 3.5, {}), False),
        (request("archiveEngagement", 1, 2, status=None), False),
        (request("updateEngagement", 2.5, 3.5, {"name": "b"}, status=409), False),
        (request("archiveEngagement", 1, 2), True),
        (request("archiveEngagement", 4, 5), True),
    ],
)
def test_when_a_request_was_alone(other: Exchange, *, alone: bool) -> None:
    """No other write overlapped it, and no write without a response may still happen."""
    own = request("updateEngagement", 3, 4, {"name": "c"})
    made = history(own, other)

    assert made.alone(Interval.of(own), own) is alone
