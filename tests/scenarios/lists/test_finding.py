"""Search for engagements of the run among those of others."""

from __future__ import annotations

import pytest

from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.running.options import Effort
from conformance.scenarios.lists.finding import Search, expect_listed, latest, search
from tests.fakes.exchanges import lettered, page_for
from tests.fakes.runs import FakeRun
from tests.oracle.failures import described


def reading(*lists: str) -> FakeRun:
    """Return a run that reads these lists in sequence; letters are engagements, capitals those of the run."""
    left = iter(lists)
    return FakeRun(lambda request: page_for(request, lettered(next(left))))


def found(*lists: str) -> Search:
    """Return the result of a search for ``A``."""
    return search(reading(*lists), "A", sort="name", order="asc")


def test_later_looks_are_undisturbed() -> None:
    """Only reads after the first one exclude other writes of the run."""
    run = reading("x", "x", "xA")

    expect_listed("an engagement", search(run, "A", sort="name", order="asc"))

    assert run.disturbed == [True, False, False]


@pytest.mark.parametrize("lists", [("x", "x", "x", "x"), ("x", "x", "xB", "x"), ("x", "y", "z", "z")])
def test_an_engagement_missing_twice_at_rest_is_not_listed(lists: tuple[str, ...]) -> None:
    """An engagement missing from two reads fails, if others changed nothing between those."""
    with pytest.raises(NonConformity) as raised:
        expect_listed("an engagement", found(*lists))
    words = ("an engagement is not in the list", "1 of 1 on the pages of the list", "1 missing", "/data")
    assert described(raised.value) == words


@pytest.mark.parametrize(
    ("effort", "before", "sort"),
    [
        (Effort.QUICK, 30, "name"),
        (Effort.QUICK, 31, "createdAt"),
        (Effort.QUICK, None, "createdAt"),
        (Effort.STANDARD, 0, "createdAt"),
    ],
)
def test_a_page_in_any_order_holds_a_short_list(effort: Effort, before: int | None, sort: str) -> None:
    """The order is the one asked for only if everything surely fits on a page."""
    run = FakeRun(effort=effort, engagements_before=before)

    assert dict(latest(run, sort="name", order="asc").query)["sort"] == sort


def test_a_list_of_one_page_may_lack_something_while_others_change_it() -> None:
    """A missing engagement is undecided if others changed the single page, which a stale count may cut off."""
    with pytest.raises(CantTell, match="other users were changing it"):
        expect_listed("an engagement", found("x", "x", "x", "y"))
