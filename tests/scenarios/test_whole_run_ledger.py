"""Findings that others may have caused: confirmed by the same fault twice at rest, or else undecided."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from conformance.oracle.ledger.findings import Finding
from conformance.oracle.outcomes import CantTell, Inapplicable, NonConformity
from conformance.scenarios.whole_run_ledger import conclude, is_elsewhere, ledger_of_run, seen_again
from conformance.targets.names import RunNames
from conformance.wire import requests
from conformance.wire.exchange import Exchange
from conformance.wire.requests import OTHER_KEY, Credential
from tests.fakes.exchanges import make_exchange, page, page_for
from tests.fakes.runs import FakeRun

if TYPE_CHECKING:
    from conformance.wire.requests import Request

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

    assert (seen_again(run, first, judge) is not None) == found
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

    assert is_elsewhere(run, finding) == elsewhere
    assert [int(dict(request.query)["page"]) for request in run.sent] == asked
    assert all(request.query[:2] == here.request.query[:2] for request in run.sent)


def test_not_all_pages_of_a_list_without_end_are_looked_at() -> None:
    """Only some pages of an endless list are read, and their numbers are not enumerated."""
    meta = {"total": 10**15, "page": 9, "perPage": 2, "totalPages": 10**15}
    here = make_exchange("listEngagements", body={"data": [], "meta": meta}, query=(("perPage", "2"), ("page", "9")))
    finding = Finding("list-engagements-pages-partition", here, (), "missing", "every one", "1", absent="x")
    run = FakeRun(lambda _: listed())

    assert not is_elsewhere(run, finding)
    assert [dict(request.query)["page"] for request in run.sent[:4]] == ["8", "10", "7", "11"]
    assert len(run.sent) == 20


def test_an_unreadable_list_is_unchanged_by_others() -> None:
    """An unreadable list counts as unchanged by others: the same fault twice is a failure."""
    response = make_exchange("listEngagements", body={"data": {}})
    first = judge(listed(*WRONG))
    assert first is not None

    assert seen_again(FakeRun(lambda _: response), first, judge) is not None


# --- lists that were read during a write

LISTED = "create-engagement-listed"
WHOLE = requests.list_engagements(perPage=100)


class Talk(FakeRun):
    """A run that has created an engagement and listed engagements without it, and may list again.

    Args:
        writes: Seconds before the list at which another write began; None for no write.
        shown: The names in the list, and in each repeated list; ``own`` is the run's.
        key: The key of all requests; None for the main key.
    """

    def __init__(self, *shown: list[str], writes: float | None = None, key: Credential | None = None) -> None:
        chosen = SimpleNamespace(only=(LISTED,))
        super().__init__(
            self._respond,
            pace=1.0,
            names=RunNames("own-"),
            options=chosen,
            fixtures=SimpleNamespace(members={}),
        )
        self._shown = iter(shown)
        self.send(replace(requests.create_engagement({"name": "own-engagement"}), credential=key))
        if writes is not None:
            self.passed += 1 - writes
            self.send(requests.delete_engagement("foreign"))
            self.passed += writes - 1
        self.send(replace(WHOLE, credential=key))

    def _respond(self, asked: Request) -> Exchange:
        match asked.operation.id:
            case "createEngagement":
                return make_exchange(asked, 201, {"data": _item("own")})
            case "getEngagement":
                return make_exchange(asked, 200, {"data": _item("own")})
            case "deleteEngagement":
                return make_exchange(asked, 404, {})
        return page_for(asked, [_item(name) for name in next(self._shown)])


def _item(name: str) -> dict[str, object]:
    at = "2026-01-01T00:00:00.000Z"
    text = {"name": f"{name}-engagement", "description": None, "status": "active"}
    return {"id": name, **text, "createdAt": at, "updatedAt": at}


def test_a_list_that_a_write_may_have_torn_passes_if_it_is_right_with_nothing_under_way() -> None:
    """A list torn by a write passes if it is right with no write in flight, and is noted as torn."""
    talk = Talk(["other"], ["other", "own"], writes=0.005)

    account = ledger_of_run(talk)

    conclude(LISTED, account)
    assert talk.disturbed.count(False) == 1
    assert account.torn == [talk.exchanges[2]]
    assert talk.exchanges[-1] in account.findings.kept[LISTED]


def test_a_list_that_lacks_something_with_nothing_under_way_is_wrong() -> None:
    """A list that lacks an item with no write in flight fails, despite an earlier write."""
    talk = Talk(["other"], ["other"], ["other"], writes=0.005)

    account = ledger_of_run(talk)

    with pytest.raises(NonConformity, match="missing from the list") as fault:
        conclude(LISTED, account)
    assert talk.exchanges[-1] in fault.value.exchanges
    assert talk.disturbed.count(False) == 2
    assert account.torn == []


def test_a_list_of_another_organization_is_confirmed_with_its_key() -> None:
    """A list of another organization that lacks an item fails if it still does when it is requested again."""
    key = Credential.bearer(OTHER_KEY, "theirs")
    talk = Talk(["other"], ["other"], ["other"], key=key)

    with pytest.raises(NonConformity, match="missing from the list"):
        conclude(LISTED, ledger_of_run(talk))
    assert [sent.credential for sent in talk.sent[-2:]] == [key, key]

    with pytest.raises(Inapplicable):
        conclude(LISTED, ledger_of_run(Talk(["other"], ["other", "own"], key=key)))


@pytest.mark.parametrize("writes", [None, 0.5])
def test_a_list_that_nothing_tore_and_that_is_right_later_stays_in_doubt(writes: float | None) -> None:
    """A list that no write tore and that is right later is undecided, since the service may have forgotten."""
    account = ledger_of_run(Talk(["other"], ["other", "own"], writes=writes))

    with pytest.raises(CantTell, match="not when it was read again"):
        conclude(LISTED, account)
    assert account.torn == []


def test_a_list_that_others_were_changing_passes_if_it_is_right_later() -> None:
    """A list that others were changing passes if it is right later: it was most likely torn."""
    account = ledger_of_run(Talk(["other"], ["another", "own"]))

    conclude(LISTED, account)
    assert account.torn == []


def test_a_list_that_others_keep_changing_is_not_wrong() -> None:
    """A list that others keep changing is undecided: a failure takes two reads at rest."""
    talk = Talk(*[[f"other-{number}"] for number in range(5)], writes=0.005)

    with pytest.raises(CantTell, match="not when it was read again"):
        conclude(LISTED, ledger_of_run(talk))
