from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from conformance.targets.queries import Listed, QueryClient, all_members, latest_items
from tests.fakes.exchanges import make_exchange

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request


class Lists:
    """A service with one list of members or engagements.

    Args:
        size: The number of items.
        most: The longest page that it gives.
        total: The total in the response; None for a response without one.
        past_the_end: The status of a page past the end.
    """

    def __init__(self, size: int, *, most: int = 100, total: Any, past_the_end: int = 200) -> None:
        self._items = [{"id": f"x_{number:04}", "role": "member", "createdAt": "2026"} for number in range(size)]
        self._most = most
        self._meta = {} if total is None else {"total": total}
        self._past_the_end = past_the_end
        self.pages: list[int] = []

    def send(self, request: Request) -> Exchange:
        """Return a page."""
        query = dict(request.query)
        page, most = int(query["page"]), min(int(query["perPage"]), self._most)
        self.pages.append(page)
        items = self._items[(page - 1) * most : page * most]
        if page > 1 and not items and self._past_the_end != 200:
            return make_exchange(request, self._past_the_end, {"error": {}})
        return make_exchange(request, 200, {"data": items, "meta": self._meta})


@pytest.mark.parametrize("past_the_end", [200, 400, 404, 422])
@pytest.mark.parametrize(("size", "pages"), [(0, 1), (99, 1), (100, 1), (200, 2), (201, 3)])
def test_a_list_is_read_up_to_its_total(size: int, pages: int, past_the_end: int) -> None:
    """No page after the end is requested."""
    lists = Lists(size, total=size, past_the_end=past_the_end)

    members = all_members(QueryClient(lists.send))

    assert (len(members or ()), lists.pages) == (size, [*range(1, pages + 1)])


@pytest.mark.parametrize("past_the_end", [200, 404])
def test_without_a_total_a_short_or_missing_page_is_the_last(past_the_end: int) -> None:
    """A list of exactly two pages is read to its end, too."""
    lists = Lists(200, total=None, past_the_end=past_the_end)

    members = all_members(QueryClient(lists.send))

    assert (len(members or ()), lists.pages) == (200, [1, 2, 3])


def test_shorter_pages_than_requested_are_all_read() -> None:
    """All pages are read if the service limits them to 50 items."""
    lists = Lists(120, most=50, total=120)

    assert len(all_members(QueryClient(lists.send)) or ()) == 120


@pytest.mark.parametrize("total", [119, 121])
def test_members_of_another_number_than_the_total_are_not_all(total: int) -> None:
    """A list that disagrees with its total is read twice and refused."""
    lists = Lists(120, total=total)

    assert all_members(QueryClient(lists.send)) is None
    assert lists.pages.count(1) == 2


def test_engagements_in_exact_hundreds_are_seen_to_the_end() -> None:
    """A refused page after the end does not invalidate earlier pages."""
    listed = latest_items(QueryClient(Lists(100, total=None, past_the_end=404).send))

    assert isinstance(listed, Listed)
    assert (len(listed.items), listed.complete) == (100, True)


def test_a_creation_time_without_an_offset_is_in_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time zone of the machine makes no difference."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    items = [{"id": "e_1", "createdAt": f"2026-11-29T12:00:00{offset}"} for offset in ("", "Z")]

    listed = latest_items(QueryClient(lambda request: make_exchange(request, 200, {"data": items})))

    monkeypatch.undo()
    time.tzset()
    assert isinstance(listed, Listed)
    assert listed.created == pytest.approx((1795953600, 1795953600), abs=1)
