"""Findings that others may have caused: confirmed by the same fault twice at rest."""

from __future__ import annotations

from typing import Any, cast

import pytest

from conformance.oracle.ledger.findings import Finding
from conformance.scenarios.repeated_findings import confirmed_by_repetition, is_on_another_page
from conformance.wire.exchange import Exchange
from tests.fakes.exchanges import make_exchange, page
from tests.fakes.runs import FakeRun

WRONG = ["b", "a"]


def listed(*names: str) -> Exchange:
    """Return a list of engagements with these names."""
    return page([{"id": name, "name": name} for name in names])


def judge(exchange: Exchange) -> Finding | None:
    """Return a finding if names fall; it states the names."""
    items = cast("Any", exchange.response.reading).value["data"]
    names = [item["name"] for item in items] if isinstance(items, list) else ["no list"]
    if names == sorted(names) and isinstance(items, list):
        return None
    return Finding("sort-by-name", exchange, (), "names fall", "names that rise", str(names[:1]))


@pytest.mark.parametrize(
    ("reads", "found"),
    [
        ([WRONG, WRONG], True),
        ([["a", "b"]], False),
        ([WRONG, ["a", "b"]], False),
        ([WRONG, ["c", "a"], ["d", "a"], ["e", "a"]], False),
        ([WRONG, ["b", "a", "a"], ["b", "a", "a", "a"], ["b", "a", "a", "a", "a"]], False),
        ([["c", "a"], WRONG, WRONG], True),
    ],
)
def test_a_fault_is_one_if_it_is_there_twice_at_rest(reads: list[list[str]], *, found: bool) -> None:
    """A fault counts if it is there twice at rest; different faults, or others' changes between, do not."""
    responses = iter([listed(*names) for names in reads])
    run = FakeRun(lambda _: next(responses))
    first = judge(listed(*WRONG))
    assert first is not None

    assert (confirmed_by_repetition(run, first, judge) is not None) == found
    assert next(responses, None) is None
    assert len(run.pauses) == len(reads)
    assert all(pause > 0 for pause in run.pauses)


@pytest.mark.parametrize(
    ("absent", "pages", "asked", "elsewhere"),
    [
        ("x", {2: ["x"]}, [2, 3], True),
        ("x", {3: ["b", "x"]}, [2, 3], True),
        ("x", {}, [2, 3], False),
        (None, {2: ["x"]}, [], False),
    ],
)
def test_a_missing_item_is_searched_on_the_other_pages(
    absent: str | None, pages: dict[int, list[str]], asked: list[int], *, elsewhere: bool
) -> None:
    """An item is lost only if no other page has it."""
    meta = {"total": 6, "page": 1, "perPage": 2, "totalPages": 3}
    here = make_exchange(
        "listEngagements", body={"data": [], "meta": meta}, query=(("sort", "name"), ("perPage", "2"), ("page", "1"))
    )
    finding = Finding("list-engagements-pages-partition", here, (), "missing", "every one", "1", absent=absent)
    run = FakeRun(lambda request: listed(*pages.get(int(dict(request.query)["page"]), [])))

    assert is_on_another_page(run, finding) == elsewhere
    assert [int(dict(request.query)["page"]) for request in run.sent] == asked
    assert all(request.query[:2] == here.request.query[:2] for request in run.sent)


def test_not_all_pages_of_a_list_without_end_are_looked_at() -> None:
    """Only some pages of an endless list are read, and their numbers are not enumerated."""
    meta = {"total": 10**15, "page": 9, "perPage": 2, "totalPages": 10**15}
    here = make_exchange("listEngagements", body={"data": [], "meta": meta}, query=(("perPage", "2"), ("page", "9")))
    finding = Finding("list-engagements-pages-partition", here, (), "missing", "every one", "1", absent="x")
    run = FakeRun(lambda _: listed())

    assert not is_on_another_page(run, finding)
    assert [dict(request.query)["page"] for request in run.sent[:4]] == ["8", "10", "7", "11"]
    assert len(run.sent) == 20


def test_an_unreadable_list_is_unchanged_by_others() -> None:
    """An unreadable list counts as unchanged by others: the same fault twice is a failure."""
    response = make_exchange("listEngagements", body={"data": {}})
    first = judge(listed(*WRONG))
    assert first is not None

    assert confirmed_by_repetition(FakeRun(lambda _: response), first, judge) is not None
