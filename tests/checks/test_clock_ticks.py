"""Clocks that tick too seldom for a time to move while somebody waits."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from email.utils import format_datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from conformance.checks.clock_ticks import expect_moved, step_of
from conformance.oracle.outcomes import CantTell, NonConformity
from tests.conftest import make_exchange

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange


def at(end: str) -> str:
    """A time within one hour."""
    return f"2026-01-01T10:{end}Z"


def run_of(*ends: str, operation: str = "createEngagement") -> Run:
    """A run that has met these times."""
    made = [make_exchange(operation, 200, {"data": {"id": "e", "createdAt": one}}) for one in map(at, ends)]
    return cast("Run", SimpleNamespace(wire=SimpleNamespace(exchanges=made)))


@pytest.mark.parametrize(
    ("ends", "step"),
    [
        ((), 0),
        (("00:05.000",), 0),
        (("00:05.000", "00:05.000"), 0),
        (("00:00.000",), 60),
        (("00:00.000", "02:00.000"), 60),
        (("00:05.000", "00:10.000"), 5),
        (("00:05.000", "00:10.000", "00:12.000"), 1),
        (("00:05.000", "00:10.123"), 0.001),
        (("00:05.000", "no time"), 0),
        (("00:00.337", "00:03.337", "00:06.337", "00:12.337", "00:18.337"), 3),
        (("00:00.337", "00:03.337", "00:06.337", "00:12.337"), 0.001),
    ],
)
def test_what_a_clock_shows_only(ends: tuple[str, ...], step: float) -> None:
    """All times are multiples of it; one alone that is no whole minute is of a clock that may stand still."""
    assert step_of([at(end) for end in ends]) == step


def test_a_clock_that_shows_minutes_has_not_ticked() -> None:
    """Nobody knows whether the time would have moved."""
    with pytest.raises(CantTell, match="every 60 s only"):
        expect_moved(run_of("00:00.000"), at("00:00.000"), at("00:00.000"), make_exchange("archiveEngagement"))


@pytest.mark.parametrize("ends", [("00:05.000",), ("00:05.000", "00:07.000")])
def test_a_clock_that_ticks_or_stands_still_has_no_excuse(ends: tuple[str, ...]) -> None:
    """A time that has not increased is a fault then."""
    with pytest.raises(NonConformity, match="has not increased"):
        expect_moved(run_of(*ends), at("00:05.000"), at("00:05.000"), make_exchange("archiveEngagement"))


def test_times_of_others_say_nothing_of_the_clock() -> None:
    """Engagements that were there before may have been brought from elsewhere."""
    run = run_of("00:00.000")
    run.wire.exchanges.extend(run_of("00:01.234", operation="getEngagement").wire.exchanges)  # type: ignore[attr-defined]

    with pytest.raises(CantTell):
        expect_moved(run, at("00:00.000"), at("00:00.000"), make_exchange("archiveEngagement"))


def test_a_time_that_has_moved_is_right() -> None:
    """However slow the clock is."""
    expect_moved(run_of("00:00.000"), at("01:00.000"), at("00:00.000"), make_exchange("archiveEngagement"))


@pytest.mark.parametrize(
    ("earlier", "date", "error"),
    [
        ("2026-01-02T10:00:00Z", "2026-01-01T10:01:00Z", CantTell),
        ("2026-01-01T10:00:00Z", "2026-01-01T10:01:00Z", NonConformity),
        ("2026-01-02T10:00:00Z", "2026-01-01T12:01:00Z", NonConformity),
        ("2026-01-02T10:00:00Z", None, NonConformity),
    ],
)
def test_a_clock_that_was_set_back_had_no_time(earlier: str, date: str | None, error: type[Exception]) -> None:
    """Until it has come to the earlier time again, by the Date of the response; without a Date it has no excuse."""
    exchanges = [dated(1, "2026-01-01T10:00:00Z", earlier), dated(2, "2026-01-01T10:01:00Z", date)]
    run = cast("Run", SimpleNamespace(wire=SimpleNamespace(exchanges=exchanges)))

    with pytest.raises(error):
        expect_moved(run, "2026-01-01T11:00:00.000Z", "2026-01-01T11:00:00.000Z", exchanges[-1])


def dated(number: int, sent: str, date: str | None) -> Exchange:
    """An exchange of a time, with a Date."""
    headers = (
        () if date is None else (("Date", format_datetime(datetime.fromisoformat(date).astimezone(UTC), usegmt=True)),)
    )
    return replace(make_exchange(headers=headers, number=number), started_at=datetime.fromisoformat(sent))
