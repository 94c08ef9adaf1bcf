"""Times of recent changes compared with their responses: whether they are a time zone, a day or a month off."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from conformance.oracle import read
from conformance.oracle.laws import rate_limits
from conformance.oracle.outcomes import CantTell, CheckOutcome, Inapplicable, NonConformity, evidence
from conformance.oracle.rendering import render
from conformance.oracle.timestamps import parse_timestamp
from conformance.wire.exchange import NoResponse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.wire.exchange import Exchange

_OF_NOW: Final = {"createEngagement": "createdAt", "inviteMember": "createdAt", "archiveEngagement": "updatedAt"}
"""The operations whose response says when they were carried out, with the field that does."""
_AGREES: Final = 600.0
"""Seconds: no time zone is this near to UTC, and two clocks of one service are rarely farther apart."""
_STEP: Final = 900
"""Seconds: the offset of every time zone is a multiple of it."""
_STEPS: Final = range(2, 57)
"""From half an hour to 14 hours."""
_ABOUT: Final = 60.0
"""Seconds by which the times of a response and of a creation may differ anyway."""
_CLOCKS_AGREE: Final = 300.0
"""Seconds between a response's Date and the run's own clock, up to which the Date is trusted."""
_FEW: Final = 2


@dataclass(frozen=True, slots=True)
class _Stamp:
    """A response that says when something was done.

    Attributes:
        at: The response.
        moment: The time in its field.
        ahead: Seconds that this time is ahead of the response's own.
    """

    at: Exchange
    moment: datetime
    ahead: float

    @property
    def zone(self) -> int | None:
        """The quarters of an hour that it is ahead, if that is a time zone's offset; else None."""
        steps = round(self.ahead / _STEP)
        near = abs(self.ahead - steps * _STEP) <= _ABOUT
        return steps if near and abs(steps) in _STEPS else None

    @property
    def date_error(self) -> str | None:
        """The wrong part of the date, if it is an error that programs make; else None.

        The response must have a Date that agrees with the run's own clock: otherwise any clock may be the wrong one.
        """
        now = rate_limits.date(self.at)
        if now is None or abs(now - self.at.started_at.timestamp() - self.at.seconds) > _CLOCKS_AGREE:
            return None
        right = datetime.fromtimestamp(now, UTC)
        date_errors = {
            "a day ahead of": right + timedelta(days=1),
            "a day behind": right - timedelta(days=1),
            "a month ahead of": _of_month(right, 1),
            "a month behind": _of_month(right, -1),
        }
        near = (words for words, wrong in date_errors.items() if abs((self.moment - wrong).total_seconds()) <= _ABOUT)
        return next(near, None)


def expect_utc(exchanges: Iterable[Exchange]) -> None:
    """Require that creations and archivings are dated now, by the responses' own times, and not a time zone away.

    A service's clocks may be wrong. An operation fails only if all its responses are wrong by the same time zone, by a
    day or by a month. Equal times, or times in whole minutes, are those of a clock that cannot be compared.

    Raises:
        NonConformity: Every response of an operation is the same time zone, day or month away from its own time.
        CantTell: Some are, and others are dated now.
        Inapplicable: No response has such a time, or the clocks differ in another way.
    """
    stamps = [stamp for exchange in exchanges if (stamp := _stamp_of(exchange)) is not None]
    if not stamps:
        raise Inapplicable("no response said when something was done")
    evidence(*(stamp.at for stamp in stamps))
    undecided: list[CheckOutcome] = []
    for operation in _OF_NOW:
        try:
            _judge([stamp for stamp in stamps if stamp.at.operation_id == operation], coarse=_is_coarse(stamps))
        except (CantTell, Inapplicable) as outcome:
            undecided.append(outcome)
    if undecided:
        raise next((outcome for outcome in undecided if isinstance(outcome, CantTell)), undecided[0])


def _judge(stamps: list[_Stamp], *, coarse: bool) -> None:
    """Judge the stamps of one operation; ``coarse`` means that the service's clock may stand still."""
    of_now = [stamp for stamp in stamps if abs(stamp.ahead) <= _AGREES]
    if of_now == stamps:
        return
    zones, date_errors = {stamp.zone for stamp in stamps}, {stamp.date_error for stamp in stamps}
    if len(zones) == 1 and None not in zones and not coarse:
        hours = stamps[0].ahead / 3600
        raise _fault(stamps, f"{abs(round(hours * 4)) / 4:g} hours {'ahead of' if hours > 0 else 'behind'}")
    if len(date_errors) == 1 and (date_error := date_errors.pop()) is not None and not coarse:
        raise _fault(stamps, date_error)
    if of_now and zones != {None}:
        raise CantTell("some responses look like those of another time zone", *(stamp.at for stamp in stamps))
    raise Inapplicable("the clock of the service is off, but not by a time zone")


def _stamp_of(exchange: Exchange) -> _Stamp | None:
    if exchange.operation_id not in _OF_NOW or not exchange.by_main_key:
        return None
    try:
        field = _OF_NOW[exchange.operation_id]
        moment = parse_timestamp(read.text(read.data(exchange), field, exchange))
    except (CheckOutcome, NoResponse):
        return None
    if moment is None:
        return None
    return _Stamp(exchange, moment, moment.timestamp() - rate_limits.service_time(exchange))


def _is_coarse(stamps: list[_Stamp]) -> bool:
    """Whether a clock stands still, or moves only by whole minutes."""
    moments = {stamp.moment for stamp in stamps}
    return len(moments) < _FEW or not any(moment.second or moment.microsecond for moment in moments)


def _of_month(moment: datetime, ahead: int) -> datetime:
    """Return the same day of another month; a day that the month lacks becomes one of the next, as in programs."""
    months = moment.year * 12 + moment.month - 1 + ahead
    return moment.replace(year=months // 12, month=months % 12 + 1, day=1) + timedelta(days=moment.day - 1)


def _fault(stamps: list[_Stamp], words: str) -> NonConformity:
    first, field = stamps[0], _OF_NOW[stamps[0].at.operation_id]
    now = datetime.fromtimestamp(first.moment.timestamp() - first.ahead, UTC).isoformat(timespec="seconds")
    return NonConformity(
        f"{field} is {words} the time of its response",
        *(stamp.at for stamp in stamps[:_FEW]),
        expected=f"about {now}, the time of the response",
        actual=f"{render(first.moment.isoformat(timespec='milliseconds'))}, the same in all {len(stamps)} responses",
        pointer=f"/data/{field}",
    )
