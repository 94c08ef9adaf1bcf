"""What holds of the rate-limit headers of every answer by itself."""

from __future__ import annotations

from datetime import timedelta
from email.utils import format_datetime

import pytest

from conformance.oracle import rate_limit_laws as laws
from conformance.wire.exchange import Exchange
from tests.conftest import RESPONDED_AT, make_exchange
from tests.oracle.pages import broken

NOW = int(RESPONDED_AT.timestamp())
DATED = ("Date", format_datetime(RESPONDED_AT, usegmt=True))
YEAR = 366 * 24 * 3600


def limited(
    limit: str | None = "100", remaining: str | None = "99", reset: object = NOW + 60, *, dated: bool = True
) -> Exchange:
    """An answer with these headers, in lower case as HTTP/2 would have them; None for none."""
    given = {laws.LIMIT: limit, laws.REMAINING: remaining, laws.RESET: None if reset is None else str(reset)}
    headers = tuple((name.lower(), value) for name, value in given.items() if value is not None)
    return make_exchange(headers=(DATED, *headers) if dated else headers)


def test_the_three_headers_are_there() -> None:
    """On an error, too; those that are not are named."""
    assert laws.headers_present(limited()) is True
    assert broken(laws.headers_present, limited(limit=None)) == (
        "X-RateLimit-Limit is missing",
        "X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset",
        "no X-RateLimit-Limit",
        None,
    )
    assert broken(laws.headers_present, limited(remaining=None, reset=None))[2] == (
        "no X-RateLimit-Remaining or X-RateLimit-Reset"
    )


def test_headers_that_are_not_there_have_no_value_to_judge() -> None:
    """That is told by itself."""
    bare = limited(None, None, None)

    assert laws.limit_positive(bare) is False
    assert laws.remaining_in_range(bare) is False
    assert laws.reset_is_time(bare) is False
    assert (laws.limit(bare), laws.remaining(bare), laws.reset(bare), laws.ahead(bare)) == (None, None, None, None)


@pytest.mark.parametrize(
    ("given", "number"), [("1", 1), ("0100", 100), (str(2**63 - 1), 2**63 - 1), ("9" * 400, 10**400 - 1)]
)
def test_a_limit_is_a_number_of_requests(given: str, number: int) -> None:
    """Above zero."""
    assert laws.limit_positive(limited(given)) is True
    assert laws.limit(limited(given)) == number


@pytest.mark.parametrize("given", ["0", "-1", "1.5", "many", "", "1e3", "9" * 401, "\u0661"])
def test_another_limit_is_none(given: str) -> None:
    """It is shown."""
    message, expected, actual, pointer = broken(laws.limit_positive, limited(given))

    assert (message, expected, pointer) == (
        "X-RateLimit-Limit is not a positive integer",
        "an integer above 0",
        None,
    )
    assert given in actual or not given.isascii() or len(given) > 400
    assert laws.limit(limited(given)) is None


@pytest.mark.parametrize(("limit", "given"), [("5", "5"), ("5", "0"), ("none", "7"), (None, "7")])
def test_what_remains_is_within_the_limit(limit: str | None, given: str) -> None:
    """As far as there is one to go by."""
    assert laws.remaining_in_range(limited(limit, given)) is True
    assert laws.remaining(limited(limit, given)) == int(given)


@pytest.mark.parametrize(
    ("limit", "given", "expected"),
    [
        ("5", "6", "an integer from 0 to 5"),
        ("5", "-1", "an integer from 0 to 5"),
        ("0", "-1", "an integer from 0"),
        (None, "few", "an integer from 0"),
    ],
)
def test_what_cannot_remain_is_wrong(limit: str | None, given: str, expected: str) -> None:
    """The range is told."""
    assert broken(laws.remaining_in_range, limited(limit, given)) == (
        "X-RateLimit-Remaining is out of range",
        expected,
        f'"{given}"',
        None,
    )


def test_what_cannot_be_read_does_not_remain() -> None:
    """It is no number then."""
    assert laws.remaining(limited(remaining="few")) is None


@pytest.mark.parametrize("given", [NOW, NOW - 300, NOW + YEAR, f"{NOW + 1}.5", NOW + YEAR + 300])
def test_a_reset_is_about_now_or_within_a_year(given: object) -> None:
    """Clocks are a little apart, and fractions of seconds are numbers, too."""
    assert laws.reset_is_time(limited(reset=given)) is True


@pytest.mark.parametrize(
    "given", [NOW - 301, NOW + YEAR + 301, 60, NOW * 1000, "soon", f"-{NOW}", "1e9", f"{NOW}.", ""]
)
def test_another_reset_is_no_end_of_a_window(given: object) -> None:
    """Seconds from now, milliseconds and words are none."""
    assert broken(laws.reset_is_time, limited(reset=given)) == (
        "X-RateLimit-Reset is not a plausible time for the end of a window",
        f"a Unix time in seconds, not before {NOW - 300} (the response is dated 2025-10-09T08:53:20+00:00)",
        f'"{given}"',
        None,
    )


def test_a_reset_is_given_more_leave_where_the_service_does_not_tell_its_time() -> None:
    """Two clocks are compared then."""
    assert laws.reset_is_time(limited(reset=NOW - 599, dated=False)) is True
    assert broken(laws.reset_is_time, limited(reset=NOW - 601, dated=False))[0].startswith("X-RateLimit-Reset is no")


def test_a_header_that_says_the_same_twice_says_it_once() -> None:
    """What says two things says both."""
    same = make_exchange(headers=((laws.LIMIT, "7"), (laws.LIMIT.lower(), " 7 ")))
    other = make_exchange(headers=((laws.LIMIT, "7"), (laws.LIMIT, "5")))

    assert laws.value(same, laws.LIMIT) == "7"
    assert laws.value(other, laws.LIMIT) == "5, 7"
    assert laws.value(make_exchange(status=None), laws.LIMIT) is None


def test_the_reset_is_ahead_of_the_time_of_the_response() -> None:
    """By the service's own clock, where it tells its time."""
    hour = timedelta(hours=1)
    late = ("Date", format_datetime(RESPONDED_AT + hour, usegmt=True))

    assert laws.ahead(limited(reset=NOW + 60)) == 60
    assert laws.ahead(make_exchange(headers=(late, (laws.RESET, str(NOW + 3660))))) == 60
    assert laws.ahead(limited(reset=NOW + 60, dated=False)) == pytest.approx(59.99)
    assert laws.ahead(limited(reset="soon")) is None


@pytest.mark.parametrize(
    "given", ["", "yesterday", "Thu, 01 Jan 99999 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 -2359"]
)
def test_a_date_that_is_none_tells_nothing(given: str) -> None:
    """The clock of the run counts then."""
    exchange = make_exchange(headers=(("Date", given),))

    assert laws.date(exchange) is None
    assert laws.service_time(exchange) == pytest.approx(NOW + 0.01)


def test_a_date_without_a_zone_is_of_utc() -> None:
    """As HTTP's dates are."""
    assert laws.date(make_exchange(headers=(("Date", "Thu, 09 Oct 2025 08:53:20"),))) == NOW
