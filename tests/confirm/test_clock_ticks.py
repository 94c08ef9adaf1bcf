"""Service clocks that tick too rarely for a check."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest

from conformance.confirm.clock_ticks import expect_moved
from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.oracle.timestamps import parse_timestamp, step_of
from conformance.wire.exchange import Exchange
from tests.fakes.exchanges import make_exchange
from tests.fakes.runs import FakeRun


def at(end: str) -> str:
    """Return a time within an hour."""
    return f"2026-01-01T10:{end}Z"


def run_of(*ends: str, operation: str = "createEngagement") -> FakeRun:
    """Return a run with responses of these times."""
    made = [make_exchange(operation, 200, {"data": {"id": "e", "createdAt": time}}) for time in map(at, ends)]
    return FakeRun(exchanges=made)


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
def test_the_step_of_a_clock_divides_all_times(ends: tuple[str, ...], step: float) -> None:
    """All times are multiples of the step; a single time that is no whole minute may be of a stopped clock."""
    assert step_of(filter(None, (parse_timestamp(at(end)) for end in ends))) == step


def test_a_clock_that_shows_minutes_has_not_ticked() -> None:
    """A clock of whole minutes gives CantTell, since the time might have moved."""
    with pytest.raises(CantTell, match="ticks only every 60 s"):
        expect_moved(run_of("00:00.000"), at("00:00.000"), at("00:00.000"), make_exchange("archiveEngagement"))


@pytest.mark.parametrize("ends", [("00:05.000",), ("00:05.000", "00:07.000")])
def test_a_clock_that_ticks_or_stands_still_has_no_excuse(ends: tuple[str, ...]) -> None:
    """A time that has not increased is a failure if the clock ticks finely, or has stopped."""
    with pytest.raises(NonConformity, match="updatedAt has not increased"):
        expect_moved(run_of(*ends), at("00:05.000"), at("00:05.000"), make_exchange("archiveEngagement"))


def test_times_of_others_say_nothing_of_the_clock() -> None:
    """Times of engagements from before the run do not count: they may be imported."""
    run = run_of("00:00.000")
    others = make_exchange("getEngagement", 200, {"data": {"id": "older", "createdAt": at("00:01.234")}})
    run.exchanges.append(others)

    with pytest.raises(CantTell):
        expect_moved(run, at("00:00.000"), at("00:00.000"), make_exchange("archiveEngagement"))


def test_reads_and_edits_show_the_step_of_the_clock() -> None:
    """All creations may have had the same time."""
    run = run_of("00:20.000")
    edited = {"id": "e", "createdAt": at("00:20.000"), "updatedAt": at("00:30.000")}
    run.exchanges.append(make_exchange("updateEngagement", 200, {"data": edited}))

    with pytest.raises(CantTell, match=r"^the service's clock ticks only every 10 s$"):
        expect_moved(run, at("00:20.000"), at("00:20.000"), make_exchange("archiveEngagement"))


def test_a_time_that_has_moved_is_right() -> None:
    """A later time passes, however slow the clock is."""
    expect_moved(run_of("00:00.000"), at("01:00.000"), at("00:00.000"), make_exchange("archiveEngagement"))


@pytest.mark.parametrize(
    ("earlier", "date", "error", "message"),
    [
        ("2026-01-02T10:00:00Z", "2026-01-01T10:01:00Z", CantTell, "the service's clock was set back during the run"),
        ("2026-01-01T10:00:00Z", "2026-01-01T10:01:00Z", NonConformity, "updatedAt has not increased"),
        ("2026-01-02T10:00:00Z", "2026-01-01T12:01:00Z", NonConformity, "updatedAt has not increased"),
        ("2026-01-02T10:00:00Z", None, NonConformity, "updatedAt has not increased"),
    ],
)
def test_a_clock_that_was_set_back_had_no_time(
    earlier: str, date: str | None, error: type[Exception], message: str
) -> None:
    """A clock that was set back gives CantTell until its Date reaches the earlier time; without a Date, a failure."""
    exchanges = [dated(1, "2026-01-01T10:00:00Z", earlier), dated(2, "2026-01-01T10:01:00Z", date)]

    with pytest.raises(error, match=message):
        expect_moved(
            FakeRun(exchanges=exchanges), "2026-01-01T11:00:00.000Z", "2026-01-01T11:00:00.000Z", exchanges[-1]
        )


def dated(number: int, sent: str, date: str | None) -> Exchange:
    """Return an exchange of a time, with a Date."""
    headers = (
        () if date is None else (("Date", format_datetime(datetime.fromisoformat(date).astimezone(UTC), usegmt=True)),)
    )
    return replace(make_exchange(headers=headers, number=number), started_at=datetime.fromisoformat(sent))
