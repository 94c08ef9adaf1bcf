"""Lists with a new order in each response, and lists that others keep changing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from conformance import confirm
from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.wire import requests
from tests.fakes.exchanges import make_exchange, page_for
from tests.fakes.runs import FakeRun

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

Order = Callable[[int], list[str]]


class Listing(FakeRun):
    """A run with a list of members, in a given order for each response."""

    def __init__(
        self, order: Order, *, roles: Callable[[int], str] = lambda _: "member", seconds: float = 0.01
    ) -> None:
        super().__init__(self._page, pace=seconds)
        self.order, self.roles = order, roles

    def _page(self, asked: Request) -> Exchange:
        number = len(self.exchanges)
        return page_for(
            asked, [{"id": user, "userId": user, "role": self.roles(number)} for user in self.order(number)]
        )


def turning(number: int) -> list[str]:
    """Return a new order for each response."""
    names = [*"abcdef"]
    turn = number * 5 % len(names)
    return names[turn:] + names[:turn]


def steady(_: int) -> list[str]:
    """Return the same order each time."""
    return [*"abcdef"]


def undecided() -> None:
    """Raise CantTell because others were changing the list."""
    raise CantTell("an item is missing, but others were changing the organization")


def judge(listing: Listing, judgement: Callable[[], None]) -> None:
    """Judge the pages of the list."""
    confirm.one_order(listing, judgement, requests.list_members)


def test_a_list_whose_order_always_changes_is_a_fault() -> None:
    """A list with a new order in each response fails, since the order never settles."""
    with pytest.raises(NonConformity, match="the order of the list changes between responses") as found:
        judge(Listing(turning), undecided)

    assert found.value.actual == "another order in 9 of 9 further responses"


@pytest.mark.parametrize(
    "listing",
    [
        Listing(steady),
        Listing(lambda number: steady(0) if number < 5 else turning(1)),
        Listing(turning, roles=str),
        Listing(turning, seconds=1.0),
    ],
    ids=["one order", "moved once", "changing items", "slow responses"],
)
def test_possible_changes_by_others_stay_undecided(listing: Listing) -> None:
    """Items that moved once, that change in each response, or over a long time, give no failure."""
    with pytest.raises(CantTell):
        judge(listing, undecided)


def test_pages_that_fit_together_by_chance_are_looked_at_again() -> None:
    """If responses of the run show an unstable order, pages that fit by chance are read again and fail."""
    listing = Listing(turning)
    for _ in range(4):
        listing.send(requests.list_members())

    with pytest.raises(NonConformity, match="the order of the list changes"):
        judge(listing, lambda: None)


def test_a_list_that_others_change_is_looked_at_again() -> None:
    """An undecided snapshot of the pages gives way to the next one."""
    listing = Listing(lambda number: turning(number)[number == 4 :])
    for _ in range(4):
        listing.send(requests.list_members())

    with pytest.raises(NonConformity, match="the order of the list changes"):
        judge(listing, lambda: None)


def test_a_list_in_one_order_costs_no_request() -> None:
    """A list in a stable order needs no further request."""
    listing = Listing(steady)
    for _ in range(4):
        listing.send(requests.list_members())

    judge(listing, lambda: None)

    assert len(listing.exchanges) == 4


def test_pages_that_hold_everything_whatever_their_order_are_fine() -> None:
    """Complete pages pass in any order: users whom requests move to the front do no harm."""
    orders: Iterator[list[str]] = iter([turning(number) for number in range(4)])
    listing = Listing(lambda _: next(orders, turning(3)))
    for _ in range(4):
        listing.send(requests.list_members())

    judge(listing, lambda: None)


def test_a_response_that_cannot_be_read_says_nothing_of_the_order() -> None:
    """A response that cannot be read shows no order; other requirements judge it."""
    listing = Listing(steady)
    response = make_exchange(requests.list_members(), body={"data": "none", "meta": {}})
    listing.exchanges += 5 * [response]

    judge(listing, lambda: None)

    assert len(listing.exchanges) == 5
