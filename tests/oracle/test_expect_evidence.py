"""Complete failures of assertions: message, expected, actual, pointer and exchanges."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from conformance.oracle import bulk, expect
from conformance.oracle.outcomes import CantTell, Evidence, NonConformity
from conformance.oracle.rendering import render
from conformance.wire.exchange import Exchange
from tests.fakes.exchanges import make_exchange

EARLY, LATE = "2026-01-02T03:04:05.006Z", "2026-01-02T03:04:05.007Z"


def described(assertion: Callable[[], object]) -> tuple[str, str, str, str | None, tuple[Exchange, ...]]:
    """Return all of an assertion's failure."""
    with pytest.raises(NonConformity) as raised:
        assertion()
    fault = raised.value
    return fault.message, fault.expected, fault.actual, fault.pointer, fault.exchanges


@pytest.mark.parametrize(
    ("operation", "status", "expected"), [("getEngagement", 201, "200"), ("createEngagement", 300, "any 2xx")]
)
def test_success_says_what_it_expected(operation: str, status: int, expected: str) -> None:
    """It expects exactly 200, or any 2xx, which 300 is not."""
    made = make_exchange(operation, status, {})

    assert described(lambda: expect.success(made)) == (
        f"{operation} returned {status}",
        expected,
        str(status),
        None,
        (made,),
    )


@pytest.mark.parametrize("code", [None, 7, ["CONFLICT"]])
def test_a_code_that_is_no_text_is_not_shown(code: object) -> None:
    """The actual value is the status alone."""
    made = make_exchange("getEngagement", 409, {"error": {"code": code}})

    assert described(lambda: expect.success(made))[2] == "409"


def test_refused_names_the_excluded_statuses() -> None:
    """The expected text lists the excluded statuses."""
    made = make_exchange("updateEngagement", 404, {})

    assert described(lambda: expect.refused(made))[1] == "a 4xx other than 401, 404 or 429"
    assert described(lambda: expect.refused(made, but=(404, 405)))[1] == "a 4xx other than 404 or 405"


def test_equal_shows_both_values() -> None:
    """The failure shows the expected and the actual value."""
    made = make_exchange(number=3)

    found = described(lambda: expect.equal("the status", "archived", "active", made, pointer="/data/status"))

    assert found == ('the status is not "active"', '"active"', '"archived"', "/data/status", (made,))


def test_holds_shows_the_actual_value() -> None:
    """A text is shown as it is, another value as JSON; a true condition passes."""
    made = make_exchange(number=4)

    assert described(
        lambda: expect.holds(0, "it is lost", made, expected="one", actual="none of it", pointer="/data")
    ) == (("it is lost", "one", "none of it", "/data", (made,)))
    assert described(lambda: expect.holds([], "it is lost", made, expected="one", actual=5))[2] == "5"
    with Evidence() as evidence:
        expect.holds(1, "it is lost", made, expected="one", actual=1)
    assert list(evidence.exchanges) == [made]


def test_unchanged_names_the_field() -> None:
    """The failure shows the field and its earlier value."""
    made = make_exchange(number=5)
    before, after = {"name": "a", "slug": "s"}, {"name": "b", "slug": "s"}

    found = described(lambda: expect.unchanged("the organization", before, after, ("slug", "name"), made))

    assert found == ("name of the organization has changed", '"a"', '"b"', "/data/name", (made,))


def test_later_is_strict() -> None:
    """The same time is not later."""
    made = make_exchange(number=6)

    expect.later("updatedAt", LATE, EARLY, made)
    for actual, than in ((EARLY, EARLY), (EARLY, LATE)):
        found = described(lambda actual=actual, than=than: expect.later("updatedAt", actual, than, made))  # type: ignore[misc]
        assert found == ("updatedAt has not increased", f"later than {than}", actual, None, (made,))


@pytest.mark.parametrize("text", [None, 5, "yesterday", "2026-13-01T00:00:00.000Z"])
def test_an_invalid_timestamp_is_undecided(text: Any) -> None:
    """Another requirement judges the format, on either side of the comparison."""
    made = make_exchange(number=8)

    for actual, than in ((text, EARLY), (LATE, text)):
        message = re.escape(f"{render(text)} is not a timestamp")
        with Evidence() as evidence, pytest.raises(CantTell, match=message) as raised:
            expect.later("updatedAt", actual, than, made)
        assert raised.value.exchanges == (made,)
        assert list(evidence.exchanges) == [made]


@pytest.mark.parametrize(
    ("assertion", "expected"),
    [
        (expect.success, "200"),
        (lambda made: expect.status_in(made, 200, 404), "200 or 404"),
        (lambda made: bulk.every_status([bulk.Sent("a", made)], lambda _: True, "any status"), "any status"),
        (lambda made: expect.equal("status", "active", "active", made), 'status is "active"'),
        (lambda made: expect.holds(1, "", made, expected="one", actual=1), "one"),
        (lambda made: expect.holds(1, "", made, expected="one", actual=1, pointer="/data"), "at /data: one"),
        (lambda made: expect.unchanged("it", {}, {}, ("id", "name"), made), "it as before: id, name"),
        (lambda made: expect.later("updatedAt", LATE, EARLY, made), f"updatedAt later than {EARLY}"),
    ],
)
def test_a_passing_assertion_says_what_it_permits(assertion: Callable[[Exchange], object], expected: str) -> None:
    """The evidence has the permitted behaviour in words, once however often it was judged."""
    with Evidence() as evidence:
        for number in (1, 2):
            assertion(make_exchange("getEngagement", 200, {}, number=number))

    assert list(evidence.expected) == [expected]
