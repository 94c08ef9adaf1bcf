"""Tests of the headers of the rate limit and of the service's clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime

import pytest

from conformance.wire.exchange import Response
from conformance.wire.rate_limit_headers import Quota, ServiceClock, date_of, leaves_requests, quota, retry_after

NOW = datetime(2026, 1, 1, tzinfo=UTC)
EPOCH = NOW.timestamp()


def response(*headers: tuple[str, str]) -> Response:
    """Return a response with these headers."""
    return Response(200, headers, b"{}")


def limited(limit: str = "10", remaining: str = "9", reset: str = "1767225660") -> Response:
    """Return a response with the three headers."""
    return response(("X-RateLimit-Limit", limit), ("x-ratelimit-remaining", remaining), ("X-RATELIMIT-RESET", reset))


def dated(seconds: float) -> Response:
    """Return a response of a service whose clock is so far ahead."""
    return response(("Date", format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)))


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (limited(), Quota(10, 9, 1_767_225_660.0)),
        (limited(remaining="10"), Quota(10, 10, 1_767_225_660.0)),
        (limited(remaining="0"), Quota(10, 0, 1_767_225_660.0)),
        (limited(reset="1767225660.25"), Quota(10, 9, 1_767_225_660.25)),
        (limited(" 10 ", "9\t"), Quota(10, 9, 1_767_225_660.0)),
        (limited("9" * 18), Quota(int("9" * 18), 9, 1_767_225_660.0)),
        (limited(remaining="11"), None),
        (limited(limit="10.0"), None),
        (limited(remaining="9.0"), None),
        (limited(remaining="-1"), None),
        (limited(limit="+10"), None),
        (limited("9" * 19), None),
        (limited(reset="1767225660."), None),
        (limited(reset="1e9"), None),
        (limited(reset="inf"), None),
        (limited(limit="\u0661\u0660"), None),
        (limited(limit=""), None),
        (response(*limited().headers[:2]), None),
        (response(*limited().headers[1:]), None),
        (response(limited().headers[0], limited().headers[2]), None),
        (response(*limited().headers, ("X-RateLimit-Limit", "10")), Quota(10, 9, 1_767_225_660.0)),
        (response(*limited().headers, ("X-RateLimit-Limit", "11")), None),
    ],
)
def test_consistent_headers_give_a_quota(made: Response, expected: Quota | None) -> None:
    """Consistent numbers in plain digits are read; a gateway may repeat a header."""
    assert quota(made) == expected


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("7", 7.0),
        (" 7 ", 7.0),
        ("0", 0.0),
        ("2.5", 2.5),
        ("Thu, 01 Jan 2026 00:00:09 GMT", 9.0),
        ("Thu, 01 Jan 2026 00:00:09 -0000", 9.0),
        ("Thu, 01 Jan 2026 02:00:09 +0200", 9.0),
        ("Wed, 31 Dec 2025 23:59:00 GMT", 0.0),
        ("-7", None),
        ("soon", None),
        ("", None),
        ("Thu, 99 Jan 2026 00:00:00 GMT", None),
        ("Thu, 01 Jan 99999 00:00:00 GMT", None),
    ],
)
def test_retry_after_has_seconds_or_a_date(text: str, seconds: float | None) -> None:
    """Retry-After has seconds or a date by the service's clock; never below 0."""
    assert retry_after(response(("Retry-After", text)), EPOCH) == seconds


def test_a_response_may_ask_for_no_wait() -> None:
    """Without the header there is no wait."""
    assert retry_after(response(), EPOCH) is None


def test_the_service_clock_is_the_greatest_of_the_latest_dates() -> None:
    """The greatest offset is the best; old ones are dropped."""
    clock = ServiceClock()
    assert (clock.offset, clock.time(NOW)) == (None, EPOCH)

    for ahead in (5, 9, 7):
        clock.learn(dated(ahead), NOW)
    clock.learn(response(("Date", "yesterday")), NOW)
    clock.learn(response(), NOW)
    assert clock.offset == 9
    assert clock.time(NOW) == EPOCH + 9

    for _ in range(14):
        clock.learn(dated(-3), NOW)
    assert clock.offset == 9
    clock.learn(dated(-3), NOW)
    assert clock.offset == 7
    clock.learn(dated(-3), NOW)
    assert clock.offset == -3
    assert clock.time(NOW) == EPOCH - 3


def test_dates_with_and_without_a_zone() -> None:
    """A date without a zone is UTC."""
    east = NOW.astimezone(timezone(timedelta(hours=2)))

    assert date_of(response(("Date", format_datetime(east)))) == EPOCH
    assert date_of(response(("date", "Thu, 01 Jan 2026 00:00:00 -0000"))) == EPOCH
    assert date_of(response()) is None


@pytest.mark.parametrize(("remaining", "leaves"), [("0", False), ("1", True), ("9", True), ("x", False)])
def test_whether_a_window_is_used_up(remaining: str, *, leaves: bool) -> None:
    """A remaining request may be sent; invalid headers leave none."""
    headers = (("X-RateLimit-Limit", "9"), ("X-RateLimit-Remaining", remaining), ("X-RateLimit-Reset", "1"))

    assert leaves_requests(Response(429, headers, b"")) is leaves
