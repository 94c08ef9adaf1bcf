"""What others may have disturbed is seen again: the same twice, with nothing moved in between, or it says nothing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from conformance.checks.ledger_over_run import seen_again
from conformance.oracle.ledger_findings import Finding
from conformance.wire.exchange import Exchange
from tests.conftest import make_exchange

WRONG = ["b", "a"]


def page(*names: str) -> Exchange:
    """A list of engagements of these names."""
    items = [{"id": name, "name": name} for name in names]
    return make_exchange("listEngagements", body={"data": items, "meta": {"total": len(items)}})


def judge(exchange: Exchange) -> Finding | None:
    """A list is wrong where its names fall; what it says is which they are."""
    items = cast("Any", exchange.answer.reading).value["data"]
    names = [item["name"] for item in items] if isinstance(items, list) else ["no list"]
    if names == sorted(names) and isinstance(items, list):
        return None
    return Finding("sort-by-name", exchange, (), "names fall", "names that rise", str(names[:1]))


@pytest.mark.parametrize(
    ("looks", "found"),
    [
        ([WRONG, WRONG], True),
        ([["a", "b"]], False),
        ([WRONG, ["a", "b"]], False),
        ([WRONG, ["c", "a"], ["d", "a"], ["e", "a"]], False),
        ([WRONG, ["b", "a", "a"], ["b", "a", "a", "a"], ["b", "a", "a", "a", "a"]], False),
        ([["c", "a"], WRONG, WRONG], True),
    ],
)
def test_a_fault_is_one_if_it_is_there_twice_at_rest(looks: list[list[str]], *, found: bool) -> None:
    """Another fault each time, or the same of a list that others change, is none."""
    answers, pauses = iter([page(*names) for names in looks]), list[float]()
    run = SimpleNamespace(sleep=pauses.append, send=lambda _: next(answers))
    first = judge(page(*WRONG))
    assert first is not None

    assert (seen_again(cast("Any", run), first, judge) is not None) == found
    assert next(answers, None) is None
    assert len(pauses) == len(looks)
    assert all(pause > 0 for pause in pauses)


def test_what_nobody_can_read_is_not_moved_by_others() -> None:
    """An answer without items shows the same fault each time."""
    run = SimpleNamespace(sleep=lambda _: None, send=lambda _: make_exchange("listEngagements", body={"data": {}}))
    first = judge(page(*WRONG))
    assert first is not None

    assert seen_again(cast("Any", run), first, judge) is not None
