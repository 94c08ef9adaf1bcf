"""Times of creations: now, or a time zone, a day or a month away."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from conformance.oracle.outcomes import CantTell, Evidence, Inapplicable, NonConformity
from conformance.oracle.time_zones import expect_utc
from conformance.wire.exchange import Exchange
from conformance.wire.requests import Credential
from tests.fakes.exchanges import make_exchange
from tests.oracle.failures import described

NOW = datetime(2026, 3, 1, 12, 0, 7, tzinfo=UTC)
HOUR = 3600


def created(
    ahead: float, after: int = 0, *, operation: str = "createEngagement", status: int = 201, number: int = 1
) -> Exchange:
    """Return a creation this many seconds after the first, whose createdAt is ahead of its Date."""
    now = NOW + timedelta(seconds=after)
    given = (now + timedelta(seconds=ahead)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    dated = (("Content-Type", "application/json"), ("Date", now.strftime("%a, %d %b %Y %H:%M:%S GMT")))
    return make_exchange(operation, status, {"data": {"createdAt": given}}, headers=dated, number=number)


def of_archive(made: Exchange) -> Exchange:
    """Return the same as an archive."""
    assert made.received is not None
    body = made.received.body.replace(b"createdAt", b"updatedAt")
    return replace(made, received=replace(made.received, body=body))


@pytest.mark.parametrize("ahead", [(0, 0), (599, -600), (-1, 0)])
def test_creations_of_now(ahead: tuple[int, int]) -> None:
    """Two clocks may differ by some minutes."""
    looked = [created(seconds, place, number=place) for place, seconds in enumerate(ahead)]

    with Evidence() as evidence:
        expect_utc(looked)
    assert evidence.exchanges == looked


@pytest.mark.parametrize(
    ("ahead", "says"),
    [
        (2 * HOUR, "2 hours ahead of"),
        (-5 * HOUR - 3, "5 hours behind"),
        (5.75 * HOUR + 60, "5.75 hours ahead of"),
        (14 * HOUR, "14 hours ahead of"),
        (-HOUR / 2, "0.5 hours behind"),
        (HOUR / 2, "0.5 hours ahead of"),
    ],
)
def test_creations_of_another_zone(ahead: float, says: str) -> None:
    """Each of them has the same offset."""
    looked = [created(ahead), created(ahead - 1, 3)]

    with pytest.raises(NonConformity, match=f"createdAt is {says} the time of its response") as raised:
        expect_utc(looked)
    given = (NOW + timedelta(seconds=ahead)).isoformat(timespec="milliseconds")
    assert described(raised.value)[1:] == (
        "about 2026-03-01T12:00:07+00:00, the time of the response",
        f'"{given}", the same in all 2 responses',
        "/data/createdAt",
    )
    assert raised.value.exchanges == tuple(looked)


@pytest.mark.parametrize("operation", ["createEngagement", "inviteMember", "archiveEngagement"])
def test_one_operation_alone_is_of_another_zone(operation: str) -> None:
    """Correct times of other operations are no excuse."""
    field = "updatedAt" if operation == "archiveEngagement" else "createdAt"
    wrong = created(2 * HOUR, 3, operation=operation)
    looked = [of_archive(wrong) if operation == "archiveEngagement" else wrong]
    others = {"createEngagement", "inviteMember"} - {operation}

    with pytest.raises(NonConformity, match=f"{field} is 2 hours ahead of the time of its response") as raised:
        expect_utc([created(0, operation=others.pop()), *looked])
    assert raised.value.exchanges == tuple(looked)


def slipped(moment: datetime, wrong: datetime, *, off: float = 0.0, dated: bool = True) -> Exchange:
    """Return a creation with another time; the service's clocks differ from the run's by an offset."""
    late = timedelta(seconds=off)
    date = (moment + late).strftime("%a, %d %b %Y %H:%M:%S GMT")
    headers = (("Content-Type", "application/json"), *((("Date", date),) if dated else ()))
    body = {"data": {"createdAt": (wrong + late).strftime("%Y-%m-%dT%H:%M:%S.000Z")}}
    return replace(make_exchange("createEngagement", 201, body, headers=headers), started_at=moment)


DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("moment", "wrong", "says"),
    [
        ("2026-03-01T12:00:07", "2026-03-02T12:00:07", "a day ahead of"),
        ("2026-03-01T12:00:07", "2026-02-28T12:01:07", "a day behind"),
        ("2026-03-15T12:00:07", "2026-02-15T11:59:07", "a month behind"),
        ("2026-01-15T12:00:07", "2025-12-15T12:00:07", "a month behind"),
        ("2026-12-15T12:00:07", "2027-01-15T12:00:07", "a month ahead of"),
        ("2026-05-31T12:00:07", "2026-05-01T12:00:07", "a month behind"),
        ("2026-03-31T12:00:07", "2026-03-03T12:00:07", "a month behind"),
    ],
)
def test_creations_of_another_day_or_month(moment: str, wrong: str, says: str) -> None:
    """It is a failure if the Date is trusted and every creation has the same offset."""
    now, then = (datetime.fromisoformat(text).replace(tzinfo=UTC) for text in (moment, wrong))
    later = timedelta(seconds=3)

    with pytest.raises(NonConformity, match=f"createdAt is {says} the time of its response"):
        expect_utc([slipped(now, then), slipped(now + later, then + later, off=300)])


@pytest.mark.parametrize(
    "others",
    [
        [slipped(NOW, NOW + DAY, off=302), slipped(NOW, NOW + DAY + timedelta(seconds=2), off=302)],
        [slipped(NOW, NOW + DAY, dated=False), slipped(NOW, NOW + DAY + timedelta(seconds=2), dated=False)],
        [slipped(NOW, NOW + DAY), slipped(NOW, NOW - DAY)],
        [slipped(NOW, NOW + DAY), slipped(NOW, NOW + timedelta(seconds=2))],
        [slipped(NOW, NOW + DAY), slipped(NOW, NOW + DAY)],
        [slipped(NOW, NOW + DAY + timedelta(seconds=61)), slipped(NOW, NOW + DAY + timedelta(seconds=62))],
        [slipped(NOW, NOW + 2 * DAY), slipped(NOW, NOW + 2 * DAY + timedelta(seconds=2))],
    ],
)
def test_another_day_that_may_be_that_of_a_clock(others: list[Exchange]) -> None:
    """An untrusted or missing Date, different offsets or a constant time may be due to a wrong clock."""
    with pytest.raises(Inapplicable, match=r"^the clock of the service is off, but not by a time zone$"):
        expect_utc(others)


@pytest.mark.parametrize("ahead", [900, 14.25 * HOUR, 15 * HOUR, 2 * HOUR + 61, 365 * 24 * HOUR, 601])
def test_a_clock_with_another_offset(ahead: float) -> None:
    """A clock may be off by any amount that is no time zone."""
    with pytest.raises(Inapplicable, match=r"^the clock of the service is off, but not by a time zone$"):
        expect_utc([created(ahead), created(ahead, 3)])


def test_clocks_that_cannot_be_compared() -> None:
    """One stands still, another moves by whole minutes."""
    for looked in ([created(2 * HOUR), created(2 * HOUR - 3, 3)], [created(HOUR - 7), created(HOUR + 53)]):
        with pytest.raises(Inapplicable, match=r"^the clock of the service is off, but not by a time zone$"):
            expect_utc(looked)


@pytest.mark.parametrize("past_the_minute", [7, 0.25])
def test_a_clock_that_shows_seconds(past_the_minute: float) -> None:
    """One time with seconds is enough to compare it."""
    with pytest.raises(NonConformity, match="2 hours ahead of"):
        expect_utc([created(2 * HOUR - 7 + past_the_minute), created(2 * HOUR - 7, 60)])


def test_creations_that_differ() -> None:
    """If only some seem to be of another zone, the check is undecided."""
    looked = [created(2 * HOUR), created(0, 3)]

    with pytest.raises(CantTell, match=r"^some responses look like those of another time zone$") as raised:
        expect_utc(looked)
    assert raised.value.exchanges == tuple(looked)


def test_operations_are_judged_separately() -> None:
    """Creations a zone away are a failure, whatever the times of invitations."""
    creations, invitation = [created(2 * HOUR), created(2 * HOUR, 3)], created(0, 5, operation="inviteMember")
    archived = of_archive(created(0, 7, operation="archiveEngagement"))

    with pytest.raises(NonConformity) as raised:
        expect_utc([invitation, archived, *creations])
    assert raised.value.exchanges == tuple(creations)


@pytest.mark.parametrize("other", [3 * HOUR, 2000, 2 * HOUR + 61])
def test_a_clock_that_wanders(other: float) -> None:
    """No time zone changes its offset a little later."""
    with pytest.raises(Inapplicable, match=r"^the clock of the service is off, but not by a time zone$"):
        expect_utc([created(2 * HOUR), created(other, 3)])


def test_a_clock_that_is_set() -> None:
    """A clock that was right before is no time zone either."""
    with pytest.raises(Inapplicable, match=r"^the clock of the service is off, but not by a time zone$"):
        expect_utc([created(0), created(365 * 24 * HOUR, 3)])


def test_nothing_created() -> None:
    """Refusals, other operations and keys, lost responses and malformed times are not judged."""
    of_another = created(2 * HOUR)
    silent = [
        replace(of_another, request=of_another.request.with_key(Credential.bearer("other_organization", "k"))),
        created(2 * HOUR, status=409),
        created(2 * HOUR, operation="getEngagement"),
        make_exchange("createEngagement", None),
        make_exchange("createEngagement", 201, {"data": {"createdAt": "today"}}),
        make_exchange("createEngagement", 201, {"data": {}}),
    ]

    with pytest.raises(Inapplicable, match=r"^no response said when something was done$"):
        expect_utc(silent)


def test_one_creation_is_too_few() -> None:
    """A clock that stands still would look the same."""
    with pytest.raises(Inapplicable):
        expect_utc([created(2 * HOUR)])
