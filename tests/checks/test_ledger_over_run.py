"""What others may have disturbed is seen again: the same twice, with nothing moved in between, or it says nothing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from conformance.checks.ledger_over_run import is_elsewhere, seen_again
from conformance.oracle.ledger_findings import Finding
from conformance.wire.exchange import Exchange
from tests.conftest import make_exchange

if TYPE_CHECKING:
    from conformance.wire.call import Call

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


@pytest.mark.parametrize(
    ("absent", "pages", "asked", "elsewhere"),
    [
        ("x", {2: ["x"]}, [2, 3], True),
        ("x", {3: ["b", "x"]}, [2, 3], True),
        ("x", {}, [2, 3], False),
        (None, {2: ["x"]}, [], False),
    ],
)
def test_what_is_missing_is_looked_for_on_the_other_pages(
    absent: str | None, pages: dict[int, list[str]], asked: list[int], *, elsewhere: bool
) -> None:
    """Only what none of them has is lost."""
    meta = {"total": 6, "page": 1, "perPage": 2, "totalPages": 3}
    here = make_exchange(
        "listEngagements", body={"data": [], "meta": meta}, query=(("sort", "name"), ("perPage", "2"), ("page", "1"))
    )
    finding = Finding("list-engagements-pages-partition", here, (), "missing", "every one", "1", absent=absent)
    sent: list[int] = []

    def send_all(calls: list[Call]) -> list[Exchange]:
        numbers = [int(dict(one.query)["page"]) for one in calls]
        sent.extend(numbers)
        assert all(one.query[:2] == here.call.query[:2] for one in calls)
        return [page(*pages.get(number, [])) for number in numbers]

    assert is_elsewhere(cast("Any", SimpleNamespace(send_all=send_all)), finding) == elsewhere
    assert sent == asked


def test_not_all_pages_of_a_list_without_end_are_looked_at() -> None:
    """Nor is there a list of their numbers: a service may count what it likes."""
    meta = {"total": 10**15, "page": 9, "perPage": 2, "totalPages": 10**15}
    here = make_exchange("listEngagements", body={"data": [], "meta": meta}, query=(("perPage", "2"), ("page", "9")))
    finding = Finding("list-engagements-pages-partition", here, (), "missing", "every one", "1", absent="x")
    sent: list[Call] = []

    def send_all(calls: list[Call]) -> list[Exchange]:
        sent.extend(calls)
        return []

    assert not is_elsewhere(cast("Any", SimpleNamespace(send_all=send_all)), finding)
    assert [dict(one.query)["page"] for one in sent[:4]] == ["8", "10", "7", "11"]
    assert len(sent) == 20


def test_what_nobody_can_read_is_not_moved_by_others() -> None:
    """An answer without items shows the same fault each time."""
    run = SimpleNamespace(sleep=lambda _: None, send=lambda _: make_exchange("listEngagements", body={"data": {}}))
    first = judge(page(*WRONG))
    assert first is not None

    assert seen_again(cast("Any", run), first, judge) is not None
