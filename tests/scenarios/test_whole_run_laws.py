"""Laws over the lists of the cleanup."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.oracle.laws.registry import LAWS
from conformance.oracle.outcomes import CantTell, Inapplicable, NonConformity
from conformance.scenarios.whole_run_laws import expect_law_of_cleanup
from conformance.wire import requests
from tests.fakes.exchanges import make_exchange
from tests.fakes.runs import FakeRun

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

LAW = LAWS["list-engagements-pages-partition"]


def judge(*contents: str, sender: str = "final_deletion", confirmed: bool = False) -> None:
    """Judge lists; each has an item per letter."""
    letters = iter(contents)

    def respond(request: Request) -> Exchange:
        data = [{"id": letter} for letter in next(letters)]
        meta = {"total": len(data), "page": 1, "perPage": 20, "totalPages": 1}
        return make_exchange(request, 200, {"data": data, "meta": meta})

    run = FakeRun(respond, checks=[sender], broken_at_once={LAW} if confirmed else set())
    run.send_all([requests.list_engagements()] * len(contents))
    expect_law_of_cleanup(run, LAW)


def test_a_failure_confirmed_at_once_counts() -> None:
    """A list that the run reads while it deletes its engagements has an item twice, each time."""
    with pytest.raises(NonConformity, match="a page has an item twice"):
        judge("abb", "abc", confirmed=True)


def test_a_failure_that_was_not_confirmed_is_left_out() -> None:
    """Another list of the cleanup keeps the law."""
    judge("abb", "abc")


def test_a_single_list_whose_failure_was_not_confirmed_is_undecided() -> None:
    """Nothing shows that the law holds during the cleanup."""
    with pytest.raises(CantTell, match="a page has an item twice"):
        judge("abb")


def test_lists_of_other_scenarios_are_judged_elsewhere() -> None:
    """Their failures are sent again before the cleanup."""
    with pytest.raises(Inapplicable):
        judge("abb", sender="paged_engagements", confirmed=True)
