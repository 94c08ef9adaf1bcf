"""The times of what was just created, beside those of the answers: whether they are of another zone, day or month."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from conformance.oracle import rate_limit_laws, read
from conformance.oracle.effects import is_main
from conformance.oracle.judgement import Inapplicable, Judgement, NonConformity, Undecided, judged
from conformance.oracle.timestamps import parse_timestamp
from conformance.oracle.words import shown
from conformance.wire.exchange import Unanswered

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.wire.exchange import Exchange

_CREATES: Final = frozenset({"createEngagement", "inviteMember"})
_AGREES: Final = 600.0
"""Seconds: no time zone is this near to UTC, and two clocks of one service hardly farther apart."""
_STEP: Final = 900
"""Seconds: all time zones are multiples of it away from UTC."""
_STEPS: Final = range(2, 57)
"""From half an hour to 14 hours."""
_ABOUT: Final = 60.0
"""Seconds that the time of an answer and that of a creation may differ by anyway."""
_CLOCKS_AGREE: Final = 300.0
"""Seconds between the Date of an answer and the run's own clock, up to which nobody doubts the Date."""
_DAY: Final = 86_400.0
_FEW: Final = 2


@dataclass(frozen=True, slots=True)
class _Creation:
    """A creation that tells its time.

    Attributes:
        at: Its answer.
        created: The createdAt that it gives.
        ahead: Seconds that this is ahead of the time of the answer.
    """

    at: Exchange
    created: datetime
    ahead: float

    @property
    def zone(self) -> int | None:
        """How many quarters of an hour it is ahead, if by a time zone; None if not."""
        steps = round(self.ahead / _STEP)
        near = abs(self.ahead - steps * _STEP) <= _ABOUT
        return steps if near and abs(steps) in _STEPS else None

    @property
    def slip(self) -> str | None:
        """Which part of the date is wrong, if it is one that programs get wrong; None if not.

        Only where the answer has a Date that agrees with the run's own clock: else any clock may be the wrong one.
        """
        now = rate_limit_laws.date(self.at)
        if now is None or abs(now - self.at.started_at.timestamp() - self.at.seconds) > _CLOCKS_AGREE:
            return None
        right = datetime.fromtimestamp(now, UTC)
        slips = {
            "a day ahead of": right + timedelta(seconds=_DAY),
            "a day behind": right - timedelta(seconds=_DAY),
            "a month ahead of": _of_month(right, 1),
            "a month behind": _of_month(right, -1),
        }
        near = (says for says, wrong in slips.items() if abs((self.created - wrong).total_seconds()) <= _ABOUT)
        return next(near, None)


def expect_utc(exchanges: Iterable[Exchange]) -> None:
    """What the main key has created was created now, by the answers' own times, and not a time zone away from it.

    A service's clocks may show anything: only one and the same time zone in every answer is a fault, or the day or the
    month that is one too many or too few in every answer. Times that stand still, or show whole minutes only, are those
    of a clock that cannot be compared.

    Raises:
        NonConformity: Every creation is the same time zone, day or month away from the time of its answer.
        Undecided: Some creations are, and others were created now.
        Inapplicable: No creation tells its time, or the clocks differ by something else.
    """
    creations = [one for exchange in exchanges if (one := _creation(exchange)) is not None]
    if not creations:
        raise Inapplicable("No answer to a creation told its time")
    judged(*(one.at for one in creations))
    of_now = [one for one in creations if abs(one.ahead) <= _AGREES]
    if of_now == creations:
        return
    zones, slips = {one.zone for one in creations}, {one.slip for one in creations}
    if len(zones) == 1 and None not in zones and not _stands(creations):
        hours = creations[0].ahead / 3600
        raise _fault(creations, f"{abs(round(hours * 4)) / 4:g} hours {'ahead of' if hours > 0 else 'behind'}")
    if len(slips) == 1 and (slip := slips.pop()) is not None and not _stands(creations):
        raise _fault(creations, slip)
    if of_now and zones != {None}:
        raise Undecided("some creations look like those of another time zone", *(one.at for one in creations))
    raise Inapplicable("The clock of the service is off, but not by a time zone")


def _creation(exchange: Exchange) -> _Creation | None:
    if exchange.call.operation.id not in _CREATES or not is_main(exchange):
        return None
    try:
        created = parse_timestamp(read.text(read.data(exchange), "createdAt", exchange))
    except (Judgement, Unanswered):
        return None
    if created is None:
        return None
    return _Creation(exchange, created, created.timestamp() - rate_limit_laws.service_time(exchange))


def _stands(creations: list[_Creation]) -> bool:
    """Whether a clock stands still, or moves by minutes at the least."""
    moments = {one.created for one in creations}
    return len(moments) < _FEW or not any(moment.second or moment.microsecond for moment in moments)


def _of_month(moment: datetime, ahead: int) -> datetime:
    """The same day of another month, as programs count on: the 31st of a month of 30 days is the 1st of the next."""
    months = moment.year * 12 + moment.month - 1 + ahead
    return moment.replace(year=months // 12, month=months % 12 + 1, day=1) + timedelta(days=moment.day - 1)


def _fault(creations: list[_Creation], says: str) -> NonConformity:
    first = creations[0]
    now = datetime.fromtimestamp(first.created.timestamp() - first.ahead, UTC).isoformat(timespec="seconds")
    return NonConformity(
        f"createdAt is {says} the time of its answer",
        *(one.at for one in creations[:_FEW]),
        expected=f"about {now}, the time of the answer",
        actual=f"{shown(first.created.isoformat(timespec='milliseconds'))}, and alike in all {len(creations)} answers",
        pointer="/data/createdAt",
    )
