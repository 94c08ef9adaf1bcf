"""Laws of the rate-limit headers of a response."""

from __future__ import annotations

from datetime import timedelta
from email.utils import format_datetime

import pytest

from conformance.oracle.laws import rate_limits as laws
from conformance.wire.exchange import Exchange
from tests.fakes.exchanges import RESPONDED_AT, make_exchange
from tests.oracle.failures import broken

NOW = int(RESPONDED_AT.timestamp())
MOMENT = "2025-10-09T08:53:20+00:00"
DATED = ("Date", format_datetime(RESPONDED_AT, usegmt=True))
YEAR = 366 * 24 * 3600


def limited(
    limit: str | None = "100", remaining: str | None = "99", reset: object = NOW + 60, *, dated: bool = True
) -> Exchange:
    """Return a response with these headers, in lower case as in HTTP/2; None omits one."""
    given = {laws.LIMIT: limit, laws.REMAINING: remaining, laws.RESET: None if reset is None else str(reset)}
    headers = tuple((name.lower(), value) for name, value in given.items() if value is not None)
    return make_exchange(headers=(DATED, *headers) if dated else headers)


def test_the_three_headers_are_present() -> None:
    """Errors need them too; the failure names the missing ones."""
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


def test_missing_headers_have_no_value_to_judge() -> None:
    """Another law judges their presence."""
    bare = limited(None, None, None)

    assert laws.limit_positive(bare) is False
    assert laws.remaining_in_range(bare) is False
    assert laws.reset_is_time(bare) is False
    assert (laws.limit(bare), laws.remaining(bare), laws.reset(bare), laws.ahead(bare)) == (None, None, None, None)


@pytest.mark.parametrize(
    ("given", "number"), [("1", 1), ("0100", 100), (str(2**63 - 1), 2**63 - 1), ("9" * 400, 10**400 - 1)]
)
def test_a_limit_is_a_number_of_requests(given: str, number: int) -> None:
    """It is above zero."""
    assert laws.limit_positive(limited(given)) is True
    assert laws.limit(limited(given)) == number


@pytest.mark.parametrize("given", ["0", "-1", "1.5", "many", "", "1e3", "9" * 401, "\u0661"])
def test_other_limits_are_wrong(given: str) -> None:
    """The failure shows the value."""
    message, expected, actual, pointer = broken(laws.limit_positive, limited(given))

    assert (message, expected, pointer) == (
        "X-RateLimit-Limit is not a positive integer",
        "an integer above 0",
        None,
    )
    assert given in actual or not given.isascii() or len(given) > 400
    assert laws.limit(limited(given)) is None


@pytest.mark.parametrize(("limit", "given"), [("5", "5"), ("5", "0"), ("none", "7"), (None, "7")])
def test_remaining_within_the_limit(limit: str | None, given: str) -> None:
    """An unreadable limit is no bound."""
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
def test_remaining_out_of_range_is_wrong(limit: str | None, given: str, expected: str) -> None:
    """The failure shows the range."""
    assert broken(laws.remaining_in_range, limited(limit, given)) == (
        "X-RateLimit-Remaining is out of range",
        expected,
        f'"{given}"',
        None,
    )


def test_an_unreadable_remaining_is_none() -> None:
    """It is no number."""
    assert laws.remaining(limited(remaining="few")) is None


@pytest.mark.parametrize("given", [NOW, NOW - 300, NOW + YEAR, f"{NOW + 1}.5", NOW + YEAR + 300])
def test_a_reset_is_about_now_or_within_a_year(given: object) -> None:
    """Clocks may differ a little, and fractions of seconds are numbers too."""
    assert laws.reset_is_time(limited(reset=given)) is True


@pytest.mark.parametrize(
    "given", [NOW - 301, NOW + YEAR + 301, 60, NOW * 1000, "soon", f"-{NOW}", "1e9", f"{NOW}.", ""]
)
def test_other_resets_are_wrong(given: object) -> None:
    """Seconds from now, milliseconds and words are no Unix time."""
    assert broken(laws.reset_is_time, limited(reset=given)) == (
        "X-RateLimit-Reset is not a plausible time for the end of a window",
        f"a Unix time in seconds from {NOW - 300} to {NOW + YEAR + 300} (by the response's Date, {MOMENT})",
        f'"{given}"',
        None,
    )


def test_a_reset_has_more_tolerance_without_a_date() -> None:
    """The clocks of service and suite are compared then."""
    assert laws.reset_is_time(limited(reset=NOW - 599, dated=False)) is True
    assert broken(laws.reset_is_time, limited(reset=NOW - 601, dated=False))[0].startswith("X-RateLimit-Reset is no")


def test_a_repeated_header_counts_once() -> None:
    """Two different values are both kept."""
    same = make_exchange(headers=((laws.LIMIT, "7"), (laws.LIMIT.lower(), " 7 ")))
    other = make_exchange(headers=((laws.LIMIT, "7"), (laws.LIMIT, "5")))

    assert laws.value(same, laws.LIMIT) == "7"
    assert laws.value(other, laws.LIMIT) == "5, 7"
    assert laws.value(make_exchange(status=None), laws.LIMIT) is None


def test_the_reset_is_ahead_of_the_time_of_the_response() -> None:
    """The service's own clock counts, if the response has a Date."""
    hour = timedelta(hours=1)
    late = ("Date", format_datetime(RESPONDED_AT + hour, usegmt=True))

    assert laws.ahead(limited(reset=NOW + 60)) == 60
    assert laws.ahead(make_exchange(headers=(late, (laws.RESET, str(NOW + 3660))))) == 60
    assert laws.ahead(limited(reset=NOW + 60, dated=False)) == pytest.approx(59.99)
    assert laws.ahead(limited(reset="soon")) is None


@pytest.mark.parametrize(
    "given", ["", "yesterday", "Thu, 01 Jan 99999 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 -2359"]
)
def test_an_invalid_date_is_ignored(given: str) -> None:
    """The run's clock counts then."""
    exchange = make_exchange(headers=(("Date", given),))

    assert laws.date(exchange) is None
    assert laws.service_time(exchange) == pytest.approx(NOW + 0.01)


def test_a_date_without_a_zone_is_of_utc() -> None:
    """HTTP dates are in UTC."""
    assert laws.date(make_exchange(headers=(("Date", "Thu, 09 Oct 2025 08:53:20"),))) == NOW
