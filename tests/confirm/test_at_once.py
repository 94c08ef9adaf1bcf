"""Inconsistent lists, requested again at once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.confirm.at_once import ListConfirmation
from conformance.oracle.laws.registry import LAWS
from conformance.wire import requests
from tests.fakes.exchanges import make_exchange
from tests.fakes.runs import FakeRun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

ASKED = requests.list_engagements(status="active", perPage=100)
RIGHT, STALE, TORN = (2, "ab"), (3, "ab"), (3, "ac")
Content = tuple[int, str]


def confirmed(first: Content, *later: Content, asked: Request = ASKED) -> FakeRun:
    """Confirm a list and return its run.

    Args:
        first: Its total, and a letter for each of its items.
        later: The same for each repetition.
        asked: The request.
    """
    contents = iter([first, *later])
    run = FakeRun(lambda request: listed(request, *next(contents)), broken_at_once=set())

    ListConfirmation(run)(run.send_all([asked]))

    return run


def listed(asked: Request, total: int, letters: str) -> Exchange:
    """Return a page of a list."""
    meta = {"total": total, "page": 1, "perPage": 100, "totalPages": 1}
    return make_exchange(asked, 200, {"data": [{"id": letter} for letter in letters], "meta": meta})


def test_a_total_that_stays_wrong_breaks_the_law() -> None:
    """Five repetitions that show the same wrong total settle it, and the run writes nothing meanwhile."""
    run = confirmed(STALE, *[STALE] * 5)

    assert run.broken_at_once == {LAWS["list-engagements-filter-counts"]}
    assert run.disturbed == [True, *[False] * 5]


@pytest.mark.parametrize(
    "later",
    [[RIGHT], [STALE, STALE, RIGHT], [STALE, TORN], [STALE, STALE, STALE, STALE, TORN]],
    ids=["right", "right later", "moving", "moving at last"],
)
def test_a_torn_list_breaks_nothing(later: Sequence[Content]) -> None:
    """A repetition that is right, or that shows other items, settles nothing, and no further one is sent."""
    run = confirmed(STALE, *later)

    assert not run.broken_at_once
    assert len(run.sent) == 1 + len(later)


def test_a_right_list_is_requested_once() -> None:
    """A list that breaks no law is not repeated."""
    assert len(confirmed(RIGHT).sent) == 1


def test_few_lists_that_break_a_law_are_repeated() -> None:
    """A service whose totals are always torn costs a run six repetitions."""
    contents = iter([RIGHT] * 10)
    run = FakeRun(lambda request: listed(request, *next(contents)), broken_at_once=set())
    confirm = ListConfirmation(run)

    for _ in range(10):
        confirm([listed(ASKED, *STALE)])

    assert len(run.sent) == 6


def test_requests_that_exhaust_a_limit_are_not_repeated() -> None:
    """A repetition would use up more of the limit."""
    assert len(confirmed(STALE, asked=replace(ASKED, expects_429=True)).sent) == 1
