"""Decrease of Remaining within a window, and responses that show no window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from email.utils import format_datetime
from itertools import cycle

import pytest

from conformance.oracle.laws.rate_limit_course import expect_falling
from conformance.oracle.outcomes import Inapplicable, NonConformity
from conformance.wire.exchange import Exchange
from conformance.wire.rate_limit_headers import SUCCESSIVE
from conformance.wire.requests import MAIN_KEY, Credential
from tests.fakes.exchanges import RESPONDED_AT, make_exchange


def course(
    values: Sequence[tuple[float, int, float]], *, dated: bool, limits: Sequence[int] = (1000,)
) -> list[Exchange]:
    """Return successive successes.

    Args:
        values: For each, seconds after the first one, Remaining, and seconds of the Reset after the first one.
        dated: Whether the responses have a Date.
        limits: The limits, repeated in turn.
    """
    made = []
    for (seconds, remaining, reset), limit in zip(values, cycle(limits), strict=False):
        headers = [("X-RateLimit-Limit", str(limit)), ("X-RateLimit-Remaining", str(remaining))]
        headers.append(("X-RateLimit-Reset", str(int(RESPONDED_AT.timestamp() + reset))))
        headers += [("Date", format_datetime(RESPONDED_AT + timedelta(seconds=seconds), usegmt=True))] if dated else []
        made.append(make_exchange(headers=tuple(headers), at=seconds))
    return made


@pytest.mark.parametrize("dated", [True, False])
def test_remaining_that_does_not_fall(*, dated: bool) -> None:
    """The same Reset over many seconds is one window, with or without a Date."""
    with pytest.raises(NonConformity, match="has not fallen"):
        expect_falling(course([(number, 999, 60) for number in range(SUCCESSIVE + 3)], dated=dated))


@pytest.mark.parametrize("dated", [True, False])
def test_remaining_that_falls(*, dated: bool) -> None:
    """One request less each time is correct."""
    expect_falling(course([(number, 999 - number, 60) for number in range(SUCCESSIVE + 3)], dated=dated))


@pytest.mark.parametrize("dated", [True, False])
def test_bucket_that_is_full_again_within_the_second(*, dated: bool) -> None:
    """A Reset that is due at once, in whole seconds, shows no window."""
    values = [(number / 50, 999, 1) for number in range(SUCCESSIVE + 3)]

    with pytest.raises(Inapplicable):
        expect_falling(course(values, dated=dated))


def test_the_main_key_is_one_key_whether_a_request_names_it_or_not() -> None:
    """Requests without a credential of their own and those with the explicit main key share a window."""
    values = course([(number, 999, 60) for number in range(SUCCESSIVE)], dated=True)
    named = [
        replace(value, request=value.request.with_key(Credential.bearer(MAIN_KEY, "k"))) if place % 2 else value
        for place, value in enumerate(values)
    ]

    with pytest.raises(NonConformity, match="has not fallen"):
        expect_falling(named)


def test_responses_of_different_limits_are_not_compared() -> None:
    """Each limit has its own Remaining."""
    values = [(number, 999, 60) for number in range(2 * SUCCESSIVE)]

    with pytest.raises(Inapplicable):
        expect_falling(course(values, dated=True, limits=(1000, 2000)))


def test_requests_outside_the_interface_are_not_compared() -> None:
    """Requests for the target file's records of an engagement may count elsewhere."""
    values = course([(number, 999, 60) for number in range(SUCCESSIVE + 3)], dated=True)
    beside = [replace(value, request=value.request.as_probe("GET", "/api/v1/tasks/1")) for value in values]

    with pytest.raises(Inapplicable):
        expect_falling(beside)
