"""Detection of a service clock that was set back, which slow networks must not trigger."""

from __future__ import annotations

from datetime import timedelta
from email.utils import format_datetime

import pytest

from conformance.oracle.laws.clock_set_back import was_set_back
from conformance.wire.exchange import Exchange
from tests.fakes.exchanges import RESPONDED_AT, make_exchange


def exchange(number: int, *, at: float, ahead: float | None, seconds: float = 0.0) -> Exchange:
    """Return an exchange some seconds after the first, with a Date some seconds ahead of the run's clock at its end."""
    began = RESPONDED_AT + timedelta(seconds=at)
    date = None if ahead is None else format_datetime(began + timedelta(seconds=seconds + ahead), usegmt=True)
    return make_exchange(headers=() if date is None else (("Date", date),), number=number, at=at, seconds=seconds)


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        (0, -3, True),
        (86_400, 0, True),
        (-60, -90, True),
        (0, 0, False),
        (0, -2, False),
        (0, 3600, False),
        (None, -60, False),
        (0, None, False),
    ],
)
def test_a_clock_that_falls_behind(before: float | None, after: float | None, *, found: bool) -> None:
    """Only a step back beyond Date precision and clock drift counts."""
    first, second = exchange(1, at=0, ahead=before), exchange(2, at=60, ahead=after)

    assert was_set_back(second, [first, second]) is found


def test_a_slow_response_has_an_old_date() -> None:
    """A service may write the Date when the request arrives."""
    first, second = exchange(1, at=0, ahead=0), exchange(2, at=60, ahead=-9, seconds=9)

    assert not was_set_back(second, [first, second])


def test_later_responses_do_not_count() -> None:
    """A clock that is set back later was right until then."""
    first, second = exchange(1, at=0, ahead=0), exchange(2, at=60, ahead=-86_400)

    assert not was_set_back(first, [first, second])
