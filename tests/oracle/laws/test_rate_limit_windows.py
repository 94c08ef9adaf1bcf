"""Windows of the rate limit: the responses that belong to one, and their Remaining."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from email.utils import format_datetime

import pytest

from conformance.oracle.laws.rate_limit_course import expect_falling
from conformance.oracle.outcomes import Evidence, Inapplicable, NonConformity
from conformance.wire.exchange import Exchange
from conformance.wire.requests import Credential
from tests.fakes.exchanges import RESPONDED_AT, make_exchange
from tests.oracle.failures import described

BOTH = pytest.mark.parametrize("dated", [True, False])


def exchange_at(
    seconds: float, remaining: object = 999, reset: float | str = 60, *, dated: bool = True, status: int | None = 200
) -> Exchange:
    """Return a request of 0.1 s this many seconds after the beginning; ``reset`` counts from there too."""
    named = reset if isinstance(reset, str) else f"{RESPONDED_AT.timestamp() + reset:.0f}"
    headers = [("X-RateLimit-Limit", "1000"), ("X-RateLimit-Remaining", str(remaining)), ("X-RateLimit-Reset", named)]
    headers += [("Date", format_datetime(RESPONDED_AT + timedelta(seconds=seconds), usegmt=True))] if dated else []
    number = int(seconds * 10) + 1
    return make_exchange(status=status, headers=tuple(headers), number=number, at=seconds, seconds=0.1)


def row(*remaining: object, start: int = 0, reset: float = 60, dated: bool = True) -> list[Exchange]:
    """Return requests a second apart with these values of Remaining."""
    return [exchange_at(number, given, reset, dated=dated) for number, given in enumerate(remaining, start)]


def shown_by(credential: Credential | None, exchanges: list[Exchange]) -> list[Exchange]:
    """Return the exchanges with another key."""
    return [replace(each, request=replace(each.request, credential=credential)) for each in exchanges]


FLAT = (9, 9, 9, 9, 9)
OTHER = Credential.bearer("other_organization", "k")


def judges(exchanges: list[Exchange]) -> bool:
    """Whether there is a window to judge, correct or not."""
    try:
        expect_falling(exchanges)
    except Inapplicable:
        return False
    except NonConformity:
        pass
    return True


# --- decrease of Remaining


@BOTH
@pytest.mark.parametrize("remaining", [(9, 8, 7, 6, 5), (9, 9, 9, 9, 8), (9, 3, 12, 20, 8), (1, 0, 0, 0, 0)])
def test_the_last_of_five_remaining_is_less_than_the_first(remaining: tuple[int, ...], *, dated: bool) -> None:
    """The values between them are open."""
    expect_falling([*row(*remaining, dated=dated), exchange_at(9, 99, dated=dated, status=404)])


@BOTH
@pytest.mark.parametrize("remaining", [(9, 9, 9, 9, 9), (9, 8, 7, 6, 10), (0, 0, 0, 0, 0)])
def test_five_that_do_not_fall(remaining: tuple[int, ...], *, dated: bool) -> None:
    """All five are cited with their values."""
    exchanges = row(*remaining, dated=dated)
    later = row(*range(100, 90, -1), start=10, dated=dated)

    with pytest.raises(NonConformity) as raised:
        expect_falling(exchanges + later)
    message = "X-RateLimit-Remaining has not fallen over 5 successive requests of one window"
    expected, actual = f"less than {remaining[0]} after 4 more requests", ", ".join(map(str, remaining))
    assert described(raised.value) == (message, expected, actual, None)
    assert raised.value.exchanges == tuple(exchanges)


def test_every_five_are_judged() -> None:
    """Series in the middle of a window count too; the last of each is evidence, up to a limit."""
    exchanges = row(*range(900, 850, -1))

    with Evidence() as evidence:
        expect_falling(exchanges)
    assert evidence.exchanges == exchanges[4:29]
    with pytest.raises(NonConformity) as raised:
        expect_falling(row(9, 8, 7, 6, 5, 4, 3, 6, 2, 1))
    assert raised.value.actual == "6, 5, 4, 3, 6"


def test_requests_are_judged_in_the_order_in_which_they_were_sent() -> None:
    """The order of the arguments does not matter."""
    expect_falling(list(reversed(row(9, 8, 7, 6, 5))))
    with pytest.raises(NonConformity):
        expect_falling(list(reversed(row(5, 6, 7, 8, 9))))


# --- extent of a window


@BOTH
def test_four_are_too_few(*, dated: bool) -> None:
    """They are not judged."""
    assert judges(row(*FLAT, dated=dated) + row(9, start=20, dated=dated))
    assert not judges(row(*FLAT[:4], dated=dated))
    assert not judges([])


def test_nothing_to_judge_is_inapplicable() -> None:
    """The message says what was missing."""
    with pytest.raises(Inapplicable, match=r"^there were no 5 successive successes with one Reset far enough ahea"):
        expect_falling(row(*FLAT[:4]))


@pytest.mark.parametrize(
    "spoilt",
    [
        exchange_at(2, 9, status=404),
        exchange_at(2, 9, status=300),
        exchange_at(2, 9, status=199),
        exchange_at(2, 9, status=503),
        exchange_at(2, 9, status=None),
        exchange_at(2, "many"),
        exchange_at(2, 9, "soon"),
        exchange_at(2, 9, 61),
        replace(exchange_at(2), request=exchange_at(2).request.as_probe("GET", "/other")),
    ],
    ids=["404", "300", "199", "503", "lost", "no-remaining", "no-reset", "other-reset", "beside"],
)
def test_an_uncertain_request_splits_a_window(spoilt: Exchange) -> None:
    """Only successes of the interface with one Reset follow each other."""
    exchanges = row(*FLAT)

    assert not judges([*exchanges[:2], spoilt, *exchanges[3:]])


@pytest.mark.parametrize("status", [200, 201, 204, 299])
def test_every_success_counts(status: int) -> None:
    """Any 2xx counts."""
    exchanges = row(*FLAT)

    assert judges([*exchanges[:2], exchange_at(2, 9, status=status), *exchanges[3:]])


def test_requests_that_overlapped_are_not_successive() -> None:
    """Overlapping requests of one key have no order."""
    exchanges = row(*FLAT)

    assert judges([*exchanges[:4], replace(exchanges[4], seconds=9.0)])
    assert not judges([*exchanges[:3], replace(exchanges[3], seconds=1.5), exchanges[4]])
    assert judges([*exchanges[:3], replace(exchanges[3], seconds=1.0), exchanges[4]])
    assert not judges([replace(exchanges[0], seconds=20.0), *row(*FLAT, start=1)])


def test_each_key_has_windows_of_its_own() -> None:
    """Requests of other keys in between neither count nor split a window."""
    mine, others = row(*FLAT), shown_by(OTHER, [exchange_at(second + 0.5, 9) for second in range(5)])

    assert judges(mine + others[:3])
    assert judges(others)
    assert not judges(mine[:3] + others[:3])
    assert not judges(shown_by(Credential("none", None, invalid=True), mine))


def test_a_key_under_another_scheme_has_windows_of_its_own() -> None:
    """Its refusals may count against another limit, with another Reset, which splits no window of the key."""
    wrong = Credential("api_key", "Token k", invalid=True)
    refusals = shown_by(wrong, [exchange_at(second + 0.5, 99, 55, status=401) for second in range(5)])

    assert judges(row(*FLAT) + refusals)


@BOTH
@pytest.mark.parametrize(("reset", "expected"), [(4, False), (6, False), (7, True), (60, True)])
def test_a_reset_that_is_due_at_once_names_no_window(reset: float, *, expected: bool, dated: bool) -> None:
    """It must be more than two seconds ahead of the last of the five, or be repeated that much later."""
    exchanges = row(*FLAT, reset=reset, dated=dated)
    if not dated:
        exchanges.append(exchange_at(reset, 9, reset, dated=False))

    assert judges(exchanges) is expected


@pytest.mark.parametrize(("later", "expected"), [(6.0, False), (6.2, True)])
def test_a_reset_without_a_date_is_ahead_until_it_was_named_last(later: float, *, expected: bool) -> None:
    """The last response that names it shows how far ahead it is."""
    exchanges = [*row(*FLAT, dated=False), exchange_at(later, 9, 60, dated=False, status=404)]

    assert judges(exchanges) is expected


# --- windows that slide


@pytest.mark.parametrize(("at", "expected"), [(10, False), (57, False), (58, True), (61, True)])
def test_a_reset_that_is_replaced_before_its_time(at: float, *, expected: bool) -> None:
    """Such a window slides, so that Remaining need not fall."""
    assert judges([*row(*FLAT), exchange_at(at, 9, at + 60)]) is expected
    assert judges([*row(*FLAT), exchange_at(at, 9, at + 60, status=404)]) is expected


@pytest.mark.parametrize(("step", "expected"), [(1, False), (4, False), (5, True), (60, True), (-4, False), (-5, True)])
def test_a_reset_without_a_date_that_moves_by_small_steps(step: float, *, expected: bool) -> None:
    """Without a Date it is unknown whether the earlier Reset was due."""
    exchanges = row(*FLAT, dated=False)

    assert (
        judges([*exchanges, exchange_at(20, 9, 60, dated=False), exchange_at(30, 9, 60 + step, dated=False)])
        is expected
    )
    assert (
        judges([*exchanges, exchange_at(20, 9, 60, dated=False), exchange_at(30, 9, 60 + step, dated=True)]) is expected
    )


def test_responses_without_a_reset_do_not_slide() -> None:
    """Responses that are not judged do not slide a window either."""
    assert judges([*row(*FLAT), exchange_at(10, 9, "soon")])
    assert judges([*row(*FLAT), exchange_at(10, 9, 70, status=503)])


def test_windows_that_follow_each_other_do_not_add_up() -> None:
    """A due Reset is replaced, and a refused request splits a window."""
    assert not judges([*row(9, 9, 9, start=55), *row(9, 9, 9, start=58, reset=118)])
    assert not judges([*row(9, 9, 9), exchange_at(3, 9, status=404), *row(9, 9, start=4)])
