"""Lists that others change during reads: accepted by bounds, failed only at rest."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

import pytest

from conformance import confirm
from conformance.oracle.lists.listing import Snapshot
from conformance.oracle.lists.paging import Bracket, expect_partition, expect_partition_within
from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.wire import requests
from tests.fakes.exchanges import lettered, make_exchange, page_for
from tests.fakes.runs import FakeRun

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

SIZE = 2
OTHERS = ("Ab", "Abx", "Aby", "Abz", "Abw")
PAGES = [
    requests.list_engagements(perPage=100),
    *(requests.list_engagements(page=page, perPage=SIZE) for page in (1, 2)),
]


class Service(FakeRun):
    """A run with a list of engagements, one per letter; capitals are those of the run.

    Args:
        lists: The contents for each response; the last one repeats.
        lacks: Items that only the single-page list shows.
        beyond: The status of a page past the end.
    """

    def __init__(self, lists: Sequence[str], *, lacks: str = "", beyond: int = 200) -> None:
        super().__init__(self._page)
        self._lists = lists
        self._lacks = lacks
        self._beyond = beyond

    def _page(self, asked: Request) -> Exchange:
        held = self._lists[min(len(self.sent), len(self._lists)) - 1]
        size = int(dict(asked.query)["perPage"])
        if int(dict(asked.query).get("page", 1)) > 1 + (len(held) - 1) // size and self._beyond != HTTPStatus.OK:
            return make_exchange(asked, self._beyond, {})
        lacks = self._lacks if size <= SIZE else ""
        return page_for(asked, lettered(held), lacks)


def judge(service: Service, retake: Callable[[], Snapshot] | None = None) -> None:
    """Judge the pages of the list."""
    first = tuple(service.send_all(PAGES))
    owned = frozenset("A")

    def bounded(snapshot: Snapshot, closing: Exchange) -> None:
        expect_partition_within(Bracket(snapshot, closing, owned))

    confirm.list_within_bounds(
        service, first, lambda snapshot: expect_partition(snapshot, owned), bounded, retake=retake
    )


def coming_and_going(*held: str) -> list[str]:
    """Return lists that change with every response."""
    return [held[number % len(held)] for number in range(400)]


def test_pages_of_a_list_that_others_change_are_acquitted_by_bounds() -> None:
    """Changing pages pass if the lasting items are on them once, although no two totals agree."""
    service = Service(coming_and_going(*OTHERS))

    judge(service)

    assert sum(service.disturbed) == len(PAGES) < len(service.sent)


def test_a_right_look_needs_no_bounds() -> None:
    """A right snapshot needs no bounds and no further request."""
    service = Service(["Ab", "Abx", "Ab", "Ab"])

    judge(service)

    assert len(service.sent) == 2 * len(PAGES) + 1


@pytest.mark.parametrize("beyond", [400, 404, 416, 422])
def test_a_page_that_is_refused_because_the_list_was_shortened_is_requested_again(beyond: int) -> None:
    """Others may delete the last page's only item before the page is requested, which a service may then refuse."""
    service = Service(["Abc", "Abc", "Ab"], beyond=beyond)
    judge(service, retake=lambda: tuple(service.send_all(PAGES[:2])))

    with pytest.raises(CantTell, match=f"listEngagements returned {beyond}"):
        judge(Service(["Abc", "Abc", "Ab"], beyond=beyond))


def test_an_item_missing_at_rest_is_a_fault() -> None:
    """An item missing at rest fails, even after a disturbed first snapshot."""
    with pytest.raises(NonConformity, match="missing from the list"):
        judge(Service(["Abx", "Ab", "Abx", "Abx"], lacks="b"))


@pytest.mark.parametrize("lacks", ["A", "b"])
def test_an_item_that_is_always_missing_is_not_acquitted_by_bounds(lacks: str) -> None:
    """An item that is always missing stays undecided beside other users, who are reported."""
    others = "other users were changing the list in 10 of 10 reads"

    with pytest.raises(CantTell, match=others):
        judge(Service(coming_and_going(*OTHERS), lacks=lacks))


def test_a_list_that_the_run_itself_changes_is_undecided() -> None:
    """A fault that is not there twice at rest is undecided, and other users are not blamed for it."""
    with pytest.raises(CantTell) as doubt:
        judge(Service(coming_and_going("Ab", "ABb"), lacks="b"))

    assert "other users were changing the list in" not in str(doubt.value)


def test_a_list_is_retaken_by_other_requests() -> None:
    """A grown list may need other pages, which are requested for every further snapshot."""
    service, taken = Service(["Ab"], lacks="b"), list[Snapshot]()

    def retake() -> Snapshot:
        taken.append(tuple(service.send_all(PAGES[:2])))
        return taken[-1]

    with pytest.raises(NonConformity, match="missing from the list"):
        judge(service, retake)

    assert len(taken) == 3
    assert service.sent.count(PAGES[2]) == 1


def test_a_list_is_judged_once_it_rests() -> None:
    """A fault hidden by other users for a while is found at rest."""
    with pytest.raises(NonConformity, match="missing from the list"):
        judge(Service([*coming_and_going(*OTHERS)[:20], "Ab"], lacks="A"))


def test_later_looks_are_undisturbed() -> None:
    """The run writes nothing while a list is read again."""
    service = Service(["Abx", "Ab", "Abx", "Ab"])

    confirm.stable_list(service, tuple(service.send_all(PAGES)), expect_partition)

    assert sum(service.disturbed) == len(PAGES) < len(service.sent)


def looks_until_given_up(*held: str, right: int) -> int:
    """Return the number of snapshots of a list of which only one is right, each a single response."""
    service, seen = Service(coming_and_going(*held)), 0

    def judge(snapshot: Snapshot) -> None:
        nonlocal seen
        seen += 1
        if seen < right:
            raise NonConformity("it is wrong", *snapshot, expected="right", actual=f"wrong {seen}")

    confirm.stable_list(service, (service.send(PAGES[0]),), judge)
    return len(service.sent) - 1


def test_a_list_gets_more_looks_while_others_are_seen_to_change_it() -> None:
    """A list gets more snapshots while others change it, and passes if one is right."""
    assert looks_until_given_up(*OTHERS, right=12) > looks_until_given_up("AB", "ABC", right=6)


@pytest.mark.parametrize(("held", "most"), [(("AB", "ABC"), 9), (OTHERS, 21)])
def test_looks_end_all_the_same(held: tuple[str, ...], most: int) -> None:
    """Lists that only the run changes get two rounds of snapshots, lists that others change a few more."""
    with pytest.raises(CantTell, match="other users were changing"):
        looks_until_given_up(*held, right=most)
